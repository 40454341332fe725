"""Judge all properties of a file: assertions by the search, formulas by graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rebecsim.exploration.checks import Problem
from rebecsim.exploration.result import Result, Violated
from rebecsim.exploration.temporal.verdict import PropertyVerdict, PropertyWord

if TYPE_CHECKING:
    from rebecsim.exploration.graphs.state_graph import StateGraph


def judge_formulas(
    problem: Problem,
    graph: StateGraph | None,
    timed: Callable[[], Problem],
    build: Callable[[Problem], StateGraph],
) -> list[PropertyVerdict]:
    """Judge the formulas of a problem, in their order.

    `graph` is that of its states, if there are formulas for these; `timed` poses the same problem
    in the timed transition system, where the others are judged, and `build` gives the graph of a
    problem.
    """
    if not problem.formulas:
        return []
    from rebecsim.exploration.temporal.judging import TemporalJudge

    found: dict[int, PropertyVerdict] = {}
    places = {id(each): place for place, each in enumerate(problem.formulas)}
    here = {places[id(each)]: each for each in problem.formulas_here()}
    if here:
        assert graph is not None
        judge = TemporalJudge(graph, [*here.values()], problem.fair)
        found |= {place: judge.judge(each) for place, each in here.items()}
    if len(here) < len(problem.formulas):
        other = timed()
        others = {place: each for place, each in enumerate(other.formulas) if place not in here}
        judge = TemporalJudge(build(other), [*others.values()], problem.fair)
        found |= {place: judge.judge(each) for place, each in others.items()}
    return [found[place] for place in sorted(found)]


def with_formulas(result: Result, problem: Problem, judged: Sequence[PropertyVerdict]) -> Result:
    """Add the verdicts on all properties to a result, and make them part of its own."""
    assertions = [
        _of_assertion(each.breach.text, result)
        for each in problem.properties
        if each.breach.verdict == "assertion failed"
    ]
    result = replace(result, properties=(*assertions, *judged))
    violated = [each for each in judged if each.verdict == "violated"]
    unknown = [each for each in judged if each.verdict == "unknown" and not each.standing]
    if violated:
        more = tuple(map(_violation, violated))
        result = replace(result, violations=(*result.violations, *more))
    if result.verdict in ("satisfied", "undecided") and violated:
        first = result.violations[0]
        return replace(result, verdict=first.verdict, message=first.message, path=first.path)
    if result.verdict == "satisfied" and unknown:
        return replace(result, verdict="undecided", message=f"{unknown[0].name}: {unknown[0].note}")
    return result


def _violation(verdict: PropertyVerdict) -> Violated:
    return Violated("property violated", verdict.name, verdict.run, 1)


def _of_assertion(name: str, result: Result) -> PropertyVerdict:
    word: PropertyWord = "satisfied"
    if any(
        (each.verdict, each.message) == ("assertion failed", name) for each in result.violations
    ):
        word = "violated"
    elif result.bounds or result.frontier:
        word = "unknown"
    return PropertyVerdict(name, "assertion", word, result.mode)

"""Explore a model: pose the problem, search, judge formulas, and put the result together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rebecsim.actors import Model, Violation
from rebecsim.actors.watchdog import ServerStopped, Watchdog
from rebecsim.exploration.checks import (
    Bound,
    Checks,
    Limits,
    Meter,
    Problem,
    Reduction,
    in_constructor,
    peak_bytes,
    pose,
)
from rebecsim.exploration.cycles import ends_of, find_zeno_cycle, growing
from rebecsim.exploration.paths import path_along, shown_value
from rebecsim.exploration.predicates import PosedFormula
from rebecsim.exploration.reduction import SymmetricSystem
from rebecsim.exploration.result import PropertyVerdict, PropertyWord, Result, Violated
from rebecsim.exploration.search import Finding, Progress, Search, StopAt
from rebecsim.exploration.states.effects import Breach, Verdict
from rebecsim.exploration.states.transitions import Mode, TransitionSystem
from rebecsim.exploration.strategies import BreadthFirst, Strategy, is_compact, run_search
from rebecsim.lang import CheckedModel
from rebecsim.native.engines import FINGERPRINT_BITS, Engine

if TYPE_CHECKING:
    from rebecsim.exploration.state_graph import StateGraph


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


def explore(
    model: Model,
    *,
    mode: Mode | None = None,
    strategy: Strategy | None = None,
    checks: Checks | None = None,
    checked: CheckedModel | None = None,
    limits: Limits | None = None,
    stop_at: StopAt = "first",
    abstract: Sequence[str] = (),
    reduce: Reduction = False,
    engine: Engine = "auto",
    strict: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Try all orders of messages and all choices of a model.

    `mode` None is floating time for a timed model, core for a core one. `checked` is the model as
    it was read from Rebeca text, if it was; properties then know its constants and classes.
    `abstract` names variables, as `rebec.variable` or `Class.variable`, that are left out of the
    state. With `stop_at` "first" the search ends at the first violation, whose counts are then
    those so far; "all" goes on behind it. With `reduce`, states that differ by an exchange of
    interchangeable rebecs are one. With `reduce` "order", most orders that make no difference
    are left out, see `rebecsim.exploration.reduction`; with "both", both. The `engine` "native"
    is compiled code, which there is for breadth-first search; "auto" begins in Python and goes on
    in compiled code where there are many states. The result is the same, but that with `reduce`
    others of the states may be found before the first violation. `strict` as for `pose`. `progress`
    is called about twice a second.

    Raises UserError or RebecaError for a model, property or name that does not fit, EndlessError
    for a message server or constructor that does not end.
    """
    if checks is not None and checks.asks_for_runs:
        from rebecsim.exploration.temporal import judging  # noqa: F401 - takes longer than judging
    bounds = limits or Limits()
    meter = Meter(bounds)
    dog = Watchdog(patience=bounds.patience, is_over=meter.is_over)
    posed = partial(
        pose,
        model,
        mode=mode,
        checks=checks,
        checked=checked,
        abstract=abstract,
        absolute=bounds.horizon is not None,
        reduce=reduce,
        strict=strict,
    )
    try:
        with dog:
            problem = posed()
    except Violation as violation:
        breach = in_constructor(violation)
        result = _without_states(model, mode, meter, abstract, breach)
        return replace(result, violations=(Violated(*breach, None, 1),))
    except ServerStopped:
        bound = meter.reached
        assert bound is not None
        found = Breach("undecided", f"{_stopped_by(bound, bounds)}, in {dog.stopped_in}")
        return replace(_without_states(model, mode, meter, abstract, found), bounds=(bound,))
    build = partial(
        _graph, checked=checked, limits=bounds, meter=meter, engine=engine, progress=progress
    )
    make = partial(Search, limits=bounds, meter=meter, stop_at=stop_at, progress=progress)
    chosen = strategy or BreadthFirst()
    judges = bool(problem.formulas) and _can_judge(problem, chosen)
    graph = build(problem) if judges and problem.formulas_here() else None
    if graph is None or graph.keys:
        search = run_search(lambda: make(problem), chosen, engine, checked)
    else:
        search = graph.search
    problem.system.runner.finish()
    if progress is not None:
        progress(search.progress())
    result = _result(problem, search, chosen)
    if judges:
        timed = partial(posed, mode="TTS")
        result = with_formulas(result, problem, judge_formulas(problem, graph, timed, build))
    else:
        result = replace(result, not_evaluated=tuple(map(_named, problem.formulas)))
    finals = "" if checks is None else checks.finals
    if finals and result.verdict == "satisfied" and search.engine == "python":
        result = replace(result, finals=(finals, _final_values(search, finals)))
    return replace(result, seconds=meter.seconds, cut=problem.cut(checked))


def _final_values(search: Search, variable: str) -> tuple[Any, ...]:
    rebec, _, name = variable.partition(".")
    owner = search.system.model.positions[rebec]
    place = search.system.runner.names[owner].index(name)
    ends = (search.states[number][owner].variables[place] for number in search.last)
    return tuple(map(shown_value, dict.fromkeys(ends)))


def _graph(problem: Problem, **how: Any) -> StateGraph:
    """Build the graph of all states; what that takes is loaded only here."""
    from rebecsim.exploration.state_graph import build_graph

    return build_graph(problem, **how)


def _can_judge(problem: Problem, strategy: Strategy) -> bool:
    """Whether all states are kept apart, and with all that follows each of them."""
    is_plain = isinstance(strategy, BreadthFirst) and not strategy.compact
    is_whole = problem.system.partial_order is None
    return is_plain and is_whole and not isinstance(problem.system, SymmetricSystem)


def _named(formula: PosedFormula) -> str:
    return f"{formula.place}: {formula.kind.upper()} {formula.name}"


def _result(problem: Problem, search: Search, strategy: Strategy) -> Result:
    compact = is_compact(strategy)
    system = problem.system
    grown = search.meter.memory() - search.meter.before
    standstill = find_zeno_cycle(search)
    violations = tuple(_violated(search, finding) for finding in search.findings.values())
    ends = None if violations else ends_of(search)
    verdict: Verdict = "satisfied"
    message, path = "", None
    depth: int | None = None
    time: int | None = None
    if ends is not None and not problem.deadlock:
        message = ends.text
    if violations:
        first = violations[0]
        verdict, message, path = first.verdict, first.message, first.path
    elif search.bounds:
        verdict, message = "undecided", _why_stopped(search)
        depth = len(search.way_to(len(search.states) - 1))
        time = search.states[-1][-1] if system.absolute else None
    return Result(
        model=system.model.name,
        mode=system.mode,
        strategy=strategy.name,
        verdict=verdict,
        message=message,
        states=len(search.states),
        transitions=search.transitions,
        frontier=search.frontier,
        depth=depth,
        time=time,
        seconds=search.meter.seconds,
        peak_memory=peak_bytes() or 0,
        memory_per_state=max(grown, 0) / len(search.states),
        path=path,
        violations=violations,
        bounds=tuple(search.bounds),
        abstraction=problem.left_out,
        deciding=problem.deciding,
        looked_for=problem.looked_for,
        given_properties=problem.given_properties,
        hidden_in_delays=problem.hidden_in_delays,
        absolute_time=_why_absolute(system),
        symmetries=len(system.group) if isinstance(system, SymmetricSystem) else 1,
        growing=growing(search) if not compact and _ENDED_BY.intersection(search.bounds) else (),
        standstill=standstill.found,
        standstill_decided=standstill.is_decided,
        engine=search.engine,
        omission=omission(len(search.states)) if compact else 0.0,
        ends=ends,
    )


def omission(states: int) -> float:
    """Bound the probability that hash compaction has taken some state for another.

    Each of these states has met all the others, and two have the same fingerprint of b bits with
    probability 2**-b; so it is at most states * (states - 1) / 2 / 2**b.
    """
    return min(1.0, states * (states - 1) / (2 << FINGERPRINT_BITS))


def _violated(search: Search, finding: Finding) -> Violated:
    breach = finding.breach
    system, ordinals = search.followed(finding.ordinals, search.states_to(finding.state)[1:])
    path = path_along(system, ordinals, breach if finding.of_state else None)
    shown = path.breach or breach
    return Violated(shown.verdict, shown.text, path, finding.count)


def _why_absolute(system: TransitionSystem) -> str | None:
    if not system.absolute:
        return None
    return "horizon" if system.reads_time is None else f"{system.reads_time} reads it"


def _without_states(
    model: Model, mode: Mode | None, meter: Meter, abstract: Sequence[str], outcome: Breach
) -> Result:
    """Give the result for a model of which not even the initial state is known."""
    return Result(
        model=model.name,
        mode=mode or ("core" if model.core else "FTTS"),
        strategy="",
        verdict=outcome.verdict,
        message=outcome.text,
        seconds=meter.seconds,
        peak_memory=peak_bytes() or 0,
        abstraction=tuple(abstract),
    )


_ENDED_BY: frozenset[Bound] = frozenset({"states", "seconds", "memory", "interrupt"})


def _stopped_by(bound: Bound, limits: Limits) -> str:
    """Say what kept a search from covering everything."""
    match bound:
        case "states":
            return f"the limit of {limits.states:,} states was reached"
        case "seconds":
            return f"the time limit of {limits.seconds:,g} s was reached"
        case "memory":
            of = "" if limits.memory is None else f" of {limits.memory:,g} MB"
            return f"the memory limit{of} was reached"
        case "interrupt":
            return "the search was interrupted"
        case "horizon":
            return f"states later than the horizon, {limits.horizon:,}, were not followed"
        case "depth":
            return "deeper states were not looked at"
        case "walks":
            return "random walks do not cover everything"


def _why_stopped(search: Search) -> str:
    reasons = " and ".join(_stopped_by(bound, search.limits) for bound in search.bounds)
    return f"{reasons}, in {search.stopped_in}" if search.stopped_in else reasons

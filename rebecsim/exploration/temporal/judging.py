"""Judge temporal formulas, with a run that shows the verdict where there is one.

LTL is judged by the product with an automaton. For TCTL, `Evaluation` finds the moments at which a
formula holds. Time is whole there, and counted from the moment at which an operator is evaluated.
States that follow each other without time between them are moments of the same time. Stretches of
time are cut where a formula changes within them, so that it has one value in all moments of a node.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rebecsim.exploration.paths import Path, path_along
from rebecsim.exploration.predicates import Comparison, PosedFormula, weak
from rebecsim.exploration.result import PropertyVerdict, PropertyWord
from rebecsim.exploration.state_graph import StateGraph
from rebecsim.exploration.states.effects import Breach
from rebecsim.exploration.temporal.automaton import automaton_of, normal
from rebecsim.exploration.temporal.labelled_graph import (
    STAYS,
    Labelling,
    Labels,
    Stretches,
    endless,
    stretches_of,
)
from rebecsim.exploration.temporal.product import Product, accepted_run, product_of
from rebecsim.exploration.temporal.until_times import NEVER, TooManyTimesError, UntilTimes, times_of
from rebecsim.files import LimitError
from rebecsim.lang.properties import Connective, Formula, Negation, Proposition, Temporal
from rebecsim.native.arrays import Flags, Integers


class TimedUntil(NamedTuple):
    """An until, and when it is met. `negated`: the formula is its negation."""

    left: Flags
    right: Flags
    comparison: Comparison
    universal: bool
    negated: bool
    times: UntilTimes


class Hop(NamedTuple):
    """A hop between nodes: where from, where to, which transition of the graph it belongs to."""

    source: int
    target: int
    edge: int


@dataclass(frozen=True)
class HopRun:
    """Hops from a node on; those from `loop` on are repeated for ever, if there is one."""

    hops: tuple[Hop, ...]
    loop: int | None = None

    def followed_by(self, more: HopRun) -> HopRun:
        """Go on with another run from where this one ends."""
        loop = None if more.loop is None else len(self.hops) + more.loop
        return HopRun((*self.hops, *more.hops), loop)


_SOON = 200
"""The most hops of a run until its time is over; a longer one is shown as a round instead."""

_Place = tuple[int, int]
"""A node, and the limit of the bound that is left there; NEVER - 1, if there is none."""


class UntilWalk:
    """Runs through the nodes of a system on which an until holds, or on which it does not."""

    def __init__(self, system: Stretches, until: TimedUntil) -> None:
        self._system = system
        self._until = until

    def satisfying_run(self, start: int) -> HopRun:
        """Give a run on which it holds, of a bound from above the soonest. There must be one.

        Wherever it holds with what is left of the bound, some way on is a right one. So it goes
        from one moment to the next, with few hops at each.
        """
        here = start, self._until.times.nearest(start, holds=True)
        hops: list[Hop] = []
        while not self._is_met(here):
            way, here = self._next(here)
            hops += way
        return HopRun(tuple(hops))

    def _next(self, begin: _Place) -> tuple[list[Hop], _Place]:
        """Give a shortest way to where it is met, or to the next time with less left."""
        came: dict[_Place, tuple[_Place, Hop] | None] = {begin: None}
        pending = deque([begin])
        end: _Place | None = None
        while end is None:
            here = pending.popleft()
            if not self._until.left[here[0]]:
                continue
            for hop, left in self._hops(here):
                there = hop.target, left
                if left < 0 or there in came or not self._until.times.holds(*there):
                    continue
                came[there] = here, hop
                if left < here[1] or self._is_met(there):
                    end = there
                    break
                pending.append(there)
        way: list[Hop] = []
        at = end
        while (step := came[at]) is not None:
            at, hop = step
            way.append(hop)
        return way[::-1], end

    def _is_met(self, place: _Place) -> bool:
        """Whether what it waits for comes in this node, at a time that meets the bound."""
        node, left = place
        until = self._until
        if not until.right[node]:
            return False
        lasts = until.left[node] and left < int(self._system.length[node])
        return until.comparison == "<=" or left == 0 or bool(lasts)

    def refuting_run(self, start: int) -> HopRun:
        """Give a run on which it does not hold: up to where that is decided, or round for ever.

        There must be one. Of a bound from above it goes on until the time is over, if that is soon.
        """
        times = self._until.times
        nearest = times.nearest(start, holds=False)
        soon = self._refuting_run((start, times.limit), _SOON) if nearest > times.limit else None
        run = soon or self._refuting_run((start, nearest), None)
        assert run is not None, "nothing keeps it from going on"
        return run

    def _refuting_run(self, here: _Place, most: int | None) -> HopRun | None:
        """Give such a run of no more than so many hops."""
        hops: list[Hop] = []
        seen: dict[_Place, int] = {}
        while here[1] >= 0 and self._until.left[here[0]]:
            if here in seen:
                return HopRun(tuple(hops), seen[here])
            if len(hops) == most:
                return None
            seen[here] = len(hops)
            hop, left = next(
                (hop, left)
                for hop, left in self._hops(here)
                if left < 0 or not self._until.times.holds(hop.target, left)
            )
            hops.append(hop)
            here = hop.target, left
        return HopRun(tuple(hops))

    def _hops(self, place: _Place) -> Iterator[tuple[Hop, int]]:
        """Give the hops out of a node, with what is left of the bound behind each."""
        node, left = place
        system = self._system
        for hop in system.out_of(node):
            rest = left
            if left < NEVER - 1:
                rest -= int(system.units[hop])
                if self._until.comparison == ">=":
                    rest = max(rest, 0)
            yield Hop(node, int(system.target[hop]), int(system.edge[hop])), rest


class Evaluation:
    """A formula of TCTL over all moments of a system.

    Raises TooManyTimesError for an exact time that can be met in too many ways.
    """

    def __init__(self, formula: PosedFormula, system: Stretches, labels: Labels) -> None:
        self._posed = formula
        self._system = system
        self._labels = labels
        self._known: dict[int, Flags] = {}
        self._untils: dict[int, TimedUntil] = {}  # of the system as it is now

    def truth(self, formula: Formula) -> Flags:
        """Say in which nodes a formula holds; what was said before may have been cut by then."""
        if id(formula) not in self._known:
            self._known[id(formula)] = self._truth(formula)
        return self._known[id(formula)]

    def _truth(self, formula: Formula) -> Flags:
        match formula:
            case Proposition():
                bit = self._labels >> self._posed.number_of(formula) & 1
                return bit.astype(np.bool_)[self._system.state]
            case Negation(operand):
                return ~self.truth(operand)
            case Connective(operator, left, right):
                self.truth(left)
                self.truth(right)  # which may cut what is known of the left one
                made = self.truth(left), self.truth(right)
                return made[0] & made[1] if operator == "&&" else made[0] | made[1]
            case Temporal():
                until = self._until(formula)
                nodes, units = until.times.cuts()
                if len(nodes):
                    self._cut(nodes, units)
                    until = self._until(formula)
                holds = until.times.truth()
                return ~holds if until.negated else holds

    def _cut(self, nodes: Integers, units: Integers) -> None:
        """Cut stretches after some units, and the known values with them."""
        self._system, origin = self._system.cut(nodes, units)
        self._known = {each: flags[origin] for each, flags in self._known.items()}
        self._untils.clear()

    def _until(self, formula: Temporal) -> TimedUntil:
        """Write a temporal operator as an until, or as the negation of one, and evaluate that."""
        if id(formula) not in self._untils:
            self._untils[id(formula)] = self._evaluated(formula)
        return self._untils[id(formula)]

    def _evaluated(self, formula: Temporal) -> TimedUntil:
        operator, operands = formula.operator, formula.operands
        bound = None if formula.bound is None else self._posed.bounds[formula.bound]
        for each in operands:
            self.truth(each)  # which may cut what is known of the one before
        right = self.truth(operands[-1])
        left = np.ones_like(right) if len(operands) == 1 else self.truth(operands[0])
        negated = operator in ("AG", "EG")
        if negated:
            right = ~right
        universal = operator in ("AU", "AF", "EG")
        times = times_of(self._system, left, right, bound, universal)
        comparison = "<=" if bound is None else weak(bound).comparison
        return TimedUntil(left, right, comparison, universal, negated, times)

    def shown(self, formula: Formula, value: bool) -> tuple[list[int], int | None] | None:
        """Give a run from the start that shows that a formula has a value there, if one run can.

        Gives places of transitions of the endless graph, and after how many of them it repeats.
        Where it meets the operand of an operator, it goes on with a run that shows that operand.
        """
        run = self._run(formula, value, 0)
        return None if run is None else self._without_stretches(run)

    def _run(self, formula: Formula, value: bool, start: int) -> HopRun | None:
        match formula:
            case Negation(operand):
                return self._run(operand, not value, start)
            case Connective(operator, left, right):
                deciding = [each for each in (left, right) if self.truth(each)[start] == value]
                runs = list(filter(None, (self._run(each, value, start) for each in deciding)))
                takes_both = value is (operator == "&&")
                return None if not runs or (takes_both and len(runs) > 1) else runs[0]
            case Temporal():
                until = self._until(formula)
                if (value is not until.negated) is until.universal:
                    return None
                walk = UntilWalk(self._system, until)
                if until.universal:
                    return walk.refuting_run(start)
                way = walk.satisfying_run(start)
                end = way.hops[-1].target if way.hops else start
                more = self._run(formula.operands[-1], not until.negated, end)
                return way if more is None else way.followed_by(more)
        return None

    def _without_stretches(self, run: HopRun) -> tuple[list[int], int | None]:
        """Give the transitions of a run, one of several units once, also where it ends within."""
        edges: list[int] = []
        loop = None
        for place, hop in enumerate(run.hops):
            if place == run.loop:
                loop = len(edges)
            if not self._system.length[hop.source]:  # not within a transition
                edges.append(hop.edge)
        if run.loop is not None and loop is None:
            loop = len(edges)
        return edges, loop


class TemporalJudge:
    """Judges formulas on one graph of all states, which is labelled once for all of them."""

    def __init__(
        self, graph: StateGraph, formulas: Sequence[PosedFormula], fair: bool = True
    ) -> None:
        self._graph = graph
        self._system = graph.search.system
        self._endless = endless(graph)
        self._fair = fair
        labelling = Labelling(graph.search.states)
        self._labels = {each.name: labelling.labels(each.conditions) for each in formulas}

    def judge(self, formula: PosedFormula) -> PropertyVerdict:
        """Judge one formula."""
        labels = self._labels[formula.name]
        return (
            self._linear(formula, labels) if formula.kind == "ltl" else self._timed(formula, labels)
        )

    # --- LTL -----------------------------------------------------------------------------------

    def _linear(self, formula: PosedFormula, labels: Labels) -> PropertyVerdict:
        negated = normal(formula.formula, formula.number_of, negated=True)
        try:
            automaton = automaton_of(negated)
        except LimitError as error:
            raise LimitError(f"{formula.place}: {formula.name}: {error}") from None
        product = product_of(self._endless, labels, automaton)
        wanted = ((1 << automaton.untils) - 1) << product.shift
        if self._fair:
            wanted |= self._endless.fair
        mode = self._system.mode
        advancing = wanted if mode == "core" else wanted | self._endless.advancing
        breach = Breach("property violated", formula.name)
        run = self._accepted(product, advancing, breach)
        if run is not None:
            return PropertyVerdict(formula.name, "ltl", "violated", mode, run)
        if product.reaches_cut:
            return PropertyVerdict(formula.name, "ltl", "unknown", mode, note=_CUT)
        run = None if mode == "core" else self._accepted(product, wanted, breach)
        if run is not None:
            return PropertyVerdict(formula.name, "ltl", "unknown", mode, run, True, _STANDS)
        return PropertyVerdict(formula.name, "ltl", "satisfied", mode)

    def _accepted(self, product: Product, wanted: int, breach: Breach) -> Path | None:
        run = accepted_run(product, wanted)
        return None if run is None else self._path([*run.stem, *run.loop], len(run.stem), breach)

    def _path(self, places: Sequence[int], loop: int | None, breach: Breach | None) -> Path:
        """Go along transitions of the endless graph; a state that stays has no step."""
        edges = [int(self._endless.edge[place]) for place in places]
        steps = [each for each in edges if each != STAYS]
        if loop is not None:
            loop = sum(each != STAYS for each in edges[:loop])
        return path_along(self._system, self._graph.ordinals(steps), breach, loop)

    # --- TCTL ----------------------------------------------------------------------------------

    def _timed(self, formula: PosedFormula, labels: Labels) -> PropertyVerdict:
        mode = self._system.mode
        if self._graph.cut.any():
            return PropertyVerdict(formula.name, "tctl", "unknown", mode, note=_CUT)
        graph = self._endless
        duration = self._graph.duration.astype(np.int64)
        lasting = np.where(graph.edge == STAYS, 1, duration[graph.edge])
        evaluation = Evaluation(formula, stretches_of(graph, lasting), labels)
        try:
            holds = bool(evaluation.truth(formula.formula)[0])
        except TooManyTimesError:
            return PropertyVerdict(formula.name, "tctl", "unknown", mode, note=_TIMES)
        verdict: PropertyWord = "satisfied" if holds else "violated"
        shown = evaluation.shown(formula.formula, holds)
        run = None
        if shown is not None:
            breach = None if holds else Breach("property violated", formula.name)
            run = self._path(*shown, breach)
        return PropertyVerdict(formula.name, "tctl", verdict, mode, run)


_STANDS = "it holds as long as time advances, and not on a run in which time stands still"
_CUT = "a limit was reached before all states were seen"
_TIMES = "an exact time (`==`) can be met in too many ways to look at"

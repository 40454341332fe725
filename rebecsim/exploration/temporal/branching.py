"""Judge formulas of TCTL: find the moments at which they hold, and a run that shows it.

Time is whole, and counted from the moment at which an operator is evaluated. States that follow
each other without time between them are moments of the same time. Stretches of time are cut where
a formula changes within them, so that it has one value in all moments of a node.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebecsim.exploration.temporal.bounds import weak
from rebecsim.exploration.temporal.formulas import PosedFormula
from rebecsim.exploration.temporal.labelling import Labels
from rebecsim.exploration.temporal.stretches import Stretches
from rebecsim.exploration.temporal.until_times import times_of
from rebecsim.exploration.temporal.walks import HopRun, TimedUntil, UntilWalk
from rebecsim.lang.properties.syntax import Connective, Formula, Negation, Proposition, Temporal
from rebecsim.native.arrays import Flags, Integers


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
        """Cut stretches after some units, in what is known, too."""
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

    def shown(self, formula: Formula, value: bool) -> ShownRun | None:
        """Give a run from the start that shows that a formula has a value there, if one run can.

        Where it has come to what an operator asks for, it goes on with what shows that.
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
                    return walk.avoiding(start)
                way = walk.meeting(start)
                end = way.hops[-1].target if way.hops else start
                more = self._run(formula.operands[-1], not until.negated, end)
                return way if more is None else way.followed_by(more)
        return None

    def _without_stretches(self, run: HopRun) -> ShownRun:
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
        return ShownRun(tuple(edges), loop)


class ShownRun(NamedTuple):
    """A run: places of transitions of the endless graph; from `before` of them on it repeats."""

    edges: tuple[int, ...]
    before: int | None

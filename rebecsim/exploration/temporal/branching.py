"""Formulas of TCTL: at which moments they hold, and a run that shows it.

Time is whole, and counted from the moment at which an operator is evaluated. States that follow
each other without time between them are moments of the same time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebecsim.exploration.temporal.formulas import PosedFormula
from rebecsim.exploration.temporal.labelling import Labels
from rebecsim.exploration.temporal.layers import Layers
from rebecsim.exploration.temporal.moments import Flags, Moments
from rebecsim.exploration.temporal.walks import Avoiding, LayeredUntil, Meeting, MomentRun
from rebecsim.lang.properties.syntax import Connective, Formula, Negation, Proposition, Temporal


class Evaluation:
    """A formula of TCTL over all moments of a system."""

    def __init__(self, formula: PosedFormula, moments: Moments, labels: Labels) -> None:
        self._posed = formula
        self._moments = moments
        self._labels = labels[moments.state]
        self._true = np.ones(len(moments.state), np.bool_)
        self._known: dict[int, Flags] = {}

    def truth(self, formula: Formula) -> Flags:
        """Say at which moments a formula holds."""
        known = self._known.get(id(formula))
        if known is None:
            known = self._known[id(formula)] = self._truth(formula)
        return known

    def _truth(self, formula: Formula) -> Flags:
        match formula:
            case Proposition():
                bit = self._labels >> self._posed.number_of(formula) & 1
                return bit.astype(np.bool_)
            case Negation(operand):
                return ~self.truth(operand)
            case Connective(operator, left, right):
                made = self.truth(left), self.truth(right)
                return made[0] & made[1] if operator == "&&" else made[0] | made[1]
            case Temporal():
                until = self._until(formula)
                return ~until.layers[-1] if until.negated else until.layers[-1]

    def _until(self, formula: Temporal) -> LayeredUntil:
        """Write a temporal operator as an until, or as the negation of one, and evaluate that."""
        operator, operands = formula.operator, formula.operands
        bound = None if formula.bound is None else self._posed.bounds[formula.bound]
        left = self._true if len(operands) == 1 else self.truth(operands[0])
        right = self.truth(operands[-1])
        negated = operator in ("AG", "EG")
        if negated:
            right = ~right
        universal = operator in ("AU", "AF", "EG")
        layers = Layers(self._moments, universal).until(left, right, bound)
        return LayeredUntil(left, right, bound, universal, negated, layers)

    def shown(self, formula: Formula, value: bool) -> ShownRun | None:
        """Give a run from the start that shows that a formula has a value there, if one run can.

        Where it has come to what an operator asks for, it goes on with what shows that.
        """
        run = self._run(formula, value, 0)
        return None if run is None else self._without_moments(run)

    def _run(self, formula: Formula, value: bool, start: int) -> MomentRun | None:
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
                if until.universal:
                    return Avoiding(self._moments, until, start).run()
                way = Meeting(self._moments, until, start).run()
                end = way.hops[-1].target if way.hops else start
                more = self._run(formula.operands[-1], not until.negated, end)
                return way if more is None else way.followed_by(more)
        return None

    def _without_moments(self, run: MomentRun) -> ShownRun:
        """Give the transitions of a run, one of several units once, also where it ends within."""
        edges: list[int] = []
        loop = None
        for place, hop in enumerate(run.hops):
            if place == run.loop:
                loop = len(edges)
            source = run.hops[place - 1].target if place else 0
            if int(self._moments.state[source]) == source:  # no moment within a transition
                edges.append(hop.edge)
        if run.loop is not None and loop is None:
            loop = len(edges)
        return ShownRun(tuple(edges), loop)


class ShownRun(NamedTuple):
    """A run: places of transitions of the endless graph; from `before` of them on it repeats."""

    edges: tuple[int, ...]
    before: int | None

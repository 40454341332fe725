"""Prepare the formulas of a property file for the states of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from rebecsim.exploration.predicates import PredicateCompiler
from rebecsim.exploration.states.transitions import State, TransitionSystem
from rebecsim.exploration.temporal.bounds import TimeBound
from rebecsim.exploration.temporal.named_forms import FormulaKind, plain
from rebecsim.lang import CheckedProperties
from rebecsim.lang.properties import Bound, Formula, Proposition, TemporalProperty
from rebecsim.lang.syntax import Expression
from rebecsim.lang.traversal import walk


class StateProposition(NamedTuple):
    """A condition on states, and the rebecs whose parts of the state it looks at."""

    holds: Callable[[State], bool]
    reads: frozenset[int]


@dataclass(frozen=True)
class PosedFormula:
    """A formula about the states of a model.

    Attributes:
        name: what the file calls it.
        kind: its logic.
        place: where it stands, as `FILE:LINE`.
        formula: its tree, without named forms.
        conditions: what its propositions mean.
        numbers: the place there of each proposition, by its expression.
        bounds: the values of its bounds.
    """

    name: str
    kind: FormulaKind
    place: str
    formula: Formula
    conditions: tuple[StateProposition, ...]
    numbers: dict[Expression, int]
    bounds: dict[Bound, TimeBound]

    def number_of(self, proposition: Proposition) -> int:
        """Give the place of a proposition."""
        return self.numbers[proposition.expression]

    @property
    def reads(self) -> frozenset[int]:
        """The rebecs whose parts of the state its propositions look at."""
        return frozenset().union(*(each.reads for each in self.conditions))


def posed_formulas(
    checked: CheckedProperties,
    system: TransitionSystem,
    left_out: tuple[frozenset[str], ...],
) -> Iterator[PosedFormula]:
    """Compile the formulas of a file. `left_out` are variables that states do not have."""
    yield from (_posed(each, "ltl", checked, system, left_out) for each in checked.tree.ltl)
    yield from (_posed(each, "tctl", checked, system, left_out) for each in checked.tree.tctl)


def _posed(
    each: TemporalProperty,
    kind: FormulaKind,
    checked: CheckedProperties,
    system: TransitionSystem,
    left_out: tuple[frozenset[str], ...],
) -> PosedFormula:
    numbers: dict[Expression, int] = {}
    conditions: list[StateProposition] = []
    bounds: dict[Bound, TimeBound] = {}
    for node in walk(each.formula):
        if isinstance(node, Proposition) and node.expression not in numbers:
            compiler = PredicateCompiler(checked, system, left_out)
            holds = compiler.compile(node.expression)
            numbers[node.expression] = len(conditions)
            conditions.append(StateProposition(holds, frozenset(compiler.reads)))
        elif isinstance(node, Bound):
            limit = checked.constants[id(node.limit)]
            assert isinstance(limit, int)
            bounds[node] = TimeBound(node.operator, limit)
    tree = plain(each.formula, kind)
    place = f"{each.span.file}:{each.span.line}"
    return PosedFormula(each.name, kind, place, tree, tuple(conditions), numbers, bounds)

"""The quantities computed over runs: increases, final values, conditions reached, violations.

Counters are rewards: variables that nothing depends on (`counters_of` of
`rebecsim.exploration.analysis.footprints`) are 0 in every state, and what a step adds to them is
noted beside it. A quantity that is a sum of them, with numbers as factors, is added up from that;
other quantities keep the variables that they name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rebecsim.exploration.analysis.footprints import counters_of
from rebecsim.exploration.predicates import Function
from rebecsim.exploration.states.rebec_states import Local
from rebecsim.exploration.states.transitions import State, TransitionSystem
from rebecsim.lang import CheckedModel, parse_expression, syntax
from rebecsim.lang.traversal import walk

Numbers = NDArray[np.float64]

QuantityKind = Literal["increase", "final", "reached", "goes wrong"]


@dataclass(frozen=True)
class Quantity:
    """Something with a value on every run.

    Attributes:
        kind: by how much an expression increases, in all steps together in which it does; its value
            at the end of the run; whether a condition is ever true; whether a violation ends the
            run.
        text: the expression or condition; nothing where something goes wrong.
    """

    kind: QuantityKind
    text: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}" if self.text else self.kind


@dataclass(frozen=True)
class Measure:
    """A quantity over the states of one model; `read` gives its expression in a state."""

    quantity: Quantity
    read: Function

    @property
    def settles(self) -> bool:
        """Whether a state in which the condition is true decides that the value of the run is 1."""
        return self.quantity.kind == "reached"

    def at_end(self, values: Numbers) -> Numbers:
        """Give what runs get that end in states with these values of the expression."""
        return values if self.quantity.kind == "final" else np.zeros_like(values)

    def of_step(self, before: Numbers, after: Numbers) -> Numbers:
        """Give what steps get between states with these values of the expression."""
        if self.quantity.kind == "increase":
            return np.maximum(after - before, 0.0)
        return np.zeros_like(before)

    def of_breach(self, before: Numbers) -> Numbers:
        """Give what steps get in which something goes wrong; variables keep their values."""
        if self.quantity.kind == "goes wrong":
            return np.ones_like(before)
        return before if self.quantity.kind == "final" else np.zeros_like(before)


def measure_of(quantity: Quantity, compiled: Callable[[str, str, bool], Function]) -> Measure:
    """Compile what a quantity reads.

    `compiled` takes a text, where it stands, and whether it is a condition. Raises RebecaError,
    with the position, for a text that is wrong or does not fit the model.
    """
    if quantity.kind == "goes wrong":
        return Measure(quantity, lambda state: 0.0)
    places = {"increase": "<reward>", "final": "<final>", "reached": "<reach>"}
    return Measure(
        quantity, compiled(quantity.text, places[quantity.kind], quantity.kind == "reached")
    )


def quantities_of(
    rewards: Sequence[str], finals: Sequence[str], reach: Sequence[str], goes_wrong: bool
) -> list[Quantity]:
    """Give the quantities of expressions that increase or end, of conditions, and of violations."""
    found = [Quantity("increase", each) for each in rewards]
    found += [Quantity("final", each) for each in finals]
    found += [Quantity("reached", each) for each in reach]
    return [*found, Quantity("goes wrong")] if goes_wrong else found


Counter = tuple[int, str]
"""A rebec, by its position, and the name of one of its variables."""

Factors = Mapping[Counter, float]

_GREATEST = 2**31 - 1


@dataclass(frozen=True)
class Counted:
    """The counters left out of the states of a model, and the sums made of them.

    Attributes:
        counters: those that are.
        sums: for each quantity, of which counters it is the sum; None if it reads states.
    """

    counters: tuple[Counter, ...]
    sums: tuple[Factors | None, ...]


def counted_of(checked: CheckedModel | None, quantities: Sequence[Quantity]) -> Counted:
    """Find what only counts in a model that was read from text; nothing is known of others."""
    if checked is None:
        return none_counted(quantities)
    places = {each.name: place for place, each in enumerate(checked.instances)}
    found = {(place, name) for place, names in enumerate(counters_of(checked)) for name in names}
    trees = [
        parse_expression(each.text, "<quantity>") if each.text else None for each in quantities
    ]
    reads = [_read(tree, places) for tree in trees]
    sums = [
        _sum_of(tree, places, 1.0) if tree and each.kind in ("increase", "final") else None
        for tree, each in zip(trees, quantities, strict=True)
    ]
    while True:  # a sum one of whose variables is kept keeps the others
        kept = {
            each for some, read in zip(sums, reads, strict=True) if some is None for each in read
        }
        lost = [some is not None and not some.keys() <= found - kept for some in sums]
        if not any(lost):
            return Counted(tuple(sorted(found - kept)), tuple(sums))
        sums = [None if gone else some for gone, some in zip(lost, sums, strict=True)]


def none_counted(quantities: Sequence[Quantity]) -> Counted:
    """Keep all variables in the state, counters too."""
    return Counted((), (None,) * len(quantities))


def _read(tree: syntax.Expression | None, places: Mapping[str, int]) -> set[Counter]:
    return {
        (places[each.target.identifier], each.name)
        for each in (walk(tree) if tree else ())
        if isinstance(each, syntax.Member)
        and isinstance(each.target, syntax.Name)
        and each.target.identifier in places
    }


def _sum_of(
    node: syntax.Expression, places: Mapping[str, int], factor: float
) -> dict[Counter, float] | None:
    """Give the factors of a sum of variables, times another one; None for anything else."""
    match node:
        case syntax.Member(syntax.Name(rebec), variable) if rebec in places:
            return {(places[rebec], variable): factor}
        case syntax.Unary("-", operand):
            return _sum_of(operand, places, -factor)
        case syntax.Binary("*", left, right):
            number, term = (_number(left), right) if _number(left) else (_number(right), left)
            return None if number is None else _sum_of(term, places, factor * number)
        case syntax.Binary("+" | "-" as operator, left, right):
            first = _sum_of(left, places, factor)
            second = _sum_of(right, places, factor if operator == "+" else -factor)
            if first is None or second is None:
                return None
            return {
                each: first.get(each, 0.0) + second.get(each, 0.0) for each in {**first, **second}
            }
    return None


def _number(node: syntax.Expression) -> float | None:
    """Give the number that is written; None for anything else, and for one in single precision."""
    match node:
        case syntax.IntLiteral(value) | syntax.FloatLiteral(value, False):
            return value
        case syntax.Unary("-", operand):
            number = _number(operand)
            return None if number is None else -number
    return None


@dataclass(frozen=True)
class _Split:
    """The state of a rebec without its counters, and their part of each sum."""

    local: Local
    worth: tuple[float, ...]


class Counting:
    """Takes counters out of the states of a system.

    Attributes:
        nothing: what a step that counts nothing adds to each sum.
        initial: what each sum is at the start.
    """

    def __init__(self, system: TransitionSystem, counted: Counted) -> None:
        self._system = system
        self._sums = [each or {} for each in counted.sums]
        self._most = 0
        self._places: dict[int, dict[int, str]] = {}
        for owner, variable in counted.counters:
            place = system.runner.place_of(owner, variable)
            self._places.setdefault(owner, {})[place] = variable
        self._known: dict[Local, _Split] = {}
        self.nothing = (0.0,) * len(self._sums)
        self.initial = self.without_counters(system.initial)[1]
        self._first, self._most = self._most, 0

    def without_counters(self, state: State) -> tuple[State, tuple[float, ...]]:
        """Give a state with counters at 0, and their part of each sum."""
        parts: list[object] | None = None
        worth = self.nothing
        for owner in self._places:
            local = state[owner]
            split = self._known.get(local) or self._split(local)
            if split.local is not local:
                parts = parts or list(state)
                parts[owner] = split.local
                worth = tuple(a + b for a, b in zip(worth, split.worth, strict=True))
        return (state, worth) if parts is None else (tuple(parts), worth)

    def _split(self, local: Local) -> _Split:
        owner, places = local.owner, self._places[local.owner]
        variables = local.variables
        plain = tuple(0 if place in places else each for place, each in enumerate(variables))
        kept = self._system.locals.intern(owner, plain, local.clock, local.suspension, local.bag)
        counts = {(owner, name): int(variables[place]) for place, name in places.items()}
        self._most = max(self._most, *map(abs, counts.values()))
        worth = tuple(
            sum((some[each] * count for each, count in counts.items() if each in some), 0.0)
            for some in self._sums
        )
        split = self._known[local] = _Split(kept, worth)
        return split

    def may_wrap(self, steps: int) -> bool:
        """Whether a sum, or a counter in one, might be greater than an `int` after such steps."""
        factors = max((sum(map(abs, each.values())) for each in self._sums), default=0.0)
        return (self._first + self._most * steps) * factors > _GREATEST

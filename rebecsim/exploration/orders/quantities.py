"""The quantities computed over runs: increases, final values, conditions reached, violations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rebecsim.exploration.predicates import Function

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

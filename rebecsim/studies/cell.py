"""Cells: a policy under conditions, the unit of plans, results and statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

Entry = TypeVar("Entry")
Key = TypeVar("Key")

Value = str | int | float
"""What a coordinate may be."""


class Compared(NamedTuple):
    """What cells are compared by, in words: one of them, several of them."""

    one: str
    many: str


POLICIES = Compared("policy", "policies")
"""What is compared in most studies."""


@dataclass(frozen=True, slots=True, order=True)
class Condition:
    """What all policies are compared on, such as a workload on a cluster of some size.

    Attributes:
        coordinates: name and value of each coordinate, in the order of the kind.
    """

    coordinates: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, **coordinates: Value) -> Condition:
        """Make a condition of named values."""
        return cls(tuple(coordinates.items()))

    def __getitem__(self, name: str) -> Value:
        return dict(self.coordinates)[name]

    def __contains__(self, name: object) -> bool:
        return any(name == each for each, _ in self.coordinates)

    def __str__(self) -> str:
        return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in self.coordinates)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the coordinates."""
        return tuple(name for name, _ in self.coordinates)

    def only(self, names: Iterable[str]) -> Condition:
        """Leave the coordinates of these names."""
        kept = set(names)
        return Condition(tuple(pair for pair in self.coordinates if pair[0] in kept))

    def without(self, names: Iterable[str]) -> Condition:
        """Leave the coordinates of all other names."""
        dropped = set(names)
        return Condition(tuple(pair for pair in self.coordinates if pair[0] not in dropped))


EVERYWHERE = Condition()
"""Where nothing is told apart."""


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """A policy under a condition.

    Attributes:
        policy: name of the policy, as in "EDF".
        condition: what it ran on.
    """

    policy: str
    condition: Condition

    @classmethod
    def of(cls, policy: str, **coordinates: Value) -> Cell:
        """Make a cell of a policy and named values."""
        return cls(policy, Condition.of(**coordinates))

    def __getitem__(self, name: str) -> Value:
        return self.condition[name]

    def __str__(self) -> str:
        return f"{self.policy} ({self.condition})" if self.condition.coordinates else self.policy


def grouped(entries: Iterable[Entry], key: Callable[[Entry], Key]) -> dict[Key, list[Entry]]:
    """Divide what has the same key, in the order in which keys first appear."""
    groups: dict[Key, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(key(entry), []).append(entry)
    return groups

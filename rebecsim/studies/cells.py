"""Cells, a policy under conditions each, and the rows of their replications.

Plans, results and statistics are of cells. Rows are plain columns, which workers send back.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

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
"""The condition without coordinates, over which everything is pooled."""


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


REPLICATION = "replication"
"""The column that says which run a row is of."""


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column of few words: `words[codes[i]]` stands in row i."""

    codes: NDArray[np.integer[Any]]
    words: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)


Column = NDArray[Any] | Sequence[Any] | Coded
Columns = Mapping[str, Column]


@dataclass(frozen=True)
class Rows:
    """Some consecutive replications of a cell.

    Attributes:
        columns: an entry for each replication, in their order: what was counted or measured.
        tables: further tables by name, with any number of rows for each replication; they have a
            column `REPLICATION`.
        engine: what ran them, where a kind has several engines.
    """

    columns: Columns
    tables: Mapping[str, Columns] = field(default_factory=dict)
    engine: str | None = None

    def __len__(self) -> int:
        """Give the number of replications."""
        return len(next(iter(self.columns.values())))


def joined_columns(parts: Sequence[Mapping[str, Any]]) -> dict[str, Column]:
    """Put the rows of several runs one below the other; all have the same words for codes."""
    return {name: _joined([part[name] for part in parts]) for name in parts[0]}


def _joined(parts: Sequence[Any]) -> Column:
    first = parts[0]
    if isinstance(first, Coded):
        return Coded(np.concatenate([part.codes for part in parts]), first.words)
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    return list(itertools.chain.from_iterable(parts))

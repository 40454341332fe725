"""Results of replications as plain columns, which workers send back."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

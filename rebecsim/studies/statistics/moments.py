"""Moments of a cell: exact sums and sums of products of its counters.

These suffice for every mean, ratio and interval, take a few hundred bytes however many runs there
are, and merge without rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from rebecsim.studies.cell import Cell
from rebecsim.studies.statistics.exact_moments import ExactMoments, NumberColumn


@dataclass(frozen=True)
class CellMoments(ExactMoments[Cell]):
    """First and second moments of the counters of one cell.

    Attributes:
        outcomes: how the runs ended: outcome -> number of runs, n in all; empty for cells whose
            runs all end alike.
        is_random: whether anything was drawn; if not, one run says all.
    """

    outcomes: Mapping[str, int] = field(hash=False, default_factory=dict)
    is_random: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.outcomes and sum(self.outcomes.values()) != self.replications:
            raise ValueError(
                f"{self.cell}: {self.replications} runs but outcomes of "
                f"{sum(self.outcomes.values())}"
            )
        counted = {name: n for name, n in sorted(self.outcomes.items()) if n}
        object.__setattr__(self, "outcomes", MappingProxyType(counted))

    def __reduce__(self) -> tuple[object, ...]:
        # Read-only views cannot be pickled, and worker processes send moments home.
        values = {**vars(self), "outcomes": dict(self.outcomes)}
        return CellMoments, tuple(values.values())

    @property
    def cell(self) -> Cell:
        """What was run."""
        return self.subject

    @classmethod
    def from_columns(
        cls, cell: Cell, columns: Mapping[str, NumberColumn], outcomes: Mapping[str, int]
    ) -> CellMoments:
        """Summarise a batch of runs, which ended as `outcomes` says; raises as `of_columns`.

        Raises ValueError also when the outcomes are not those of the runs.
        """
        return cls.of_columns(cell, columns, outcomes=outcomes)

    def merged(self, other: CellMoments) -> CellMoments:
        """The moments of the runs of both, and how they ended. Raises ValueError."""
        names = self.outcomes.keys() | other.outcomes.keys()
        outcomes = {n: self.outcomes.get(n, 0) + other.outcomes.get(n, 0) for n in names}
        return replace(self, outcomes=outcomes, **self._sums_with(other))

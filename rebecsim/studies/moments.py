"""What is kept of the runs of one cell: exact sums and sums of products of its counters.

These suffice for every mean, ratio and interval, take a few hundred bytes however many runs there
are, and merge without rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from rebecsim.studies.cell import Cell
from rebecsim.studies.exact_moments import (
    Exact,
    ExactMoments,
    NumberColumn,
    Products,
    added,
    exact_sums,
)

__all__ = ["CellMoments"]


@dataclass(frozen=True)
class CellMoments(ExactMoments):
    """First and second moments of the counters of one cell, exact and mergeable.

    Attributes:
        cell: what was run.
        counters: names of the k counters.
        replications: number of runs n.
        sums: sum of each counter over the runs, k integers.
        products: sums of x_i * x_j over the runs, k x k integers, symmetric.
        outcomes: how the runs ended: outcome -> number of runs, n in all; empty for cells whose
            runs all end alike.
        is_random: whether anything was drawn; if not, one run says all.
    """

    cell: Cell
    counters: tuple[str, ...]
    replications: int
    sums: tuple[Exact, ...]
    products: Products
    outcomes: Mapping[str, int] = field(hash=False, default_factory=dict)
    is_random: bool = True

    def __post_init__(self) -> None:
        self._check()
        if self.outcomes and sum(self.outcomes.values()) != self.replications:
            raise ValueError(
                f"{self.cell}: {self.replications} runs but outcomes of "
                f"{sum(self.outcomes.values())}"
            )
        counted = {name: n for name, n in sorted(self.outcomes.items()) if n}
        object.__setattr__(self, "outcomes", MappingProxyType(counted))

    def __reduce__(self) -> tuple[object, ...]:
        # Read-only views cannot be pickled, and worker processes send moments home.
        return CellMoments, (
            self.cell,
            self.counters,
            self.replications,
            self.sums,
            self.products,
            dict(self.outcomes),
            self.is_random,
        )

    @property
    def subject(self) -> Cell:
        """The cell."""
        return self.cell

    @classmethod
    def from_columns(
        cls, cell: Cell, columns: Mapping[str, NumberColumn], outcomes: Mapping[str, int]
    ) -> CellMoments:
        """Summarise a batch of runs.

        Args:
            cell: what was run.
            columns: counter name -> array of numbers of shape (n,), one value per run.
            outcomes: how the n runs ended, outcome -> number of runs.

        Raises:
            ValueError: when there is no column, an array is not one-dimensional, not of numbers
                or not as long as the others, or the outcomes are not those of n runs.
        """
        return cls(cell, tuple(columns), *exact_sums(cell, columns), outcomes)

    def merged(self, other: CellMoments) -> CellMoments:
        """The moments of the runs of both; exact, so order and grouping do not matter.

        Raises:
            ValueError: when the two are of different cells or counters.
        """
        names = self.outcomes.keys() | other.outcomes.keys()
        outcomes = {n: self.outcomes.get(n, 0) + other.outcomes.get(n, 0) for n in names}
        return CellMoments(self.cell, self.counters, *added(self, other), outcomes, self.is_random)

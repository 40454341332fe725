"""What is kept of the runs of one cell: exact sums and sums of products of its counters.

These suffice for every mean, ratio and interval, take a few hundred bytes however many runs there
are, and merge without rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from rebecsim.experiments.exact_moments import (
    ExactMoments,
    IntColumn,
    Products,
    added,
    exact_sums,
)

__all__ = ["Cell", "CellMoments"]


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """Coordinates of one generated model in an experiment.

    Attributes:
        policy: name of the policy, as in "EDF".
        arrivals: label of the arrival pattern, as in "uniform 1".
        lengths: label of the length pattern, as in "nondet 1..6".
        app_masters: cluster size.
    """

    policy: str
    arrivals: str
    lengths: str
    app_masters: int

    @property
    def combination(self) -> tuple[str, str]:
        """The workload: labels of the arrival and of the length pattern."""
        return self.arrivals, self.lengths


@dataclass(frozen=True)
class CellMoments(ExactMoments):
    """First and second moments of the counters of one cell, exact and mergeable.

    Attributes:
        cell: which model the runs are of.
        counters: names of the k counters.
        replications: number of runs n.
        sums: sum of each counter over the runs, k integers.
        products: sums of x_i * x_j over the runs, k x k integers, symmetric.
        outcomes: how the runs ended: outcome -> number of runs, n in all.
    """

    cell: Cell
    counters: tuple[str, ...]
    replications: int
    sums: tuple[int, ...]
    products: Products
    outcomes: Mapping[str, int] = field(hash=False)

    def __post_init__(self) -> None:
        self._check()
        if sum(self.outcomes.values()) != self.replications:
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
        )

    @property
    def subject(self) -> Cell:
        """The cell."""
        return self.cell

    @classmethod
    def from_columns(
        cls, cell: Cell, columns: Mapping[str, IntColumn], outcomes: Mapping[str, int]
    ) -> CellMoments:
        """Summarise a batch of runs.

        Args:
            cell: the model that was run.
            columns: counter name -> integer array of shape (n,), one value per run.
            outcomes: how the n runs ended, outcome -> number of runs.

        Raises:
            ValueError: when there is no column, an array is not one-dimensional, not of integers
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
        return CellMoments(self.cell, self.counters, *added(self, other), outcomes)

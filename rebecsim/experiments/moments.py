"""What is kept of the runs of one cell: exact sums and sums of products of its counters.

These suffice for every mean, ratio and interval, take a few hundred bytes however many runs there
are, and merge. They are Python integers of any size, so merging is associative and commutative to
the last bit: neither the number of workers nor the size of a batch can change a result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from rebecsim.metrics import Weights

__all__ = ["Cell", "CellMoments"]

IntColumn = npt.NDArray[np.integer[Any]]


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
class CellMoments:
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
    products: tuple[tuple[int, ...], ...]
    outcomes: Mapping[str, int] = field(hash=False)

    def __post_init__(self) -> None:
        k = len(self.counters)
        if len(set(self.counters)) != k:
            raise ValueError(f"{self.cell}: a counter is named twice in {self.counters}")
        if len(self.sums) != k or [len(row) for row in self.products] != [k] * k:
            raise ValueError(f"{self.cell}: {k} counters need {k} sums and {k} x {k} products")
        if self.replications < 0 or sum(self.outcomes.values()) != self.replications:
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
        shapes = {np.shape(column) for column in columns.values()}
        if len(shapes) != 1 or len(next(iter(shapes))) != 1:
            raise ValueError(f"{cell}: counters need arrays of one shape (n,), not {shapes}")
        for name, column in columns.items():
            if column.dtype.kind not in "iu":
                raise ValueError(f"{cell}: counter {name} is of {column.dtype}, not of integers")
        exact = _exactly_summable(list(columns.values()))
        return cls(
            cell=cell,
            counters=tuple(columns),
            replications=len(exact[0]),
            sums=tuple(int(column.sum()) for column in exact),
            products=tuple(tuple(int(np.dot(a, b)) for b in exact) for a in exact),
            outcomes=outcomes,
        )

    def merged(self, other: CellMoments) -> CellMoments:
        """The moments of the runs of both; exact, so order and grouping do not matter.

        Raises:
            ValueError: when the two are of different cells or counters.
        """
        if (self.cell, self.counters) != (other.cell, other.counters):
            raise ValueError(
                f"cannot merge {self.cell} {self.counters} with {other.cell} {other.counters}"
            )
        names = self.outcomes.keys() | other.outcomes.keys()
        return CellMoments(
            cell=self.cell,
            counters=self.counters,
            replications=self.replications + other.replications,
            sums=tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)),
            products=tuple(
                tuple(a + b for a, b in zip(mine, theirs, strict=True))
                for mine, theirs in zip(self.products, other.products, strict=True)
            ),
            outcomes={n: self.outcomes.get(n, 0) + other.outcomes.get(n, 0) for n in names},
        )

    @property
    def means(self) -> npt.NDArray[np.float64]:
        """Mean of each counter per run, shape (k,).

        Raises:
            ValueError: when there are no runs.
        """
        self._require(1, "a mean")
        return np.array([total / self.replications for total in self.sums], dtype=np.float64)

    @property
    def covariance(self) -> npt.NDArray[np.float64]:
        """Sample covariance of the counters (divisor n - 1), shape (k, k).

        Raises:
            ValueError: when there are fewer than two runs.
        """
        self._require(2, "a covariance")
        scale = self.replications * (self.replications - 1)
        return np.array(
            [[self._scatter(i, j) / scale for j in self._indices] for i in self._indices],
            dtype=np.float64,
        ).reshape(len(self.counters), len(self.counters))

    def mean_of(self, weights: Weights) -> Fraction:
        """Exact mean per run of the linear combination `sum(weight * counter)`.

        Raises:
            KeyError: when a weight is for a counter that was not recorded.
            ValueError: when there are no runs.
        """
        self._require(1, "a mean")
        total = sum((Fraction(w) * self.sums[i] for i, w in self._located(weights)), Fraction(0))
        return total / self.replications

    def variance_of(self, weights: Weights) -> Fraction:
        """Exact sample variance (divisor n - 1) of a linear combination of counters.

        Exact, because the linearised ratio (see `statistics`) subtracts nearly equal numbers: in
        floating point a variance of zero could come out as a small negative number.

        Raises:
            KeyError: when a weight is for a counter that was not recorded.
            ValueError: when there are fewer than two runs.
        """
        self._require(2, "a variance")
        located = [(i, Fraction(weight)) for i, weight in self._located(weights)]
        scatter = sum((v * w * self._scatter(i, j) for i, v in located for j, w in located), 0)
        return Fraction(scatter) / (self.replications * (self.replications - 1))

    @property
    def _indices(self) -> range:
        return range(len(self.counters))

    def _scatter(self, i: int, j: int) -> int:
        """n times the sum of products of deviations of counters i and j from their means."""
        return self.replications * self.products[i][j] - self.sums[i] * self.sums[j]

    def _located(self, weights: Weights) -> list[tuple[int, int | float | Fraction]]:
        missing = sorted(set(weights) - set(self.counters))
        if missing:
            raise KeyError(
                f"{self.cell} has no counter {', '.join(missing)}; recorded are "
                f"{', '.join(self.counters)}"
            )
        return [(self.counters.index(name), weight) for name, weight in weights.items()]

    def _require(self, runs: int, what: str) -> None:
        if self.replications < runs:
            raise ValueError(
                f"{what} needs at least {runs} run(s), {self.cell} has {self.replications}"
            )


def _exactly_summable(columns: list[IntColumn]) -> list[npt.NDArray[Any]]:
    """The columns in a type in which sums of products cannot overflow.

    64-bit integers when the largest possible sum fits, Python integers (slow, unbounded) otherwise.
    """
    n = len(columns[0])
    largest = max((abs(int(e)) for c in columns if n for e in (c.min(), c.max())), default=0)
    exact_type: type = np.int64 if n * max(largest, 1) ** 2 < 2**63 else object
    return [column.astype(exact_type) for column in columns]

"""Exact first and second moments of counters: the arithmetic, whatever the runs are of.

Sums and sums of products are Python integers of any size, or fractions where what is counted is
not whole, so merging is associative and commutative to the last bit: neither the number of workers
nor the size of a batch can change a result.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from rebecsim.metrics import Weights

NumberColumn = npt.NDArray[np.integer[Any]] | npt.NDArray[np.floating[Any]]
Exact = int | Fraction
Products = tuple[tuple[Exact, ...], ...]
Subject = TypeVar("Subject", bound=Hashable)


@dataclass(frozen=True)
class ExactMoments(Generic[Subject]):
    """Moments of k counters over n runs, exact and mergeable.

    Attributes:
        subject: what the runs are of; error messages show it.
        counters: names of the k counters.
        replications: number of runs n.
        sums: sum of each counter over the runs, k exact numbers.
        products: sums of x_i * x_j over the runs, k x k exact numbers, symmetric.
    """

    subject: Subject
    counters: tuple[str, ...]
    replications: int
    sums: tuple[Exact, ...]
    products: Products

    def __post_init__(self) -> None:
        k = len(self.counters)
        if len(set(self.counters)) != k:
            raise ValueError(f"{self.subject}: a counter is named twice in {self.counters}")
        if len(self.sums) != k or [len(row) for row in self.products] != [k] * k:
            raise ValueError(f"{self.subject}: {k} counters need {k} sums and {k} x {k} products")
        if self.replications < 0:
            raise ValueError(f"{self.subject}: the number of runs cannot be {self.replications}")

    @classmethod
    def of_columns(cls, subject: Subject, columns: Mapping[str, NumberColumn], **more: Any) -> Self:
        """Sum up a batch of runs.

        Args:
            subject: what the runs are of.
            columns: counter name -> array of shape (n,), one finite number per run.
            more: what else a subclass has.

        Raises:
            ValueError: when there is no column, or an array is not one-dimensional, not of finite
                numbers or not as long as the others.
        """
        return cls(subject, tuple(columns), *_exact_sums(subject, columns), **more)

    def merged(self, other: Self) -> Self:
        """The moments of the runs of both; exact, so order and grouping do not matter.

        Raises:
            ValueError: when the two are of different subjects or counters.
        """
        return replace(self, **self._sums_with(other))

    def _sums_with(self, other: Self) -> dict[str, Any]:
        if (self.subject, self.counters) != (other.subject, other.counters):
            raise ValueError(
                f"cannot merge {self.subject} {self.counters} with {other.subject} {other.counters}"
            )
        products = zip(self.products, other.products, strict=True)
        return {
            "replications": self.replications + other.replications,
            "sums": _plus(self.sums, other.sums),
            "products": tuple(_plus(*rows) for rows in products),
        }

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
        exact = [(i, Fraction(weight)) for i, weight in self._located(weights)]
        # Weights as integers over a common denominator: adding fractions takes far longer.
        scale = math.lcm(*(weight.denominator for _, weight in exact))
        located = [(i, int(weight * scale)) for i, weight in exact]
        scatter = sum(v * w * self._scatter(i, j) for i, v in located for j, w in located)
        return Fraction(scatter) / (scale**2 * self.replications * (self.replications - 1))

    def _scatter(self, i: int, j: int) -> Exact:
        """n times the sum of products of deviations of counters i and j from their means."""
        return self.replications * self.products[i][j] - self.sums[i] * self.sums[j]

    def _located(self, weights: Weights) -> list[tuple[int, int | float | Fraction]]:
        missing = sorted(set(weights) - set(self.counters))
        if missing:
            raise KeyError(
                f"{self.subject} has no counter {', '.join(missing)}; recorded are "
                f"{', '.join(self.counters)}"
            )
        return [(self.counters.index(name), weight) for name, weight in weights.items()]

    def _require(self, runs: int, what: str) -> None:
        if self.replications < runs:
            raise ValueError(
                f"{what} needs at least {runs} run(s), {self.subject} has {self.replications}"
            )


def _exact_sums(
    subject: object, columns: Mapping[str, NumberColumn]
) -> tuple[int, tuple[Exact, ...], Products]:
    """The number of runs, the sums and the sums of products, in the order of the columns."""
    shapes = {np.shape(column) for column in columns.values()}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        raise ValueError(f"{subject}: counters need arrays of one shape (n,), not {shapes}")
    for name, column in columns.items():
        if column.dtype.kind not in "iuf" or not np.isfinite(column).all():
            raise ValueError(f"{subject}: counter {name} is not of finite numbers")
    scales = [_scale(column) for column in columns.values()]
    exact = _exactly_summable(
        [_whole(column, s) for column, s in zip(columns.values(), scales, strict=True)]
    )
    return (
        len(exact[0]),
        tuple(_divided(int(column.sum()), s) for column, s in zip(exact, scales, strict=True)),
        tuple(
            tuple(_divided(int(np.dot(a, b)), s * t) for b, t in zip(exact, scales, strict=True))
            for a, s in zip(exact, scales, strict=True)
        ),
    )


def _scale(column: npt.NDArray[Any]) -> int:
    """By what the numbers of a column must be multiplied to be whole: a power of two."""
    if column.dtype.kind != "f" or not len(column):
        return 1
    return max(float(number).as_integer_ratio()[1] for number in column)


def _whole(column: npt.NDArray[Any], scale: int) -> npt.NDArray[Any]:
    if column.dtype.kind != "f":
        return column
    return np.array([int(Fraction(float(number)) * scale) for number in column], dtype=object)


def _divided(total: int, scale: int) -> Exact:
    return total if scale == 1 else Fraction(total, scale)


def _plus(mine: Sequence[Exact], theirs: Sequence[Exact]) -> tuple[Exact, ...]:
    return tuple(a + b for a, b in zip(mine, theirs, strict=True))


def _exactly_summable(columns: list[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
    """The columns in a type in which sums of products cannot overflow.

    64-bit integers when the largest possible sum fits, Python integers (slow, unbounded) otherwise.
    """
    n = len(columns[0])
    largest = max((abs(int(e)) for c in columns if n for e in (c.min(), c.max())), default=0)
    exact_type: type = np.int64 if n * max(largest, 1) ** 2 < 2**63 else object
    return [column.astype(exact_type) for column in columns]

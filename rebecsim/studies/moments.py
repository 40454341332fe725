"""Sum up runs exactly: first and second moments of counters, by cell or by pairs of runs.

Sums and sums of products are Python integers of any size, or fractions where what is counted is
not whole, so merging is associative and commutative to the last bit: neither the number of workers
nor the size of a batch can change a result.

These suffice for every mean, ratio and interval, take a few hundred bytes however many runs there
are, and merge without rounding.

Replication r of a workload on a cluster size has the same random numbers under every policy
(common random numbers), so the runs of the policies are compared run by run. Sums of products
across policies hold all that a difference of two policies needs, whatever the metric.

Source: A. M. Law, "Simulation Modeling and Analysis", 5th edition, McGraw-Hill 2015, sections
10.2 (paired comparisons) and 11.2 (common random numbers).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from rebecsim.metrics import Weights
from rebecsim.studies.cells import REPLICATION, Cell, Condition

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

        Exact, because the linearised ratio (see `estimates`) subtracts nearly equal numbers: in
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


RunBatch = Mapping[str, NumberColumn]
"""Some runs of one cell: `REPLICATION` and counters -> array of shape (n,)."""


class UnpairedRunsError(ValueError):
    """Runs of several policies that are not the same replications in the same order."""


@dataclass(frozen=True)
class PairedMoments(ExactMoments[Condition]):
    """Exact moments of the counters of all policies in the same runs of one condition.

    The counters are joint ones: `of_policy` gives weights on them.

    Attributes:
        policies: their names.
    """

    policies: tuple[str, ...] = ()

    @property
    def condition(self) -> Condition:
        """What all policies ran on."""
        return self.subject

    @classmethod
    def from_columns(
        cls, condition: Condition, columns: Mapping[str, Mapping[str, NumberColumn]]
    ) -> PairedMoments:
        """Summarise a batch of runs; raises as `of_columns`.

        `columns` are policy -> counter -> array of shape (n,); place r of every array is the same
        replication.
        """
        joint = {
            _joint(policy, counter): column
            for policy, counters in columns.items()
            for counter, column in counters.items()
        }
        return cls.of_columns(condition, joint, policies=tuple(columns))

    @staticmethod
    def of_policy(policy: str, weights: Weights) -> Weights:
        """Weights on the counters of one policy, as weights on the joint counters."""
        return {_joint(policy, counter): weight for counter, weight in weights.items()}


def pair_up(condition: Condition, runs: Mapping[str, Iterable[RunBatch]]) -> PairedMoments:
    """Sum up the runs of several policies, read in step.

    The batches of the policies may be cut differently. No more than one batch of each policy is
    held at a time.

    Args:
        condition: what was run.
        runs: policy -> its runs, in batches with the same counters and in ascending order of
            `REPLICATION`.

    Raises:
        UnpairedRunsError: when the policies do not have the same replications in the same order,
            or there is none.
    """
    total: PairedMoments | None = None
    for batches in _in_step(runs):
        _require_same_runs(condition, batches)
        some = PairedMoments.from_columns(
            condition,
            {
                policy: {name: c for name, c in batch.items() if name != REPLICATION}
                for policy, batch in batches.items()
            },
        )
        total = some if total is None else total.merged(some)
    if total is None:
        raise UnpairedRunsError(f"{condition}: there are no runs to compare")
    return total


def _joint(policy: str, counter: str) -> str:
    return f"{policy}:{counter}"


def _in_step(runs: Mapping[str, Iterable[RunBatch]]) -> Iterator[dict[str, RunBatch]]:
    """Cut the batches of all policies at the same places."""
    streams = {policy: _filled(batches) for policy, batches in runs.items()}
    heads: dict[str, RunBatch | None] = dict.fromkeys(streams)
    while True:
        for policy, stream in streams.items():
            if heads[policy] is None:
                heads[policy] = next(stream, None)
        present = {policy: head for policy, head in heads.items() if head is not None}
        if not present:
            return
        if len(present) < len(heads):
            ended = ", ".join(policy for policy in heads if policy not in present)
            raise UnpairedRunsError(f"{ended}: fewer runs than {', '.join(present)}")
        length = min(_length(head) for head in present.values())
        yield {policy: _rows(head, 0, length) for policy, head in present.items()}
        heads = {
            policy: _rows(head, length, None) if _length(head) > length else None
            for policy, head in present.items()
        }


def _filled(batches: Iterable[RunBatch]) -> Iterator[RunBatch]:
    return (batch for batch in batches if _length(batch))


def _length(batch: RunBatch) -> int:
    return len(batch[REPLICATION])


def _rows(batch: RunBatch, first: int, end: int | None) -> RunBatch:
    return {name: column[first:end] for name, column in batch.items()}


def _require_same_runs(condition: Condition, batches: Mapping[str, RunBatch]) -> None:
    (first, reference), *others = batches.items()
    for policy, batch in others:
        if not np.array_equal(batch[REPLICATION], reference[REPLICATION]):
            raise UnpairedRunsError(
                f"{condition}: {first} and {policy} do not have the same replications in the same "
                "order"
            )

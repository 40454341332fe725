"""Metrics as data over counters, the usual metrics of batch schedules, and step functions of time.

Compute the usual metrics of batch schedules, and step functions of time such as usage.

Definitions after D. G. Feitelson and L. Rudolph, "Metrics and benchmarking for parallel job
scheduling" (JSSPP 1998), the bound of the slowdown after Feitelson (JSSPP 2001); for a job that is
submitted at s, starts at b, runs for r and takes p processors:

* wait b - s, response b + r - s, slowdown response / r,
* bounded slowdown max(1, response / max(r, 10 s)), which very short jobs do not dominate,
* AWRT and AWSD: means of response and slowdown weighted by p * r, so that a schedule does not look
  better by splitting jobs or by preferring small ones,
* fair slowdown: the slowdown that a job would have had at its fair start, unfairness how much later
  than that it started (Sabin, Kochhar and Sadayappan, ICPP 2004),
* makespan: from the first submission to the last end,
* utilisation: sum of p * r over processors times makespan.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from string import Formatter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rebecsim.workloads.logs import Schedule
    from rebecsim.workloads.workload import Integers

Weights: TypeAlias = Mapping[str, int | float | Fraction]
"""A linear combination of counters: counter name -> weight."""


@dataclass(frozen=True)
class Metric:
    """A figure of merit computed from the counters of many runs.

    Without a denominator the metric is the mean per run of `sum(weight * counter)`; with one it is
    the ratio of the two pooled sums (not the mean of the ratios of single runs).

    Attributes:
        name: identifier, used for columns and file names (`deadline_misses`).
        title: how a reader calls it, as in "Deadline misses".
        unit: unit of a mean ("jobs per run"), whose "%" are those of a share; for a ratio, what it
            is a share of.
        better: whether the lower or the higher value is the better one, or neither.
        numerator: counter name -> weight.
        denominator: counter name -> weight, or None for a mean.
        note: what the figure counts and what it leaves out, one or two sentences for a report.
        advantage: how to say that one policy does better than another, a sentence without its full
            stop in which {better}, {worse} and {amount} stand for the two policies and the
            difference (of a share in "percentage points"); a plain sentence by default.
        best: how to say that a policy has the best value, what follows its name, as in "misses the
            fewest deadlines"; a plain phrase by default.
        decimals: digits that are shown after the point; as many as the interval needs by default.
        measured: whether it is of values, and not of cases that are counted.
        least: the least value that it can have; None where there is none.
    """

    name: str
    title: str
    unit: str
    better: Literal["lower", "higher", "neither"]
    numerator: Weights = field(hash=False)
    denominator: Weights | None = field(default=None, hash=False)
    note: str = ""
    advantage: str = ""
    decimals: int | None = None
    measured: bool = False
    best: str = ""
    least: float | None = 0.0

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"a metric's name must be an identifier, not {self.name!r}")
        for part, weights in (("numerator", self.numerator), ("denominator", self.denominator)):
            if weights is None:
                continue
            if not weights:
                raise ValueError(f"metric {self.name}: the {part} names no counter")
            object.__setattr__(self, part, MappingProxyType(dict(weights)))
        if self.advantage:
            # Nothing but the three plain names: no attributes, formats or conversions.
            fields = [part[1:] for part in Formatter().parse(self.advantage) if part[1] is not None]
            expected = [(name, "", None) for name in ("amount", "better", "worse")]
            if sorted(fields, key=str) != expected:
                raise ValueError(
                    f"metric {self.name}: the advantage must name {{better}}, {{worse}} and "
                    f"{{amount}} once each: {self.advantage!r}"
                )

    def __reduce__(self) -> tuple[object, ...]:
        # Read-only views cannot be pickled, and a metric may travel to a worker process.
        return Metric, tuple(self.described.values())

    @property
    def described(self) -> dict[str, Any]:
        """The metric as data: the arguments that make it, by name."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: dict(v) if isinstance(v, Mapping) else v for name, v in values.items()}

    def says_advantage(self, better: str, worse: str, amount: str) -> str:
        """Say that one policy does better than another by an amount, without a full stop.

        Args:
            better: name of the policy with the better value; where neither is, with the higher.
            worse: name of the other one.
            amount: the difference as text, with "percentage points" for a share.
        """
        if self.advantage:
            return self.advantage.format(better=better, worse=worse, amount=amount)
        unit = "" if self.is_share or not self.unit else f" {self.unit}"
        how = "higher" if self.better == "neither" else self.better
        return f"{self.title}: {how} with {better} than with {worse} by {amount}{unit}"

    @property
    def counters(self) -> frozenset[str]:
        """Names of the counters that the metric reads."""
        return frozenset(self.numerator) | frozenset(self.denominator or ())

    @property
    def is_counted(self) -> bool:
        """Whether it is a count; metrics with their own number of digits are measured."""
        return self.decimals is None and not self.measured

    @property
    def limits(self) -> tuple[float, float]:
        """Range of the value: [0, 1] for a share, otherwise from `least` on."""
        if self.is_share:
            return 0.0, 1.0
        low = -math.inf if self.least is None else self.least
        return low, 100.0 if self.unit == "%" else math.inf

    @property
    def is_share(self) -> bool:
        """Whether the value lies in [0, 1] because the numerator is a part of the denominator.

        Counters count, so they are not negative; a numerator whose weights are between zero and
        those of the denominator can then never exceed it.
        """
        if self.denominator is None:
            return False
        whole = self.denominator
        return all(weight >= 0 for weight in whole.values()) and all(
            0 <= weight <= whole.get(counter, 0) for counter, weight in self.numerator.items()
        )


@dataclass(frozen=True, slots=True, eq=False)
class StepFunction:
    """A function of time that is 0 at first, then `values[i]` from `times[i]` to `times[i + 1]`.

    Attributes:
        times: moments of change, ascending, without repetition; seconds.
        values: of the same shape; the last one, 0, holds for ever.
    """

    times: Integers
    values: Integers

    def at(self, moments: Integers) -> Integers:
        """Give the values at some moments; at a moment of change, the new one."""
        return np.concatenate(([0], self.values))[np.searchsorted(self.times, moments, "right")]

    def means(self, edges: NDArray[Any]) -> NDArray[np.float64]:
        """Give the mean over each window between two edges, ascending: exact, no sampling."""
        whole = self.integral(edges)
        return np.asarray(np.diff(whole) / np.diff(edges), dtype=np.float64)

    def integral(self, moments: NDArray[Any]) -> NDArray[np.float64]:
        """Give the integral from the first change to each of the moments."""
        if not len(self.times):
            return np.zeros(len(moments))
        sums = np.concatenate(([0.0], np.cumsum(np.diff(self.times) * self.values[:-1])))
        return np.asarray(np.interp(moments, self.times, sums), dtype=np.float64)


def count_over_time(begin: Integers, end: Integers, weight: Integers | int = 1) -> StepFunction:
    """Give the sum of the weights of the intervals that are open, as a function of time.

    Intervals are from `begin` until before `end`, seconds; those without a length do not count.
    Running jobs weighted by their processors give the usage of a machine, waiting jobs the length
    of its queue. Raises ValueError for an interval that ends before it begins.
    """
    weights = np.broadcast_to(np.asarray(weight, dtype=np.int64), begin.shape)
    if (end < begin).any():
        raise ValueError("an interval ends before it begins")
    times, place = np.unique(np.concatenate((begin, end)), return_inverse=True)
    changes = np.zeros(len(times), dtype=np.int64)
    np.add.at(changes, place, np.concatenate((weights, -weights)))
    changed = changes != 0
    return StepFunction(times[changed], np.cumsum(changes[changed]))


SLOWDOWN_BOUND = 10
"""Run times below this count as this in a bounded slowdown; seconds."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A quantity over jobs. Percentiles interpolate linearly between neighbours (type 7)."""

    mean: float
    median: float
    percentile_90: float
    percentile_95: float
    percentile_99: float
    most: float


@dataclass(frozen=True, slots=True)
class BatchMetrics:
    """The metrics of a schedule, or of some of its jobs.

    Attributes:
        jobs: how many there are.
        wait, response: seconds.
        slowdown, bounded_slowdown: without a unit.
        awrt: average weighted response time, seconds.
        awsd: average weighted slowdown.
        makespan: seconds.
        utilisation: share of the processors that these jobs used during the makespan of them all,
            0 to 1.
    """

    jobs: int
    wait: Spread
    response: Spread
    slowdown: Spread
    bounded_slowdown: Spread
    awrt: float
    awsd: float
    makespan: int
    utilisation: float


@dataclass(frozen=True, slots=True)
class FairnessMetrics:
    """How much later jobs started than without later submissions.

    Attributes:
        late: share of the jobs that started after their fair start, 0 to 1.
        unfairness: how much later than fair jobs started, 0 for those that did not; seconds.
        fair_slowdown: the slowdown that jobs would have had at their fair start.
    """

    late: float
    unfairness: Spread
    fair_slowdown: Spread


def fairness_metrics(schedule: Schedule) -> FairnessMetrics:
    """Judge a schedule by fair starts. Raises ValueError if it has none, and without a job."""
    if schedule.fair_start is None or not len(schedule):
        raise ValueError("figures of fairness need the fair starts of jobs")
    unfairness = np.maximum(schedule.start - schedule.fair_start, 0)
    fair = schedule.fair_start + schedule.duration - schedule.workload.submit
    return FairnessMetrics(
        late=float((unfairness > 0).mean()),
        unfairness=_spread(unfairness),
        fair_slowdown=_spread(fair / _positive(schedule.duration)),
    )


def response(schedule: Schedule) -> NDArray[np.int64]:
    """Give the response time of each job, from submission to end; seconds."""
    return schedule.end - schedule.workload.submit


def slowdown(schedule: Schedule) -> NDArray[np.float64]:
    """Give the response time of each job over the time it ran."""
    return np.asarray(response(schedule) / _positive(schedule.duration), dtype=np.float64)


def bounded_slowdown(schedule: Schedule) -> NDArray[np.float64]:
    """Give the bounded slowdown of each job, with a bound of 10 s."""
    lasts = np.maximum(schedule.duration, SLOWDOWN_BOUND)
    return np.asarray(np.maximum(response(schedule) / lasts, 1.0), dtype=np.float64)


def batch_metrics(
    schedule: Schedule, *, processors: int | None = None, only: NDArray[Any] | None = None
) -> BatchMetrics:
    """Give the metrics of a schedule.

    Args:
        schedule: one job or more, each running for a second or longer.
        processors: of the machine; the workload's capacity if not given.
        only: the jobs that count, as a mask or as indices; all jobs if not given. The makespan is
            that of the whole schedule all the same.

    Raises ValueError without jobs, or for one with run time 0.
    """
    chosen = schedule if only is None else schedule.select(only)
    if not len(chosen):
        raise ValueError("a schedule without jobs has no metrics")
    responses, slowdowns = response(chosen), slowdown(chosen)
    area = (chosen.workload.processors * chosen.duration).astype(np.float64)
    makespan = int(schedule.end.max() - schedule.workload.submit.min())
    machine = schedule.workload.capacity if processors is None else processors
    return BatchMetrics(
        jobs=len(chosen),
        wait=_spread(chosen.wait),
        response=_spread(responses),
        slowdown=_spread(slowdowns),
        bounded_slowdown=_spread(bounded_slowdown(chosen)),
        awrt=float(np.average(responses, weights=area)),
        awsd=float(np.average(slowdowns, weights=area)),
        makespan=makespan,
        utilisation=float(area.sum()) / (machine * makespan),
    )


def batch_metrics_by(
    schedule: Schedule,
    group: NDArray[np.int64],
    *,
    processors: int | None = None,
    only: NDArray[Any] | None = None,
) -> dict[int, BatchMetrics]:
    """Give the metrics of each group of jobs, by its number, ascending.

    `group` has shape (jobs,): `schedule.workload.user` or `.queue`, for instance; `only` chooses
    jobs as in `batch_metrics`. The utilisations of the groups add up to that of the schedule.
    """
    view = np.arange(len(schedule)) if only is None else np.arange(len(schedule))[only]
    order = view[np.argsort(group[view], kind="stable")]
    names, firsts = np.unique(group[order], return_index=True)
    return {
        int(name): batch_metrics(schedule, processors=processors, only=jobs)
        for name, jobs in zip(names, np.split(order, firsts[1:]), strict=True)
    }


def _positive(duration: NDArray[np.int64]) -> NDArray[np.int64]:
    if (duration < 1).any():
        raise ValueError("the slowdown of a job with run time 0 is undefined")
    return duration


def _spread(values: NDArray[Any]) -> Spread:
    percentiles = np.percentile(values, (50, 90, 95, 99, 100)).tolist()
    return Spread(float(values.mean()), *percentiles)

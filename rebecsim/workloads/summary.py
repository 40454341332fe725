"""Describe a workload, or a trace of container jobs, in figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.workloads.container_jobs import ContainerJob
from rebecsim.workloads.workload import Integers, Workload, offered_load


@dataclass(frozen=True, slots=True)
class Distribution:
    """Where the values of a column lie. Quantiles interpolate linearly between neighbours.

    Attributes:
        name: of what.
        unit: of the values.
        count: how many are known; the rest is of these.
    """

    name: str
    unit: str
    count: int
    mean: float
    least: float
    lower_quartile: float
    median: float
    upper_quartile: float
    percentile_95: float
    most: float


@dataclass(frozen=True, slots=True)
class WorkloadSummary:
    """A workload in numbers.

    Attributes:
        jobs: how many.
        skipped: rows of the log that are not jobs, by reason.
        capacity: processors of the machine.
        users, groups, queues, executables: how many different ones; 0 if unknown.
        span: seconds from the first to the last submission.
        offered_load: see `workload.offered_load`.
        work: processor seconds of all jobs.
        serial: share of jobs with one processor.
        power_of_two: share of jobs with two, four, eight, ... processors.
        estimated: share of jobs with a requested time.
        overrun: share of the jobs with a requested time that ran longer than that.
        half_of_work: the fewest users that have half of the work; 0 if users are unknown.
        distributions: of run times, requested times, processors, work and times between arrivals.
    """

    jobs: int
    skipped: dict[str, int]
    capacity: int
    users: int
    groups: int
    queues: int
    executables: int
    span: int
    offered_load: float
    work: int
    serial: float
    power_of_two: float
    estimated: float
    overrun: float
    half_of_work: int
    distributions: tuple[Distribution, ...]


def summarise(workload: Workload) -> WorkloadSummary:
    """Describe a workload of one job or more."""
    taken = workload.processors
    requested = workload.requested_time > 0
    overrun = (workload.run > workload.requested_time)[requested]
    return WorkloadSummary(
        jobs=len(workload),
        skipped=dict(workload.skipped),
        capacity=workload.capacity,
        users=_different(workload.user),
        groups=_different(workload.group),
        queues=_different(workload.queue),
        executables=_different(workload.executable),
        span=int(workload.submit[-1] - workload.submit[0]),
        offered_load=offered_load(workload),
        work=int(workload.area.sum()),
        serial=float((taken == 1).mean()),
        power_of_two=float(((taken > 1) & (taken & (taken - 1) == 0)).mean()),
        estimated=float(requested.mean()),
        overrun=float(overrun.mean()) if len(overrun) else 0.0,
        half_of_work=_users_of_half(workload),
        distributions=tuple(
            _distribution(name, unit, values)
            for name, unit, values in (
                ("run time", "s", workload.run),
                ("requested time", "s", workload.requested_time[requested]),
                ("processors", "", taken),
                ("work", "processor h", workload.area / 3600),
                ("between arrivals", "s", np.diff(workload.submit)),
            )
            if len(values)
        ),
    )


def local_clock(workload: Workload) -> tuple[Integers, bool]:
    """Give the seconds of each submission from a midnight, and whether it is the machine's own.

    It is, where the header says when the log begins (UnixStartTime) and in which zone (TimeZone,
    seconds east of Greenwich). Otherwise seconds are counted from the log's beginning.
    """
    begin, zone = (workload.header.get(key, "") for key in ("UnixStartTime", "TimeZone"))
    if not (re.fullmatch(r"\d{1,15}", begin) and re.fullmatch(r"[+-]?\d{1,9}", zone)):
        return workload.submit, False
    return workload.submit + (int(begin) + int(zone)) % 86_400, True


def _different(column: Integers) -> int:
    return len(np.unique(column[column >= 0]))


def _users_of_half(workload: Workload) -> int:
    known = workload.user >= 0
    if not known.any():
        return 0
    _, owner = np.unique(workload.user[known], return_inverse=True)
    work = np.sort(np.bincount(owner, weights=workload.area[known]))[::-1]
    return int(np.searchsorted(np.cumsum(work), work.sum() / 2)) + 1


def _distribution(name: str, unit: str, values: NDArray[Any]) -> Distribution:
    quantiles = np.quantile(values, (0.0, 0.25, 0.5, 0.75, 0.95, 1.0)).tolist()
    return Distribution(name, unit, len(values), float(values.mean()), *quantiles)


_HOUR_MS = 3_600_000
_GB_MB = 1024
_QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True, slots=True)
class ContainerSummary:
    """A trace in numbers.

    Attributes:
        jobs: how many.
        waiting: how many of them wait for another to finish.
        maps, reduces: how many tasks of each kind.
        users, queues: how many different ones.
        labels: of nodes that jobs ask for.
        span: milliseconds from the first to the last submission of jobs that wait for no other.
        memory_hours: GB times hours of all tasks in the memory that they ask for.
        core_hours: cores times hours of all tasks.
        elastic: how many tasks have a penalty of their own for less memory.
        distributions: of tasks by job, of durations, memory and cores by task, and of times
            between arrivals. A quantile is the least value that so many do not exceed.
    """

    jobs: int
    waiting: int
    maps: int
    reduces: int
    users: int
    queues: int
    labels: tuple[str, ...]
    span: int
    memory_hours: float
    core_hours: float
    elastic: int
    distributions: tuple[Distribution, ...]


def summarise_containers(jobs: Sequence[ContainerJob]) -> ContainerSummary:
    """Describe a trace of one job or more."""
    classes = [each for job in jobs for each in job.classes]
    starts = np.sort([job.start for job in jobs if job.start is not None])
    tasks = {kind: sum(each.count for each in classes if each.kind == kind) for kind in _KINDS}
    return ContainerSummary(
        jobs=len(jobs),
        waiting=sum(job.after is not None for job in jobs),
        maps=tasks["map"],
        reduces=tasks["reduce"],
        users=len({job.user for job in jobs}),
        queues=len({job.queue for job in jobs}),
        labels=tuple(sorted({job.label for job in jobs if job.label})),
        span=int(starts[-1] - starts[0]) if len(starts) else 0,
        memory_hours=sum(c.count * c.duration * c.memory for c in classes) / _HOUR_MS / _GB_MB,
        core_hours=sum(each.count * each.duration * each.cores for each in classes) / _HOUR_MS,
        elastic=sum(each.count for each in classes if each.penalty is not None),
        distributions=tuple(_distributions(jobs, np.diff(starts))),
    )


_KINDS = ("map", "reduce")


def _distributions(jobs: Sequence[ContainerJob], gaps: NDArray[Any]) -> list[Distribution]:
    classes = [each for job in jobs for each in job.classes]
    counts = np.array([each.count for each in classes], dtype=np.float64)
    columns = (
        ("tasks of a job", "", [sum(c.count for c in job.classes) for job in jobs], None),
        ("duration", "s", [each.duration / 1000 for each in classes], counts),
        ("memory", "MB", [each.memory for each in classes], counts),
        ("cores", "", [each.cores for each in classes], counts),
        ("between arrivals", "s", gaps / 1000, None),
    )
    return [
        _weighted_distribution(name, unit, np.asarray(values, dtype=np.float64), weights)
        for name, unit, values, weights in columns
        if len(values)
    ]


def _weighted_distribution(
    name: str, unit: str, values: NDArray[Any], weights: NDArray[Any] | None
) -> Distribution:
    """Describe values, each counted as often as its weight says."""
    weights = np.ones(len(values)) if weights is None else weights
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    places = np.searchsorted(reached, np.array(_QUANTILES) * reached[-1])
    quantiles = values[order][np.minimum(places, len(values) - 1)].tolist()
    mean = float(np.average(values, weights=weights))
    return Distribution(name, unit, round(float(reached[-1])), mean, *quantiles)

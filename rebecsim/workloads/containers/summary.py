"""Figures that describe a trace of container jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.workloads.containers.jobs import ContainerJob
from rebecsim.workloads.summary import Distribution

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
        _distribution(name, unit, np.asarray(values, dtype=np.float64), weights)
        for name, unit, values, weights in columns
        if len(values)
    ]


def _distribution(
    name: str, unit: str, values: NDArray[Any], weights: NDArray[Any] | None
) -> Distribution:
    """Describe values, each of which stands for as many as its weight says."""
    weights = np.ones(len(values)) if weights is None else weights
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    places = np.searchsorted(reached, np.array(_QUANTILES) * reached[-1])
    quantiles = values[order][np.minimum(places, len(values) - 1)].tolist()
    mean = float(np.average(values, weights=weights))
    return Distribution(name, unit, round(float(reached[-1])), mean, *quantiles)

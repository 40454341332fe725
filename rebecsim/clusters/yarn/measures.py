"""The figures by which runs of YARN clusters are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from operator import mul
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.yarn.cluster import Finished
from rebecsim.clusters.yarn.containers import Container
from rebecsim.clusters.yarn.tables import ContainerColumns, kept_memory, last_end
from rebecsim.metrics import Metric

_SECOND = 1000
_SHORTEST = 10 * _SECOND
"""Jobs whose longest task is shorter count as so long where durations are compared with it (ms)."""


@dataclass(frozen=True)
class MeasuredRun:
    """A run, and what figures are computed from.

    Attributes:
        run: the run.
        containers: its containers as columns.
    """

    run: Finished
    containers: ContainerColumns

    @cached_property
    def durations(self) -> NDArray[np.float64]:
        """From the submission to the end of each job (s), shape (jobs,)."""
        jobs = self.run.served
        return np.array([(job.end or 0) - job.start for job in jobs]) / _SECOND

    @cached_property
    def slowdowns(self) -> NDArray[np.float64]:
        """Durations over those of the longest tasks, 10 s and a factor of 1 at least."""
        jobs = self.run.served
        alone = [max(task.duration for task, _ in job.tasks) for job in jobs]
        return np.maximum(self.durations / (np.maximum(alone, _SHORTEST) / _SECOND), 1.0)

    @cached_property
    def makespan(self) -> float:
        """From the first submission to the last end (s)."""
        return (last_end(self.run) - min(job.start for job in self.run.applications)) / _SECOND

    @cached_property
    def capacity(self) -> float:
        """Memory of all nodes, for the makespan (MB s)."""
        return sum(node.size.memory for node in self.run.nodes) * self.makespan

    @cached_property
    def used(self) -> float:
        """Memory of containers, from their launch to their end (MB s)."""
        each = self.containers
        return float(((each.finished - each.launched) * each.given).sum()) / _SECOND

    @cached_property
    def kept(self) -> float:
        """Free memory of nodes while they were reserved (MB s)."""
        end = np.array([last_end(self.run)])
        return float(
            sum(each.integral(end)[0] for each in kept_memory(self.run, self.containers)) / _SECOND
        )

    @cached_property
    def waits(self) -> NDArray[np.float64]:
        """From the submission of each job until its AppMaster had a container (s)."""
        jobs = self.run.served
        return np.array([job.containers[0].scheduled - job.start for job in jobs]) / _SECOND

    @cached_property
    def killed(self) -> list[Container]:
        """The containers that were killed."""
        return [each for job in self.run.applications for each in job.containers if each.killed]

    @property
    def wasted(self) -> float:
        """Memory of these, from their launch until they were killed (MB s)."""
        spans = ((each.finished or 0) - (each.launched or 0) for each in self.killed)
        return float(sum(map(mul, spans, (each.memory for each in self.killed)))) / _SECOND

    @cached_property
    def looks(self) -> dict[str, int]:
        """How often schedulers looked at a task, and what came of it, over all jobs."""
        names = ("total", "accepted", "rejected", "reserved", "elastic")
        jobs = self.run.applications
        return {name: sum(getattr(job.decisions, name) for job in jobs) for name in names}

    def share_of_looks(self, name: str) -> float:
        """Give the share of a result among all looks (%)."""
        return 100 * self.looks[name] / max(self.looks["total"], 1)


@dataclass(frozen=True, slots=True)
class YarnMeasure:
    """One figure of a run.

    Attributes:
        metric: what it is; each run has one value of it.
        of: gives the value.
    """

    metric: Metric
    of: Callable[[MeasuredRun], float]


def _measure(
    name: str,
    title: str,
    unit: str,
    note: str,
    of: Callable[[MeasuredRun], float],
    better: Literal["lower", "higher", "neither"] = "lower",
    decimals: int = 1,
) -> YarnMeasure:
    metric = Metric(
        name, title, unit, better, {name: 1}, note=note, decimals=decimals, measured=True
    )
    return YarnMeasure(metric, of)


def jain(values: NDArray[np.float64]) -> float:
    """Give Jain's index of fairness of positive values, shape (jobs,): 1 if all are equal, 1/n if
    one has all.

    Jain, Chiu and Hawe (1984), equation 2.
    """
    return float(values.sum() ** 2 / (len(values) * (values**2).sum()))


def _elastic_share(each: MeasuredRun) -> float:
    tasks = each.containers.is_task
    return 100 * float(each.containers.elastic[tasks].sum()) / max(int(tasks.sum()), 1)


def _local_share(each: MeasuredRun) -> float:
    locality = each.containers.locality
    return 100 * float((locality == 1).sum()) / max(int((locality > 0).sum()), 1)


YARN_MEASURES: tuple[YarnMeasure, ...] = (
    _measure(
        "mean_duration",
        "Job duration",
        "s",
        "From submission to end, mean over the jobs.",
        lambda each: float(each.durations.mean()),
    ),
    _measure(
        "median_duration",
        "Median of job durations",
        "s",
        "Half of the jobs took at most so long.",
        lambda each: float(np.median(each.durations)),
    ),
    _measure(
        "p95_duration",
        "95th percentile of job durations",
        "s",
        "95 % of the jobs took at most so long.",
        lambda each: float(np.percentile(each.durations, 95)),
    ),
    _measure(
        "makespan",
        "Makespan",
        "s",
        "From the first submission to the last end.",
        lambda each: each.makespan,
    ),
    _measure(
        "memory_used",
        "Memory used",
        "%",
        "Memory of containers from launch to end, of that of all nodes during the makespan.",
        lambda each: 100 * each.used / each.capacity,
        "higher",
    ),
    _measure(
        "memory_reserved",
        "Memory reserved",
        "%",
        "Free memory of nodes that were kept for a task that did not fit, of the same.",
        lambda each: 100 * each.kept / each.capacity,
    ),
    _measure(
        "elastic",
        "Elastic containers",
        "%",
        "Containers of tasks that got less memory than they asked for.",
        _elastic_share,
        "neither",
    ),
    _measure(
        "local",
        "Local tasks",
        "%",
        "Of tasks that would rather run on some node of the cluster, those that did; 0 where "
        "placement is not asked for.",
        _local_share,
        "higher",
    ),
    _measure(
        "accepted",
        "Accepted",
        "%",
        "Of all times that the scheduler looked at the next task of a job, it gave a container.",
        lambda each: each.share_of_looks("accepted"),
        "neither",
    ),
    _measure(
        "reserved",
        "Reserved",
        "%",
        "Of the same, it reserved the node.",
        lambda each: each.share_of_looks("reserved"),
        "neither",
    ),
    _measure(
        "mean_slowdown",
        "Slowdown",
        "",
        "Duration of a job over that of its longest task (10 s at least), 1 at least; mean over "
        "the jobs.",
        lambda each: float(each.slowdowns.mean()),
        decimals=2,
    ),
    _measure(
        "fairness",
        "Fairness",
        "%",
        "Jain's index of the jobs' slowdowns: 100 % if all are slowed down alike.",
        lambda each: 100 * jain(each.slowdowns),
        "higher",
    ),
)
"""All figures, in the order of tables."""

QUEUE_MEASURES: tuple[YarnMeasure, ...] = (
    _measure(
        "mean_wait",
        "Waiting",
        "s",
        "From submission until the AppMaster has a container, mean over the jobs.",
        lambda each: float(each.waits.mean()),
    ),
    _measure(
        "killed",
        "Killed containers",
        "",
        "Containers that were killed so that others have their place.",
        lambda each: len(each.killed),
        decimals=0,
    ),
    _measure(
        "wasted",
        "Wasted memory",
        "GB h",
        "Memory of killed containers, from launch until then.",
        lambda each: each.wasted / 1024 / 3600,
    ),
    _measure(
        "refused",
        "Refused jobs",
        "",
        "Jobs that were not let in, as their queue is stopped or full, or that never end.",
        lambda each: len(each.run.applications) - len(each.run.served),
        decimals=0,
    ),
)
"""Those of runs under queues, after the others."""


def run_figures(measured: MeasuredRun, *, queues: bool = False) -> dict[str, float]:
    """Compute the figures of a run, by their names; with those of queues, if asked for."""
    measures = (*YARN_MEASURES, *QUEUE_MEASURES) if queues else YARN_MEASURES
    return {each.metric.name: each.of(measured) for each in measures}

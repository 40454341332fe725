"""The figures by which runs of YARN clusters are compared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.kit.measures import (
    bounded_slowdowns,
    figures_of,
    jain_percent,
    mean,
    measure,
    measures_of,
    median,
    of_jobs,
    percentile_95,
)
from rebecsim.clusters.yarn.cluster import Finished
from rebecsim.clusters.yarn.containers import Container
from rebecsim.clusters.yarn.tables import ContainerColumns, kept_memory, last_end

_SECOND = 1000


@dataclass(frozen=True)
class MeasuredRun:
    """A run, and its figures in the order of tables.

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
        longest = [max(task.duration for task, _ in job.tasks) for job in self.run.served]
        return bounded_slowdowns(self.durations, np.array(longest) / _SECOND)

    @cached_property
    def capacity(self) -> float:
        """Memory of all nodes, for the makespan (MB s)."""
        memory = sum(node.size.memory for node in self.run.nodes)
        return float(memory * self.makespan)

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
    def killed_containers(self) -> list[Container]:
        """The containers that were killed."""
        return [each for job in self.run.applications for each in job.containers if each.killed]

    def share_of_looks(self, result: str) -> float:
        """Give the share of a result among all times that a scheduler looked at a task (%)."""
        decisions = [job.decisions for job in self.run.applications]
        total = sum(each.total for each in decisions)
        return 100 * float(sum(getattr(each, result) for each in decisions)) / max(total, 1)

    mean_duration = of_jobs(
        "durations", mean, "Job duration", "s", "From submission to end, mean over the jobs."
    )
    median_duration = of_jobs(
        *("durations", median, "Median of job durations", "s"),
        "Half of the jobs took at most so long.",
    )
    p95_duration = of_jobs(
        *("durations", percentile_95, "95th percentile of job durations", "s"),
        "95 % of the jobs took at most so long.",
    )

    @measure("Makespan", "s")
    def makespan(self) -> float:
        """From the first submission to the last end."""
        return (last_end(self.run) - min(job.start for job in self.run.applications)) / _SECOND

    @measure("Memory used", "%", "higher")
    def memory_used(self) -> float:
        """Memory of containers from launch to end, of that of all nodes during the makespan."""
        return 100 * self.used / self.capacity

    @measure("Memory reserved", "%")
    def memory_reserved(self) -> float:
        """Free memory of nodes that were kept for a task that did not fit, of the same."""
        return 100 * self.kept / self.capacity

    @measure("Elastic containers", "%", "neither")
    def elastic(self) -> float:
        """Containers of tasks that got less memory than they asked for."""
        tasks = self.containers.is_task
        return 100 * float(self.containers.elastic[tasks].sum()) / max(int(tasks.sum()), 1)

    @measure("Local tasks", "%", "higher")
    def local(self) -> float:
        """Of tasks that would rather run on some node of the cluster, those that did; 0 where
        placement is not asked for.
        """
        locality = self.containers.locality
        return 100 * float((locality == 1).sum()) / max(int((locality > 0).sum()), 1)

    @measure("Accepted", "%", "neither")
    def accepted(self) -> float:
        """Of all times that the scheduler looked at the next task of a job, it gave a container."""
        return self.share_of_looks("accepted")

    @measure("Reserved", "%", "neither")
    def reserved(self) -> float:
        """Of the same, it reserved the node."""
        return self.share_of_looks("reserved")

    mean_slowdown = of_jobs(
        *("slowdowns", mean, "Slowdown", ""),
        "Duration of a job over that of its longest task (10 s at least), 1 at least; mean over "
        "the jobs.",
        decimals=2,
    )
    fairness = of_jobs(
        *("slowdowns", jain_percent, "Fairness", "%"),
        "Jain's index of the jobs' slowdowns: 100 % if all are slowed down alike.",
        "higher",
    )

    @measure("Waiting", "s", needs="queues")
    def mean_wait(self) -> float:
        """From submission until the AppMaster has a container, mean over the jobs."""
        return mean(self.waits)

    @measure("Killed containers", decimals=0, needs="queues")
    def killed(self) -> float:
        """Containers that were killed so that others have their place."""
        return len(self.killed_containers)

    @measure("Wasted memory", "GB h", needs="queues")
    def wasted(self) -> float:
        """Memory of killed containers, from launch until then."""
        spans = (
            ((each.finished or 0) - (each.launched or 0)) * each.memory
            for each in self.killed_containers
        )
        return sum(spans) / _SECOND / 1024 / 3600

    @measure("Refused jobs", decimals=0, needs="queues")
    def refused(self) -> float:
        """Jobs that were not let in, as their queue is stopped or full, or that never end."""
        return len(self.run.applications) - len(self.run.served)


MEASURES = measures_of(MeasuredRun)
YARN_MEASURES = tuple(each for each in MEASURES if not each.needs)
"""Measures of all runs."""

QUEUE_MEASURES = tuple(each for each in MEASURES if each.needs)
"""Measures of runs under queue files, after the others."""


QUEUE_FIGURES: tuple[tuple[str, str, str, int], ...] = (
    ("jobs", "Jobs", "", 0),
    ("refused", "Refused jobs", "", 0),
    ("wait", "Waiting", "s", 1),
    ("duration", "Job duration", "s", 1),
    ("share", "Memory", "% of the cluster", 1),
    ("guaranteed", "Guaranteed", "%", 1),
    ("killed", "Killed containers", "", 0),
    ("wasted", "Wasted memory", "GB h", 2),
)
"""Figures of each queue: name, title, unit, decimals."""


def run_figures(measured: MeasuredRun, *, queues: bool = False) -> dict[str, float]:
    """Compute the figures of a run, by their names; with those of queues, if asked for."""
    return figures_of(MEASURES, measured, ["queues"] if queues else [])

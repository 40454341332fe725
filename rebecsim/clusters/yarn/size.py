"""How large a run of a YARN cluster is, before it is made."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from rebecsim.clusters.yarn.inputs import RunSetup
from rebecsim.clusters.yarn.scenario import Between
from rebecsim.studies.size import RunSize
from rebecsim.workloads.containers.jobs import ContainerJob

_SECONDS_A_TASK = 3e-5
_SECONDS_A_NODE = 1.5e-4
_SECONDS_A_SECOND = 8e-6
"""Measured with 160 jobs, with 4,000 nodes, and with tasks of up to 12,000 s."""

_BYTES_A_TASK = 1_000
_BYTES_A_NODE = 3_000


def run_size(setup: RunSetup) -> RunSize:
    """Estimate a run. Raises WorkloadError, UserError and OSError for files that are wrong."""
    drawn = setup.scenario.workload.generate
    table = setup.scenario.cluster
    nodes = sum(each.count for each in table.nodes) or len(setup.nodes())
    if drawn is None:
        return size_of_jobs(setup.jobs(0), nodes)
    tasks = round(drawn.jobs * _mean(drawn.tasks, drawn.jobs))
    return _size(drawn.jobs, tasks, nodes, _mean(drawn.duration, tasks))


def size_of_jobs(jobs: Sequence[ContainerJob], nodes: int) -> RunSize:
    """Estimate a run of jobs that are known."""
    tasks = sum(each.count for job in jobs for each in job.classes)
    return _size(len(jobs), tasks, nodes, 0.0)


def _size(jobs: int, tasks: int, nodes: int, seconds: float) -> RunSize:
    return RunSize(
        jobs,
        tasks,
        tasks * _SECONDS_A_TASK + nodes * _SECONDS_A_NODE + seconds * _SECONDS_A_SECOND,
        tasks * _BYTES_A_TASK + nodes * _BYTES_A_NODE,
    )


def _mean(between: Between, draws: int) -> float:
    """Give the mean of what is drawn; an exponential law is stretched to the most of all draws."""
    high = between.low if between.high is None else between.high
    part = 1 / (log(draws) + 0.6) if between.shape == "exponential" and draws > 2 else 0.5
    return between.low + (high - between.low) * part

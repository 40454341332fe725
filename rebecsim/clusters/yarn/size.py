"""How large a run of a YARN cluster is, before it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from rebecsim.clusters.yarn.inputs import RunSetup
from rebecsim.clusters.yarn.node import NodeSize
from rebecsim.clusters.yarn.scenario import Between
from rebecsim.clusters.yarn.schedulers.peek import Peek
from rebecsim.clusters.yarn.schedulers.registry import yarn_scheduler
from rebecsim.studies.size import RunSize
from rebecsim.workloads.container_jobs import ContainerJob

_SECONDS_A_TASK = 2e-5
_SECONDS_A_TASK_IN_QUEUES = 1.6e-4
_SECONDS_A_NODE = 1.5e-4
_SECONDS_A_SECOND = 8e-6
_SECONDS_A_LOOK = 1.8e-7
"""Measured with 160 jobs, with 1,500 tasks under the Capacity Scheduler, with 4,000 nodes, with
tasks of up to 12,000 s, and with 1,000 jobs of which most wait: heartbeats of nodes look at them.
"""

_SECONDS_A_FORESIGHT = 1e-4
_SECONDS_A_FORESEEN_TASK = 3.5e-6
"""Measured with 180 to 1,000 tasks: for each one a run of those that wait is looked ahead at."""

_BYTES_A_TASK = 1_000
_BYTES_A_NODE = 3_000


@dataclass(frozen=True)
class _Load:
    """What a cluster has to do.

    Attributes:
        jobs, tasks: how many.
        longest: task, in the mean (s); 0: it does not matter.
        work: memory times time of all tasks (MB s).
        span: the time in which jobs are submitted (s).
    """

    jobs: int
    tasks: int
    longest: float
    work: float
    span: float


def run_size(setup: RunSetup) -> RunSize:
    """Estimate a run. Raises WorkloadError, UserError and OSError for files that are wrong."""
    drawn = setup.scenario.workload.generate
    table = setup.scenario.cluster
    nodes, memory = (
        _total(setup.nodes())
        if not table.nodes
        else (
            sum(each.count for each in table.nodes),
            sum(each.count * each.memory for each in table.nodes),
        )
    )
    if drawn is None:
        load = _load_of(setup.jobs(0))
    else:
        tasks = round(drawn.jobs * _mean(drawn.tasks, drawn.jobs))
        longest = _mean(drawn.duration, tasks)
        high = drawn.start.low if drawn.start.high is None else drawn.start.high
        span = (high - drawn.start.low) / setup.load_factor
        load = _Load(drawn.jobs, tasks, longest, tasks * longest * _mean(drawn.memory, tasks), span)
    if setup.has_queues:
        return _size(load, nodes, memory, _SECONDS_A_TASK_IN_QUEUES, is_foreseeing=False)
    is_foreseeing = issubclass(yarn_scheduler(setup.scheduler).scheduler, Peek)
    return _size(load, nodes, memory, _SECONDS_A_TASK, is_foreseeing)


def size_of_jobs(
    jobs: Sequence[ContainerJob], nodes: Sequence[NodeSize], scheduler: str
) -> RunSize:
    """Estimate a run of jobs that are known."""
    is_foreseeing = issubclass(yarn_scheduler(scheduler).scheduler, Peek)
    return _size(_load_of(jobs), *_total(nodes), _SECONDS_A_TASK, is_foreseeing)


def _total(nodes: Sequence[NodeSize]) -> tuple[int, int]:
    return len(nodes), sum(each.memory for each in nodes)


def _load_of(jobs: Sequence[ContainerJob]) -> _Load:
    tasks = work = 0
    for job in jobs:
        tasks += sum(each.count for each in job.classes)
        work += sum(each.count * each.memory * each.duration for each in job.classes)
    starts = [job.start for job in jobs if job.start is not None]
    span = max(starts, default=0) - min(starts, default=0)
    return _Load(len(jobs), tasks, 0.0, work / 1000, span / 1000)


def _size(load: _Load, nodes: int, memory: int, a_task: float, is_foreseeing: bool) -> RunSize:
    busy = load.work / max(memory, 1)
    makespan = max(load.span, busy)
    # Of jobs that come evenly so many wait in the mean, until all have ended.
    waiting = (1 - load.span / makespan) / 2 if makespan > 0 else 0.0
    seconds = (
        load.tasks * a_task
        + nodes * (_SECONDS_A_NODE + makespan * load.jobs * waiting * _SECONDS_A_LOOK)
        + load.longest * _SECONDS_A_SECOND
    )
    if is_foreseeing:
        seconds += load.tasks * _SECONDS_A_FORESIGHT
        seconds += load.tasks * load.tasks * waiting * _SECONDS_A_FORESEEN_TASK
    used = load.tasks * _BYTES_A_TASK + nodes * _BYTES_A_NODE
    return RunSize(load.jobs, load.tasks, seconds, used)


def _mean(between: Between, draws: int) -> float:
    """Give the mean of what is drawn; an exponential law is stretched to the most of all draws."""
    high = between.low if between.high is None else between.high
    part = 1 / (log(draws) + 0.6) if between.shape == "exponential" and draws > 2 else 0.5
    return between.low + (high - between.low) * part

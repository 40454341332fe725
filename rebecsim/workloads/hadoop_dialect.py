"""Read and write tasks as Hadoop's own simulator does: one container each, or several alike.

How long a container runs is said by `container.duration.ms`, or `duration.ms`, or by
`container.start.ms` and `container.end.ms`; the first of them that is there counts. When it
started is not used: containers start when they are given one. What is not said has Hadoop's
defaults: 1024 MB (`container.memory-mb`), 1 core (`container.vcores`), one task (`count`), type
map, priority 20.

The AppMaster of a job of type mapreduce asks for maps before reduces, whatever their priorities
are: Hadoop's own have 20 and 10, and smaller numbers go first.

Containers that are asked for some time after their AppMaster (`container.request.delay`), or that
others may push aside (`container.execution.type` other than GUARANTEED), would run otherwise than
they ask for, and are refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rebecsim.workloads.container_jobs import ContainerJob, Fields, TaskClass, task_kind
from rebecsim.workloads.files import LARGEST, WorkloadError

DEFAULT_MEMORY = 1024
"""MB of a container whose memory the trace does not give."""

_DURATIONS = ("container.duration.ms", "duration.ms")
_TIMES = ("container.start.ms", "container.end.ms")
_MEMORIES = ("container.memory-mb", "container.memory")
_DELAYS = ("container.request.delay", "container.delay.ms")
_KNOWN = (
    *("count", "container.host", "container.priority", "container.type", "container.vcores"),
    *("container.execution.type", "container.allocation.id"),
    *_DURATIONS,
    *_TIMES,
    *_MEMORIES,
    *_DELAYS,
)


def class_of(task: Fields) -> TaskClass:
    """Read a container, or some alike. Raises WorkloadError."""
    task.require_known(_KNOWN)
    if task.text("container.execution.type", default="GUARANTEED") != "GUARANTEED":
        raise task.wrong(
            "'container.execution.type' should be GUARANTEED; others are not simulated"
        )
    for key in _DELAYS:
        if task.whole(key, 0, default=0):
            raise task.wrong(
                f"{key!r} should be 0; containers that are asked for later are not simulated"
            )
    return TaskClass(
        kind=task_kind(task, "container.type", default="map"),
        count=task.whole("count", 1, default=1),
        duration=_duration(task),
        memory=task.whole(task.one_of(_MEMORIES), 1, default=DEFAULT_MEMORY),
        cores=task.whole("container.vcores", 0, default=1),
        priority=task.whole("container.priority", -LARGEST, default=20),
        host=task.text("container.host", default=""),
        allocation=task.whole("container.allocation.id", -1, default=-1),
    )


def maps_first(classes: Sequence[TaskClass]) -> tuple[TaskClass, ...]:
    """Give tasks as the AppMaster of a MapReduce job asks for them, which has maps before reduces.

    Reduces whose priority would have them before a map, or with one, come after all of them.
    """
    last = max((each.priority for each in classes if each.kind == "map"), default=None)
    if last is None:
        return tuple(classes)
    later = min(last + 1, LARGEST)
    return tuple(
        replace(each, priority=later) if each.kind == "reduce" and each.priority <= last else each
        for each in classes
    )


def _duration(task: Fields) -> int:
    start, end = (task.whole(key, 0) if key in task.values else None for key in _TIMES)
    for key in _DURATIONS:
        if key in task.values:
            return task.whole(key, 1)
    if start is None or end is None:
        raise task.wrong("no 'duration.ms', nor 'container.start.ms' and 'container.end.ms'")
    if end <= start:
        raise task.wrong(f"'container.end.ms' should be after the start at {start}, not {end}")
    return end - start


def job_text(job: ContainerJob, head: Mapping[str, Any]) -> str:
    """Write a job with its tasks; `head` are its fields but for them.

    Raises WorkloadError for what this dialect cannot say.
    """
    if not job.classes:
        raise WorkloadError(f"{job.name}: a job of Hadoop needs at least 1 task")
    tasks = [_task(job, place, task) for place, task in enumerate(job.classes, start=1)]
    return json.dumps({**head, "job.tasks": tasks}, indent=2) + "\n"


def _task(job: ContainerJob, place: int, task: TaskClass) -> dict[str, object]:
    if task.penalty is not None:
        raise WorkloadError(f"{job.name}, task {place}: Hadoop's traces have no penalties")
    if task.duration < 1:
        raise WorkloadError(f"{job.name}, task {place}: a task of Hadoop runs for at least 1 ms")
    return dict(_items(task))


def _items(task: TaskClass) -> Iterator[tuple[str, object]]:
    yield "count", task.count
    if task.host:
        yield "container.host", task.host
    yield "duration.ms", task.duration
    yield "container.priority", task.priority
    yield "container.type", task.kind
    yield "container.memory-mb", task.memory
    yield "container.vcores", task.cores
    if task.allocation != -1:
        yield "container.allocation.id", task.allocation

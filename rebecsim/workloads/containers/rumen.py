"""Traces that Rumen makes of the history of Hadoop's jobs.

A job is submitted at `submitTime`, less the earliest of the trace, and has a task for each of its
`mapTasks` and `reduceTasks`. A task takes the time of its last attempt that succeeded, or of its
last one, from `startTime` to `finishTime`, and would rather run where that did (`hostName`). A
container has the memory that the job asked for (`jobMapMB`, `jobReduceMB`), or 1024 MB, and 1 core.
Reduces are given containers after maps. Attempts that were repeated, tasks that set up and clean
up, counters and measurements are no part of what is simulated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rebecsim.workloads.containers.fields import LARGEST, Fields
from rebecsim.workloads.containers.hadoop_dialect import DEFAULT_MEMORY
from rebecsim.workloads.containers.jobs import ContainerJob, TaskClass, TaskKind
from rebecsim.workloads.containers.names import number_in, numbers_of

_TASKS: tuple[tuple[TaskKind, str, str, int], ...] = (
    ("map", "mapTasks", "jobMapMB", 10),
    ("reduce", "reduceTasks", "jobReduceMB", 20),
)
"""Of each kind: where its tasks are, their memory, and their priority."""


def is_rumen(fields: Fields) -> bool:
    """Whether an object is a job of Rumen."""
    return "jobID" in fields.values


def jobs_of(objects: Sequence[Fields]) -> tuple[ContainerJob, ...]:
    """Read the jobs of a trace of Rumen, in its order.

    Raises WorkloadError, with file, line, job and task, for a job that stands twice or was never
    submitted, and for a task without attempts or whose attempt did not end after its start.
    """
    named = [_known(each).named(each.text("jobID")) for each in objects]
    numbers = numbers_of(named)
    origin = min(fields.whole("submitTime", 0) for fields in named)
    return tuple(_job(numbers[fields.what], fields, origin) for fields in named)


def _job(number: int, fields: Fields, origin: int) -> ContainerJob:
    end = fields.whole("finishTime", -LARGEST, default=-1)
    return ContainerJob(
        number,
        fields.whole("submitTime", 0) - origin,
        None,
        tuple(_classes(fields)),
        f"{fields.path}:{fields.line}",
        user=fields.text("user", default="default"),
        queue=fields.text("queue", default="default"),
        end=end - origin if end > origin else None,
        known_as="" if number_in(fields.what) == number else fields.what,
    )


def _classes(fields: Fields) -> Iterator[TaskClass]:
    for kind, tasks, memory_key, priority in _TASKS:
        memory = fields.whole(memory_key, -1, default=-1)
        for place, values in enumerate(fields.objects(tasks), start=1):
            attempt = _known(_counted(fields.of(values, f"{kind} task {place}")))
            start = attempt.whole("startTime", 0)
            end = attempt.whole("finishTime", -1)
            if end <= start:
                raise attempt.wrong(f"'finishTime' should be after the start at {start}, not {end}")
            yield TaskClass(
                kind,
                1,
                end - start,
                memory if memory > 0 else DEFAULT_MEMORY,
                priority=priority,
                host=attempt.text("hostName", default=""),
            )


def _counted(task: Fields) -> Fields:
    """Give the attempt of a task that counts."""
    attempts = [
        task.of(values, f"attempt {place}")
        for place, values in enumerate(task.objects("attempts"), start=1)
    ]
    if not attempts:
        raise task.wrong("no attempts; leave the task out")
    done = [each for each in attempts if each.values.get("result") == "SUCCESS"]
    return (done or attempts)[-1]


def _known(fields: Fields) -> Fields:
    """Leave out what Rumen does not know, and writes as null."""
    return replace(fields, values={k: v for k, v in fields.values.items() if v is not None})

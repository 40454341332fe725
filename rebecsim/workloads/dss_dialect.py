"""Read and write tasks as DSS does: classes with a duration and a count.

`c.dur` (ms), `c.nr`, `c.mem` (MB), `c.prio` and `c.type` are there; `c.cores` is 1 without it,
`c.host` is where the tasks would rather run, and `c.penalty` with `c.ib` says how much longer the
tasks of this class run in less memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rebecsim.workloads.container_jobs import ContainerJob, Fields, TaskClass, task_kind
from rebecsim.workloads.files import LARGEST, WorkloadError

PREFIX = "c."
"""How the fields of such a task begin."""

_KNOWN = (
    *("c.host", "c.dur", "c.prio", "c.mem", "c.type", "c.nr", "c.cores"),
    *("c.penalty", "c.ib"),
)
_FEWEST_LINES = 10
"""Of a job: DSS takes as many lines at once, and at most one job out of them."""


def class_of(task: Fields) -> TaskClass:
    """Read a task class. Raises WorkloadError."""
    task.require_known(_KNOWN)
    return TaskClass(
        kind=task_kind(task, "c.type"),
        count=task.whole("c.nr", 1),
        duration=task.whole("c.dur", 0),
        memory=task.whole("c.mem", 1),
        cores=task.whole("c.cores", 0, default=1),
        priority=task.whole("c.prio", -LARGEST),
        penalty=task.text("c.penalty").upper() if "c.penalty" in task.values else None,
        bump=_bump(task),
        host=task.text("c.host", default=""),
    )


def _bump(task: Fields) -> float | None:
    if ("c.ib" in task.values) != ("c.penalty" in task.values):
        raise task.wrong("'c.penalty' and 'c.ib' go together")
    value = task.values.get("c.ib")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= LARGEST:
        raise task.wrong(f"'c.ib' should be a number of 1 or more, not {value!r:.40}")
    return float(value)


def job_text(job: ContainerJob, head: Mapping[str, Any]) -> str:
    """Write a job as DSS's generator of traces does; `head` are its fields but for the tasks.

    Jobs have the names `job_N`, whatever else they are known as, since DSS knows no others. Raises
    WorkloadError for what this dialect cannot say.
    """
    lines = [f"\t{json.dumps(key)} : {json.dumps(value)}," for key, value in head.items()]
    tasks = ",\n".join(
        "{" + ", ".join(f"{json.dumps(key)} : {json.dumps(value)}" for key, value in each) + "}"
        for each in (_task(job, place, task) for place, task in enumerate(job.classes, start=1))
    )
    text = "\n".join(["{" + lines[0], *lines[1:], '\t"job.tasks" : [', *filter(None, [tasks]), "]"])
    missing = _FEWEST_LINES - 1 - (text.count("\n") + 1)
    return text + "\n" * (1 + max(missing, 0)) + "}\n"


def _task(job: ContainerJob, place: int, task: TaskClass) -> list[tuple[str, object]]:
    if task.allocation != -1:
        raise WorkloadError(f"{job.name}, task {place}: DSS's traces have no allocation ids")
    if (task.penalty is None) != (task.bump is None):
        raise WorkloadError(f"{job.name}, task {place}: a penalty and its bump go together")
    return list(_items(task))


def _items(task: TaskClass) -> Iterator[tuple[str, object]]:
    yield "c.host", task.host
    yield "c.dur", task.duration
    yield "c.prio", task.priority
    yield "c.mem", task.memory
    yield "c.type", task.kind
    yield "c.nr", task.count
    if task.cores != 1:
        yield "c.cores", task.cores
    if task.penalty is not None:
        yield "c.penalty", task.penalty
        yield "c.ib", task.bump

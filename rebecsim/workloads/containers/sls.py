"""Traces of YARN clusters in the JSON of its scheduler load simulator (SLS).

A trace has an object for each job. Task classes are written with
durations and counts: `c.dur`, `c.nr`, `c.mem`, `c.cores`, `c.prio`, `c.type`, and `c.penalty` with
`c.ib` where a class may run in less memory than it asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import get_args

from rebecsim.workloads.containers.fields import LARGEST, Fields
from rebecsim.workloads.containers.jobs import ContainerJob, TaskClass, TaskKind
from rebecsim.workloads.containers.json_stream import json_objects
from rebecsim.workloads.errors import WorkloadError

_JOB_NAME = re.compile(r"job_(\d{1,18})", re.ASCII)


def read_sls_jobs(path: Path) -> tuple[ContainerJob, ...]:
    """Read the jobs of a trace, in its order.

    Raises WorkloadError, with file, line and job, for whatever is not in the format: a field that
    is missing or no whole number, a job that stands twice, waits for one that is not there, or for
    itself by way of others. Raises OSError when the file cannot be read.
    """
    jobs: dict[int, ContainerJob] = {}
    lines: dict[int, int] = {}
    for number, (line, values) in enumerate(json_objects(path), start=1):
        job = _job(Fields(values, path, line, f"object {number}"))
        if job.number in jobs:
            raise WorkloadError.at(
                path, line, f"{job.name} stands here again; first in line {lines[job.number]}"
            )
        jobs[job.number], lines[job.number] = job, line
    for job in jobs.values():
        if job.after is not None and (problem := _problem_of_waiting(job, jobs)):
            raise WorkloadError.at(path, lines[job.number], f"{job.name} waits for {problem}")
    return tuple(jobs.values())


def _job(fields: Fields) -> ContainerJob:
    number = _number(fields, "job.id")
    fields = Fields(fields.values, fields.path, fields.line, f"job_{number}")
    start: int | None = None
    after: int | None = None
    if isinstance(fields.get("job.start.ms"), str):
        after = _number(fields, "job.start.ms")
    else:
        start = fields.whole("job.start.ms", 0)
    source = f"{fields.path}:{fields.line}"
    return ContainerJob(number, start, after, tuple(_classes(fields)), source)


def _number(fields: Fields, key: str) -> int:
    """Give N of a job that is called `job_N`."""
    name = fields.text(key)
    found = _JOB_NAME.fullmatch(name)
    if not found:
        raise fields.wrong(f"{key!r} should be job_ and a number, not {name!r:.40}")
    return int(found[1])


def _classes(fields: Fields) -> Iterator[TaskClass]:
    for place, values in enumerate(fields.objects("job.tasks"), start=1):
        task = Fields(values, fields.path, fields.line, f"{fields.what}, task {place}")
        kinds = {kind: kind for kind in get_args(TaskKind)}
        kind = task.text("c.type").lower()
        if kind not in kinds:
            raise task.wrong(f"'c.type' should be {' or '.join(kinds)}, not {kind!r:.40}")
        yield TaskClass(
            kind=kinds[kind],
            count=task.whole("c.nr", 1),
            duration=task.whole("c.dur", 0),
            memory=task.whole("c.mem", 1),
            cores=task.whole("c.cores", 0, default=1),
            priority=task.whole("c.prio", -LARGEST),
            penalty=task.text("c.penalty").upper() if "c.penalty" in values else None,
            bump=_bump(task),
        )


def _bump(task: Fields) -> float | None:
    if ("c.ib" in task.values) != ("c.penalty" in task.values):
        raise task.wrong("'c.penalty' and 'c.ib' go together")
    value = task.values.get("c.ib")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= LARGEST:
        raise task.wrong(f"'c.ib' should be a number from 1 on, not {value!r:.40}")
    return float(value)


def _problem_of_waiting(job: ContainerJob, jobs: Mapping[int, ContainerJob]) -> str:
    """Say why what a job waits for never ends, if so."""
    waiting = job
    for _ in jobs:
        if waiting.after is None:
            return ""
        if waiting.after not in jobs:
            return f"job_{waiting.after}, which is not in the trace" if waiting is job else ""
        waiting = jobs[waiting.after]
        if waiting is job:
            return "itself" if job.after == job.number else f"job_{job.after}, which waits for it"
    return ""

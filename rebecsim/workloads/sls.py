"""Read and write YARN traces in both dialects of Hadoop's scheduler load simulator (SLS).

A trace has an object for each job, one behind the other or in an array: `job.id`, `job.start.ms`
(or the name of a job, to start when that has finished), `job.queue.name`, `job.user`,
`job.label.expression`, `job.count` (so many of the same), `am.type`, `am.memory-mb`, `am.vcores`
and `job.tasks`. Its tasks are written as DSS does, see `dss_dialect`, or as Hadoop itself, see
`hadoop_dialect`; which, is seen job by job. Hadoop's traces may begin with the number of nodes
and racks. A trace that Rumen made of a job history is one, too, and so is what the
ResourceManager answers about its applications: see `hadoop_history`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from rebecsim.files import JOBS, NODES
from rebecsim.workloads import dss_dialect, hadoop_dialect, hadoop_history
from rebecsim.workloads.container_jobs import (
    ContainerJob,
    Fields,
    Rack,
    RackNode,
    TaskClass,
    circle_of_waiting,
    number_in,
    numbers_of,
)
from rebecsim.workloads.files import json_objects, replacing
from rebecsim.workloads.hadoop_history import AppsRule

Dialect = Literal["dss", "hadoop"]
"""Who can read a trace that is written."""

_TYPES = ("am.type", "yarn.sls.am.type")
_MEMORIES = ("am.memory-mb", "am.memory")
_KNOWN = (
    *("job.id", "job.start.ms", "job.end.ms", "job.queue.name", "job.user", "job.count"),
    *("job.label.expression", "am.vcores", "job.tasks"),
    *_TYPES,
    *_MEMORIES,
)
_MAP_REDUCE = "mapreduce"
_NODES = ("num.nodes", "num.racks")


@dataclass(frozen=True, slots=True)
class SlsTrace:
    """Jobs, and the racks of nodes that the trace itself asks for; mostly there are none.

    `notes` say what of the trace is left out.
    """

    jobs: tuple[ContainerJob, ...]
    racks: tuple[Rack, ...] = ()
    notes: tuple[str, ...] = ()


def read_sls_jobs(path: Path) -> tuple[ContainerJob, ...]:
    """Read the jobs of a trace, in its order. Raises what `read_sls_trace` raises."""
    return read_sls_trace(path).jobs


def read_sls_trace(path: Path, rule: AppsRule | None = None) -> SlsTrace:
    """Read a trace, plain or gzip, with all its jobs in their order.

    The `rule` is for what the ResourceManager answers; it is no trace of tasks.

    Jobs whose name is not `job_N`, and all but the first of `job.count`, are numbered from the
    largest N on, and `known_as` what they are called; those of no name are called by their number.

    Raises WorkloadError, with file, line, job and field, for whatever is not understood: a field
    that is missing, unknown or no whole number, a job that stands twice, waits for one that is not
    there, or for itself by way of others. Raises LimitError for too many jobs or nodes, OSError
    when the file cannot be read.
    """
    objects = [
        Fields(values, path, line, f"object {number}")
        for number, (line, values) in enumerate(json_objects(path), start=1)
    ]
    first = objects[0]
    if hadoop_history.is_rumen(first) and rule is None:
        return SlsTrace(hadoop_history.jobs_of(objects))
    if hadoop_history.is_listing(first):
        listed = hadoop_history.listed_jobs(objects, rule or AppsRule())
        return SlsTrace(listed.jobs, notes=listed.notes)
    if rule is not None:
        raise first.wrong(
            "these options need an answer of the ResourceManager; other traces list their tasks"
        )
    racks = _racks(first) if any(key in first.values for key in _NODES) else ()
    rest = objects[1:] if racks else objects
    if not rest:
        raise first.wrong("no jobs follow")
    return SlsTrace(_jobs(rest), racks)


def write_sls(jobs: Sequence[ContainerJob], path: Path, dialect: Dialect = "dss") -> None:
    """Write a trace, with gzip if the file is named `.gz`; it is whole or not there.

    What is read again are the same jobs. Raises WorkloadError, with the job, for what the dialect
    cannot say: names other than `job_N` and allocation ids in DSS's; penalties and tasks that take
    no time in Hadoop's. Raises OSError when the file cannot be written.
    """
    names = {job.number: job.name for job in jobs}
    texts = [_text(job, names, dialect) for job in jobs]
    with replacing(path) as file:
        for text in texts:
            file.write(text.encode())


def _racks(fields: Fields) -> tuple[Rack, ...]:
    """Read how many nodes Hadoop would make, called as it calls them."""
    fields.require_known(_NODES)
    nodes = fields.whole("num.nodes", 1)
    count = fields.whole("num.racks", 1, default=1)
    NODES.require(nodes, f"{fields.path}:{fields.line}")
    if count > nodes:
        raise fields.wrong(f"{nodes:,} nodes in {count:,} racks; a rack needs at least 1 node")
    return tuple(
        Rack(f"rack{rack}", tuple(RackNode(f"node{node}") for node in range(rack, nodes, count)))
        for rack in range(count)
    )


def _jobs(objects: Sequence[Fields]) -> tuple[ContainerJob, ...]:
    for fields in objects:
        _require_sls(fields)
    originals = [_named(fields) for fields in objects]
    counts = [_count(fields) for fields in originals]
    JOBS.require(sum(counts), originals[0].path)
    copies = [list(_copies(*each)) for each in zip(originals, counts, strict=True)]
    named = [each for some in copies for each in some]
    nameless = {fields.what for fields in named if "job.id" not in fields.values}
    numbers = numbers_of(named, nameless)
    jobs: dict[int, ContainerJob] = {}
    for first, *others in copies:
        job = jobs[numbers[first.what]] = _job(first, numbers)
        for fields in others:
            number, known_as = numbers[fields.what], _own_name(fields)
            jobs[number] = replace(job, number=number, known_as=known_as)
    _require_no_circle(named, jobs, numbers)
    return tuple(jobs.values())


def _require_no_circle(
    named: Sequence[Fields], jobs: Mapping[int, ContainerJob], numbers: Mapping[str, int]
) -> None:
    circle = {job.number: job for job in circle_of_waiting(jobs)}
    for fields in named if circle else ():
        job = circle.get(numbers[fields.what])
        if job is None or job.after is None:
            continue
        if job.after == job.number:
            raise fields.wrong("waits for itself")
        manner = "" if len(circle) == 2 else " by way of others"
        raise fields.wrong(f"waits for {jobs[job.after].name}, which waits for it{manner}")


def _require_sls(fields: Fields) -> None:
    if hadoop_history.is_rumen(fields):
        raise fields.wrong("this is a job of Rumen among those of SLS; move it to its own file")
    if "rack" in fields.values:
        raise fields.wrong("this is a rack of a topology, not a job")
    if "workloads" in fields.values:
        raise fields.wrong(
            "this tells Hadoop how to generate jobs (SYNTH) and holds none; "
            "generate jobs with `workload generate --sls`"
        )


def _named(fields: Fields) -> Fields:
    """Name the job of the fields, for errors."""
    dss = _is_dss(fields)
    if not dss and "job.id" not in fields.values:
        return fields
    value = fields.get("job.id")
    if type(value) is int and not dss:
        value = str(value)
    if not isinstance(value, str) or not value:
        raise fields.wrong(f"'job.id' should be a text, not {value!r:.40}")
    if dss and number_in(value) is None:
        raise fields.wrong(f"'job.id' should be job_ and a number, not {value!r:.40}")
    return fields.named(value)


def _is_dss(fields: Fields) -> bool:
    """Whether the first task, and so all that is understood, is written as DSS does."""
    tasks = fields.values.get("job.tasks")
    first = tasks[0] if isinstance(tasks, list) and tasks else None
    return isinstance(first, dict) and any(key.startswith(dss_dialect.PREFIX) for key in first)


def _count(fields: Fields) -> int:
    """Give how many jobs are the same as this one, it among them."""
    count = fields.whole("job.count", 1, default=1)
    JOBS.require(count, f"{fields.path}:{fields.line}: {fields.what}: 'job.count'")
    return count


def _copies(fields: Fields, count: int) -> Iterator[Fields]:
    """Give the fields of each of some jobs that are the same, which differ in their name."""
    yield fields
    for place in range(2, count + 1):
        yield fields.named(f"{fields.what}#{place}")


def _own_name(fields: Fields) -> str:
    """Give what a job is called by the trace; empty if that is its number."""
    is_own = "job.id" in fields.values and number_in(fields.what) is None
    return fields.what if is_own else ""


def _job(fields: Fields, numbers: Mapping[str, int]) -> ContainerJob:
    fields.require_known(_KNOWN)
    number = numbers[fields.what]
    start: int | None = None
    after: int | None = None
    if isinstance(fields.values.get("job.start.ms"), str):
        after = numbers.get(waits_for := fields.text("job.start.ms"))
        if after is None:
            hint = "; write a time without quotes" if waits_for.isdecimal() else ""
            raise fields.wrong(f"waits for {waits_for:.40}, which is not in the trace{hint}")
    else:
        start = fields.whole("job.start.ms", 0, default=None if _is_dss(fields) else 0)
    application = fields.text(fields.one_of(_TYPES), default=_MAP_REDUCE)
    classes = tuple(_classes(fields))
    if application == _MAP_REDUCE and not _is_dss(fields):
        classes = hadoop_dialect.maps_first(classes)
    return ContainerJob(
        number,
        start,
        after,
        classes,
        f"{fields.path}:{fields.line}",
        user=fields.text("job.user", default="default"),
        queue=fields.text("job.queue.name", default="default"),
        label=fields.text("job.label.expression", default=""),
        end=fields.whole("job.end.ms", 0, default=0) or None,
        application=application,
        master_memory=fields.whole_or_none(fields.one_of(_MEMORIES), 1),
        master_cores=fields.whole_or_none("am.vcores", 1),
        known_as=_own_name(fields),
    )


def _classes(fields: Fields) -> Iterator[TaskClass]:
    dialect = dss_dialect if _is_dss(fields) else hadoop_dialect
    for place, values in enumerate(fields.objects("job.tasks"), start=1):
        yield dialect.class_of(fields.of(values, f"task {place}"))


def _text(job: ContainerJob, names: Mapping[int, str], dialect: Dialect) -> str:
    if dialect == "hadoop":
        return hadoop_dialect.job_text(job, _head(job, job.name, names))
    return dss_dialect.job_text(job, _head(job, f"job_{job.number}", {}))


def _head(job: ContainerJob, name: str, names: Mapping[int, str]) -> Mapping[str, Any]:
    waits_for = names.get(job.after, f"job_{job.after}") if job.after is not None else None
    head = {
        "am.type": job.application,
        "job.start.ms": job.start if waits_for is None else waits_for,
        "job.end.ms": job.end or 0,
        "job.queue.name": job.queue,
        "job.id": name,
        "job.user": job.user,
    }
    own = {
        "job.label.expression": job.label or None,
        "am.memory-mb": job.master_memory,
        "am.vcores": job.master_cores,
    }
    return {**head, **{key: value for key, value in own.items() if value is not None}}

"""Stored tables of a run, made from its records: jobs, attempts, queues, families, and use.

Times are microseconds since the beginning; figures are those of `JOB_FIGURES`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.mapreduce.cluster_state import racks_of
from rebecsim.clusters.mapreduce.columns import (
    JOB_FIGURES,
    KINDS,
    LOCALITIES,
    NODE_LOCAL,
    OUTCOMES,
    RACK_LOCAL,
    REMOTE,
    AttemptColumns,
    JobColumns,
)
from rebecsim.clusters.mapreduce.configuration import MapReduceConfiguration
from rebecsim.clusters.mapreduce.job import JobPriority, TrackerSlots
from rebecsim.clusters.mapreduce.measures import MeasuredRun, begin_of_counted
from rebecsim.clusters.mapreduce.records import AttemptRecord, DeviceUse, FinishedRun, JobRecord
from rebecsim.clusters.mapreduce.schedulers.capacity import CapacityTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.capacity_settings import NO_MAXIMUM
from rebecsim.clusters.mapreduce.schedulers.scheduler import SchedulerSetup, TaskScheduler
from rebecsim.metrics import count_over_time
from rebecsim.studies.cells import Coded

JOBS, REJECTED, ATTEMPTS = "jobs", "rejected", "attempts"
QUEUES, FAMILIES = "queues", "families"
SHARES, DEVICES = "shares", "devices"

WINDOWS = 200
"""Number of windows in which shares of queues are stored."""

DEVICE_COLUMNS = ("processor", "disk", "link", "rack_link")

_WHOLE = "int64"
_JOB_TIMES = ("submit", "begin", "maps_end", "reduces_begin", "end")
_NEARNESS = ("node_local", "rack_local", "remote")
_FIGURES = dict.fromkeys(JOB_FIGURES, "float64")

TABLES: Mapping[str, Mapping[str, str]] = {
    JOBS: {
        "job": _WHOLE,
        **dict.fromkeys(("family", "queue", "user", "priority"), "string"),
        **dict.fromkeys(("maps", "reduces", *_JOB_TIMES, *_NEARNESS), _WHOLE),
    },
    REJECTED: {
        "job": _WHOLE,
        **dict.fromkeys(("family", "queue", "user", "reason"), "string"),
        "submit": _WHOLE,
    },
    ATTEMPTS: {
        "job": _WHOLE,
        "kind": "words",
        "task": _WHOLE,
        "node": _WHOLE,
        "locality": "words",
        **dict.fromkeys(("start", "end"), _WHOLE),
        "backup": "bool",
        "outcome": "words",
    },
    QUEUES: {
        "queue": "string",
        "capacity": "float64?",
        "maximum": "float64?",
        "jobs": _WHOLE,
        **_FIGURES,
    },
    FAMILIES: {
        **dict.fromkeys(("queue", "family"), "string"),
        "jobs": _WHOLE,
        **_FIGURES,
    },
    SHARES: {
        "time": _WHOLE,
        "queue": "string",
        **dict.fromkeys(("maps", "reduces"), "float64"),
    },
    DEVICES: {
        "time": _WHOLE,
        **dict.fromkeys(DEVICE_COLUMNS, "float64"),
    },
}
"""The columns of each table. A share is the mean number of slots that the attempts of a queue hold,
over a window that begins at `time`; the use of devices, in percent, is over that window too."""


@dataclass(frozen=True, slots=True)
class QueueCapacity:
    """Guaranteed and maximum capacity of a queue (% of all slots)."""

    capacity: float
    maximum: float


@dataclass(frozen=True, eq=False)
class RecordedRun:
    """A run with the contents of its tables.

    Attributes:
        measured: the measures of the run.
        names: number, priority, maps and reduces of the finished jobs.
        rejections: number, family, queue, user, reason and submission of the rejected jobs.
        capacities: capacities of queues, if the scheduler has them.
        devices: `time` and the columns of `DEVICE_COLUMNS`.
    """

    measured: MeasuredRun
    names: Mapping[str, Any]
    rejections: Sequence[tuple[int, str, str, str, str, int]]
    capacities: Mapping[str, QueueCapacity]
    devices: Mapping[str, NDArray[Any]]

    @property
    def nothing_ran(self) -> str:
        """The message that all jobs were rejected, and why the first was; empty otherwise."""
        if len(self.measured.jobs) or not self.rejections:
            return ""
        number, family, _, _, reason, _ = self.rejections[0]
        count = len(self.rejections)
        jobs = f"all {count} jobs were" if count > 1 else "the job was"
        return f"no job ran: {jobs} rejected. Job {number} ({family}): {reason}"


def tables_of(run: RecordedRun) -> dict[str, dict[str, Any]]:
    """Give all tables of a run, without the column of its replication."""
    return {
        JOBS: _jobs(run),
        REJECTED: _rows(REJECTED, run.rejections),
        ATTEMPTS: _attempts(run),
        QUEUES: _rows(QUEUES, _queue_rows(run)),
        FAMILIES: _rows(FAMILIES, _family_rows(run.measured.counted)),
        SHARES: _shares(run),
        DEVICES: dict(run.devices),
    }


def _jobs(run: RecordedRun) -> dict[str, Any]:
    jobs = run.measured.jobs
    return {
        name: run.names[name] if name in run.names else getattr(jobs, name) for name in TABLES[JOBS]
    }


def _attempts(run: RecordedRun) -> dict[str, Any]:
    each = run.measured.attempts
    return {
        "job": each.job,
        "kind": Coded(each.kind, KINDS),
        "task": each.task,
        "node": each.node,
        "locality": Coded(each.locality, LOCALITIES),
        "start": each.start,
        "end": each.end,
        "backup": each.backup,
        "outcome": Coded(each.outcome, OUTCOMES),
    }


def _queue_rows(run: RecordedRun) -> Iterator[tuple[Any, ...]]:
    jobs = run.measured.counted
    for queue in dict.fromkeys((*run.capacities, *jobs.queue.tolist())):
        mine = jobs.of(queue=queue)
        if len(mine):
            has = run.capacities.get(queue)
            limits = (None, None) if has is None else (has.capacity, has.maximum)
            yield (queue, *limits, len(mine), *_figures(mine))


def _family_rows(jobs: JobColumns) -> Iterator[tuple[Any, ...]]:
    for queue in dict.fromkeys(jobs.queue.tolist()):
        mine = jobs.of(queue=queue)
        for family in sorted(set(mine.family.tolist())):
            alike = mine.of(family)
            yield (queue, family, len(alike), *_figures(alike))


def _figures(jobs: JobColumns) -> list[float]:
    return [figure(jobs) for figure in JOB_FIGURES.values()]


def _rows(table: str, rows: Iterable[tuple[Any, ...]]) -> dict[str, Any]:
    columns = [list(each) for each in zip(*rows, strict=True)] or [[] for _ in TABLES[table]]
    return dict(zip(TABLES[table], columns, strict=True))


def _shares(run: RecordedRun) -> dict[str, Any]:
    """Return slots held by each queue, as means over at most `WINDOWS` equal windows."""
    attempts, jobs = run.measured.attempts, run.measured.jobs
    queue_of = dict(zip(run.names["job"], jobs.queue.tolist(), strict=True))
    queues = list(dict.fromkeys(jobs.queue.tolist()))
    of_attempt = np.array([queue_of.get(job, "") for job in attempts.job.tolist()], dtype=str)
    last = int(attempts.end.max()) if len(attempts.end) else 1
    width = -(-max(last, 1) // WINDOWS)
    edges = np.arange(0, last + width, width)
    found: dict[str, list[Any]] = {"time": [], "queue": [], "maps": [], "reduces": []}
    for queue in queues:
        found["time"] += edges[:-1].tolist()
        found["queue"] += [queue] * (len(edges) - 1)
        for kind, name in enumerate(("maps", "reduces")):
            mine = (of_attempt == queue) & (attempts.kind == kind)
            held = count_over_time(attempts.start[mine], attempts.end[mine])
            found[name] += held.means(edges).tolist()
    return found


_ALL = 100.0  # percent


def recorded(run: FinishedRun, scheduler: SchedulerSetup, warm_up: float = 0.0) -> RecordedRun:
    """Make measures and tables of a run; a share of the first jobs does not count."""
    attempts = attempt_columns(run.attempts)
    ended = [each for each in run.jobs if each.end is not None]
    rejected = [each for each in run.jobs if each.rejected is not None]
    devices = device_columns(run)
    jobs = _job_columns(ended, attempts)
    measured = MeasuredRun(
        jobs=jobs,
        attempts=attempts,
        slots=run.configuration.cluster.slots,
        use=_means(devices, begin_of_counted(jobs, warm_up)),
        refused=len(rejected),
        warm_up=warm_up,
    )
    return RecordedRun(
        measured=measured,
        names={
            "job": np.array([each.job.number for each in ended], dtype=np.int64),
            "priority": [JobPriority(each.job.priority).name.lower() for each in ended],
            "maps": np.array([each.job.maps for each in ended], dtype=np.int64),
            "reduces": np.array([each.job.reduces for each in ended], dtype=np.int64),
        },
        rejections=[
            (
                each.job.number,
                each.job.family,
                each.job.queue,
                each.job.user,
                each.rejected or "",
                each.job.submit,
            )
            for each in rejected
        ],
        capacities=queue_capacities(scheduler, run.configuration),
        devices={name: values[:-1] for name, values in devices.items()},
    )


def attempt_columns(attempts: Sequence[AttemptRecord]) -> AttemptColumns:
    """Give attempts as columns."""
    rows = np.array(
        [
            (
                each.job,
                each.kind,
                each.number,
                each.node,
                0 if each.locality is None else each.locality + 1,
                each.start,
                each.end,
                each.is_backup,
                each.outcome,
            )
            for each in attempts
        ],
        dtype=np.int64,
    ).reshape(-1, 9)
    columns: list[Any] = list(np.ascontiguousarray(rows.T))
    columns[7] = columns[7].astype(bool)
    return AttemptColumns(*columns)


def _job_columns(jobs: Sequence[JobRecord], attempts: AttemptColumns) -> JobColumns:
    numbers = [each.job.number for each in jobs]
    most = max(numbers, default=-1) + 1
    near = [
        np.bincount(attempts.ran_there(locality), minlength=most)[numbers]
        for locality in (NODE_LOCAL, RACK_LOCAL, REMOTE)
    ]

    def times(name: str, otherwise: str) -> NDArray[np.int64]:
        found = [getattr(each, name) for each in jobs]
        instead = [getattr(each, otherwise) for each in jobs]
        return np.array(
            [other if at is None else at for at, other in zip(found, instead, strict=True)],
            dtype=np.int64,
        )

    return JobColumns(
        np.array([each.job.family for each in jobs], dtype=str),
        np.array([each.job.queue for each in jobs], dtype=str),
        np.array([each.job.user for each in jobs], dtype=str),
        np.array([each.job.submit for each in jobs], dtype=np.int64),
        times("first_map", "end"),
        times("maps_end", "end"),
        times("first_reduce", "maps_end"),
        times("end", "end"),
        *near,
    )


def device_columns(run: FinishedRun) -> dict[str, NDArray[Any]]:
    """Return the used share of each kind of device between sampled times (%).

    The last row is the end of the run, with zeros.
    """
    cluster = run.configuration.cluster
    nodes = cluster.nodes
    rates = np.asarray(run.capacities, dtype=np.float64)
    of_nodes, of_racks = rates[: 2 * nodes].sum(), rates[2 * nodes :].sum()
    has_racks = cluster.racks > 1 and np.isfinite(of_racks)
    each_node = cluster.class_of_nodes
    cores, disks = sum(each.cores for each in each_node), sum(each.disks for each in each_node)
    most = (cores, disks, of_nodes, of_racks if has_racks else 0)
    uses = list(run.uses)
    found: dict[str, list[float]] = {name: [] for name in DEVICE_COLUMNS}
    for before, after in pairwise(uses):
        span = after.time - before.time
        for name, amount, each in zip(
            DEVICE_COLUMNS, _used(before, after, nodes), most, strict=True
        ):
            found[name].append(_ALL * amount / (each * span) if each and span else 0.0)
    times = np.array([each.time for each in uses], dtype=np.int64)
    ending = [0.0] if uses else []
    return {"time": times, **{name: np.array(part + ending) for name, part in found.items()}}


def _used(before: DeviceUse, after: DeviceUse, nodes: int) -> tuple[float, float, float, float]:
    links = np.subtract(after.links, before.links)
    return (
        float(np.subtract(after.processors, before.processors).sum()),
        float(np.subtract(after.disks, before.disks).sum()),
        float(links[: 2 * nodes].sum()),
        float(links[2 * nodes :].sum()),
    )


def _means(devices: Mapping[str, NDArray[Any]], begin: int) -> dict[str, float]:
    """Give means from a time on, of windows that may differ in length."""
    spans = np.diff(np.maximum(devices["time"], begin))
    if not len(spans) or not spans.sum():
        return {}
    return {
        name: float((devices[name][:-1] * spans).sum() / spans.sum()) for name in DEVICE_COLUMNS
    }


def queue_capacities(
    scheduler: SchedulerSetup, configuration: MapReduceConfiguration
) -> dict[str, QueueCapacity]:
    """Return the capacities of queues, if the scheduler has them."""
    made = built(scheduler, configuration)
    if not isinstance(made, CapacityTaskScheduler):
        return {}
    return {
        name: QueueCapacity(
            each.capacity, _ALL if each.maximum_capacity == NO_MAXIMUM else each.maximum_capacity
        )
        for name, each in made.settings.queues.items()
    }


def built(scheduler: SchedulerSetup, configuration: MapReduceConfiguration) -> TaskScheduler:
    """Make a scheduler for an idle cluster. Raises UserError if the settings do not fit."""
    cluster = configuration.cluster
    racks = racks_of(cluster.nodes, cluster.racks)
    nodes = zip(racks, cluster.class_of_nodes, strict=True)
    return scheduler.build(
        [
            TrackerSlots(number, rack, of.map_slots, of.reduce_slots)
            for number, (rack, of) in enumerate(nodes)
        ]
    )

"""Stored tables of runs: jobs, attempts, queues, families, and of use over time.

Times are microseconds since the beginning; figures are those of `JOB_FIGURES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.mapreduce.figures.attempts import KINDS, LOCALITIES, OUTCOMES
from rebecsim.clusters.mapreduce.figures.jobs import JOB_FIGURES, JobColumns
from rebecsim.clusters.mapreduce.figures.measures import MeasuredRun
from rebecsim.metrics import count_over_time
from rebecsim.studies.cells import REPLICATION, Coded

JOBS, REJECTED, ATTEMPTS = "jobs", "rejected", "attempts"
QUEUES, FAMILIES = "queues", "families"
SHARES, DEVICES = "shares", "devices"

WINDOWS = 200
"""Over so many windows of a run the shares of queues are kept."""

DEVICE_COLUMNS = ("processor", "disk", "link", "rack_link")

_WHOLE = "int64"
_JOB_TIMES = ("submit", "begin", "maps_end", "reduces_begin", "end")
_NEARNESS = ("node_local", "rack_local", "remote")
_FIGURES = dict.fromkeys(JOB_FIGURES, "float64")

TABLES: Mapping[str, Mapping[str, str]] = {
    JOBS: {
        REPLICATION: _WHOLE,
        "job": _WHOLE,
        **dict.fromkeys(("family", "queue", "user", "priority"), "string"),
        **dict.fromkeys(("maps", "reduces", *_JOB_TIMES, *_NEARNESS), _WHOLE),
    },
    REJECTED: {
        REPLICATION: _WHOLE,
        "job": _WHOLE,
        **dict.fromkeys(("family", "queue", "user", "reason"), "string"),
        "submit": _WHOLE,
    },
    ATTEMPTS: {
        REPLICATION: _WHOLE,
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
        REPLICATION: _WHOLE,
        "queue": "string",
        "capacity": "float64?",
        "maximum": "float64?",
        "jobs": _WHOLE,
        **_FIGURES,
    },
    FAMILIES: {
        REPLICATION: _WHOLE,
        **dict.fromkeys(("queue", "family"), "string"),
        "jobs": _WHOLE,
        **_FIGURES,
    },
    SHARES: {
        REPLICATION: _WHOLE,
        "time": _WHOLE,
        "queue": "string",
        **dict.fromkeys(("maps", "reduces"), "float64"),
    },
    DEVICES: {
        REPLICATION: _WHOLE,
        "time": _WHOLE,
        **dict.fromkeys(DEVICE_COLUMNS, "float64"),
    },
}
"""The columns of each table. A share is the mean number of slots that the attempts of a queue hold,
over a window that begins at `time`; the use of devices, in percent, is over that window too."""


@dataclass(frozen=True, slots=True)
class QueueCapacity:
    """What a queue is sure of, and what it may have (% of all slots)."""

    capacity: float
    maximum: float


@dataclass(frozen=True, eq=False)
class RecordedRun:
    """A run with what its tables say beside its figures.

    Attributes:
        measured: what figures are of.
        names: of the jobs that have ended: number, priority, maps and reduces.
        rejections: number, family, queue, user, reason and time of submission of the others.
        capacities: of the queues, where the scheduler has such.
        devices: `time` and the columns of `DEVICE_COLUMNS`.
    """

    measured: MeasuredRun
    names: Mapping[str, Any]
    rejections: Sequence[tuple[int, str, str, str, str, int]]
    capacities: Mapping[str, QueueCapacity]
    devices: Mapping[str, NDArray[Any]]

    @property
    def nothing_ran(self) -> str:
        """Say that no job was accepted, and why the first was not; empty: some were."""
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
        REJECTED: _rejected(run),
        ATTEMPTS: _attempts(run),
        QUEUES: _rows(QUEUES, _queue_rows(run)),
        FAMILIES: _rows(FAMILIES, _family_rows(run.measured.counted)),
        SHARES: _shares(run),
        DEVICES: dict(run.devices),
    }


def _jobs(run: RecordedRun) -> dict[str, Any]:
    jobs = run.measured.jobs
    return {
        name: run.names[name] if name in run.names else getattr(jobs, name)
        for name in TABLES[JOBS]
        if name != REPLICATION
    }


def _rejected(run: RecordedRun) -> dict[str, Any]:
    columns: list[Any] = [list(each) for each in zip(*run.rejections, strict=True)] or [[]] * 6
    names = ("job", "family", "queue", "user", "reason", "submit")
    found = dict(zip(names, columns, strict=True))
    return {name: found[name] for name in TABLES[REJECTED] if name != REPLICATION}


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


def _rows(table: str, rows: Iterator[tuple[Any, ...]]) -> dict[str, Any]:
    names = [name for name in TABLES[table] if name != REPLICATION]
    columns = [list(each) for each in zip(*rows, strict=True)] or [[] for _ in names]
    return dict(zip(names, columns, strict=True))


def _shares(run: RecordedRun) -> dict[str, Any]:
    """Give slots held by queue, as means over at most `WINDOWS` windows of equal length."""
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

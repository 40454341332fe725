"""Stored tables of runs with queues: waits of jobs, shares of queues, and killed containers.

Times are milliseconds, memories MB.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from rebecsim.clusters.yarn.cluster import Finished
from rebecsim.clusters.yarn.tables import KINDS, WINDOWS, ContainerColumns, last_end
from rebecsim.metrics import count_over_time
from rebecsim.studies.cells import REPLICATION, Coded

QUEUES, QUEUE_JOBS, QUEUE_USAGE, KILLED = "queues", "queue_jobs", "queue_usage", "killed"
QUEUE_WAITS = "queue_waits"

_WHOLE = "int64"

QUEUE_TABLES: Mapping[str, Mapping[str, str]] = {
    QUEUES: {
        REPLICATION: _WHOLE,
        "queue": "string",
        "leaf": "bool",
        **dict.fromkeys(("guaranteed", "maximum"), _WHOLE),
    },
    QUEUE_JOBS: {
        REPLICATION: _WHOLE,
        "job": _WHOLE,
        **dict.fromkeys(("queue", "user", "refused"), "string"),
        "submitted": _WHOLE,
        **dict.fromkeys(("started", "ended"), "int64?"),
        **dict.fromkeys(("killed", "wasted"), _WHOLE),
    },
    QUEUE_USAGE: {
        REPLICATION: _WHOLE,
        "queue": "string",
        "time": _WHOLE,
        "memory": "float64",
    },
    KILLED: {
        REPLICATION: _WHOLE,
        **dict.fromkeys(("job", "container"), _WHOLE),
        "kind": "words",
        "node": "string",
        "reason": "string",
        "chosen": "int64?",
        "killed": _WHOLE,
        "wasted": _WHOLE,
    },
    QUEUE_WAITS: {
        REPLICATION: _WHOLE,
        **dict.fromkeys(("queue", "reason"), "string"),
        "waited": _WHOLE,
    },
}
"""The columns of each table. A usage is the mean over a window that begins at `time`."""


def queue_tables_of(run: Finished, containers: ContainerColumns) -> dict[str, dict[str, Any]]:
    """Give the tables of queues of a run, without the column of its replication."""
    return {
        QUEUES: _queues(run),
        QUEUE_JOBS: queue_job_table(run),
        QUEUE_USAGE: _usage(run, containers),
        KILLED: _killed(run),
        QUEUE_WAITS: _waits(run),
    }


def _queues(run: Finished) -> dict[str, Any]:
    return {
        "queue": [each.path for each in run.queues],
        "leaf": np.array([each.is_leaf for each in run.queues], dtype=bool),
        "guaranteed": np.array([each.guaranteed for each in run.queues], dtype=np.int64),
        "maximum": np.array([each.maximum for each in run.queues], dtype=np.int64),
    }


def queue_job_table(run: Finished) -> dict[str, Any]:
    """Give a row for each job: its queue and user, and how long it waited; ms."""
    applications = run.applications
    killed = [[each for each in job.containers if each.killed] for job in applications]
    return {
        "job": np.array([each.number for each in applications], dtype=np.int64),
        "queue": [run.queue_of.get(each.number, each.job.queue) for each in applications],
        "user": [each.job.user for each in applications],
        "refused": [each.refused for each in applications],
        "submitted": np.array([each.start for each in applications], dtype=np.int64),
        "started": [
            each.containers[0].scheduled if each.containers else None for each in applications
        ],
        "ended": [None if each.refused else each.end for each in applications],
        "killed": np.array([len(each) for each in killed], dtype=np.int64),
        "wasted": np.array([sum(map(_wasted, each)) for each in killed], dtype=np.int64),
    }


def _wasted(container: Any) -> int:
    """Give what a container that was killed has used (MB ms)."""
    return int(container.memory * (container.finished - container.launched))


def reasons_of(run: Finished) -> Counter[tuple[str, str]]:
    """Give how long (ms) all jobs of a queue asked in vain for a reason, if that was noted."""
    found: Counter[tuple[str, str]] = Counter()
    for each, waited in () if run.diary is None else run.diary.waited.items():
        for reason, milliseconds in waited.items():
            found[run.queue_of[each.number], reason] += milliseconds
    return found


def _waits(run: Finished) -> dict[str, Any]:
    reasons = sorted(reasons_of(run).items())
    return {
        "queue": [queue for (queue, _), _ in reasons],
        "reason": [reason for (_, reason), _ in reasons],
        "waited": np.array([waited for _, waited in reasons], dtype=np.int64),
    }


def _usage(run: Finished, containers: ContainerColumns) -> dict[str, Any]:
    """Give what each queue has on average over windows of equal length, parents with children."""
    last = last_end(run)
    width = -(-max(last, 1) // WINDOWS)
    edges = np.arange(0, last + width, width)
    paths = sorted({each.path for each in run.queues} | set(run.queue_of.values()))
    names = np.array([run.queue_of[number] for number in containers.job.tolist()], dtype=object)
    columns: dict[str, list[Any]] = {"queue": [], "time": [], "memory": []}
    for path in paths:
        mine = np.array([f"{name}.".startswith(f"{path}.") for name in names], dtype=bool)
        used = count_over_time(
            containers.scheduled[mine], containers.finished[mine], containers.given[mine]
        )
        columns["queue"] += [path] * (len(edges) - 1)
        columns["time"].append(edges[:-1])
        columns["memory"].append(used.means(edges))
    return {
        "queue": columns["queue"],
        "time": np.concatenate(columns["time"]),
        "memory": np.concatenate(columns["memory"]),
    }


def _killed(run: Finished) -> dict[str, Any]:
    """Give a row for each container that was killed.

    Those that went with their AppMaster have not been chosen: their time of choice is null.
    """
    chosen = {each.container: each for each in run.killed}
    rows = [each for job in run.applications for each in job.containers if each.killed]
    kinds = {kind: at for at, kind in enumerate(KINDS)}
    return {
        "job": np.array([each.application.number for each in rows], dtype=np.int64),
        "container": np.array([each.number for each in rows], dtype=np.int64),
        "kind": Coded(np.array([kinds[each.task.kind] for each in rows], dtype=np.int64), KINDS),
        "node": [each.node.size.name for each in rows],
        "reason": [chosen[each].reason if each in chosen else "master" for each in rows],
        "chosen": [chosen[each].chosen if each in chosen else None for each in rows],
        "killed": np.array([each.finished for each in rows], dtype=np.int64),
        "wasted": np.array([_wasted(each) for each in rows], dtype=np.int64),
    }

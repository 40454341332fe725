"""Stored tables of runs: jobs, tasks, decisions, reservations, occupancy, and those of queues.

Times are milliseconds, memories MB.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.yarn.cluster import Finished
from rebecsim.metrics import StepFunction, count_over_time
from rebecsim.studies.cells import Coded

Integers = NDArray[np.int64]

JOBS, TASKS, DECISIONS = "jobs", "tasks", "decisions"
RESERVATIONS, OCCUPANCY, NODES = "reservations", "occupancy", "nodes"

WINDOWS = 200
"""Over so many windows of a run its occupancy is kept."""

_WHOLE = "int64"

TABLES: Mapping[str, Mapping[str, str]] = {
    JOBS: {
        **dict.fromkeys(("job", "start", "end", "tasks", "longest"), _WHOLE),
    },
    TASKS: {
        **dict.fromkeys(("job", "container"), _WHOLE),
        "kind": "words",
        "locality": "words",
        "node": "string",
        **dict.fromkeys(("scheduled", "launched", "finished"), _WHOLE),
        **dict.fromkeys(("requested", "ideal", "given", "cores"), _WHOLE),
        "elastic": "bool",
    },
    DECISIONS: {
        **dict.fromkeys(("job", "total", "accepted", "rejected", "reserved", "elastic"), _WHOLE),
    },
    RESERVATIONS: {
        "node": "string",
        **dict.fromkeys(("job", "start"), _WHOLE),
        "end": "int64?",
    },
    OCCUPANCY: {
        "time": _WHOLE,
        **dict.fromkeys(("memory", "cores", "elastic_memory"), "float64"),
        **dict.fromkeys(("containers", "reserved_memory"), "float64"),
    },
    NODES: {
        "node": "string",
        **dict.fromkeys(("memory", "cores"), _WHOLE),
    },
}
"""The columns of each table. An occupancy is the mean over a window that begins at `time`."""


@dataclass(frozen=True, eq=False)
class ContainerColumns:
    """All containers of a run as columns, of shape (containers,); as in the table of tasks.

    Attributes:
        kind: places in `KINDS`.
        locality: places in `LOCALITIES`.
        node: places in the nodes of the run.
    """

    job: Integers
    container: Integers
    kind: Integers
    locality: Integers
    node: Integers
    scheduled: Integers
    launched: Integers
    finished: Integers
    requested: Integers
    ideal: Integers
    given: Integers
    cores: Integers
    elastic: NDArray[np.bool_]

    @property
    def is_task(self) -> NDArray[np.bool_]:
        """Which are no AppMasters."""
        return np.asarray(self.kind != 0)


KINDS = ("master", "map", "reduce")
LOCALITIES = ("", "node", "rack", "any")
"""The first one: nothing is preferred, or placement plays no part."""


def container_columns(run: Finished) -> ContainerColumns:
    """Give the containers of a run, by jobs in the order of the trace."""
    place = {node: at for at, node in enumerate(run.nodes)}
    kinds = {kind: at for at, kind in enumerate(KINDS)}
    near = {locality or None: at for at, locality in enumerate(LOCALITIES)}
    rows = np.array(
        [
            (
                application.number,
                each.number,
                kinds[each.task.kind],
                near[each.locality],
                place[each.node],
                each.scheduled,
                each.launched,
                each.finished,
                each.task.memory,
                each.task.ideal,
                each.memory,
                each.task.cores,
                each.is_elastic,
            )
            for application in run.applications
            for each in application.containers
        ],
        dtype=np.int64,
    ).reshape(-1, 13)
    columns: list[Any] = list(np.ascontiguousarray(rows.T))
    columns[-1] = columns[-1].astype(bool)
    return ContainerColumns(*columns)


def task_table(run: Finished, containers: ContainerColumns) -> dict[str, Any]:
    """Give a row for each container."""
    names = _node_names(run)
    columns: dict[str, Any] = {
        each.name: getattr(containers, each.name) for each in fields(containers)
    }
    return columns | {
        "kind": Coded(containers.kind, KINDS),
        "locality": Coded(containers.locality, LOCALITIES),
        "node": names[containers.node],
    }


def _node_names(run: Finished) -> NDArray[np.str_]:
    return np.array([node.size.name for node in run.nodes])


def job_table(run: Finished) -> dict[str, Any]:
    """Give a row for each job: how many tasks it has, and how long the longest is on its own."""
    rows = [
        (
            each.number,
            each.start,
            each.end,
            sum(count for task, count in each.tasks if not task.is_master),
            max(task.duration for task, _ in each.tasks),
        )
        for each in run.served
    ]
    return _columns(JOBS, rows)


def decision_table(run: Finished) -> dict[str, Any]:
    """Give how often the next task of each job was looked at, and what came of it."""
    rows = [
        (job.number, found.total, found.accepted, found.rejected, found.reserved, found.elastic)
        for job in run.applications
        for found in (job.decisions,)
    ]
    return _columns(DECISIONS, rows)


def _columns(table: str, rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    return dict(zip(TABLES[table], zip(*rows, strict=True), strict=True))


def reservation_table(run: Finished) -> dict[str, Any]:
    """Give when nodes were kept for jobs; the end is null where that lasted until the end."""
    held = [(at, each) for at, node in enumerate(run.nodes) for each in node.reservations]
    places = np.array([at for at, _ in held], dtype=np.int64)
    return {
        "node": _node_names(run)[places],
        "job": np.array([each.application.number for _, each in held], dtype=np.int64),
        "start": np.array([each.start for _, each in held], dtype=np.int64),
        "end": [each.end for _, each in held],
    }


def occupancy_table(run: Finished, containers: ContainerColumns) -> dict[str, Any]:
    """Give what was in use, as means over at most `WINDOWS` windows of equal length."""
    last = last_end(run)
    width = -(-max(last, 1) // WINDOWS)
    edges = np.arange(0, last + width, width)
    booked = containers.scheduled, containers.finished
    functions = {
        "memory": count_over_time(*booked, containers.given),
        "cores": count_over_time(*booked, containers.cores),
        "elastic_memory": count_over_time(*booked, containers.given * containers.elastic),
        "containers": count_over_time(containers.launched, containers.finished),
    }
    means = {name: function.means(edges) for name, function in functions.items()}
    kept = sum(
        (each.means(edges) for each in kept_memory(run, containers)), np.zeros(len(edges) - 1)
    )
    return {"time": edges[:-1], **means, "reserved_memory": kept}


def kept_memory(run: Finished, containers: ContainerColumns) -> list[StepFunction]:
    """Give the free memory of each node that was ever reserved while it was, over time.

    A reservation that was never given up ends with the last job, if it began before.
    """
    last = last_end(run)
    order = np.argsort(containers.node, kind="stable")
    bounds = np.searchsorted(containers.node[order], np.arange(len(run.nodes) + 1))
    found = []
    for place, node in enumerate(run.nodes):
        if node.reservations:
            mine = order[bounds[place] : bounds[place + 1]]
            used = count_over_time(
                containers.scheduled[mine], containers.finished[mine], containers.given[mine]
            )
            spans = [
                (each.start, max(last, each.start) if each.end is None else each.end)
                for each in node.reservations
            ]
            kept = count_over_time(*np.array(spans, dtype=np.int64).T)
            times = np.union1d(used.times, kept.times)
            free = node.size.memory - used.at(times)
            found.append(StepFunction(times, free * kept.at(times)))
    return found


def last_end(run: Finished) -> int:
    """Give when the last job ended (ms)."""
    return max(each.end or 0 for each in run.applications)


def tables_of(run: Finished, containers: ContainerColumns) -> dict[str, dict[str, Any]]:
    """Give all tables of a run, without the column of its replication."""
    return {
        JOBS: job_table(run),
        TASKS: task_table(run, containers),
        DECISIONS: decision_table(run),
        RESERVATIONS: reservation_table(run),
        OCCUPANCY: occupancy_table(run, containers),
        NODES: _columns(
            NODES, [(each.size.name, each.size.memory, each.size.cores) for each in run.nodes]
        ),
    }


QUEUES, QUEUE_JOBS, QUEUE_USAGE, KILLED = "queues", "queue_jobs", "queue_usage", "killed"
QUEUE_WAITS = "queue_waits"


QUEUE_TABLES: Mapping[str, Mapping[str, str]] = {
    QUEUES: {
        "queue": "string",
        "leaf": "bool",
        **dict.fromkeys(("guaranteed", "maximum"), _WHOLE),
    },
    QUEUE_JOBS: {
        "job": _WHOLE,
        **dict.fromkeys(("queue", "user", "refused"), "string"),
        "submitted": _WHOLE,
        **dict.fromkeys(("started", "ended"), "int64?"),
        **dict.fromkeys(("killed", "wasted"), _WHOLE),
    },
    QUEUE_USAGE: {
        "queue": "string",
        "time": _WHOLE,
        "memory": "float64",
    },
    KILLED: {
        **dict.fromkeys(("job", "container"), _WHOLE),
        "kind": "words",
        "node": "string",
        "reason": "string",
        "chosen": "int64?",
        "killed": _WHOLE,
        "wasted": _WHOLE,
    },
    QUEUE_WAITS: {
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
    for each, waited in () if run.wait_log is None else run.wait_log.waited.items():
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

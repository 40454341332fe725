"""User-aware metrics: how often, and by how much, jobs end later than users expect.

Toth and Klusacek (JSSPP 2014), section 3.3 with figures 4 and 7, on the expected end times of
`expected_end`. A violated job is overdue from the
latest start that would have met its expected end until it starts. The paper counts jobs by the
minute; a cell here is the mean number of overdue jobs in its window, whatever the window is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.metrics.batch import count_over_time
from rebecsim.workloads.logs import Schedule, labels_of
from rebecsim.workloads.workload import Integers


@dataclass(frozen=True, slots=True, eq=False)
class UserMetrics:
    """The metrics of each user; arrays of shape (users,), users ascending.

    Attributes:
        user: numbers of the users.
        jobs: jobs of the user.
        violated: those of them that ended later than expected.
        veet: share of violated jobs, percent (VEET).
        weighted_tardiness: sum of processors times tardiness over the jobs, processor seconds (WT).
    """

    user: Integers
    jobs: Integers
    violated: Integers
    veet: NDArray[np.float64]
    weighted_tardiness: Integers


def tardiness(end: Integers, expected_end: Integers) -> Integers:
    """Give how much later than expected each job ended: seconds, 0 for jobs in time."""
    late: Integers = np.maximum(end - expected_end, 0)
    return late


def user_metrics(
    end: Integers,
    expected_end: Integers,
    user: Integers,
    processors: Integers,
    only: NDArray[Any] | None = None,
) -> UserMetrics:
    """Give the metrics of every user who has a job.

    All arrays have shape (jobs,). `only` chooses the jobs that count, as a mask or as indices, for
    a view of some users or queues; expected end times are those among all jobs of the user.
    """
    if only is not None:
        end, expected_end, user, processors = (
            column[only] for column in (end, expected_end, user, processors)
        )
    late = tardiness(end, expected_end)
    names, row = np.unique(user, return_inverse=True)
    jobs = np.bincount(row, minlength=len(names))
    violated = np.bincount(row[late > 0], minlength=len(names))
    weighted = np.zeros(len(names), dtype=np.int64)
    np.add.at(weighted, row, processors * late)  # whole numbers: exact beyond 2^53
    return UserMetrics(names, jobs, violated, 100.0 * violated / jobs, weighted)


def overdue_intervals(
    start: Integers, end: Integers, expected_end: Integers
) -> tuple[NDArray[np.bool_], Integers, Integers]:
    """Give which jobs were violated, and from when until when each of those was overdue.

    A violated job is overdue from the latest start that would have met its expected end until it
    starts, which lasts as long as its tardiness (section 3.3, the heat map).
    """
    late = end - expected_end > 0
    latest_start = expected_end - (end - start)
    return late, latest_start[late], start[late]


_WIDTHS = tuple(
    60 * minutes for minutes in (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080)
)


@dataclass(frozen=True, slots=True, eq=False)
class OverdueMap:
    """What the picture shows of one schedule.

    Attributes:
        policy: name of the schedule.
        user: numbers of the users, ascending, shape (users,).
        labels: what to call them: their names where the log has these.
        edges: ends of the windows, ascending, seconds, shape (windows + 1,).
        overdue: mean number of overdue jobs, shape (users, windows).
        processors: mean number of processors in use by all jobs, shape (windows,).
        memory: mean memory in use by all jobs, KB, shape (windows,); None where
            the log does not tell.
        capacity: processors of the machine.
    """

    policy: str
    user: Integers
    labels: tuple[str, ...]
    edges: Integers
    overdue: NDArray[np.float64]
    processors: NDArray[np.float64]
    memory: NDArray[np.float64] | None
    capacity: int


def window_edges(begin: int, end: int, most: int) -> Integers:
    """Cut a time into at most `most` windows of a minute, two, five, ... a day, ... each.

    The first window begins at a multiple of the width, at or before `begin`.
    """
    for width in _WIDTHS:
        if end - begin <= (most - 1) * width:
            break
    else:
        width = _WIDTHS[-1] * -(-(end - begin) // ((most - 1) * _WIDTHS[-1]))
    first = begin // width * width
    return np.arange(first, max(end, first + 1) + width, width)


def overdue_map(
    schedule: Schedule,
    expected_end: Integers,
    edges: Integers,
    only: NDArray[Any] | None = None,
) -> OverdueMap:
    """Count overdue jobs by user and window.

    `only` chooses the jobs whose users are shown and that are counted, as a mask or as indices; the
    usage of the machine is that of all jobs.
    """
    jobs = schedule.workload
    view = np.arange(len(schedule)) if only is None else np.arange(len(schedule))[only]
    late, begin, until = overdue_intervals(
        schedule.start[view], schedule.end[view], expected_end[view]
    )
    users = np.unique(jobs.user[view])
    labels = labels_of(jobs, "user")
    owner = jobs.user[view][late]
    overdue = np.zeros((len(users), len(edges) - 1))
    for row, user in enumerate(users):
        mine = owner == user
        overdue[row] = count_over_time(begin[mine], until[mine]).means(edges)
    memory = jobs.memory
    return OverdueMap(
        policy=schedule.policy,
        user=users,
        labels=tuple(labels[user] for user in users.tolist()),
        edges=edges,
        overdue=overdue,
        processors=_usage(schedule, jobs.processors, edges),
        memory=_usage(schedule, memory, edges) if memory.any() else None,
        capacity=jobs.capacity,
    )


def _usage(schedule: Schedule, units: Integers, edges: Integers) -> NDArray[np.float64]:
    return count_over_time(schedule.start, schedule.end, units).means(edges)

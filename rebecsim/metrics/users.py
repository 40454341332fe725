"""User-aware metrics: how often, and by how much, jobs end later than users expect.

Toth and Klusacek (JSSPP 2014), section 3.3, on the expected end times of `expected_end`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.workloads.job import Integers


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

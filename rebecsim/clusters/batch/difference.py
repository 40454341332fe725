"""Two schedules side by side: which jobs wait longer, and what that does to each user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.batch.measures import _HOUR, JudgedSchedule
from rebecsim.metrics import tardiness
from rebecsim.workloads import Schedule, Workload
from rebecsim.workloads.job import Integers
from rebecsim.workloads.logs import labels_of



@dataclass(frozen=True, slots=True, eq=False)
class UserChanges:
    """What changes for each user; arrays of shape (users,), users ascending.

    Attributes:
        user: numbers of the users.
        labels: what to call them: their names in the log, or their numbers.
        jobs: jobs of the user in both schedules.
        earlier, later: those of them that wait for less or more time in the second one.
        wait: change of the mean wait, seconds.
        weighted_tardiness: change of the weighted tardiness, processor hours; None without shares.
    """

    user: Integers
    labels: tuple[str, ...]
    jobs: Integers
    earlier: Integers
    later: Integers
    wait: NDArray[np.float64]
    weighted_tardiness: NDArray[np.float64] | None


@dataclass(frozen=True, slots=True, eq=False)
class ScheduleDifference:
    """The second schedule as seen from the first; arrays of shape (jobs in both,).

    Attributes:
        first, second: what they are called.
        job: numbers of the jobs that are in both, as the first schedule has them in order.
        submit: when they were submitted in the first schedule, seconds.
        change: how much longer each waits in the second one, seconds.
        users: what changes for each user.
        only_first, only_second: how many jobs the other one does not have.
    """

    first: str
    second: str
    job: Integers
    submit: Integers
    change: Integers
    users: UserChanges
    only_first: int
    only_second: int

    @property
    def earlier(self) -> int:
        """How many jobs wait for less time in the second schedule."""
        return int((self.change < 0).sum())

    @property
    def later(self) -> int:
        """How many jobs wait for more time in the second schedule."""
        return int((self.change > 0).sum())


def schedule_difference(
    first: JudgedSchedule, second: JudgedSchedule, names: tuple[str, str] | None = None
) -> ScheduleDifference:
    """Compare two schedules job by job; jobs are the same if they have the same number.

    Waits are compared and not starts, so that schedules of one log under two loads can be compared
    as well. `names` are the policies' unless given. Raises ValueError without a common job, and for
    schedules of different workloads, in which jobs of the same number are not the same.
    """
    one, other = first.schedule, second.schedule
    _, place, place_other = np.intersect1d(
        one.workload.job, other.workload.job, assume_unique=True, return_indices=True
    )
    if not len(place):
        raise ValueError("the two schedules have no job in common")
    order = np.argsort(place)
    place, place_other = place[order], place_other[order]
    _require_same_jobs(one.select(place), other.select(place_other))
    change = other.wait[place_other] - one.wait[place]
    late = None
    before, after = _lateness(first), _lateness(second)
    if before is not None and after is not None:
        late = after[place_other] - before[place]
    named = (one.policy, other.policy) if names is None else names
    return ScheduleDifference(
        first=named[0],
        second=named[1],
        job=one.workload.job[place],
        submit=one.workload.submit[place],
        change=change,
        users=_users(one.select(place).workload, change, late),
        only_first=len(one) - len(place),
        only_second=len(other) - len(place),
    )


def _require_same_jobs(one: Schedule, other: Schedule) -> None:
    for what in ("processors", "user"):
        values, others = getattr(one.workload, what), getattr(other.workload, what)
        if (differ := np.flatnonzero(values != others)).size:
            place = differ[0]
            raise ValueError(
                f"the schedules are of different workloads: {what} of job "
                f"{one.workload.job[place]} is {values[place]} in one, {others[place]} in the other"
            )


def _lateness(judged: JudgedSchedule) -> Integers | None:
    """Processors times tardiness of each job; processor seconds."""
    if judged.expected_end is None:
        return None
    schedule = judged.schedule
    return schedule.workload.processors * tardiness(schedule.end, judged.expected_end)


def _users(workload: Workload, change: Integers, late: Integers | None) -> UserChanges:
    users, row = np.unique(workload.user, return_inverse=True)
    jobs = np.bincount(row, minlength=len(users))
    sums = np.bincount(row, weights=change, minlength=len(users))
    hours: NDArray[np.float64] | None = None
    if late is not None:
        hours = np.asarray(
            np.bincount(row, weights=late / _HOUR, minlength=len(users)), dtype=np.float64
        )
    return UserChanges(
        user=users,
        labels=tuple(labels_of(workload, "user").values()),
        jobs=jobs,
        earlier=np.bincount(row[change < 0], minlength=len(users)),
        later=np.bincount(row[change > 0], minlength=len(users)),
        wait=sums / jobs,
        weighted_tardiness=hours,
    )

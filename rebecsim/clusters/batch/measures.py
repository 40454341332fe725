"""The figures by which schedules are compared: over all jobs, by user, and side by side.

The definitions are those of `rebecsim.metrics.batch` and `rebecsim.metrics.users`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rebecsim.metrics import (
    BatchMetrics,
    FairnessMetrics,
    Metric,
    UserMetrics,
    batch_metrics,
    fairness_metrics,
    tardiness,
    user_metrics,
)
from rebecsim.workloads import Schedule, Workload
from rebecsim.workloads.logs import labels_of
from rebecsim.workloads.workload import Integers

_HOUR = 3600

Needed = Literal["share", "fair_starts"]
"""Keys of scenarios without which some figures cannot be computed."""


@dataclass(frozen=True, slots=True, eq=False)
class JudgedSchedule:
    """A schedule with its figures.

    Attributes:
        schedule: when each job ran.
        expected_end: when its user may have expected it to end, seconds, shape (jobs,); None where
            no share is given.
        classical: figures of all jobs.
        users: figures of users; None where no share is given.
        fairness: figures by fair starts; None where nobody has looked for these.
    """

    schedule: Schedule
    expected_end: Integers | None
    classical: BatchMetrics
    users: UserMetrics | None
    fairness: FairnessMetrics | None

    def has(self, needed: Needed | None) -> bool:
        """Whether a figure that needs this can be computed."""
        return {"share": self.users, "fair_starts": self.fairness}.get(needed or "", ()) is not None


def judge(schedule: Schedule, expected_end: Integers | None) -> JudgedSchedule:
    """Compute the figures of a schedule; `expected_end` has shape (jobs,)."""
    jobs = schedule.workload
    users = None
    if expected_end is not None:
        users = user_metrics(schedule.end, expected_end, jobs.user, jobs.processors)
    fairness = None if schedule.fair_start is None else fairness_metrics(schedule)
    return JudgedSchedule(schedule, expected_end, batch_metrics(schedule), users, fairness)


@dataclass(frozen=True, slots=True)
class ScheduleMetric:
    """One figure of a schedule.

    Attributes:
        metric: what it is; each schedule has one value of it.
        of: gives the value.
        needs: what a scenario has to give for it, if anything.
    """

    metric: Metric
    of: Callable[[JudgedSchedule], float]
    needs: Needed | None = None


def _figure(
    name: str,
    title: str,
    unit: str,
    note: str,
    decimals: int,
    of: Callable[[JudgedSchedule], float],
    better: Literal["lower", "higher"] = "lower",
    needs: Needed | None = None,
) -> ScheduleMetric:
    metric = Metric(name, title, unit, better, {name: 1}, note=note, decimals=decimals)
    return ScheduleMetric(metric, of, needs)


def _veet(percentile: float) -> Callable[[JudgedSchedule], float]:
    return lambda each: float(np.percentile(_users(each).veet, percentile))


def _users(each: JudgedSchedule) -> UserMetrics:
    if each.users is None:
        raise ValueError("figures of users need the share that users may expect")
    return each.users


def _fairness(each: JudgedSchedule) -> FairnessMetrics:
    if each.fairness is None:
        raise ValueError("figures of fairness need fair starts")
    return each.fairness


SCHEDULE_METRICS: tuple[ScheduleMetric, ...] = (
    _figure(
        "mean_wait",
        "Mean wait",
        "s",
        "From submission to start, mean over the jobs.",
        0,
        lambda each: each.classical.wait.mean,
    ),
    _figure(
        "median_wait",
        "Median wait",
        "s",
        "Half of the jobs waited at most so long.",
        0,
        lambda each: each.classical.wait.median,
    ),
    _figure(
        "p95_wait",
        "95th percentile of wait",
        "s",
        "95 % of the jobs waited at most so long.",
        0,
        lambda each: each.classical.wait.percentile_95,
    ),
    _figure(
        "mean_response",
        "Mean response",
        "s",
        "From submission to end, mean over the jobs.",
        0,
        lambda each: each.classical.response.mean,
    ),
    _figure(
        "mean_slowdown",
        "Slowdown",
        "",
        "Response time over run time, mean over the jobs. Jobs of a few seconds dominate it.",
        1,
        lambda each: each.classical.slowdown.mean,
    ),
    _figure(
        "mean_bounded_slowdown",
        "Bounded slowdown",
        "",
        "The same, at least 1, with run times below 10 s counted as 10 s.",
        1,
        lambda each: each.classical.bounded_slowdown.mean,
    ),
    _figure(
        "utilisation",
        "Utilisation",
        "%",
        "Share of the processors that jobs used, from the first submission to the last end.",
        1,
        lambda each: 100 * each.classical.utilisation,
        "higher",
    ),
    _figure(
        "makespan",
        "Makespan",
        "h",
        "From the first submission to the last end.",
        1,
        lambda each: each.classical.makespan / _HOUR,
    ),
    _figure(
        "veet_lower_quartile",
        "VEET: lower quartile",
        "%",
        "Jobs of a user that ended later than the user could expect (VEET): the quarter of the "
        "users who fared best had at most this share of such jobs.",
        1,
        _veet(25),
        needs="share",
    ),
    _figure(
        "veet_median",
        "VEET: median",
        "%",
        "Half of the users had at most this share of such jobs.",
        1,
        _veet(50),
        needs="share",
    ),
    _figure(
        "veet_upper_quartile",
        "VEET: upper quartile",
        "%",
        "Three quarters of the users had at most this share of such jobs.",
        1,
        _veet(75),
        needs="share",
    ),
    _figure(
        "weighted_tardiness",
        "Weighted tardiness",
        "processor h",
        "How much later than expected jobs ended, times their processors, sum over all users.",
        0,
        lambda each: float(_users(each).weighted_tardiness.sum()) / _HOUR,
        needs="share",
    ),
    _figure(
        "unfair_jobs",
        "Started later than fair",
        "%",
        "Jobs that started later than they would have without later submissions.",
        1,
        lambda each: 100 * _fairness(each).late,
        needs="fair_starts",
    ),
    _figure(
        "mean_unfairness",
        "Mean unfairness",
        "s",
        "How much later than that jobs started, 0 for all others, mean over the jobs.",
        0,
        lambda each: _fairness(each).unfairness.mean,
        needs="fair_starts",
    ),
    _figure(
        "mean_fair_slowdown",
        "Fair slowdown",
        "",
        "Slowdown if every job had started when it would have without later submissions.",
        1,
        lambda each: _fairness(each).fair_slowdown.mean,
        needs="fair_starts",
    ),
)
"""All figures, in the order of tables."""


def known_metrics(given: Collection[Needed]) -> tuple[Metric, ...]:
    """Give the figures that can be computed of what a scenario gives."""
    return tuple(
        each.metric for each in SCHEDULE_METRICS if each.needs is None or each.needs in given
    )


def schedule_figures(judged: JudgedSchedule) -> dict[str, float]:
    """Compute the figures of a schedule, by their names."""
    return {
        each.metric.name: each.of(judged) for each in SCHEDULE_METRICS if judged.has(each.needs)
    }


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
        users=_user_changes(one.select(place).workload, change, late),
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


def _user_changes(workload: Workload, change: Integers, late: Integers | None) -> UserChanges:
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

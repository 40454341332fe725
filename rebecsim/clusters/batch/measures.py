"""The figures by which schedules are compared, and the stored table with a row for each job.

The definitions are those of `rebecsim.metrics.batch` and `rebecsim.metrics.users`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.kit.measures import figures_of, measure, measures_of
from rebecsim.metrics import (
    BatchMetrics,
    FairnessMetrics,
    UserMetrics,
    batch_metrics,
    fairness_metrics,
    tardiness,
    user_metrics,
)
from rebecsim.studies.cells import REPLICATION, Columns
from rebecsim.studies.record import ResultsError
from rebecsim.studies.study import PlannedCell
from rebecsim.workloads import Schedule, Workload, WorkloadError
from rebecsim.workloads.logs import Named, labels_of
from rebecsim.workloads.workload import Integers

if TYPE_CHECKING:
    import pyarrow as pa

    from rebecsim.studies.results import Results

_HOUR = 3600

_figure = partial(measure, measured=False)
"""Records of runs say of these figures that they are not measured."""

Needed = Literal["share", "fair_starts"]
NEEDS: tuple[Needed, ...] = ("share", "fair_starts")
"""Keys of scenarios without which some figures cannot be computed."""


@dataclass(frozen=True, eq=False)
class JudgedSchedule:
    """A schedule with its figures, in the order of tables.

    Attributes:
        schedule: when each job ran.
        expected_end: when its user may have expected it to end, seconds, shape (jobs,); None where
            no share is given.
        classical: figures of all jobs.
        users: figures of users; None where no share is given.
        fairness: figures by fair starts; None where these were not computed.
    """

    schedule: Schedule
    expected_end: Integers | None
    classical: BatchMetrics
    users: UserMetrics | None
    fairness: FairnessMetrics | None

    @property
    def has(self) -> tuple[Needed, ...]:
        """What figures can be computed of, by the names in `NEEDS`."""
        parts = zip(NEEDS, (self.users, self.fairness), strict=True)
        return tuple(name for name, part in parts if part is not None)

    @property
    def _users(self) -> UserMetrics:
        if self.users is None:
            raise ValueError("figures of users need the share that users may expect")
        return self.users

    @property
    def _fair(self) -> FairnessMetrics:
        if self.fairness is None:
            raise ValueError("figures of fairness need fair starts")
        return self.fairness

    @_figure("Mean wait", "s", decimals=0)
    def mean_wait(self) -> float:
        """From submission to start, mean over the jobs."""
        return self.classical.wait.mean

    @_figure("Median wait", "s", decimals=0)
    def median_wait(self) -> float:
        """Half of the jobs waited at most so long."""
        return self.classical.wait.median

    @_figure("95th percentile of wait", "s", decimals=0)
    def p95_wait(self) -> float:
        """95 % of the jobs waited at most so long."""
        return self.classical.wait.percentile_95

    @_figure("Mean response", "s", decimals=0)
    def mean_response(self) -> float:
        """From submission to end, mean over the jobs."""
        return self.classical.response.mean

    @_figure("Slowdown")
    def mean_slowdown(self) -> float:
        """Response time over run time, mean over the jobs. Jobs of a few seconds dominate it."""
        return self.classical.slowdown.mean

    @_figure("Bounded slowdown")
    def mean_bounded_slowdown(self) -> float:
        """The same, at least 1, with run times below 10 s counted as 10 s."""
        return self.classical.bounded_slowdown.mean

    @_figure("Utilisation", "%", "higher")
    def utilisation(self) -> float:
        """Share of the processors that jobs used, from the first submission to the last end."""
        return 100 * self.classical.utilisation

    @_figure("Makespan", "h")
    def makespan(self) -> float:
        """From the first submission to the last end."""
        return self.classical.makespan / _HOUR

    @_figure("VEET: lower quartile", "%", needs="share")
    def veet_lower_quartile(self) -> float:
        """Jobs of a user that ended later than the user could expect (VEET): the quarter of the
        users who fared best had at most this share of such jobs.
        """
        return float(np.percentile(self._users.veet, 25))

    @_figure("VEET: median", "%", needs="share")
    def veet_median(self) -> float:
        """Half of the users had at most this share of such jobs."""
        return float(np.percentile(self._users.veet, 50))

    @_figure("VEET: upper quartile", "%", needs="share")
    def veet_upper_quartile(self) -> float:
        """Three quarters of the users had at most this share of such jobs."""
        return float(np.percentile(self._users.veet, 75))

    @_figure("Weighted tardiness", "processor h", decimals=0, needs="share")
    def weighted_tardiness(self) -> float:
        """How much later than expected jobs ended, times their processors, sum over all users."""
        return float(self._users.weighted_tardiness.sum()) / _HOUR

    @_figure("Started later than fair", "%", needs="fair_starts")
    def unfair_jobs(self) -> float:
        """Jobs that started later than they would have without later submissions."""
        return 100 * self._fair.late

    @_figure("Mean unfairness", "s", decimals=0, needs="fair_starts")
    def mean_unfairness(self) -> float:
        """How much later than that jobs started, 0 for all others, mean over the jobs."""
        return self._fair.unfairness.mean

    @_figure("Fair slowdown", needs="fair_starts")
    def mean_fair_slowdown(self) -> float:
        """Slowdown if every job had started when it would have without later submissions."""
        return self._fair.fair_slowdown.mean


SCHEDULE_METRICS = measures_of(JudgedSchedule)
"""All figures, in the order of tables."""


def judge(schedule: Schedule, expected_end: Integers | None) -> JudgedSchedule:
    """Compute the figures of a schedule; `expected_end` has shape (jobs,)."""
    jobs = schedule.workload
    users = None
    if expected_end is not None:
        users = user_metrics(schedule.end, expected_end, jobs.user, jobs.processors)
    fairness = None if schedule.fair_start is None else fairness_metrics(schedule)
    return JudgedSchedule(schedule, expected_end, batch_metrics(schedule), users, fairness)


def schedule_figures(judged: JudgedSchedule) -> dict[str, float]:
    """Compute the figures of a schedule, by their names."""
    return figures_of(SCHEDULE_METRICS, judged, judged.has)


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


JOBS = "jobs"
"""The name of the table."""

_NUMBERS = ("job", "user", "queue", "processors", "memory", "submit", "start", "duration")

NAMES: Mapping[str, Named] = {"user_name": "user", "queue_name": "queue"}
"""Columns of names, which runs of earlier versions lack, and the columns of their numbers."""

JOB_COLUMNS: dict[str, str] = {
    **dict.fromkeys(_NUMBERS, "int64"),
    "expected_end": "int64?",
    "capacity": "int64",
    **dict.fromkeys(NAMES, "string"),
}
"""Times in seconds, memory in KB per processor; the capacity is that of the machine, in processors.
The expected end is null without a share. A name is that of the log, or the number as text."""

_FAIR_START = "fair_start"


def columns_of_jobs(with_fair_starts: bool) -> Mapping[str, str]:
    """Give the columns of the table, with fair starts (seconds) where they are looked for."""
    return JOB_COLUMNS | {_FAIR_START: "int64"} if with_fair_starts else JOB_COLUMNS


def job_columns(schedule: Schedule, expected_end: Integers | None) -> Columns:
    """Give the rows of a schedule; `expected_end` has shape (jobs,)."""
    jobs = schedule.workload
    ends: Any = [None] * len(jobs) if expected_end is None else expected_end
    fair = {} if schedule.fair_start is None else {_FAIR_START: schedule.fair_start}
    return {
        "job": jobs.job,
        "user": jobs.user,
        "queue": jobs.queue,
        "processors": jobs.processors,
        "memory": jobs.memory // jobs.processors,
        "submit": jobs.submit,
        "start": schedule.start,
        "duration": schedule.duration,
        "expected_end": ends,
        "capacity": np.full(len(jobs), jobs.capacity),
        **{name: _names(jobs, column) for name, column in NAMES.items()},
        **fair,
    }


def _names(jobs: Workload, column: Named) -> NDArray[np.object_]:
    """Return what to call the user or queue of each job."""
    labels = labels_of(jobs, column)
    _, row = np.unique(getattr(jobs, column), return_inverse=True)
    return np.array(list(labels.values()), dtype=object)[row]


def _header(table: pa.Table) -> dict[str, str]:
    """Return the lines of a log's header that name the users and queues of a table."""
    header = {}
    for name, column in NAMES.items():
        if name in table.column_names:
            pairs = table.select([column, name]).group_by([column, name]).aggregate([])
            numbers, names = pairs.column(column).to_pylist(), pairs.column(name).to_pylist()
            header[column.capitalize()] = "\n".join(
                f"{number} {label}"
                for number, label in zip(numbers, names, strict=True)
                if label != str(number)
            )
    return header


def schedule_of(table: pa.Table, policy: str) -> tuple[Schedule, Integers | None]:
    """Rebuild a schedule and its expected ends, from the rows of one replication.

    The workload has the columns that were stored, and the names in its header. Raises KeyError,
    ValueError or WorkloadError for a table that is none of a schedule.
    """
    column: Mapping[str, Integers] = {name: table.column(name).to_numpy() for name in _NUMBERS}
    ends = table.column("expected_end")
    jobs = Workload.of(
        column["submit"],
        column["duration"],
        column["processors"],
        capacity=int(table.column("capacity")[0].as_py()),
        header=_header(table),
        job=column["job"],
        user=column["user"],
        queue=column["queue"],
        requested_memory=column["memory"],
    )
    fair = None
    if _FAIR_START in table.column_names:
        fair = table.column(_FAIR_START).to_numpy().astype(np.int64)
    start = column["start"].astype(np.int64)
    schedule = Schedule(jobs, start, policy=policy, fair_start=fair)
    return schedule, None if ends.null_count else ends.to_numpy()


def read_schedules(results: Results, cell: PlannedCell) -> Iterator[JudgedSchedule]:
    """Read the schedules of a cell, in the order of replications, and compute their figures.

    Raises ResultsError for files that are missing or damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    results.require(cell, {JOBS: results.record()["tables"][JOBS]})
    path = results.table(JOBS, cell)
    try:
        table = pq.read_table(path)
        numbers = table.column(REPLICATION).to_numpy()
        ends = np.append(np.flatnonzero(np.diff(numbers)) + 1, len(numbers)).tolist()
        for begin, end in zip([0, *ends], ends, strict=False):
            yield judge(*schedule_of(table.slice(begin, end - begin), cell.cell.policy))
    except (OSError, KeyError, ValueError, pa.ArrowException, WorkloadError) as error:
        raise ResultsError(f"{path}: cannot be read: {error}; remove it and resume") from error

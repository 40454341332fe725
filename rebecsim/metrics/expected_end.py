"""Compute when a user's jobs would end if they had a fixed share to themselves.

S. Toth and D. Klusacek, "User-Aware Metrics for Measuring Quality of Parallel Job Schedules"
(JSSPP 2014), section 3.2, Algorithm 1: a user's jobs are poured, in the order of arrival, into a
share of the machine. Second by second a job takes what is left of the share, but never more than it
requests; it may become longer and narrower, not shorter.

The paper goes through the seconds. Here what is used of a share is a step function of time, and a
job takes a whole step at once; the results are the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rebecsim.errors import UserError
from rebecsim.workloads.files import WorkloadError
from rebecsim.workloads.logs import Schedule, numbers_of
from rebecsim.workloads.workload import Integers, Workload

JobGrouping = Literal["job", "bag", "workflow"]
"""Each job by itself, or with those of its bag of tasks, or of its workflow."""


def bags_of(workload: Workload, gap: int) -> Integers:
    """Give the bag of each job, numbered from 0.

    A bag is jobs of one user, each submitted at most `gap` seconds after the one before it
    (A. Iosup et al., "The characteristics and performance of groups of jobs in grids",
    Euro-Par 2007, section 2).
    """
    order = np.argsort(workload.user, kind="stable")
    user, submit = workload.user[order], workload.submit[order]
    begins = (np.diff(user, prepend=user[:1]) != 0) | (np.diff(submit, prepend=submit[:1]) > gap)
    bag = np.empty(len(workload), dtype=np.int64)
    bag[order] = np.cumsum(begins)
    return bag


def workflows_of(workload: Workload) -> Integers:
    """Give the workflow of each job, by the index of one of its jobs.

    Jobs are of one workflow if the log says that one comes after the other (field 17, the preceding
    job). Raises WorkloadError for a log that says so of no job.
    """
    place = {number: index for index, number in enumerate(workload.job.tolist())}
    before = [place.get(number) for number in workload.preceding.tolist()]
    if not any(each is not None for each in before):
        raise WorkloadError(
            "no job of the log has a preceding job (field 17), so there are no workflows; "
            "group jobs singly or by bag"
        )
    root = list(range(len(before)))

    def first_of(job: int) -> int:
        while root[job] != job:
            root[job] = job = root[root[job]]
        return job

    for job, other in enumerate(before):
        if other is not None:
            root[first_of(job)] = first_of(other)
    return np.array([first_of(job) for job in range(len(root))], dtype=np.int64)


def shares_of(
    workload: Workload, share: int | None, by_user: Mapping[str, int]
) -> int | dict[int, int]:
    """Give the share of all users, or the shares by user, in processors.

    `by_user` has the shares of users, by name or by number; all others have `share`. Raises
    UserError for jobs of unknown users, for a name or number that no user of a job has, and for a
    user who has no share.
    """
    if (workload.user < 0).any():
        raise UserError(
            "the users of some jobs are unknown, so that users cannot be given a share; remove "
            "the share, or choose users"
        )
    if share is not None and not by_user:
        return share
    users = set(workload.user.tolist())
    given = dict(zip(numbers_of(workload, "user", by_user), by_user.values(), strict=True))
    if strange := sorted(given.keys() - users):
        raise UserError(f"user {strange[0]} has a share but no job; remove the share")
    if share is not None:
        return dict.fromkeys(users, share) | given
    if left := sorted(users - given.keys()):
        raise UserError(
            f"user {left[0]} has no share; give one for all users who are not named, or leave out "
            "the user"
        )
    return given


EndAlgorithm = Literal["printed", "refined"]


@dataclass(frozen=True, kw_only=True)
class EndRules:
    """How expected end times are computed.

    Attributes:
        algorithm: what the last second of a job takes of the share. `printed`: as much as every
            second before it, though less work may be left, as Algorithm 1 stands in the paper;
            `refined`: no more than the work that is left.
        usage_window: seconds of past usage that count. A user who has used less than the share in
            that time, on average, may expect as much more than the share, up to twice the share,
            and who has used more may expect less, but at least one unit (the paper's first item of
            future work; the formula is ours). Usage is what jobs took when they were poured, so
            that it is the same for all schedules. None: the share is always the same.
        per: jobs that have one expected end, the latest of theirs (the paper's second item of
            future work): each its own, all of a bag of tasks, or all of a workflow.
        bag_gap: a bag is the jobs of a user of which each is submitted at most so many seconds
            after the one before it.
    """

    algorithm: EndAlgorithm = "printed"
    usage_window: int | None = None
    per: JobGrouping = "job"
    bag_gap: int = 120


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """What jobs take of one resource, and what users may expect of it.

    Attributes:
        resource: its name, for messages ("processors", "memory").
        request: units that each job takes while it runs, shape (jobs,), at least 0.
        share: units that every user may expect, or units by user.
    """

    resource: str
    request: Integers
    share: int | Mapping[int, int]

    def share_of(self, user: int) -> int:
        """Give the share of a user. Raises ValueError where there is none."""
        share = self.share if isinstance(self.share, int) else self.share.get(user, 0)
        if share < 1:
            raise ValueError(f"user {user} has no share of {self.resource}")
        return share


class ShareProfile:
    """What one user's jobs use of one resource, as far back as it counts.

    Steps are `times[i]` to `times[i + 1]` with `used[i]` units in use; the last has no end, and
    nothing is used in it. No two steps beside each other have the same units in use.
    """

    __slots__ = ("_rules", "share", "times", "used")

    def __init__(self, share: int, rules: EndRules = EndRules()) -> None:
        self.share = share
        self.times = [0]
        self.used = [0]
        self._rules = rules

    def pour(self, arrival: int, request: int, runtime: int) -> int:
        """Take what a job needs as early as its request allows; give the moment after the last.

        Jobs come in the order of `arrival`, seconds from 0 on. A job without work ends when it
        arrives.
        """
        window = self._rules.usage_window
        self._forget(arrival - (window or 0))
        work = request * runtime
        if work == 0:
            return arrival
        share = self.share if window is None else self._expected(arrival, window)
        times, used = self.times, self.used
        step = self._split(arrival)
        while True:
            taken = min(share - used[step], request)
            end = times[step + 1] if step + 1 < len(times) else None
            if taken > 0 and (end is None or work <= taken * (end - times[step])):
                return self._finish(step, taken, work)
            assert end is not None  # in the last step nothing is used
            if taken > 0:
                work -= taken * (end - times[step])
                used[step] += taken
            if step and used[step] == used[step - 1]:
                del times[step], used[step]
            else:
                step += 1

    def _expected(self, arrival: int, window: int) -> int:
        """Give the units that make the share the mean over the window before and the one after."""
        ends = [*self.times[1:], arrival]
        spent = sum(
            units * (min(end, arrival) - begin)
            for units, begin, end in zip(self.used, self.times, ends, strict=True)
            if begin < arrival
        )
        return max((2 * self.share * window - spent) // window, 1)

    def _finish(self, step: int, taken: int, work: int) -> int:
        """Take the rest of a job's work from one step: whole seconds, then what is left."""
        whole, rest = divmod(work, taken)
        if rest and self._rules.algorithm == "printed":
            whole, rest = whole + 1, 0
        begin, before = self.times[step], self.used[step]
        moments, units = [begin], [before + taken] if whole else []
        if rest:
            moments = [begin, begin + whole] if whole else [begin]
            units.append(before + rest)
        ended = begin + whole + (rest > 0)
        if step + 1 == len(self.times) or ended < self.times[step + 1]:
            moments.append(ended)
            units.append(before)
        self.times[step : step + 1] = moments
        self.used[step : step + 1] = units
        self._join(max(step - 1, 0), step + len(moments))
        return ended

    def _join(self, first: int, last: int) -> None:
        """Make one of steps beside each other with the same units, of those from first to last."""
        for step in range(min(last, len(self.used) - 1), first, -1):
            if self.used[step] == self.used[step - 1]:
                del self.times[step], self.used[step]

    def _forget(self, past: int) -> None:
        """Drop what is before a moment."""
        times = self.times
        step = 0
        while step + 1 < len(times) and times[step + 1] <= past:
            step += 1
        if step:
            del times[:step], self.used[:step]
        times[0] = max(times[0], past)

    def _split(self, moment: int) -> int:
        """Make a step begin at a moment that is not before the first, and give its position."""
        step = bisect_right(self.times, moment) - 1
        if self.times[step] < moment:
            step += 1
            self.times.insert(step, moment)
            self.used.insert(step, self.used[step - 1])
        return step


def expected_ends(
    schedule: Schedule,
    share: int | Mapping[int, int],
    memory_share: int | Mapping[int, int] | None = None,
    rules: EndRules = EndRules(),
) -> Integers:
    """Give the expected end time of each job of a schedule; seconds.

    Jobs need the time that they ran in the schedule. `share` is in processors. With `memory_share`,
    in KB, memory counts as well: as requested, or as used where the request is unknown; jobs of
    which neither is known need none. Raises what `expected_end_times` raises.
    """
    jobs = schedule.workload
    demands = [Demand("processors", jobs.processors, share)]
    if memory_share is not None:
        demands.append(Demand("memory", jobs.memory, memory_share))
    ends = expected_end_times(jobs.submit, schedule.duration, jobs.user, demands, rules)
    if rules.per == "job":
        return ends
    group = bags_of(jobs, rules.bag_gap) if rules.per == "bag" else workflows_of(jobs)
    latest = np.zeros_like(ends)
    np.maximum.at(latest, group, ends)
    return latest[group]


def expected_end_times(
    arrival: Integers,
    runtime: Integers,
    user: Integers,
    demands: Sequence[Demand],
    rules: EndRules = EndRules(),
) -> Integers:
    """Give the expected end time of each job by itself: seconds, shape (jobs,).

    With several resources it is the latest of those by each. `arrival` and `runtime` are whole
    seconds, at least 0; jobs of one user that arrive at the same time are taken in the order of the
    arrays.

    Raises ValueError for arrays of different shapes, for values below 0, without a demand, and for
    a user who has no share.
    """
    _require_columns(arrival, runtime, user, demands)
    ends = arrival.copy()
    order = np.argsort(arrival, kind="stable")
    for demand in demands:
        profiles: dict[int, ShareProfile] = {}
        columns = (order, arrival[order], demand.request[order], runtime[order], user[order])
        by_demand = np.empty_like(arrival)
        for job, begins, request, lasts, owner in zip(*(c.tolist() for c in columns), strict=True):
            profile = profiles.get(owner)
            if profile is None:
                profile = profiles[owner] = ShareProfile(demand.share_of(owner), rules)
            by_demand[job] = profile.pour(begins, request, lasts)
        np.maximum(ends, by_demand, out=ends)
    return ends


def _require_columns(
    arrival: Integers, runtime: Integers, user: Integers, demands: Sequence[Demand]
) -> None:
    if not demands:
        raise ValueError("an expected end time needs a demand for some resource")
    columns = {"arrival": arrival, "runtime": runtime, "user": user}
    columns |= {f"request of {demand.resource}": demand.request for demand in demands}
    for name, column in columns.items():
        if column.shape != arrival.shape or column.ndim != 1:
            raise ValueError(f"{name} should have shape {arrival.shape}, not {column.shape}")
        if name != "user" and (column < 0).any():
            raise ValueError(f"{name} has a value below 0")

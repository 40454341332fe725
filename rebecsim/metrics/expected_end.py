"""Expected end times: when a user's jobs would end if they had a fixed share to themselves.

S. Toth and D. Klusacek, "User-Aware Metrics for Measuring Quality of Parallel Job Schedules"
(JSSPP 2014), section 3.2, Algorithm 1: a user's jobs are poured, in the order of arrival, into a
share of the machine. Second by second a job takes what is left of the share, but never more than it
requests; it may become longer and narrower, not shorter.

The paper goes through the seconds. Here what is left of a share is a step function of time, and a
job takes a whole step at once; the results are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rebecsim.workloads.job import Integers
from rebecsim.workloads.schedule import Schedule


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
    """What is left of one user's share of one resource, from the latest arrival on.

    Steps are `times[i]` to `times[i + 1]` with `free[i]` units left; the last has no end and the
    whole share. No two steps beside each other have the same units left.
    """

    __slots__ = ("free", "share", "times")

    def __init__(self, share: int) -> None:
        self.share = share
        self.times = [0]
        self.free = [share]

    def pour(self, arrival: int, request: int, runtime: int) -> int:
        """Take what a job needs as early as its request allows; give the moment after the last.

        Jobs come in the order of `arrival`, seconds from 0 on. A job without work ends when it
        arrives.
        """
        self._forget(arrival)
        work = request * runtime
        if work == 0:
            return arrival
        times, free = self.times, self.free
        step = 0
        while True:
            taken = min(free[step], request)
            end = times[step + 1] if step + 1 < len(times) else None
            if taken and (end is None or work <= taken * (end - times[step])):
                return self._finish(step, taken, work)
            assert end is not None  # the last step has the whole share
            work -= taken * (end - times[step])
            free[step] -= taken
            if step and free[step] == free[step - 1]:
                del times[step], free[step]
            else:
                step += 1

    def _finish(self, step: int, taken: int, work: int) -> int:
        """Take the rest of a job's work from one step: whole seconds, then what is left."""
        whole, rest = divmod(work, taken)
        begin, before = self.times[step], self.free[step]
        moments, left = [begin], [before - taken] if whole else []
        if rest:
            moments = [begin, begin + whole] if whole else [begin]
            left.append(before - rest)
        ended = begin + whole + (rest > 0)
        if step + 1 == len(self.times) or ended < self.times[step + 1]:
            moments.append(ended)
            left.append(before)
        self.times[step : step + 1] = moments
        self.free[step : step + 1] = left
        self._join(max(step - 1, 0), step + len(moments))
        return ended

    def _join(self, first: int, last: int) -> None:
        """Make one of steps beside each other with the same units, of those from first to last."""
        for step in range(min(last, len(self.free) - 1), first, -1):
            if self.free[step] == self.free[step - 1]:
                del self.times[step], self.free[step]

    def _forget(self, past: int) -> None:
        """Drop what is before a moment."""
        times = self.times
        step = 0
        while step + 1 < len(times) and times[step + 1] <= past:
            step += 1
        if step:
            del times[:step], self.free[:step]
        times[0] = max(times[0], past)


def expected_ends(
    schedule: Schedule,
    share: int | Mapping[int, int],
    memory_share: int | Mapping[int, int] | None = None,
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
    return expected_end_times(jobs.submit, schedule.duration, jobs.user, demands)


def expected_end_times(
    arrival: Integers, runtime: Integers, user: Integers, demands: Sequence[Demand]
) -> Integers:
    """Give the expected end time of each job: seconds, shape (jobs,).

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
                profile = profiles[owner] = ShareProfile(demand.share_of(owner))
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

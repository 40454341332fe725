"""Checks that a machine could have run a schedule, and that a policy could have made it.

Schedules of other simulators are checked like our own: nothing but submissions, starts, durations,
processors and estimates is looked at.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.kit.measures import overfull
from rebecsim.errors import UserError
from rebecsim.workloads import Schedule
from rebecsim.workloads.workload import Integers


@dataclass(frozen=True, slots=True)
class Check:
    """What has come of checking a rule.

    Attributes:
        rule: what must hold, as a sentence without its full stop.
        offenders: indices of the jobs that break it, in the order of their starts.
        first: what the first of them did; empty if there is none.
    """

    rule: str
    offenders: tuple[int, ...] = ()
    first: str = ""

    @property
    def holds(self) -> bool:
        """Whether no job breaks the rule."""
        return not self.offenders


def check_submissions(schedule: Schedule) -> Check:
    """No job starts before it is submitted."""
    rule = "no job starts before it is submitted"
    offenders = _by_start(schedule, schedule.wait < 0)
    if not offenders:
        return Check(rule)
    job = offenders[0]
    submit, start = schedule.workload.submit[job], schedule.start[job]
    return Check(rule, offenders, f"is submitted at {submit} and starts at {start}")


def check_capacity(schedule: Schedule, processors: int) -> Check:
    """At no time are more processors in use than the machine has.

    A job has its processors from its start until before its end. An offender is a job that starts
    when less than it takes is free; of several that start at one time, the later submitted ones.
    """
    rule = f"at most {processors} processors are in use"
    taken = schedule.workload.processors
    machine = np.zeros(len(schedule), dtype=np.int64)
    over, in_use = overfull(machine, schedule.start, schedule.end, taken, np.array([processors]))
    if not len(over):
        return Check(rule)
    job = over[0]
    return Check(
        rule,
        tuple(over.tolist()),
        f"starts at {schedule.start[job]} on {taken[job]} processors, which makes "
        f"{in_use[0]} of {processors} in use",
    )


def check_start_order(schedule: Schedule) -> Check:
    """First come, first served: no job starts before one that was submitted earlier.

    Jobs that were submitted at the same time may start in any order.
    """
    rule = "jobs start in the order of submission"
    submit, start = schedule.workload.submit, schedule.start
    latest = np.maximum.accumulate(start)  # the latest start up to each job
    groups = np.searchsorted(submit, submit)  # how many were submitted earlier
    before = np.where(groups > 0, latest[np.maximum(groups - 1, 0)], np.iinfo(np.int64).min)
    offenders = _by_start(schedule, start < before)
    if not offenders:
        return Check(rule)
    job = offenders[0]
    overtaken = int(np.argmax(start[: groups[job]] > start[job]))
    numbers = schedule.workload.job
    return Check(
        rule,
        offenders,
        f"starts at {start[job]}, before job {numbers[overtaken]}, which was submitted earlier and "
        f"starts at {start[overtaken]}",
    )


def check_head_reservations(schedule: Schedule, processors: int, estimate: Integers) -> Check:
    """EASY backfilling: no head of the queue starts after the reservation it was first given.

    The queue is in the order of submission. When a job becomes the head, its reservation is the
    earliest time at which it fits if the jobs that run then end as estimated (Mu'alem and
    Feitelson, IEEE TPDS 12(6), 2001). `estimate` has shape (jobs,), seconds. Jobs larger than the
    machine have none.

    Events at one time are given the benefit of the doubt. What overtakes a job at the very time at
    which it is submitted as the head must respect its reservation already, but jobs that end early
    at that time may have done so later. Where a job becomes the head because the one before it has
    started, whatever else starts at that time may have started before.

    Raises UserError for a job that runs longer than its estimate, as the policy then guarantees
    nothing.
    """
    rule = "the head of the queue never starts after its first reservation"
    longer = np.flatnonzero(schedule.duration > estimate)
    if longer.size:
        job = longer[0]
        raise UserError(
            f"job {schedule.workload.job[job]} runs for {schedule.duration[job]} s, longer than "
            f"its estimate of {estimate[job]} s; nothing is guaranteed then, unless estimates "
            "are exact"
        )
    starts = schedule.start.tolist()
    late = [
        (starts[job], job, became, reserved)
        for job, became, reserved in _first_reservations(schedule, processors, estimate)
        if starts[job] > reserved
    ]
    if not late:
        return Check(rule)
    late.sort()
    start, _, became, reserved = late[0]
    return Check(
        rule,
        tuple(job for _, job, _, _ in late),
        f"is the head at {became} with a reservation for {reserved}, and starts at {start}",
    )


def _first_reservations(
    schedule: Schedule, processors: int, estimate: Integers
) -> Iterator[tuple[int, int, int]]:
    """Give the jobs that ever waited at the head, when that began, and their reservations then."""
    taken = schedule.workload.processors.tolist()
    submit, start = schedule.workload.submit.tolist(), schedule.start.tolist()
    end, planned = schedule.end.tolist(), (schedule.start + estimate).tolist()
    count = len(schedule)
    starting = np.argsort(schedule.start, kind="stable").tolist()
    ending = np.argsort(schedule.end, kind="stable").tolist()
    running: list[tuple[int, int]] = []  # expected end and job
    free = processors
    begun = ended = head = 0
    last_head = -1
    times = np.unique(np.concatenate([schedule.workload.submit, schedule.start, schedule.end]))
    for now in times.tolist():
        first, first_end = begun, ended
        while begun < count and start[starting[begun]] <= now:
            job = starting[begun]
            insort(running, (planned[job], job))
            free -= taken[job]
            begun += 1
        while ended < count and end[ending[ended]] <= now:
            job = ending[ended]
            del running[bisect_left(running, (planned[job], job))]
            free += taken[job]
            ended += 1
        while head < count and start[head] <= now:
            head += 1
        if head in (last_head, count) or submit[head] > now:
            continue
        last_head = head
        if taken[head] <= processors:
            holders, beside = running, free
            at_once = starting[first:begun]
            if submit[head] == now and min(at_once, default=head) >= head:
                holders = [each for each in running if each[1] not in at_once]
                for job in ending[first_end:ended]:
                    if planned[job] > now and start[job] < now:
                        insort(holders, (planned[job], job))
                beside = processors - sum(taken[job] for _, job in holders)
            yield head, now, _shadow(holders, taken, beside, taken[head], now)


def _shadow(
    running: list[tuple[int, int]], taken: list[int], free: int, wanted: int, now: int
) -> int:
    """Give when `wanted` processors are free if what runs ends as estimated."""
    if free >= wanted:
        return now
    for expected_end, job in running:
        free += taken[job]
        if free >= wanted:
            return expected_end
    return now  # more runs than the machine has; that is for the check of the capacity


def _by_start(schedule: Schedule, offends: NDArray[np.bool_]) -> tuple[int, ...]:
    jobs = np.flatnonzero(offends)
    return tuple(jobs[np.argsort(schedule.start[jobs], kind="stable")].tolist())

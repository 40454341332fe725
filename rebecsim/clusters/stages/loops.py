"""Compiled loops that find free slots and place the tasks of a job.

Importing this module imports Numba. All times are ms. A usage profile gives how many slots of one
kind are taken on one resource over time."""

from __future__ import annotations

from typing import NamedTuple

from rebecsim.clusters.stages.laxity import UNPLACED
from rebecsim.native.arrays import Integers, Table
from rebecsim.native.cache import compiled

NEVER = 2**62
"""Later than all times (ms)."""


class Profiles(NamedTuple):
    """Usage profiles, one in each row.

    Attributes:
        times: when the number of taken slots changes; the first is before all others.
        used: slots taken from each of these times to the next; none after the last.
        counts: number of times in each row.
        slots: capacity of each profile.
    """

    times: Table
    used: Table
    counts: Integers
    slots: Integers


class Places(NamedTuple):
    """Where the tasks of a job run; all three are `UNPLACED` for a task without a place.

    Attributes:
        starts: when each task starts.
        ends: when each task ends.
        profiles: the profile that each task takes a slot of; `UNPLACED` for dummies.
    """

    starts: Integers
    ends: Integers
    profiles: Integers


@compiled(inline=True)
def last_change(profiles: Profiles, profile: int, time: int) -> int:
    """Return the index of the last change at or before a time."""
    times = profiles.times
    low, high = 0, profiles.counts[profile]
    while high - low > 1:
        middle = (low + high) // 2
        if times[profile, middle] <= time:
            low = middle
        else:
            high = middle
    return low


@compiled(inline=True)
def insert_change(profiles: Profiles, profile: int, time: int) -> int:
    """Return the index of the change at a time; insert one if there is none."""
    place = last_change(profiles, profile, time)
    if profiles.times[profile, place] == time:
        return place
    for each in range(profiles.counts[profile], place + 1, -1):
        profiles.times[profile, each] = profiles.times[profile, each - 1]
        profiles.used[profile, each] = profiles.used[profile, each - 1]
    profiles.times[profile, place + 1] = time
    profiles.used[profile, place + 1] = profiles.used[profile, place]
    profiles.counts[profile] += 1
    return place + 1


@compiled(inline=True)
def remove_change(profiles: Profiles, profile: int, place: int) -> None:
    """Remove a time at which the number of taken slots stays the same."""
    if profiles.used[profile, place] == profiles.used[profile, place - 1]:
        profiles.counts[profile] -= 1
        for each in range(place, profiles.counts[profile]):
            profiles.times[profile, each] = profiles.times[profile, each + 1]
            profiles.used[profile, each] = profiles.used[profile, each + 1]


@compiled()
def change_usage(profiles: Profiles, profile: int, start: int, end: int, by: int) -> None:
    """Add `by` taken slots, perhaps fewer than 0, over [start, end).

    The row needs room for two more times.
    """
    first = insert_change(profiles, profile, start)
    last = insert_change(profiles, profile, end)
    for place in range(first, last):
        profiles.used[profile, place] += by
    remove_change(profiles, profile, last)
    remove_change(profiles, profile, first)


@compiled(inline=True)
def idle_before(profiles: Profiles, profile: int, time: int) -> int:
    """Return how long the slot that a task would take at a time has been free.

    `NEVER` if it was never taken.
    """
    place = last_change(profiles, profile, time)
    used, idle = profiles.used[profile, place], NEVER
    while place > 0:
        if profiles.used[profile, place - 1] > used:
            idle = time - profiles.times[profile, place]
            break
        place -= 1
    return idle


@compiled()
def earliest(
    profiles: Profiles, first: int, last: int, start: int, duration: int, found: Integers
) -> int:
    """Return the earliest start from `start` on, and put its profile into `found`.

    Considers the profiles [first, last). Ties go to the slot that was free for the shortest time,
    which keeps long gaps for other tasks, then to the first profile.
    """
    best, least = NEVER, NEVER
    found[0] = UNPLACED
    for profile in range(first, last):
        time, count, slots = start, profiles.counts[profile], profiles.slots[profile]
        place = last_change(profiles, profile, start)
        while place < count and profiles.times[profile, place] < time + duration:
            if profiles.used[profile, place] >= slots:
                time = profiles.times[profile, place + 1]
                if time > best:
                    break
            place += 1
        if time > best:
            continue
        idle = idle_before(profiles, profile, time)
        if time < best or idle < least:
            best, least = time, idle
            found[0] = profile
            if time == start and idle == 0:
                break
    return best


@compiled()
def latest(
    profiles: Profiles, first: int, last: int, ready: int, time: int, duration: int, found: Integers
) -> int:
    """Return the latest start in [ready, time], and put its profile into `found`.

    The profile is `UNPLACED` if the task fits nowhere.
    """
    best = ready - 1
    found[0] = UNPLACED
    for profile in range(first, last):
        start, slots = time, profiles.slots[profile]
        place = last_change(profiles, profile, time + duration - 1)
        until = NEVER
        if place + 1 < profiles.counts[profile]:
            until = profiles.times[profile, place + 1]
        while place >= 0 and until > start:
            until = profiles.times[profile, place]
            if profiles.used[profile, place] >= slots:
                start = until - duration
                if start <= best:
                    break
            place -= 1
        if start > best:
            best = start
            found[0] = profile
            if start == time:
                break
    return best


@compiled()
def forget(profiles: Profiles, now: int) -> None:
    """Drop all changes before a time."""
    for profile in range(len(profiles.counts)):
        past = last_change(profiles, profile, now)
        if past > 0:
            profiles.counts[profile] -= past
            for place in range(profiles.counts[profile]):
                profiles.times[profile, place] = profiles.times[profile, place + past]
                profiles.used[profile, place] = profiles.used[profile, place + past]
            profiles.times[profile, 0] = -1


class Tasks(NamedTuple):
    """The tasks of a job.

    Attributes:
        durations: 0 for a dummy.
        sub_deadlines: when each task should end.
        first_profiles: the first profile that each task can use.
        last_profiles: one after the last profile that each task can use.
        parents: the parents of all tasks, task by task.
        first_parents: where the parents of each task begin in `parents`, and the length of it.
    """

    durations: Integers
    sub_deadlines: Integers
    first_profiles: Integers
    last_profiles: Integers
    parents: Integers
    first_parents: Integers


@compiled(inline=True)
def ready_time(tasks: Tasks, places: Places, task: int, base: int) -> int:
    """Return when all parents of a task have ended, `base` at the earliest.

    `UNPLACED` if a parent has no place.
    """
    ready = base
    for each in range(tasks.first_parents[task], tasks.first_parents[task + 1]):
        end = places.ends[tasks.parents[each]]
        if end == UNPLACED:
            return UNPLACED
        ready = max(ready, end)
    return ready


@compiled()
def place(
    profiles: Profiles,
    tasks: Tasks,
    places: Places,
    waiting: Integers,
    base: int,
    deadline: int,
    late_as_possible: bool,
    found: Integers,
) -> bool:
    """Place the tasks in `waiting`, parents first, and return whether all meet the deadline.

    Stops at the first task that would end after it. With `late_as_possible`, tasks end just before
    their sub-deadlines if they can. Overwrites `waiting`.
    """
    left = len(waiting)
    while left:
        kept = 0
        for each in range(left):
            task = waiting[each]
            ready = ready_time(tasks, places, task, base)
            if ready == UNPLACED:
                waiting[kept] = task
                kept += 1
                continue
            duration = tasks.durations[task]
            start = ready
            if duration:
                pool = tasks.first_profiles[task], tasks.last_profiles[task]
                last = tasks.sub_deadlines[task] - duration
                found[0] = UNPLACED
                if late_as_possible and last > ready:
                    start = latest(profiles, pool[0], pool[1], ready, last, duration, found)
                if found[0] == UNPLACED:
                    start = earliest(profiles, pool[0], pool[1], ready, duration, found)
                if start + duration > deadline:
                    return False
                places.profiles[task] = found[0]
                change_usage(profiles, found[0], start, start + duration, 1)
            places.starts[task] = start
            places.ends[task] = start + duration
        left = kept
    return True


@compiled()
def remove_tasks(profiles: Profiles, places: Places, movable: Integers) -> None:
    """Remove tasks from the schedule."""
    for each in range(len(movable)):
        task = movable[each]
        if places.profiles[task] != UNPLACED:
            change_usage(
                profiles, places.profiles[task], places.starts[task], places.ends[task], -1
            )
        places.starts[task] = UNPLACED
        places.ends[task] = UNPLACED
        places.profiles[task] = UNPLACED


@compiled()
def restore_tasks(profiles: Profiles, places: Places, saved: Places, movable: Integers) -> None:
    """Restore removed tasks to their saved places."""
    for each in range(len(movable)):
        task = movable[each]
        places.starts[task] = saved.starts[task]
        places.ends[task] = saved.ends[task]
        places.profiles[task] = saved.profiles[task]
        if saved.profiles[task] != UNPLACED:
            change_usage(profiles, saved.profiles[task], saved.starts[task], saved.ends[task], 1)

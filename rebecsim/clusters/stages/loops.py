"""Compiled loops: look for slots, take them, and place the tasks of a job.

Importing this imports Numba. A line is the slots of one sort of one resource. All times are ms."""

from __future__ import annotations

from typing import NamedTuple

from rebecsim.clusters.stages.laxity import NOWHERE
from rebecsim.native.arrays import Integers, Table
from rebecsim.native.cache import compiled

NEVER = 2**62
"""Later than all times (ms)."""


class Lines(NamedTuple):
    """When slots are taken, a row for each line.

    Attributes:
        times: at which the number of taken slots changes; the first one is before all others.
        used: slots taken from each of these times until the next; none from the last one on.
        counts: how many times there are.
        slots: that each line has.
    """

    times: Table
    used: Table
    counts: Integers
    slots: Integers


class Places(NamedTuple):
    """Where the tasks of a job are: `NOWHERE` in all three, or in `lines` for dummies alone.

    Attributes:
        starts: when each task starts.
        ends: when each ends.
        lines: on which each runs.
    """

    starts: Integers
    ends: Integers
    lines: Integers


@compiled(inline=True)
def last_change(lines: Lines, line: int, time: int) -> int:
    """Give the place of the last change of a line that is not after a time."""
    times = lines.times
    low, high = 0, lines.counts[line]
    while high - low > 1:
        middle = (low + high) // 2
        if times[line, middle] <= time:
            low = middle
        else:
            high = middle
    return low


@compiled(inline=True)
def cut(lines: Lines, line: int, time: int) -> int:
    """Let something change at a time; give its place."""
    place = last_change(lines, line, time)
    if lines.times[line, place] == time:
        return place
    for each in range(lines.counts[line], place + 1, -1):
        lines.times[line, each] = lines.times[line, each - 1]
        lines.used[line, each] = lines.used[line, each - 1]
    lines.times[line, place + 1] = time
    lines.used[line, place + 1] = lines.used[line, place]
    lines.counts[line] += 1
    return place + 1


@compiled(inline=True)
def join(lines: Lines, line: int, place: int) -> None:
    """Take out a time at which nothing changes."""
    if lines.used[line, place] == lines.used[line, place - 1]:
        lines.counts[line] -= 1
        for each in range(place, lines.counts[line]):
            lines.times[line, each] = lines.times[line, each + 1]
            lines.used[line, each] = lines.used[line, each + 1]


@compiled()
def change(lines: Lines, line: int, start: int, end: int, by: int) -> None:
    """Take so many slots from start until before end, or give them back. There is room for two
    more times.
    """
    first = cut(lines, line, start)
    last = cut(lines, line, end)
    for place in range(first, last):
        lines.used[line, place] += by
    join(lines, line, last)
    join(lines, line, first)


@compiled(inline=True)
def idle_before(lines: Lines, line: int, time: int) -> int:
    """Give for how long the slot of a line has been free that a task would take at a time.

    `NEVER`: since before all times.
    """
    place = last_change(lines, line, time)
    used, idle = lines.used[line, place], NEVER
    while place > 0:
        if lines.used[line, place - 1] > used:
            idle = time - lines.times[line, place]
            break
        place -= 1
    return idle


@compiled()
def earliest(
    lines: Lines, first: int, last: int, start: int, duration: int, found: Integers
) -> int:
    """Give when a task can begin first, from `start` on, and put the line into `found`.

    Lines are those from first until before last; of such that are as good it is the one whose slot
    has been free for the least time before, so that long gaps are left to others; then the first.
    """
    best, least = NEVER, NEVER
    found[0] = NOWHERE
    for line in range(first, last):
        time, count, slots = start, lines.counts[line], lines.slots[line]
        place = last_change(lines, line, start)
        while place < count and lines.times[line, place] < time + duration:
            if lines.used[line, place] >= slots:
                time = lines.times[line, place + 1]
                if time > best:
                    break
            place += 1
        if time > best:
            continue
        idle = idle_before(lines, line, time)
        if time < best or idle < least:
            best, least = time, idle
            found[0] = line
            if time == start and idle == 0:
                break
    return best


@compiled()
def latest(
    lines: Lines, first: int, last: int, ready: int, time: int, duration: int, found: Integers
) -> int:
    """Give the latest time from `ready` to `time` where a task can begin; otherwise as `earliest`.

    The line is `NOWHERE` where it can begin on none.
    """
    best = ready - 1
    found[0] = NOWHERE
    for line in range(first, last):
        start, slots = time, lines.slots[line]
        place = last_change(lines, line, time + duration - 1)
        until = NEVER
        if place + 1 < lines.counts[line]:
            until = lines.times[line, place + 1]
        while place >= 0 and until > start:
            until = lines.times[line, place]
            if lines.used[line, place] >= slots:
                start = until - duration
                if start <= best:
                    break
            place -= 1
        if start > best:
            best = start
            found[0] = line
            if start == time:
                break
    return best


@compiled()
def forget(lines: Lines, now: int) -> None:
    """Forget what was before a time."""
    for line in range(len(lines.counts)):
        past = last_change(lines, line, now)
        if past > 0:
            lines.counts[line] -= past
            for place in range(lines.counts[line]):
                lines.times[line, place] = lines.times[line, place + past]
                lines.used[line, place] = lines.used[line, place + past]
            lines.times[line, 0] = -1


class Tasks(NamedTuple):
    """The tasks of a job.

    Attributes:
        durations: 0: a dummy.
        sub_deadlines: by when each should have ended.
        first_lines: the first line that each can take.
        last_lines: that after the last one.
        parents: of all tasks, those of one task after those of the other.
        first_parents: where those of each task begin; and one more, where all end.
    """

    durations: Integers
    sub_deadlines: Integers
    first_lines: Integers
    last_lines: Integers
    parents: Integers
    first_parents: Integers


@compiled(inline=True)
def ready_time(tasks: Tasks, places: Places, task: int, base: int) -> int:
    """Give when all parents of a task have ended, not before base; `NOWHERE`: one has no place."""
    ready = base
    for each in range(tasks.first_parents[task], tasks.first_parents[task + 1]):
        end = places.ends[tasks.parents[each]]
        if end == NOWHERE:
            return NOWHERE
        ready = max(ready, end)
    return ready


@compiled()
def place(
    lines: Lines,
    tasks: Tasks,
    places: Places,
    waiting: Integers,
    base: int,
    deadline: int,
    late_as_possible: bool,
    found: Integers,
) -> bool:
    """Place tasks, in passes over those that wait, when their parents have a place.

    Give whether all of them end by the deadline; at the first that would not it is left. Late as
    possible, a task ends just before its sub-deadline where it can. `waiting` are the numbers of
    the tasks and is used up.
    """
    left = len(waiting)
    while left:
        kept = 0
        for each in range(left):
            task = waiting[each]
            ready = ready_time(tasks, places, task, base)
            if ready == NOWHERE:
                waiting[kept] = task
                kept += 1
                continue
            duration = tasks.durations[task]
            start = ready
            if duration:
                pool = tasks.first_lines[task], tasks.last_lines[task]
                last = tasks.sub_deadlines[task] - duration
                found[0] = NOWHERE
                if late_as_possible and last > ready:
                    start = latest(lines, pool[0], pool[1], ready, last, duration, found)
                if found[0] == NOWHERE:
                    start = earliest(lines, pool[0], pool[1], ready, duration, found)
                if start + duration > deadline:
                    return False
                places.lines[task] = found[0]
                change(lines, found[0], start, start + duration, 1)
            places.starts[task] = start
            places.ends[task] = start + duration
        left = kept
    return True


@compiled()
def take_out(lines: Lines, places: Places, movable: Integers) -> None:
    """Take tasks from their places."""
    for each in range(len(movable)):
        task = movable[each]
        if places.lines[task] != NOWHERE:
            change(lines, places.lines[task], places.starts[task], places.ends[task], -1)
        places.starts[task] = NOWHERE
        places.ends[task] = NOWHERE
        places.lines[task] = NOWHERE


@compiled()
def put_back(lines: Lines, places: Places, saved: Places, movable: Integers) -> None:
    """Put tasks, which have been taken out, to where they were."""
    for each in range(len(movable)):
        task = movable[each]
        places.starts[task] = saved.starts[task]
        places.ends[task] = saved.ends[task]
        places.lines[task] = saved.lines[task]
        if saved.lines[task] != NOWHERE:
            change(lines, saved.lines[task], saved.starts[task], saved.ends[task], 1)

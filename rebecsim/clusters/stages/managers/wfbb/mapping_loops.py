"""The loops that place the tasks of a job, compiled. Importing this imports Numba.

All times are ms.
"""

from __future__ import annotations

from typing import NamedTuple

from rebecsim.clusters.stages.timeline_loops import Lines, Places, change, earliest, latest
from rebecsim.clusters.stages.timelines import NOWHERE
from rebecsim.native.arrays import Integers
from rebecsim.native.cache import compiled


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


@compiled(borrows=True, inline=True)
def ready_time(tasks: Tasks, places: Places, task: int, base: int) -> int:
    """Give when all parents of a task have ended, not before base; `NOWHERE`: one has no place."""
    ready = base
    for each in range(tasks.first_parents[task], tasks.first_parents[task + 1]):
        end = places.ends[tasks.parents[each]]
        if end == NOWHERE:
            return NOWHERE
        ready = max(ready, end)
    return ready


@compiled(borrows=True)
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


@compiled(borrows=True)
def take_out(lines: Lines, places: Places, movable: Integers) -> None:
    """Take tasks from their places."""
    for each in range(len(movable)):
        task = movable[each]
        if places.lines[task] != NOWHERE:
            change(lines, places.lines[task], places.starts[task], places.ends[task], -1)
        places.starts[task] = NOWHERE
        places.ends[task] = NOWHERE
        places.lines[task] = NOWHERE


@compiled(borrows=True)
def put_back(lines: Lines, places: Places, saved: Places, movable: Integers) -> None:
    """Put tasks, which have been taken out, to where they were."""
    for each in range(len(movable)):
        task = movable[each]
        places.starts[task] = saved.starts[task]
        places.ends[task] = saved.ends[task]
        places.lines[task] = saved.lines[task]
        if saved.lines[task] != NOWHERE:
            change(lines, saved.lines[task], saved.starts[task], saved.ends[task], 1)

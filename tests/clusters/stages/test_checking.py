"""The checker finds what breaks a rule, while a schedule is made and afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, strategies as st

from rebecsim.clusters.stages.checking import (
    BrokenScheduleError,
    ScheduleChecker,
    require_changed_order,
    require_order,
    require_sound_schedule,
)
from rebecsim.clusters.stages.job import StageTask, TaskKey
from rebecsim.clusters.stages.resources import Assignment, identical, identical_typed
from tests.clusters.stages.jobs import (
    fork_and_skip,
    job,
    map_reduce,
    map_reduces,
    task,
    workflows,
)

JOB = job(0, 10, 90, *fork_and_skip())
SOUND = [(0, 0, 10, 15), (1, 0, 15, 19), (2, 0, 19, 25), (3, 1, 25, 28)]


def assignments(*rows: tuple[int, int, int, int], number: int = 0) -> list[Assignment]:
    return [Assignment(TaskKey(number, task), *rest) for task, *rest in rows]


def changed(place: int, *row: int) -> list[tuple[int, ...]]:
    return [row if each == place else old for each, old in enumerate(SOUND)]


def decide(checker: ScheduleChecker, made: Sequence[Assignment]) -> None:
    checker.arrived(JOB)
    checker.decided(5, made)
    checker.require_complete(JOB)


BROKEN = [
    (changed(0, 0, 0, 9, 14), "its job may start at 10 ms"),
    (changed(1, 1, 0, 14, 18), "a parent task ends at 15 ms"),
    (changed(3, 3, 0, 24, 27), "a parent task ends at 25 ms"),
    (changed(2, 2, 0, 19, 24), "it should run for 6 ms"),
    (changed(3, 3, 2, 25, 28), "there is no such resource"),
    (SOUND[:2] + SOUND[3:], "has no place"),
]


@pytest.mark.parametrize(("rows", "message"), BROKEN)
def test_both_find_what_is_wrong(rows: Sequence[tuple[int, int, int, int]], message: str) -> None:
    resources = identical(2, 2)
    with pytest.raises(BrokenScheduleError, match=message):
        decide(ScheduleChecker(resources), assignments(*rows))
    with pytest.raises(BrokenScheduleError, match=message):
        require_sound_schedule([JOB], resources, assignments(*rows))


def test_slots_are_counted() -> None:
    other = job(1, 0, 90, *fork_and_skip()[:1])
    resources = identical(2, 1)
    beside = assignments((0, 0, 21, 26), number=1)
    checker = ScheduleChecker(resources)
    checker.arrived(JOB)
    checker.arrived(other)
    checker.decided(5, assignments(*SOUND))
    with pytest.raises(BrokenScheduleError, match="all slots there are taken"):
        checker.decided(5, beside)
    with pytest.raises(BrokenScheduleError, match="resource_0: 2 tasks at 21 ms, and 1 slots"):
        require_sound_schedule([JOB, other], resources, assignments(*SOUND) + beside)
    require_sound_schedule([JOB, other], identical(2, 2), assignments(*SOUND) + beside)


def test_one_decision_may_exchange_places() -> None:
    jobs = [job(number, 0, 90, *fork_and_skip()[:1]) for number in range(2)]
    checker = ScheduleChecker(identical(1, 1))
    for each in jobs:
        checker.arrived(each)
    first, second = (0, 0, 0, 5), (0, 0, 5, 10)
    checker.decided(0, assignments(first) + assignments(second, number=1))
    checker.decided(0, assignments(second) + assignments(first, number=1))


def test_what_has_started_stays() -> None:
    checker = ScheduleChecker(identical(2, 1))
    checker.arrived(JOB)
    checker.decided(5, assignments(*SOUND))
    checker.began(assignments(*SOUND)[0])
    with pytest.raises(BrokenScheduleError, match="it has started already"):
        checker.decided(10, assignments((0, 1, 10, 15)))
    with pytest.raises(BrokenScheduleError, match="it starts in the past; now is 20 ms"):
        checker.decided(20, assignments((1, 1, 16, 20)))
    with pytest.raises(BrokenScheduleError, match="it was planned elsewhere"):
        checker.began(assignments((1, 1, 15, 19))[0])


def test_slots_are_of_a_sort_and_dummies_take_none() -> None:
    tasks = map_reduce([4], [5])
    resources = identical_typed(1, 0, 1)
    with pytest.raises(BrokenScheduleError, match="there are no slots for a map task"):
        require_sound_schedule([job(0, 0, 9, *tasks)], resources, assignments((0, 0, 0, 4)))
    with pytest.raises(BrokenScheduleError, match="dummies take no slot"):
        require_sound_schedule([job(0, 0, 9, *tasks)], resources, assignments((1, 0, 0, 0)))


def test_only_tasks_that_are_there_are_placed() -> None:
    checker = ScheduleChecker(identical(1, 1))
    with pytest.raises(BrokenScheduleError, match="job_0: is placed before it arrives"):
        checker.decided(0, assignments(SOUND[0]))
    checker.arrived(JOB)
    with pytest.raises(BrokenScheduleError, match="job_0: has no task 4"):
        checker.decided(0, assignments((4, 0, 10, 15)))
    twice = [*assignments(*SOUND), assignments(SOUND[0])[0]]
    with pytest.raises(BrokenScheduleError, match="it is placed twice"):
        require_sound_schedule([JOB], identical(2, 2), twice)


@given(tasks=st.one_of(workflows(9), map_reduces()), data=st.data())
def test_looking_around_what_changed_finds_what_looking_at_all_finds(
    tasks: tuple[StageTask, ...], data: st.DataObject
) -> None:
    """The job is in order before; then one of its tasks is moved."""
    made = job(0, 0, 900, *tasks)
    ends: dict[int, int] = {}
    placed: dict[int, Assignment] = {}
    for each in made.order:
        begin = max((ends[parent] for parent in made.tasks[each].parents), default=0)
        begin += 0 if made.tasks[each].is_dummy else data.draw(st.integers(0, 3))
        ends[each] = begin + made.tasks[each].duration
        if not made.tasks[each].is_dummy:
            placed[each] = Assignment(TaskKey(0, each), 0, begin, ends[each])
    number = data.draw(st.sampled_from(sorted(placed)))
    start = data.draw(st.integers(0, 2 * placed[number].start + 9))
    length = made.tasks[number].duration
    moved = placed[number] = Assignment(TaskKey(0, number), 0, start, start + length)
    whole = job(0, 0, 900, *tasks, *(task(len(tasks) + each, 1) for each in range(8)))
    assert _broken(require_order, whole, placed) == _broken(
        require_changed_order, whole, placed, [moved]
    )


def _broken(look: Callable[..., None], *arguments: object) -> bool:
    try:
        look(*arguments)
    except BrokenScheduleError:
        return True
    return False


def test_a_task_of_many_must_not_be_placed_before_what_it_waits_for() -> None:
    made = job(0, 0, 900, *map_reduce([1] * 20, [1] * 20))
    checker = ScheduleChecker(identical(1, 1))
    checker.arrived(made)
    with pytest.raises(BrokenScheduleError, match="a parent task has no place"):
        checker.decided(0, assignments((21, 0, 5, 6)))

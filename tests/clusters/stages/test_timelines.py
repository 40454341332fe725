"""Slots of resources over time, against counting at every moment."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings, strategies as st

from rebecsim.clusters.stages.job import TaskKind
from rebecsim.clusters.stages.laxity import Timelines
from rebecsim.clusters.stages.resources import identical

RESOURCES, SLOTS, HORIZON = 2, 2, 40
GENERIC = TaskKind.GENERIC

tasks = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9)), max_size=14)


def used_by(taken: Sequence[tuple[int, int, int]], resource: int, time: int) -> int:
    return sum(where == resource and start <= time < end for where, start, end in taken)


def fits(taken: Sequence[tuple[int, int, int]], resource: int, start: int, duration: int) -> bool:
    return all(used_by(taken, resource, time) < SLOTS for time in range(start, start + duration))


def idle_before(taken: Sequence[tuple[int, int, int]], resource: int, time: int) -> int:
    used = used_by(taken, resource, time)
    times = range(time - 1, -1, -1)
    until = next((each for each in times if used_by(taken, resource, each) > used), None)
    return 1000 if until is None else time - until - 1


@settings(max_examples=25)
@given(tasks, st.integers(0, 14), st.integers(0, 25), st.integers(1, 6))
def test_places_are_the_first_and_the_last_ones_that_fit(
    asked: Sequence[tuple[int, int]], removed: int, start: int, duration: int
) -> None:
    timelines = Timelines(identical(RESOURCES, SLOTS))
    taken = []
    for ready, length in asked:
        resource, begin = timelines.earliest(GENERIC, ready, length)
        timelines.add(GENERIC, resource, begin, begin + length)
        taken.append((resource, begin, begin + length))
    for each in taken[:removed]:
        timelines.remove(GENERIC, *each)
    del taken[:removed]
    everywhere = [(time, where) for time in range(80) for where in range(RESOURCES)]
    time, _, where = min(
        (time, idle_before(taken, where, time), where)
        for time, where in everywhere
        if time >= start and fits(taken, where, time, duration)
    )
    first = where, time
    assert timelines.earliest(GENERIC, start, duration) == first
    possible = [
        (time, -where)
        for time, where in everywhere
        if start <= time <= HORIZON and fits(taken, where, time, duration)
    ]
    found = timelines.latest(GENERIC, start, HORIZON, duration)
    best = max(possible, default=None)
    assert found == (None if best is None else (-best[1], best[0]))
    timelines.forget(start)
    assert timelines.earliest(GENERIC, start, duration)[1] == first[1]


def test_there_is_room_for_any_number_of_tasks() -> None:
    timelines = Timelines(identical(1, 3))
    for number in range(300):
        timelines.add(GENERIC, 0, 2 * number, 2 * number + 1)
    for number in range(299):
        timelines.add(GENERIC, 0, 2 * number, 2 * number + 4)
    assert timelines.earliest(GENERIC, 0, 4) == (0, 597)

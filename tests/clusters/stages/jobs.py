"""Small jobs and resources for tests."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from rebecsim.clusters.stages.job import StageJob, StageTask, TaskKind
from rebecsim.clusters.stages.resources import StageResource, identical, identical_typed

GENERIC, MAP, REDUCE = TaskKind


def job(
    number: int, start: int, deadline: int, *tasks: StageTask, arrival: int | None = None
) -> StageJob:
    return StageJob(number, start if arrival is None else arrival, start, deadline, tasks)


def task(number: int, duration: int, *parents: int, phase: int = 1) -> StageTask:
    return StageTask(number, duration, parents, phase=phase)


def map_reduce(maps: Sequence[int], reduces: Sequence[int]) -> tuple[StageTask, ...]:
    """Make the tasks of a MapReduce job: a dummy between maps and reduces is the barrier."""
    first = [StageTask(place, each, (), MAP, 1) for place, each in enumerate(maps)]
    if not reduces:
        return tuple(first)
    gate = len(first)
    barrier = StageTask(gate, 0, tuple(range(gate)), phase=1)
    second = [
        StageTask(gate + 1 + place, each, (gate,), REDUCE, 2) for place, each in enumerate(reduces)
    ]
    return (*first, barrier, *second)


def fork_and_skip() -> tuple[StageTask, ...]:
    """t1 -> t4 at once, and t1 -> t2 -> t3 -> t4."""
    return (task(0, 5), task(1, 4, 0, phase=2), task(2, 6, 1, phase=3), task(3, 3, 0, 2, phase=4))


@st.composite
def workflows(draw: st.DrawFn, most: int = 8) -> tuple[StageTask, ...]:
    tasks: list[StageTask] = []
    for number in range(draw(st.integers(1, most))):
        parents = draw(st.sets(st.integers(0, number - 1), max_size=3)) if number else set()
        duration = draw(st.sampled_from([0, 1, 2, 3, 5, 8, 13]))
        phase = 1 + max((tasks[each].phase for each in parents), default=0)
        tasks.append(StageTask(number, duration, tuple(sorted(parents)), phase=phase))
    if all(each.is_dummy for each in tasks):
        tasks[0] = StageTask(0, 1)
    return tuple(tasks)


@st.composite
def map_reduces(draw: st.DrawFn) -> tuple[StageTask, ...]:
    durations = st.lists(st.integers(1, 9), max_size=6)
    return map_reduce(draw(durations.filter(bool)), draw(durations))


@st.composite
def job_lists(
    draw: st.DrawFn, tasks: st.SearchStrategy[tuple[StageTask, ...]] | None = None
) -> tuple[StageJob, ...]:
    found = []
    for number in range(draw(st.integers(1, 7))):
        arrival = draw(st.integers(0, 20))
        start = arrival + draw(st.sampled_from([0, 0, 5, 17, 40]))
        deadline = start + draw(st.integers(0, 60))
        made = draw(workflows() if tasks is None else tasks)
        found.append(StageJob(number, arrival, start, deadline, made))
    return tuple(found)


generic_resources: st.SearchStrategy[tuple[StageResource, ...]] = st.builds(
    identical, st.integers(1, 3), st.integers(1, 3)
)
typed_resources: st.SearchStrategy[tuple[StageResource, ...]] = st.builds(
    identical_typed, st.integers(1, 3), st.integers(1, 2), st.integers(1, 2)
)

"""MRCP-RM: as few late jobs as there can be, and the same at each run."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from random import Random
from typing import Any

import pytest

from rebecsim.clusters.stages.checking import require_sound_schedule
from rebecsim.clusters.stages.cluster import FinishedStages, run_stages
from rebecsim.clusters.stages.job import SECOND, StageJob, StageTask, TaskKey
from rebecsim.clusters.stages.managers.decisions import ChargedBy, DecisionCost
from rebecsim.clusters.stages.managers.mrcp import ConstraintManager
from rebecsim.clusters.stages.managers.planning import matched, planning_problem
from rebecsim.clusters.stages.managers.registry import stages_policy
from rebecsim.clusters.stages.managers.searching import SolverTable
from rebecsim.clusters.stages.resources import StageResource, identical, identical_typed
from rebecsim.errors import UserError
from tests.clusters.stages.jobs import job, map_reduce, task

FREE = DecisionCost(ChargedBy.NOTHING)
NAMES = ("MRCP_RM", "MRCP_RM_AHEAD", "MRCP_RM_MATCHING", "MRCP_RM_MATCHING_AHEAD")


def planner(name: str, **options: Any) -> Any:
    """Give what makes a resource manager that searches, with settings of its own."""
    return partial(stages_policy(name).manager, settings=SolverTable().model_copy(update=options))


def ran(
    name: str, jobs: Sequence[StageJob], resources: Sequence[StageResource], limit: float = 1.0
) -> FinishedStages:
    return run_stages(jobs, resources, planner(name, limit=limit, step=0.001), FREE)


def late(run: FinishedStages) -> int:
    return sum(run.completed[each.number] > each.deadline for each in run.jobs)


# Brute force: an optimal schedule is found by placing tasks in the order of their starts, each as
# early as it can start; all orders are tried. Slots are counted at each time, with nothing of the
# program.


def fewest_by_brute_force(jobs: Sequence[StageJob], slots: dict[int, int]) -> int:
    tasks = [TaskKey(each.number, task.number) for each in jobs for task in each.real_tasks]
    known = {each.number: each for each in jobs}
    best = len(jobs)
    seen: set[frozenset[tuple[TaskKey, int]]] = set()

    def ready(key: TaskKey, ends: dict[TaskKey, int]) -> int | None:
        owner = known[key.job]
        latest = owner.start
        for parent in owner.tasks[key.task].parents:
            each = TaskKey(key.job, parent)
            end = ready(each, ends) if owner.tasks[parent].is_dummy else ends.get(each)
            if end is None:
                return None
            latest = max(latest, end)
        return latest

    def place(ends: dict[TaskKey, int], taken: dict[tuple[int, int], int], begun: int) -> None:
        nonlocal best
        missed = {key.job for key, end in ends.items() if end > known[key.job].deadline}
        state = frozenset(ends.items())
        if len(missed) >= best or state in seen:
            return
        seen.add(state)
        if len(ends) == len(tasks):
            best = len(missed)
            return
        for key in tasks:
            start = None if key in ends else ready(key, ends)
            if start is None:
                continue
            each = known[key.job].tasks[key.task]
            while any(
                taken.get((each.kind, time), 0) >= slots[each.kind]
                for time in range(start, start + each.duration)
            ):
                start += 1
            if start < begun:
                continue
            more = dict(taken)
            for time in range(start, start + each.duration):
                more[each.kind, time] = more.get((each.kind, time), 0) + 1
            place({**ends, key: start + each.duration}, more, start)

    place({}, {}, 0)
    return best


def small_instance(number: int) -> tuple[list[StageJob], tuple[StageResource, ...], dict[int, int]]:
    draws = Random(number)
    jobs: list[StageJob] = []
    for place in range(draws.randint(2, 4)):
        start = draws.choice([0, 0, 0, 1, 2, 4])
        if number % 2:
            maps = [draws.randint(1, 4) for _ in range(draws.randint(1, 2))]
            tasks = map_reduce(maps, [draws.randint(1, 4) for _ in range(draws.randint(0, 1))])
        else:
            tasks = tuple(
                StageTask(
                    each, draws.randint(1, 4), (each - 1,) if each and draws.random() < 0.5 else ()
                )
                for each in range(draws.randint(1, 2))
            )
        work = sum(each.duration for each in tasks)
        jobs.append(job(place, start, start + work + draws.randint(-1, 3), *tasks, arrival=0))
    count = draws.randint(1, 2)
    if number % 2:
        return jobs, identical_typed(count, 1, 1), {1: count, 2: count}
    return jobs, identical(count, 1), {0: count}


def require_fewest(numbers: Iterator[int] | range) -> None:
    searched = 0
    for number in numbers:
        jobs, resources, slots = small_instance(number)
        least = fewest_by_brute_force(jobs, slots)
        for name in ("MRCP_RM_AHEAD", "MRCP_RM_MATCHING_AHEAD", "MILP"):
            run = ran(name, jobs, resources)
            require_sound_schedule(jobs, resources, run.ran.values())
            assert late(run) == least, f"{name}, instance {number}"
        searched += least > 0
    assert searched


def test_late_jobs_are_as_few_as_brute_force_finds() -> None:
    require_fewest(range(24))


@pytest.mark.slow
def test_late_jobs_are_as_few_as_brute_force_finds_in_a_thousand_instances() -> None:
    require_fewest(range(1000))


@pytest.mark.parametrize("name", ["MRCP_RM_AHEAD", "MRCP_RM_MATCHING_AHEAD", "MILP"])
def test_a_search_from_nothing_finds_the_fewest(name: str) -> None:
    """Nothing is left to rules that are tried before a search."""
    maker = planner(name, limit=1.0, rules_first=False, step=0.001)
    for number in range(12):
        jobs, resources, slots = small_instance(number)
        run = run_stages(jobs, resources, maker, FREE)
        assert late(run) == fewest_by_brute_force(jobs, slots), number
        assert not any(each.limited for each in run.decisions)


def test_an_integer_programme_on_a_grid_keeps_the_rules_and_has_a_bound() -> None:
    jobs = [job(0, 3, 40, *map_reduce([5, 7], [8]), arrival=0), job(1, 0, 30, *map_reduce([9], []))]
    for step in (1, 4):
        maker = planner("MILP", rules_first=False, step=step / 1000)
        run = run_stages(jobs, identical_typed(1, 1, 1), maker, FREE)
        require_sound_schedule(jobs, identical_typed(1, 1, 1), run.ran.values())
        assert late(run) == 0
    long = [job(0, 0, 10**8, task(0, 5))]
    maker = planner("MILP", rules_first=False, step=0.001)
    with pytest.raises(UserError, match="variables; the limit is 2000000; take longer"):
        run_stages(long, identical(1, 1), maker, FREE)


def test_one_job_is_given_up_for_two_others() -> None:
    jobs = [
        job(0, 0, 10, task(0, 10), task(1, 10), arrival=0),
        job(1, 0, 11, task(0, 11), arrival=0),
        job(2, 0, 11, task(0, 11), arrival=0),
    ]
    assert late(run_stages(jobs, identical(2, 1), stages_policy("EDF").manager, FREE)) == 2
    for name in NAMES:
        assert late(ran(name, jobs, identical(2, 1))) == 1, name


@pytest.mark.parametrize("name", ["MRCP_RM", "HCP_RM"])
def test_what_rules_place_is_used_where_there_is_too_much_to_search(name: str) -> None:
    jobs = [
        job(0, 0, 10 * SECOND, task(0, 10 * SECOND), task(1, 10 * SECOND), arrival=0),
        job(1, 0, 11 * SECOND, task(0, 11 * SECOND), arrival=0),
        job(2, 0, 11 * SECOND, task(0, 11 * SECOND), arrival=0),
    ]
    for most, fewest in ((4, 1), (3, 2)):
        maker = planner(name, limit=1.0, step=0.001, most_tasks=most)
        run = run_stages(jobs, identical(2, 1), maker, FREE)
        assert late(run) == fewest
        assert [each.limited for each in run.decisions] == [most == 3]


def test_a_search_that_is_cut_short_is_counted_and_uses_the_best_that_is_known() -> None:
    draws = Random(3)
    jobs = [
        job(
            each,
            0,
            30 + draws.randint(0, 9),
            *(task(n, draws.randint(3, 9)) for n in range(9)),
            arrival=0,
        )
        for each in range(9)
    ]
    run = ran("MRCP_RM", jobs, identical(8, 1), limit=1e-6)
    assert [each.limited for each in run.decisions] == [True]
    require_sound_schedule(jobs, identical(8, 1), run.ran.values())


def test_runs_repeat_bit_for_bit() -> None:
    draws = Random(5)
    jobs = [
        job(each, each, each + 25, *(task(n, draws.randint(1, 9)) for n in range(6)), arrival=each)
        for each in range(8)
    ]
    first, second = (ran("MRCP_RM", jobs, identical(3, 1), 0.001) for _ in range(2))
    assert first.ran == second.ran
    assert any(each.moved for each in first.decisions)


@pytest.mark.parametrize("name", NAMES)
def test_jobs_are_deferred_until_they_may_start_or_planned_ahead(name: str) -> None:
    jobs = [job(0, 50, 90, task(0, 5), arrival=0), job(1, 50, 60, task(0, 5), arrival=2)]
    run = ran(name, jobs, identical(1, 1))
    assert run.completed == {0: 60, 1: 55}
    made = [each.made for each in run.decisions]
    assert made == ([0, 2] if name.endswith("AHEAD") else [0, 2, 50])
    assert sum(each.moved for each in run.decisions) == (1 if name.endswith("AHEAD") else 0)


def test_slots_go_to_who_was_free_last() -> None:
    """The long task starts when the second resource is free, which was busy longer."""
    jobs = [job(0, 0, 99, task(0, 8), task(1, 10), task(2, 20, 1), arrival=0)]
    left = {0: [0, 1, 2]}
    problem = planning_problem(0, {0: jobs[0]}, left, (), identical(2, 1))
    starts = {TaskKey(0, 0): 0, TaskKey(0, 1): 0, TaskKey(0, 2): 10}
    placed = {each.key.task: each.resource for each in matched(problem, starts)}
    assert placed[2] == placed[1] != placed[0]


def test_without_the_solver_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.split(".")[0] == "ortools"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ortools", None)
    jobs = [job(0, 0, 9, task(0, 5))]
    with pytest.raises(UserError, match=r"pip install 'rebecsim\[optimise\]'"):
        run_stages(jobs, identical(1, 1), ConstraintManager, FREE)
    for name in ("EDF", "MILP"):
        assert run_stages(jobs, identical(1, 1), stages_policy(name).manager, FREE).completed == {
            0: 5
        }

"""Sample runs and budgets that can be done by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from rebecsim.clusters.stages.cluster import run_stages
from rebecsim.clusters.stages.job import StageJob
from rebecsim.clusters.stages.laxity import (
    BudgetRule,
    Timelines,
    budget_of,
    planned_run,
    sample_run,
    sequential_time,
    shortest_time,
    unlimited_run,
)
from rebecsim.clusters.stages.managers.registry import BUILTIN_STAGES_POLICIES
from rebecsim.clusters.stages.managers.wfbb import MappedJob, by_deadline, by_laxity
from rebecsim.clusters.stages.resources import StageResource, identical
from rebecsim.clusters.stages.workflows import CyberShake
from rebecsim.clusters.stages.workloads import JobDraws, Stream, stream_of
from tests.clusters.stages.jobs import (
    fork_and_skip,
    generic_resources,
    job,
    job_lists,
    map_reduce,
    map_reduces,
    task,
    typed_resources,
)


def test_sample_times_of_a_job() -> None:
    tasks = (task(0, 4), task(1, 6), task(2, 2), task(3, 3, 0, 1, 2))
    one = job(0, 10, 90, *tasks)
    assert (sequential_time(one), shortest_time(one)) == (15, 9)
    assert sample_run(one, identical(1, 2)).completions == (14, 16, 16, 19)
    assert sample_run(one, identical(1, 1)).completions == (20, 16, 22, 25)


def test_a_sample_beside_others_waits_for_their_slots() -> None:
    timelines = Timelines(identical(1, 1))
    timelines.add(0, 0, 12, 20)  # type: ignore[arg-type]
    one = job(0, 10, 90, task(0, 2), task(1, 3, 0))
    assert planned_run(one, timelines, 0).completions == (12, 23)
    assert planned_run(one, timelines, 11).completions == (22, 25)
    assert planned_run(one, timelines, 0).completions == (12, 23)


@settings(max_examples=10)
@given(job_lists(map_reduces()), typed_resources)
def test_waves_are_what_timelines_give(
    jobs: tuple[StageJob, ...], resources: tuple[StageResource, ...]
) -> None:
    for each in jobs:
        slow = planned_run(each, Timelines(resources), each.start)
        assert sample_run(each, resources).duration == slow.duration


@settings(max_examples=10)
@given(job_lists(), generic_resources)
def test_no_sample_is_shorter_than_the_critical_path(
    jobs: tuple[StageJob, ...], resources: tuple[StageResource, ...]
) -> None:
    for each in jobs:
        time = sample_run(each, resources).duration
        assert shortest_time(each) <= time <= sequential_time(each)


def test_parents_for_which_others_wait_keep_their_sub_deadlines() -> None:
    """Of t4's parents t1 is waited for by t2, too: raised to 30 it would leave t2 no time."""
    one = job(0, 0, 36, *fork_and_skip())
    budget = budget_of(one, unlimited_run(one), BudgetRule.PROPORTIONAL)
    assert budget.laxity == 18
    assert budget.sub_deadlines == (10, 18, 30, 36)


def test_parents_get_until_the_last_of_them() -> None:
    one = job(0, 10, 42, task(0, 4), task(1, 6), task(2, 2, 0, 1, phase=2))
    assert budget_of(one, unlimited_run(one), BudgetRule.PROPORTIONAL).sub_deadlines == (34, 34, 42)
    assert budget_of(one, unlimited_run(one), BudgetRule.EVEN).sub_deadlines == (28, 28, 42)


def test_phases_get_as_much_each_and_dummies_what_their_parents_get() -> None:
    """Half of 30 - 9 = 21 for the maps; the barrier hands its sub-deadline to all of them."""
    one = job(0, 0, 30, *map_reduce([4, 3], [5]))
    assert budget_of(one, unlimited_run(one), BudgetRule.EVEN).sub_deadlines == (14, 14, 14, 30)


def test_negative_laxity_makes_sub_deadlines_earlier_than_the_sample() -> None:
    one = job(0, 0, 9, task(0, 6), task(1, 12, 0, phase=2))
    assert budget_of(one, unlimited_run(one), BudgetRule.PROPORTIONAL).sub_deadlines == (3, 9)


def test_jobs_are_compared_by_deadlines_or_by_laxity_for_their_time() -> None:
    long, short = job(0, 0, 6000, task(0, 5000)), job(1, 5500, 6000, task(0, 100))
    mapped = [
        MappedJob(each, budget_of(each, sample, BudgetRule.PROPORTIONAL), sample.duration)
        for each in (long, short)
        for sample in (unlimited_run(each),)
    ]
    assert [each.normalised for each in mapped] == [0.2, 4.0]
    assert [each.number for each in sorted(mapped, key=by_deadline)] == [1, 0]
    assert [each.number for each in sorted(mapped, key=by_laxity)] == [0, 1]


@pytest.fixture(scope="module")
def cybershake() -> tuple[StageJob, ...]:
    draws = JobDraws.of(np.random.SeedSequence(4))
    family = CyberShake(draws.tasks)
    stream = Stream(40, 1 / 75, reserved=0.5, reserved_ahead=500, multiplier=2.0)
    drawn = ("large", lambda each: family.tasks(each, 100))
    return tuple(stream_of(stream, [drawn], identical(25, 2), draws))


def test_early_places_of_cybershake_are_the_same_however_laxity_is_divided(
    cybershake: tuple[StageJob, ...],
) -> None:
    """Sub-deadlines only break ties there."""
    runs = [
        run_stages(cybershake, identical(25, 2), each.manager)
        for each in BUILTIN_STAGES_POLICIES
        if each.name.startswith("WFBB") and each.name.endswith("TSP1")
    ]
    assert len(runs) == 4
    assert any(each.moved for each in runs[0].decisions)
    assert all(run.completed == runs[0].completed for run in runs)


def test_parents_have_until_what_algorithm_7_3_prints_by_the_letter() -> None:
    # t0 -> t2 and t0 -> t3; t1 -> t3: nothing but the edge leads from t0 to t3.
    tasks = task(0, 2), task(1, 4), task(2, 9, 0, phase=2), task(3, 3, 0, 1, phase=2)
    one = job(0, 0, 24, *tasks)
    sample = sample_run(one, identical(4, 1))
    ours = budget_of(one, sample, BudgetRule.PROPORTIONAL).sub_deadlines
    letter = budget_of(one, sample, BudgetRule.PROPORTIONAL, by_letter=True).sub_deadlines
    assert ours[0] < ours[1]
    assert letter == (ours[1], *ours[1:])


def test_all_parents_of_a_dummy_have_until_its_sub_deadline_by_the_letter() -> None:
    tasks = task(0, 2), task(1, 4), task(2, 0, 0, 1, phase=2), task(3, 5, 0, phase=2)
    one = job(0, 0, 24, *tasks)
    sample = sample_run(one, identical(4, 1))
    ours = budget_of(one, sample, BudgetRule.EVEN)
    letter = budget_of(one, sample, BudgetRule.EVEN, by_letter=True)
    assert letter.sub_deadlines[0] == letter.sub_deadlines[2] > ours.sub_deadlines[0]
    assert letter.ranks == letter.sub_deadlines


def test_a_longer_path_keeps_what_a_parent_has_by_the_letter() -> None:
    one = job(0, 0, 36, *fork_and_skip())
    sample = sample_run(one, identical(4, 1))
    found = [budget_of(one, sample, BudgetRule.EVEN, by_letter=each) for each in (True, False)]
    assert found[0].sub_deadlines == found[1].sub_deadlines

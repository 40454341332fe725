"""Runs that can be done by hand, and what is true of all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.actors import FifoScheduler
from rebecsim.clusters.stages.cluster import run_stages, stages_model
from rebecsim.clusters.stages.job import BrokenJobError, StageJob, StageTask, TaskKey
from rebecsim.clusters.stages.managers.decisions import ChargedBy, DecisionCost, DecisionTimes
from rebecsim.clusters.stages.managers.dispatching import EarliestDeadlineFirst, FirstInFirstOut
from rebecsim.clusters.stages.resources import identical, identical_typed
from rebecsim.errors import UserError
from rebecsim.simulation import simulate
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

FREE = DecisionCost(ChargedBy.NOTHING)


def test_the_earliest_deadline_goes_first() -> None:
    jobs = [job(0, 0, 90, task(0, 10), task(1, 10)), job(1, 0, 50, task(0, 10))]
    early = run_stages(jobs, identical(1, 1), EarliestDeadlineFirst, FREE)
    assert early.completed == {0: 30, 1: 10}
    first = run_stages(jobs, identical(1, 1), FirstInFirstOut, FREE)
    assert first.completed == {0: 20, 1: 30}


def test_a_workflow_waits_for_parents_and_for_its_start() -> None:
    run = run_stages(
        [job(0, 7, 90, *fork_and_skip(), arrival=2)], identical(1, 4), FirstInFirstOut, FREE
    )
    assert [run.ran[TaskKey(0, each)].start for each in range(4)] == [7, 12, 16, 22]
    assert run.completed == {0: 25}


def test_a_barrier_lies_between_maps_and_reduces() -> None:
    tasks = map_reduce([4, 9], [5, 5, 5])
    run = run_stages([job(0, 0, 90, *tasks)], identical_typed(2, 1, 1), FirstInFirstOut, FREE)
    starts = [run.ran[TaskKey(0, each)].start for each in (0, 1, 3, 4, 5)]
    assert starts == [0, 0, 9, 9, 14]


def test_the_manager_is_busy_with_its_decisions() -> None:
    cost = DecisionCost(ChargedBy.RATE, 2, 0.5)
    jobs = [job(0, 0, 90, task(0, 10)), job(1, 1, 90, task(0, 10))]
    run = run_stages(jobs, identical(2, 1), EarliestDeadlineFirst, cost)
    assert [run.ran[TaskKey(each, 0)].start for each in (0, 1)] == [3, 6]
    assert [(each.began, each.made, each.charged) for each in run.decisions[:2]] == [
        (0, 3, 3),
        (3, 6, 3),
    ]


def test_the_wall_clock_is_charged_after_a_decision() -> None:
    run = run_stages(
        [job(0, 0, 90, task(0, 10))],
        identical(1, 1),
        FirstInFirstOut,
        DecisionCost(ChargedBy.CLOCK),
    )
    assert run.ran[TaskKey(0, 0)].start == 0
    made = run.decisions[0]
    assert made.made == made.began
    assert made.charged == int(1000 * made.clock)


def test_what_was_recorded_is_charged_to_the_last_part_of_a_millisecond() -> None:
    times = DecisionTimes(0.4, 0.25, per_waiting=1.0)
    jobs = [job(each, each, 90, task(0, 40)) for each in range(8)]
    cost = DecisionCost(ChargedBy.RECORDED, recorded=times)
    run = run_stages(jobs, identical(1, 1), EarliestDeadlineFirst, cost)
    expected = sum(times.of(each.work) for each in run.decisions)
    assert sum(each.charged for each in run.decisions) == int(expected + 1e-9)
    assert 0 < min(times.of(each.work) for each in run.decisions) < 1
    again = run_stages(jobs, identical(1, 1), EarliestDeadlineFirst, cost)
    assert [each.charged for each in again.decisions] == [each.charged for each in run.decisions]


@settings(max_examples=15)
@given(job_lists(), generic_resources, st.sampled_from([FREE, DecisionCost()]))
def test_the_general_engine_gives_the_same(jobs, resources, cost) -> None:  # type: ignore[no-untyped-def]
    fast = run_stages(jobs, resources, EarliestDeadlineFirst, cost)
    model = stages_model(jobs, resources, EarliestDeadlineFirst, cost)
    ended = simulate(model, FifoScheduler())
    assert ended.system.rebecs[0].completed == fast.completed


@settings(max_examples=15)
@given(job_lists(map_reduces()), typed_resources)
def test_slots_with_types_are_kept_apart(jobs, resources) -> None:  # type: ignore[no-untyped-def]
    assert len(run_stages(jobs, resources, EarliestDeadlineFirst).completed) == len(jobs)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: job(0, 5, 4, task(0, 1)), "job_0: its deadline, 4 ms, is before its earliest"),
        (lambda: StageJob(3, 9, 5, 20, (task(0, 1),)), "job_3: starts at 5 ms, before it arrives"),
        (lambda: job(0, 0, 9, task(0, 0)), "all of its tasks are dummies of 0 ms"),
        (lambda: job(0, 0, 9, task(0, -4)), "task 0: its duration or estimate is below 0 ms"),
        (lambda: job(0, 0, 9, task(0, 1, 7)), "task 0: waits for task 7, which does not exist"),
        (
            lambda: job(0, 0, 9, task(0, 1, 1), StageTask(1, 1, (0,), name="beta")),
            "tasks wait for each other: task 0, beta",
        ),
        (lambda: job(0, 0, 9, task(1, 1)), "task 1: has number 1, but stands at index 0"),
    ],
)
def test_jobs_that_can_never_run_are_refused(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BrokenJobError, match=message):
        make()


def test_tasks_without_slots_are_refused() -> None:
    with pytest.raises(UserError, match="job_0, task 0: no resource has a slot for a map"):
        run_stages([job(0, 0, 9, *map_reduce([1], []))], identical_typed(1, 0, 1), FirstInFirstOut)
    mixed = (*identical(1, 1), identical_typed(2, 1, 1)[1])
    with pytest.raises(UserError, match="give all of them slots"):
        run_stages([job(0, 0, 9, task(0, 1))], mixed, FirstInFirstOut)

"""Users who are wrong: how they are drawn, and what plans do when tasks end early or late."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.scenarios import load, load_scenario
from rebecsim.clusters.stages.checking import BrokenScheduleError, ScheduleChecker
from rebecsim.clusters.stages.cluster import FinishedStages, ManagerMaker, run_stages
from rebecsim.clusters.stages.estimates import (
    ConstantErrors,
    EstimateErrors,
    FeitelsonErrors,
    VariableErrors,
    with_estimates,
)
from rebecsim.clusters.stages.job import StageJob, StageTask, TaskKey
from rebecsim.clusters.stages.managers.decisions import ChargedBy, DecisionCost
from rebecsim.clusters.stages.managers.registry import stages_policy
from rebecsim.clusters.stages.managers.searching import SolverTable
from rebecsim.clusters.stages.resources import Assignment, StageResource, identical
from rebecsim.studies.scenario_files import ScenarioError
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
LONG = np.full(200_000, 50.0)


def draws(seed: int = 3) -> np.random.Generator:
    return np.random.default_rng(seed)


def said(duration: int, estimated: int, number: int = 0, *parents: int) -> StageTask:
    return StageTask(number, duration, parents, estimated=estimated)


def test_a_constant_error_is_that_of_all() -> None:
    tasks = map_reduce([4000, 10], [5000])
    found = with_estimates(tasks, ConstantErrors(-0.5), draws())
    assert [each.expected for each in found] == [2000, 5, 0, 2500]
    assert [each.duration for each in found] == [4000, 10, 0, 5000]
    assert with_estimates(tasks, None, draws()) is tasks
    assert [each.expected for each in with_estimates(tasks, ConstantErrors(0.0), draws())] == [
        *(4000, 10, 0, 5000)
    ]


def test_a_task_is_never_estimated_at_nothing() -> None:
    (found,) = with_estimates((task(0, 2),), ConstantErrors(-0.9), draws())
    assert found.expected == 1


def test_feitelson_has_three_parts() -> None:
    """Of the long ones a part q < 1 / 2 of 90 % gets a factor above 1 / q: here one of four."""
    factors = FeitelsonErrors(threshold=20).factors(LONG, draws())
    assert (factors == 0.99).mean() == pytest.approx(0.1, abs=0.003)
    assert (factors > 4).mean() == pytest.approx(0.9 / 4, abs=0.003)
    assert factors.max() == 100
    short = FeitelsonErrors(threshold=20).factors(LONG[:1000] - 31, draws())
    assert set(short.tolist()) == {0.99, 10.0}
    assert FeitelsonErrors(threshold=20, most=3).factors(LONG, draws()).max() == 3


def test_variable_errors_are_one_for_each_job() -> None:
    model, one = VariableErrors(), draws()
    factors = [model.factors(LONG[:3], one) for _ in range(20_000)]
    assert all(len(set(each.tolist())) == 1 for each in factors)
    errors = np.array([each[0] for each in factors]) - 1
    assert (errors >= 0).mean() == pytest.approx(0.98, abs=0.004)
    assert errors.min() >= -0.9
    assert errors.max() <= 2
    assert errors[errors < 0].max() <= -0.1
    assert errors[errors >= 0].mean() == pytest.approx(1, abs=0.02)


MODELS = st.one_of(
    st.builds(ConstantErrors, st.floats(-0.9, 3)),
    st.builds(FeitelsonErrors, st.floats(0, 0.02), st.floats(1, 20)),
    st.builds(VariableErrors, st.floats(0, 1)),
)


@given(map_reduces(), MODELS, st.integers(0, 9))
def test_nothing_but_estimates_changes(
    tasks: tuple[StageTask, ...], model: EstimateErrors, seed: int
) -> None:
    found = with_estimates(tasks, model, draws(seed))
    assert tuple(replace(each, estimated=None) for each in found) == tasks
    assert all((each.expected > 0) != each.is_dummy for each in found)
    assert found == with_estimates(tasks, model, draws(seed))


def maker(name: str, *, replans: bool = False) -> ManagerMaker:
    manager = stages_policy(name).manager
    if name.startswith(("MRCP", "HCP")):
        short = SolverTable(limit=0.001, replan=replans)
        return lambda resources: manager(resources, settings=short)
    return manager


NAMES = ("WFBB_PD_SL_TSP1", "WFBB_ED_TL_TSP2", "EDF", "MINEDF_WC", "MRCP_RM")


def starts(run: FinishedStages, number: int = 0) -> list[int]:
    return [run.ran[TaskKey(number, each.number)].start for each in run.jobs[number].real_tasks]


@pytest.mark.parametrize("name", ["WFBB_PD_SL_TSP1", "MRCP_RM_AHEAD"])
def test_what_follows_is_pulled_forward(name: str) -> None:
    jobs = [job(0, 0, 90, said(10, 30), said(5, 6, 1, 0), arrival=0)]
    assert starts(run_stages(jobs, identical(1, 1), maker(name), FREE)) == [0, 10]


def test_late_places_stay_late() -> None:
    jobs = [job(0, 0, 72, said(10, 30), said(5, 6, 1, 0))]
    assert starts(run_stages(jobs, identical(1, 1), maker("WFBB_PD_SL_TSP2"), FREE)) == [30, 66]


def test_what_has_to_wait_waits_and_no_longer() -> None:
    """The first task is given 1,000 more of the 500 it still needs; the others wait for its end."""
    jobs = [job(0, 0, 9000, said(2500, 2000), said(400, 400, 1, 0)), job(1, 0, 9500, said(50, 50))]
    run = run_stages(jobs, identical(1, 1), maker("WFBB_PD_SL_TSP1"), FREE)
    assert (starts(run), starts(run, 1)) == ([0, 2500], [2900])
    assert run.completed == {0: 2900, 1: 2950}


def test_others_go_on_where_a_slot_is_free() -> None:
    """The child of the task that takes longer waits; the other job takes its slot meanwhile."""
    jobs = [
        job(0, 0, 9000, said(6000, 1000), said(1000, 1000, 1, 0)),
        job(1, 0, 9900, said(1500, 1500), said(400, 400, 1, 0)),
    ]
    run = run_stages(jobs, identical(2, 1), maker("WFBB_PD_SL_TSP1"), FREE)
    assert (starts(run), starts(run, 1)) == ([0, 6000], [0, 1500])


def test_a_search_is_made_again_where_that_is_wanted() -> None:
    """At the early end the second job, which is reserved, is still where it was planned."""
    jobs = [job(0, 0, 90, said(10, 30)), job(1, 5, 99, said(5, 6), arrival=0)]
    run = run_stages(jobs, identical(1, 1), maker("MRCP_RM_AHEAD", replans=True), FREE)
    assert [each.began for each in run.decisions] == [0, 10]
    assert starts(run, 1) == [10]
    once = run_stages(jobs, identical(1, 1), maker("MRCP_RM_AHEAD"), FREE)
    assert [each.began for each in once.decisions] == [0]


@st.composite
def wrong_jobs(draw: st.DrawFn, *, typed: bool) -> tuple[StageJob, ...]:
    """Jobs of tasks with any estimates; times long enough for more time to matter."""
    found = []
    for each in draw(job_lists(map_reduces() if typed else None)):
        tasks = tuple(
            made
            if made.is_dummy
            else replace(
                made,
                duration=made.duration * 400,
                estimated=draw(st.sampled_from([1, 100, 400, 700, 5000])) * made.duration,
            )
            for made in each.tasks
        )
        times = 400 * each.arrival, 400 * each.start, 900 * each.deadline
        found.append(StageJob(each.number, *times, tasks))
    return tuple(found)


@pytest.mark.parametrize("name", [*NAMES, pytest.param("HCP_RM", marks=pytest.mark.slow)])
@pytest.mark.parametrize("typed", [False, True])
@settings(max_examples=6)
@given(data=st.data())
def test_every_run_keeps_the_rules_whatever_users_say(
    name: str, typed: bool, data: st.DataObject
) -> None:
    """The checker looks at every decision, every change of the plan, every start, and the end."""
    jobs = data.draw(wrong_jobs(typed=typed))
    resources: tuple[StageResource, ...] = data.draw(
        typed_resources if typed else generic_resources
    )
    cost = data.draw(st.sampled_from([FREE, DecisionCost()]))
    run = run_stages(jobs, resources, maker(name, replans=data.draw(st.booleans())), cost)
    assert set(run.completed) == {each.number for each in jobs}
    real = {TaskKey(j.number, t.number): t.duration for j in jobs for t in j.real_tasks}
    assert {key: each.end - each.start for key, each in run.ran.items()} == real


@pytest.mark.parametrize("name", ["WFBB_PD_SL_TSP1", "MRCP_RM"])
@settings(max_examples=6)
@given(jobs=job_lists(), resources=generic_resources)
def test_with_true_estimates_all_is_as_without(
    name: str, jobs: tuple[StageJob, ...], resources: tuple[StageResource, ...]
) -> None:
    exact = [
        replace(each, tasks=with_estimates(each.tasks, ConstantErrors(0.0), draws()))
        for each in jobs
    ]
    plain, same = (run_stages(each, resources, maker(name), FREE).ran for each in (jobs, exact))
    assert plain == same


def test_the_checker_looks_at_what_happens() -> None:
    checker = ScheduleChecker(identical(1, 1))
    here = job(0, 0, 90, *fork_and_skip())
    checker.arrived(here)
    places = [(0, 0, 5), (1, 5, 9), (2, 9, 15), (3, 15, 18)]
    plan = [Assignment(TaskKey(0, task), 0, start, end) for task, start, end in places]
    checker.decided(0, plan)
    with pytest.raises(BrokenScheduleError, match="a parent task still runs"):
        checker.began(plan[1])
    checker.began(plan[0])
    with pytest.raises(BrokenScheduleError, match="its new end is no later"):
        checker.extended(plan[0], 5)
    with pytest.raises(BrokenScheduleError, match="it does not run there"):
        checker.extended(plan[1]._replace(end=20), 5)
    checker.extended(plan[0]._replace(end=7), 5)
    with pytest.raises(BrokenScheduleError, match="all slots there are taken"):
        checker.decided(5, plan[1:2])
    checker.arrived(job(1, 0, 90, task(0, 2)))
    late = Assignment(TaskKey(1, 0), 0, 18, 20)
    checker.decided(6, [late])
    with pytest.raises(BrokenScheduleError, match="no slot is free where it starts"):
        checker.began(late)  # what runs there has not ended


SCENARIO = """
kind = "stages"
name = "wrong"
policies = ["WFBB_PD_SL_TSP1"]

[workload]
jobs = 6
rate = 0.02
workflows = ["cybershake"]
sizes = ["small"]
reserved = 0

[workload.estimates]
model = "variable"

[resources]
count = 4
slots = 2
"""


def drawn(folder: Path, text: str) -> tuple[StageJob, ...]:
    path = folder / "wrong.toml"
    path.write_text(text, "utf-8")
    return load(path).plan().cells[0].setup.jobs(0)


def test_a_scenario_has_the_same_jobs_with_other_estimates_and_deadlines(tmp_path: Path) -> None:
    wrong = drawn(tmp_path, SCENARIO)
    right = drawn(tmp_path, SCENARIO.replace("[workload.estimates]\nmodel", "# model"))
    assert [each.start for each in wrong] == [each.start for each in right]
    for mine, other in zip(wrong, right, strict=True):
        assert [t.duration for t in mine.tasks] == [t.duration for t in other.tasks]
        factor = mine.tasks[0].expected / mine.tasks[0].duration
        assert mine.deadline - mine.start == pytest.approx(
            factor * (other.deadline - other.start), abs=3000
        )
    half = drawn(tmp_path, SCENARIO.replace('"variable"', '"constant"\nerror = -0.5'))
    assert half[0].tasks[0].expected == pytest.approx(right[0].tasks[0].duration / 2, abs=1)


def test_closed_problems_have_estimates_too(tmp_path: Path) -> None:
    text = SCENARIO.replace('workflows = ["cybershake"]', 'closed = "small_1"')
    text = text.replace("jobs = 6\nrate = 0.02\n", "").replace('sizes = ["small"]\n', "")
    text = text.replace("slots = 2", "map_slots = 2\nreduce_slots = 2")
    jobs = drawn(tmp_path, text)
    assert any(t.expected != t.duration for each in jobs for t in each.tasks)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ('"variable"\nerror = 0.5', 'error is for model = "constant"'),
        ('"constant"', "needs error, as in error = 0.5"),
        ('"constant"\nerror = -1.0', "must be at least -0.99"),
        ('"variable"\nover = [2.0, 0.0]', "give the lower error first"),
        ('"feitelson"\nunder = [-0.5, 0.0]', 'under is for model = "variable"'),
        ('"guess"', 'must be "constant", "feitelson" or "variable"'),
    ],
)
def test_what_is_wrong_with_models_is_said(tmp_path: Path, new: str, message: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(SCENARIO.replace('"variable"', new), "utf-8")
    with pytest.raises(ScenarioError, match=message):
        load_scenario(path)

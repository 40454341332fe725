"""MapReduce with deadlines on Hadoop: what heartbeats, overheads and data do to plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.scenarios import load, load_scenario
from rebecsim.clusters.stages.checking import BrokenScheduleError, require_slots
from rebecsim.clusters.stages.cluster import FinishedStages
from rebecsim.clusters.stages.hadoop import run_on_hadoop
from rebecsim.clusters.stages.hadoop_tasks import HadoopTable, JobTask, JobTaskQueue
from rebecsim.clusters.stages.job import StageJob, TaskKey, TaskKind
from rebecsim.clusters.stages.managers.decisions import ChargedBy, DecisionCost
from rebecsim.clusters.stages.managers.registry import stages_policy
from rebecsim.clusters.stages.managers.searching import SolverTable
from rebecsim.clusters.stages.resources import (
    Assignment,
    Locality,
    StageResource,
    identical,
    identical_typed,
)
from rebecsim.clusters.stages.study import STUDY
from rebecsim.errors import UserError
from rebecsim.studies.scenario_files import ScenarioError
from tests.clusters.stages.jobs import (
    job,
    job_lists,
    map_reduce,
    map_reduces,
    task,
    typed_resources,
)

FREE = DecisionCost(ChargedBy.NOTHING)
BARE = HadoopTable(heartbeat=0.001, overhead=0, transfer=0, replicas=1, job_task=0)
SHORT = SolverTable(limit=0.005)
NAMES = ("HCP_RM", "MRCP_RM_AHEAD", "EDF", "FIFO")


def ran(
    name: str,
    jobs: Sequence[StageJob],
    resources: Sequence[StageResource],
    hadoop: HadoopTable = BARE,
    cost: DecisionCost = FREE,
) -> FinishedStages:
    return run_on_hadoop(jobs, resources, stages_policy(name).manager, hadoop, cost, SHORT)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=6)
@given(
    jobs=job_lists(map_reduces()),
    resources=typed_resources,
    hadoop=st.builds(
        HadoopTable,
        heartbeat=st.sampled_from([0.001, 0.002, 0.005]),
        overhead=st.sampled_from([0.0, 0.001, 0.003]),
        transfer=st.sampled_from([0.0, 0.001, 0.004]),
        replicas=st.integers(1, 3),
        job_task=st.sampled_from([0.0, 0.001, 0.004]),
    ),
    cost=st.sampled_from([FREE, DecisionCost()]),
)
def test_every_run_keeps_the_rules(
    name: str,
    jobs: Sequence[StageJob],
    resources: Sequence[StageResource],
    hadoop: HadoopTable,
    cost: DecisionCost,
) -> None:
    run = ran(name, jobs, resources, hadoop, cost)  # which is checked in there
    assert set(run.completed) == {each.number for each in jobs}
    ends = {each.number: 0 for each in jobs}
    for key, each in run.ran.items():
        ends[key.job] = max(ends[key.job], each.end)
    assert all(run.completed[number] >= end for number, end in ends.items())


def test_tasks_wait_for_heartbeats_and_take_longer_than_they_say() -> None:
    """Heartbeats come each 10 ms, and what has ended is heard of by the next one."""
    jobs = [job(0, 0, 90, *map_reduce([4], [4]))]
    hadoop = HadoopTable(heartbeat=0.01, overhead=0.003, transfer=0, replicas=1, job_task=0)
    run = ran("HCP_RM", jobs, identical_typed(1, 1, 1), hadoop)
    where = [run.ran[TaskKey(0, each)] for each in (0, 2)]
    assert [(each.start, each.end) for each in where] == [(0, 7), (10, 17)]
    assert run.completed == {0: 20}


def test_a_job_is_set_up_before_its_tasks_and_cleaned_up_behind_them() -> None:
    """A TaskTracker gets nothing else with such a task; it takes a slot for maps if one is free."""
    jobs = [job(0, 0, 90, *map_reduce([4], [4]))]
    hadoop = BARE.model_copy(update={"heartbeat": 0.01, "job_task": 0.007})
    for name in ("HCP_RM", "EDF"):
        run = ran(name, jobs, identical_typed(1, 1, 1), hadoop)
        where = [run.ran[TaskKey(0, each)] for each in (0, 2)]
        assert [(each.start, each.end) for each in where] == [(10, 14), (20, 24)]
        assert run.completed == {0: 40}  # it is heard at 30 that the reduce has ended


def test_setting_up_takes_any_slot_and_cleaning_up_comes_first() -> None:
    queue = JobTaskQueue()
    for number, sets_up in ((1, True), (2, True), (0, False)):
        queue.add(JobTask(number, sets_up))
    assert queue.next(lambda kind: False) is None
    assert queue.next(lambda kind: True) == (JobTask(0, sets_up=False), TaskKind.MAP)
    assert queue.next(lambda kind: kind is TaskKind.REDUCE) == (
        JobTask(1, sets_up=True),
        TaskKind.REDUCE,
    )
    assert queue.next(lambda kind: True) == (JobTask(2, sets_up=True), TaskKind.MAP)
    assert queue.next(lambda kind: True) is None


def test_slots_that_job_tasks_hold_count() -> None:
    jobs = [job(0, 0, 90, *map_reduce([4], []))]
    held = [Assignment(TaskKey(0, 0), 0, 0, 4)]
    beside = [(0, TaskKind.MAP, 3, 9)]
    with pytest.raises(BrokenScheduleError, match="resource_0: 2 tasks at 3 ms, and 1 slots"):
        require_slots(jobs, identical_typed(1, 1, 1), held, beside)
    require_slots(jobs, identical_typed(1, 2, 1), held, beside)


def test_early_reduces_hold_slots_where_jobs_come_in_order_and_not_in_plans() -> None:
    """The reduce of the first job takes the only slot, and waits for its long map."""
    jobs = [
        job(0, 0, 60, *map_reduce([2, 40], [5])),
        job(1, 1, 90, *map_reduce([6], [5])),
    ]
    resources = (StageResource(0, 0, 1, 1), StageResource(1, 0, 1, 0), StageResource(2, 0, 1, 0))
    held, planned = (ran(name, jobs, resources) for name in ("EDF", "HCP_RM"))
    assert held.completed[1] > held.completed[0]
    assert planned.completed[1] < planned.completed[0]


def test_a_map_takes_longer_without_its_data_and_plans_know_that() -> None:
    locality = Locality(4, 1, 50, (0,))
    hadoop = HadoopTable(heartbeat=0.001, overhead=0, transfer=0.05, replicas=1, job_task=0)
    jobs = [job(each, 0, 900, *map_reduce([5], []), arrival=0) for each in range(3)]
    for name in ("HCP_RM", "EDF"):
        run = ran(name, jobs, identical_typed(4, 1, 1), hadoop)
        for key, each in run.ran.items():
            longer = locality.extra(key, TaskKind.MAP, each.resource)
            assert each.end - each.start == 5 + longer
    one = [replace(jobs[0])]
    best = ran("HCP_RM", one, identical_typed(4, 1, 1), hadoop)
    assert best.ran[TaskKey(0, 0)].resource in locality.local(TaskKey(0, 0))
    assert locality.extra(TaskKey(0, 0), TaskKind.REDUCE, 3) == 0


def test_blocks_have_as_many_replicas_as_resources_allow() -> None:
    for resources, replicas, expected in ((10, 3, 3), (2, 3, 2)):
        locality = Locality(resources, replicas, 1, (1, 2))
        again = Locality(resources, replicas, 1, (1, 2))
        found = [locality.local(TaskKey(0, each)) for each in range(20)]
        assert {len(each) for each in found} == {expected}
        assert found == [again.local(TaskKey(0, each)) for each in range(20)]


def test_the_job_tracker_is_busy_while_it_plans() -> None:
    jobs = [job(0, 0, 900, *map_reduce([5], []))]
    cost = DecisionCost(ChargedBy.RATE, 20, 0)
    run = ran("HCP_RM", jobs, identical_typed(1, 1, 1), BARE, cost)
    began = run.decisions[0].began
    assert run.decisions[0].made == began + 20
    assert run.ran[TaskKey(0, 0)].start == began + 20
    assert run.decisions[0].charged == 20


def test_runs_repeat() -> None:
    jobs = [job(each, each, 40 + each, *map_reduce([5, 3], [6]), arrival=each) for each in range(5)]
    first, second = (ran("HCP_RM", jobs, identical_typed(2, 1, 1)) for _ in range(2))
    assert first.ran == second.ran


def test_more_tasks_than_slots_are_noticed() -> None:
    jobs = [job(0, 0, 90, *map_reduce([4, 4], []))]
    held = [Assignment(TaskKey(0, each), 0, each, each + 4) for each in range(2)]
    with pytest.raises(BrokenScheduleError, match="resource_0: 2 tasks at 1 ms, and 1 slots"):
        require_slots(jobs, identical_typed(1, 1, 1), held)


def test_what_is_no_map_reduce_is_refused() -> None:
    with pytest.raises(UserError, match="give map_slots and reduce_slots"):
        ran("EDF", [job(0, 0, 9, task(0, 1))], identical(1, 1))


SCENARIO = """
kind = "stages"
name = "hadoop"
policies = ["EDF", "HCP_RM"]

[workload]
jobs = 4
rate = 0.05
map_reduce = { maps = 3, longest_map = 5 }
reserved = 0

[resources]
count = 3
map_slots = 1
reduce_slots = 1

[hadoop]
transfer = 2
"""


def test_a_scenario_runs_on_hadoop(tmp_path: Path) -> None:
    path = tmp_path / "hadoop.toml"
    path.write_text(SCENARIO, "utf-8")
    cells = load(path).plan().cells
    found = [STUDY.run(cell, range(1)) for cell in cells]
    assert all(0 <= each.columns["late"][0] <= 100 for each in found)
    assert len(found[1].tables["decisions"]["made"]) == 4
    assert len(found[0].tables["decisions"]["made"]) == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"EDF"', '"WFBB_PD_SL_TSP1"', "cannot run WFBB_PD_SL_TSP1; use HCP_RM"),
        ("map_slots = 1\nreduce_slots = 1", "slots = 2", "give map_slots and reduce_slots"),
        ("map_reduce = { maps = 3, longest_map = 5 }", 'workflows = ["ligo"]', "needs MapReduce"),
        ("[hadoop]", "[solver]\nreplan = true\n[hadoop]", "remove replan from"),
    ],
)
def test_what_does_not_run_there_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "hadoop.toml"
    path.write_text(SCENARIO.replace(old, new), "utf-8")
    with pytest.raises(ScenarioError, match=message):
        load_scenario(path)

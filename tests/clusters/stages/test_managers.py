"""Every resource manager keeps the rules, and each does what it is for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

import rebecsim.clusters  # noqa: F401 - registers what is built in
from rebecsim.clusters.kinds import load_plugin, unload_plugin
from rebecsim.clusters.stages.checking import require_sound_schedule
from rebecsim.clusters.stages.cluster import run_stages
from rebecsim.clusters.stages.job import StageJob, TaskKey, TaskKind
from rebecsim.clusters.stages.managers import wfbb
from rebecsim.clusters.stages.managers.decisions import ChargedBy, DecisionCost
from rebecsim.clusters.stages.managers.dispatching import PhaseWork, least_slots
from rebecsim.clusters.stages.managers.registry import (
    BUILTIN_STAGES_POLICIES,
    STAGES_POLICIES,
    StagesPolicy,
    stages_policy,
)
from rebecsim.clusters.stages.resources import StageResource, identical, identical_typed
from tests.clusters.stages.jobs import (
    generic_resources,
    job,
    job_lists,
    map_reduce,
    map_reduces,
    task,
    typed_resources,
)

FREE = DecisionCost(ChargedBy.NOTHING)
POLICIES = {each.name: each for each in BUILTIN_STAGES_POLICIES}
policies = pytest.mark.parametrize("policy", BUILTIN_STAGES_POLICIES, ids=lambda each: each.name)


@policies
@settings(max_examples=8)
@given(jobs=job_lists(), resources=generic_resources, cost=st.sampled_from([FREE, DecisionCost()]))
def test_every_schedule_of_workflows_keeps_the_rules(
    policy: StagesPolicy,
    jobs: Sequence[StageJob],
    resources: Sequence[StageResource],
    cost: DecisionCost,
) -> None:
    run = run_stages(jobs, resources, policy.manager, cost)
    require_sound_schedule(jobs, resources, run.ran.values())
    assert set(run.completed) == {each.number for each in jobs}


@policies
@settings(max_examples=8)
@given(jobs=job_lists(map_reduces()), resources=typed_resources)
def test_every_schedule_on_typed_slots_keeps_the_rules(
    policy: StagesPolicy, jobs: Sequence[StageJob], resources: Sequence[StageResource]
) -> None:
    run = run_stages(jobs, resources, policy.manager)
    require_sound_schedule(jobs, resources, run.ran.values())


def test_a_plug_in_adds_a_manager(tmp_path: Path) -> None:
    path = tmp_path / "backwards.py"
    path.write_text(
        "from rebecsim.clusters import Plugin\n"
        "from rebecsim.clusters.stages import StagesPolicy\n"
        "from rebecsim.clusters.stages.managers.dispatching import DispatchingManager\n"
        "class LastFirst(DispatchingManager):\n"
        "    def place(self, active):\n"
        "        return (-active.job.arrival,)\n"
        "policy = StagesPolicy('LIFO', 'Last first', 'the last job goes first', LastFirst)\n"
        "plugin = Plugin(stages_policies=(policy,))\n"
    )
    record = load_plugin(path)
    jobs = [job(number, 0, 90, task(0, 5), arrival=0) for number in range(2)]
    jobs[1] = job(1, 1, 90, task(0, 5))
    jobs.append(job(2, 2, 90, task(0, 5)))
    try:
        manager = stages_policy("LIFO").manager
        assert run_stages(jobs, identical(1, 1), manager, FREE).completed == {0: 5, 2: 10, 1: 15}
    finally:
        unload_plugin(record)
    assert "LIFO" not in STAGES_POLICIES


def test_the_least_laxity_goes_first() -> None:
    """The first job has the earlier deadline, the second one less time to lose."""
    jobs = [job(0, 0, 30, task(0, 5)), job(1, 0, 32, task(0, 5), task(1, 25, 0))]
    ends = {
        name: run_stages(jobs, identical(1, 1), POLICIES[name].manager, FREE).completed
        for name in ("EDF", "MLF")
    }
    assert ends == {"EDF": {0: 5, 1: 35}, "MLF": {0: 35, 1: 30}}


def test_the_least_slots_are_those_whose_bounds_meet_the_deadline() -> None:
    """4 maps of 10 and 2 reduces of 20: 35 / s + 5 and 30 / t + 10, until 50: 35 are left."""
    phases = [PhaseWork(TaskKind.MAP, 4, 40, 10), PhaseWork(TaskKind.REDUCE, 2, 40, 20)]
    assert least_slots(phases, 50) == {TaskKind.MAP: 2, TaskKind.REDUCE: 2}
    assert least_slots(phases[:1], 40) == {TaskKind.MAP: 1}
    assert least_slots(phases[:1], 39) == {TaskKind.MAP: 2}
    assert least_slots(phases, 15) == {TaskKind.MAP: float("inf"), TaskKind.REDUCE: float("inf")}


def test_a_job_with_time_leaves_slots_to_others() -> None:
    """EDF gives both slots to the first job, which needs one of them."""
    jobs = [
        job(0, 0, 100, *map_reduce([10] * 4, [])),
        job(1, 0, 101, *map_reduce([10] * 2, [])),
    ]
    resources = identical_typed(2, 1, 1)
    ran = {
        name: run_stages(jobs, resources, POLICIES[name].manager, FREE).completed
        for name in ("EDF", "MINEDF_WC")
    }
    assert ran == {"EDF": {0: 20, 1: 30}, "MINEDF_WC": {0: 30, 1: 20}}


def test_late_places_are_those_before_the_sub_deadlines() -> None:
    jobs = [job(0, 0, 40, task(0, 5), task(1, 5, 0, phase=2))]
    starts = {}
    for name in ("WFBB_PD_SL_TSP1", "WFBB_PD_SL_TSP2", "WFBB_ED_SL_TSP2"):
        ran = run_stages(jobs, identical(1, 1), POLICIES[name].manager, FREE).ran
        starts[name] = [ran[TaskKey(0, each)].start for each in range(2)]
    assert starts["WFBB_PD_SL_TSP1"] == [0, 5]
    assert starts["WFBB_PD_SL_TSP2"] == [15, 35]
    assert starts["WFBB_ED_SL_TSP2"] == [15, 35]


def test_a_job_that_would_be_late_makes_others_move() -> None:
    """The second job fits only if the first one, which has time, goes behind it."""
    jobs = [job(0, 10, 60, task(0, 10)), job(1, 10, 21, task(0, 10), arrival=1)]
    jobs[0] = StageJob(0, 0, 10, 60, jobs[0].tasks)
    run = run_stages(jobs, identical(1, 1), POLICIES["WFBB_PD_SL_TSP1"].manager, FREE)
    assert run.completed == {0: 30, 1: 20}
    assert [each.moved for each in run.decisions] == [0, 1]


def test_a_job_that_begins_before_and_ends_after_another_one_makes_room_for_it() -> None:
    """With late places the tasks of the first run at 10, 25 and 40, and leave 9 between them."""
    spread = job(0, 0, 45, task(0, 5), task(1, 5, 0, phase=2), task(2, 5, 1, phase=3))
    urgent = job(1, 16, 39, task(0, 13))
    run = run_stages([spread, urgent], identical(1, 1), POLICIES["WFBB_PD_SL_TSP2"].manager, FREE)
    assert run.ran[TaskKey(0, 0)].start == 10
    assert run.completed == {0: 39, 1: 29}


def test_what_cannot_be_in_time_is_placed_where_nobody_else_is_late_for_it() -> None:
    jobs = [job(0, 0, 12, task(0, 10)), job(1, 0, 13, task(0, 10))]
    run = run_stages(jobs, identical(1, 1), POLICIES["WFBB_PD_SL_TSP1"].manager, FREE)
    assert run.completed == {0: 10, 1: 20}


@pytest.mark.parametrize(("attempts", "late"), [(wfbb.MOST_ATTEMPTS, 0), (0, 1)])
def test_a_decision_tries_so_many_remappings_and_then_maps_late(
    attempts: int, late: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wfbb, "MOST_ATTEMPTS", attempts)
    patient, urgent = job(0, 10, 90, task(0, 5)), job(1, 10, 16, task(0, 6))
    run = run_stages([patient, urgent], identical(1, 1), POLICIES["WFBB_PD_SL_TSP1"].manager, FREE)
    # By deadlines the urgent one is considered first, unless it arrives later.
    assert run.completed == {0: 21, 1: 16}
    patient, urgent = job(0, 10, 90, task(0, 5), arrival=0), job(1, 10, 16, task(0, 6), arrival=1)
    run = run_stages([patient, urgent], identical(1, 1), POLICIES["WFBB_PD_SL_TSP1"].manager, FREE)
    assert sum(run.completed[each.number] > each.deadline for each in run.jobs) == late

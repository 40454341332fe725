"""PSEH: estimates corrected by the mean of the errors so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.kit.plugins import UnknownNameError
from rebecsim.clusters.scenarios import load
from rebecsim.clusters.stages.cluster import ManagerMaker, run_stages
from rebecsim.clusters.stages.hadoop import run_on_hadoop
from rebecsim.clusters.stages.hadoop_tasks import HadoopTable
from rebecsim.clusters.stages.job import StageJob, StageTask, TaskKey, TaskKind
from rebecsim.clusters.stages.managers.decisions import ChargedBy, DecisionCost
from rebecsim.clusters.stages.managers.manager import MeanErrors
from rebecsim.clusters.stages.managers.registry import stages_policy
from rebecsim.clusters.stages.managers.searching import SolverTable
from rebecsim.clusters.stages.resources import StageResource, identical, identical_typed
from rebecsim.clusters.stages.study import STUDY
from tests.clusters.stages.jobs import (
    generic_resources,
    job,
    job_lists,
    map_reduce,
    map_reduces,
    typed_resources,
)
from tests.clusters.stages.test_estimates import SCENARIO, said, wrong_jobs

FREE = DecisionCost(ChargedBy.NOTHING)
SHORT = SolverTable(limit=0.001)
NAMES = ("WFBB_PD_SL_TSP1", "EDF", "MINEDF_WC", "MLF", "MRCP_RM_AHEAD")


def maker(name: str) -> ManagerMaker:
    manager = stages_policy(name).manager
    if "MRCP" in name:
        return lambda resources: manager(resources, settings=SHORT)
    return manager


def test_the_mean_is_of_all_tasks_of_a_kind() -> None:
    """Errors +1 and -0.5 of maps make 0.25, and 100 / 1.25 = 80; reduces have none yet."""
    errors = MeanErrors()
    assert errors.corrected(said(9, 100)) == 100
    one, half = (replace(said(9, each), kind=TaskKind.MAP) for each in (20, 5))
    errors.add(one, 10)
    errors.add(half, 10)
    assert errors.of(TaskKind.MAP) == 0.25
    assert errors.corrected(replace(said(9, 100), kind=TaskKind.MAP)) == 80
    assert errors.corrected(replace(said(9, 100), kind=TaskKind.REDUCE)) == 100
    assert errors.corrected(StageTask(0, 0)) == 0


@given(st.lists(st.tuples(st.integers(1, 10**7), st.integers(1, 10**7)), max_size=8))
def test_a_corrected_estimate_is_always_a_time(errors: list[tuple[int, int]]) -> None:
    found = MeanErrors()
    for estimated, time in errors:
        found.add(said(1, estimated), time)
    assert found.of(TaskKind.GENERIC) > -1
    assert found.corrected(said(1, 1)) >= 1


def test_the_second_job_is_planned_by_what_the_first_taught() -> None:
    """Both are said to take 30 and take 10: the second is planned until 12 + 10."""
    jobs = [job(0, 0, 90, said(10, 30)), job(1, 12, 99, said(10, 30))]
    ended = {}

    class Seeing(stages_policy("PSEH_WFBB_PD_SL_TSP1").manager):
        def plan(self, now, arrived, running, scheduled):
            found = super().plan(now, arrived, running, scheduled)
            ended.update({each.key.job: each.end for each in found})
            return found

    run = run_stages(jobs, identical(1, 1), Seeing, FREE)
    assert ended == {0: 30, 1: 22}
    assert run.completed == {0: 10, 1: 22}


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=5)
@given(jobs=job_lists(), resources=generic_resources)
def test_without_errors_it_changes_nothing(
    name: str, jobs: Sequence[StageJob], resources: tuple[StageResource, ...]
) -> None:
    plain, handled = (
        run_stages(jobs, resources, maker(each), FREE) for each in (name, f"PSEH_{name}")
    )
    assert plain.ran == handled.ran
    assert plain.completed == handled.completed


@settings(max_examples=5)
@given(jobs=job_lists(map_reduces()), resources=typed_resources)
def test_nor_does_it_on_hadoop_without_overheads(
    jobs: Sequence[StageJob], resources: tuple[StageResource, ...]
) -> None:
    bare = HadoopTable(heartbeat=0.002, overhead=0, transfer=0, replicas=1, job_task=0)
    plain, handled = (
        run_on_hadoop(jobs, resources, stages_policy(each).manager, bare, FREE, SHORT).ran
        for each in ("HCP_RM", "PSEH_HCP_RM")
    )
    assert plain == handled


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=5)
@given(data=st.data())
def test_every_run_keeps_the_rules(name: str, data: st.DataObject) -> None:
    jobs = data.draw(wrong_jobs(typed=False))
    run = run_stages(jobs, data.draw(generic_resources), maker(f"PSEH_{name}"), FREE)
    assert set(run.completed) == {each.number for each in jobs}


def test_it_learns_overheads_of_hadoop() -> None:
    """A map of 4 holds its slot for 7, which is an error of -3 / 7: 4 / (1 - 3 / 7) = 7."""
    jobs = [
        job(0, 0, 90, *map_reduce([4], [])),
        job(1, 20, 99, *map_reduce([4], []), arrival=20),
    ]
    hadoop = HadoopTable(heartbeat=0.01, overhead=0.003, transfer=0, replicas=1, job_task=0)
    seen = {}

    class Seeing(stages_policy("PSEH_HCP_RM").manager):
        def plan(self, now, arrived, running, scheduled):
            found = super().plan(now, arrived, running, scheduled)
            seen.update({each.key: each.end - each.start for each in found})
            return found

    run_on_hadoop(jobs, identical_typed(1, 1, 1), Seeing, hadoop, FREE, SHORT)
    assert seen == {TaskKey(0, 0): 4, TaskKey(1, 0): 7}


def test_names_say_it() -> None:
    found = stages_policy("PSEH_EDF")
    assert (found.name, found.title) == ("PSEH_EDF", "Earliest deadline first, errors handled")
    with pytest.raises(UnknownNameError, match="no resource manager is called 'EDG'"):
        stages_policy("PSEH_EDG")


def test_a_scenario_compares_with_and_without(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    names = '["WFBB_PD_SL_TSP1", "PSEH_WFBB_PD_SL_TSP1"]'
    path.write_text(SCENARIO.replace('["WFBB_PD_SL_TSP1"]', names), "utf-8")
    cells = load(path).plan().cells
    assert [each.name for each in cells][1] == "pseh_wfbb_pd_sl_tsp1_load1"
    found = [STUDY.run(each, range(1)).tables["tasks"]["start"].tolist() for each in cells]
    assert found[0] != found[1]

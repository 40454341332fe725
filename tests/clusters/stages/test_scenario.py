"""Scenario files of the kind `stages`: what is read, what is refused, and what runs give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rebecsim.clusters.scenarios import load, load_scenario
from rebecsim.clusters.stages.inputs import StagesSetup
from rebecsim.clusters.stages.managers.decisions import (
    DECISION_TIMES,
    ChargedBy,
    DecisionCost,
    DecisionWork,
)
from rebecsim.clusters.stages.managers.registry import (
    BUILTIN_STAGES_POLICIES,
    stages_policies,
    stages_policy,
)
from rebecsim.clusters.stages.managers.searching import SolverTable
from rebecsim.clusters.stages.measures import (
    CLOCK_FIGURES,
    STAGES_MEASURES,
    TABLES,
    most_warm_up,
    mser_warm_up,
)
from rebecsim.clusters.stages.resources import identical_typed
from rebecsim.clusters.stages.scenario import StagesScenario
from rebecsim.clusters.stages.study import STUDY
from rebecsim.report import reading_notes, shown_figures
from rebecsim.report.comparison import report_input
from rebecsim.studies import Results
from rebecsim.studies.cells import REPLICATION, Rows
from rebecsim.studies.scenario_files import ScenarioError
from rebecsim.studies.study import How
from tests.plans import run_plan

SCENARIO = """
kind = "stages"
name = "small"
policies = ["WFBB_PD_SL_TSP1", "EDF"]
load_factors = [1.0, 2.0]

[workload]
jobs = 6
rate = 0.02
workflows = ["cybershake"]
sizes = ["small"]
reserved_ahead = 100
announced = true
multiplier = 2

[resources]
count = 4
slots = 2
"""


def written(folder: Path, text: str = SCENARIO) -> Path:
    path = folder / "small.toml"
    path.write_text(text, "utf-8")
    return path


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    plan = load(written(tmp_path_factory.mktemp("stages"))).plan()
    return {cell.name: STUDY.run(cell, range(2)) for cell in plan.cells}


def test_all_managers_see_the_same_jobs(tmp_path: Path) -> None:
    cells = load(written(tmp_path)).plan().cells
    assert [cell.name for cell in cells] == [
        *("wfbb_pd_sl_tsp1_load1", "wfbb_pd_sl_tsp1_load2", "edf_load1", "edf_load2")
    ]
    setups = [cell.setup for cell in cells]
    assert setups[0].jobs(1) == setups[2].jobs(1) != setups[0].jobs(0)
    slow, fast = setups[0].jobs(1), setups[1].jobs(1)
    assert [job.tasks for job in slow] == [job.tasks for job in fast]
    assert [job.arrival / 2 for job in slow] == pytest.approx([job.arrival for job in fast], abs=1)


def test_what_a_run_keeps_belongs_together(rows: dict[str, Rows]) -> None:
    for each in rows.values():
        jobs, tasks, decisions = (each.tables[name] for name in TABLES)
        assert list(jobs) == [REPLICATION, *TABLES["jobs"]]
        assert len(jobs["job"]) == 2 * 6
        first = np.asarray(tasks[REPLICATION]) == 0
        for job in range(6):
            mine = first & (np.asarray(tasks["job"]) == job)
            assert np.asarray(tasks["end"])[mine].max() == jobs["end"][job]
            assert np.asarray(tasks["start"])[mine].min() >= jobs["start"][job]
            assert mine.sum() == jobs["tasks"][job]
        late = (jobs["end"] > jobs["deadline"])[:6].sum()
        assert each.columns["late"][0] == pytest.approx(100 * late / 6)
        assert each.columns["late_jobs"][0] == late
        spans = (jobs["end"] - jobs["start"])[:6] / 1000
        assert each.columns["turnaround"][0] == pytest.approx(spans.mean())
        of_first = np.asarray(decisions[REPLICATION]) == 0
        charged = np.asarray(decisions["charged"])[of_first].sum() / 6
        assert each.columns["charged"][0] == pytest.approx(charged)
        assert not set(CLOCK_FIGURES) & set(each.columns)


def test_runs_are_repeated_exactly(rows: dict[str, Rows], tmp_path: Path) -> None:
    cell = load(written(tmp_path)).plan().cells[1]
    assert STUDY.run(cell, range(1, 2)).columns == {
        name: values[1:] for name, values in rows[cell.name].columns.items()
    }


def test_the_wall_clock_is_kept_where_it_is_asked_for(tmp_path: Path) -> None:
    text = SCENARIO + "[decisions]\nmeasured = true\n"
    loaded = load(written(tmp_path, text))
    scenario = loaded.scenario
    assert isinstance(scenario, StagesScenario)
    assert scenario.decisions.by is ChargedBy.RECORDED
    cell = loaded.plan().cells[2]
    columns = STUDY.run(cell, range(1)).columns
    assert columns["processing"][0] > 0
    assert columns["batch_processing"][0] == pytest.approx(6 * columns["processing"][0] / 1000)
    assert [each.name for each in STUDY.measures(scenario)] == [
        each.metric.name for each in STAGES_MEASURES
    ]


def test_rates_are_refused_where_they_would_not_be_used(tmp_path: Path) -> None:
    text = SCENARIO + "[decisions]\nconstant = 5.0\n"
    with pytest.raises(ScenarioError, match='constant needs charged_by = "rate"'):
        load(written(tmp_path, text))
    cell = load(written(tmp_path, text + 'charged_by = "rate"\n')).plan().cells[0]
    assert cell.setup.cost == DecisionCost(
        ChargedBy.RATE, 5.0, 0.1, DECISION_TIMES[cell.cell.policy]
    )


def test_every_manager_has_recorded_times_in_the_order_that_was_measured() -> None:
    assert set(DECISION_TIMES) == {each.name for each in BUILTIN_STAGES_POLICIES}
    work = DecisionWork(tasks=75, waiting=300, searched=0.01)
    free = DecisionWork(tasks=75, waiting=300, searched=0.0)
    dispatching = [DECISION_TIMES[each].of(free) for each in ("EDF", "FIFO", "MLF", "MINEDF_WC")]
    budgets = [t.of(free) for name, t in DECISION_TIMES.items() if name.startswith("WFBB")]
    searching = [DECISION_TIMES[each].of(work) for each in ("MRCP_RM", "HCP_RM", "MILP")]
    assert max(dispatching) < min(budgets) < max(budgets) < min(searching)


def test_decisions_of_a_manager_without_times_are_charged_by_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(stages_policies._entries, "EDF", replace(stages_policy("EDF"), times=None))
    plan = load(written(tmp_path)).plan()
    assert [each.setup.cost.charged_by.value for each in plan.cells[1:3]] == ["recorded", "rate"]
    said: list[str] = []
    STUDY.prepare(plan, How(), said.append)
    assert said == ["EDF: how long decisions take was not recorded; they are charged by rate."]


def test_jobs_that_are_like_published_ones_have_their_deadlines(tmp_path: Path) -> None:
    counting = 'map_reduce = { like = "word_count" }'
    text = SCENARIO.replace('workflows = ["cybershake"]', counting)
    text = text.replace("slots = 2", "map_slots = 1\nreduce_slots = 1")
    bare = text.replace("multiplier = 2\n", "")
    workload = load(written(tmp_path, bare)).scenario.workload
    assert (workload.multiplier, workload.alone, workload.reserved) == (3.0, "sequential", 0.0)
    assert load(written(tmp_path, text)).scenario.workload.multiplier == 2.0
    facebook = load(written(tmp_path, bare.replace("word_count", "facebook"))).scenario.workload
    assert (facebook.multiplier, facebook.alone, facebook.reserved) == (2.0, "resources", 0.0)


def test_nobody_is_marked_for_what_was_not_searched(tmp_path: Path) -> None:
    text = """
kind = "stages"
name = "closed"
policies = ["MRCP_RM_AHEAD", "MILP"]
metrics = ["batch_processing", "searched"]
[workload]
closed = "small_1"
[resources]
count = 10
map_slots = 2
reduce_slots = 2
[decisions]
measured = true
[solver]
rules_first = RULES
"""
    marked = {}
    for rules in ("true", "false"):
        plan = load(written(tmp_path, text.replace("RULES", rules))).plan()
        results = Results.create(tmp_path / rules, plan)
        run_plan(plan, results)
        summary = report_input(plan, results).summary
        (searched,) = [n for n, each in enumerate(summary.metrics) if each.name == "searched"]
        marked[rules] = [each.is_best for each in shown_figures(summary)[0]]
        shares = [row.estimates[searched].value for row in summary.rows]
        assert shares == ([0.0, 0.0] if rules == "true" else [1.0, 1.0])
        notes = " ".join(reading_notes(summary))
        assert ("MILP is not marked: Decisions searched, 0." in notes) == (rules == "true")
    assert marked["true"] == [False, False]
    assert sum(marked["false"]) == 1


def test_map_reduce_runs_on_typed_slots(tmp_path: Path) -> None:
    text = SCENARIO.replace('workflows = ["cybershake"]', "map_reduce = { maps = 4 }")
    text = text.replace("slots = 2", "map_slots = 1\nreduce_slots = 2")
    setup = load(written(tmp_path, text)).plan().cells[0].setup
    assert isinstance(setup, StagesSetup)
    assert setup.resources() == identical_typed(4, 1, 2)
    assert len(setup.measured(0).run.completed) == 6


def test_workflows_may_come_from_files(tmp_path: Path) -> None:
    (tmp_path / "flow.xml").write_text(
        '<adag><job id="a" runtime="2"/><job id="b" runtime="0.0001"/><job id="c" runtime="3.5"/>'
        '<child ref="b"><parent ref="a"/></child><child ref="c"><parent ref="b"/></child></adag>'
    )
    text = SCENARIO.replace('workflows = ["cybershake"]', 'files = ["flow.xml"]')
    jobs = load(written(tmp_path, text)).plan().cells[0].setup.jobs(0)
    assert {each.family for each in jobs} == {"flow"}
    assert [(each.duration, each.parents, each.phase) for each in jobs[0].tasks] == [
        *((2000, (), 1), (0, (0,), 2), (3500, (1,), 3))
    ]
    with pytest.raises(ScenarioError, match=r"workload.files.*: flow.txt is no file|gone.xml"):
        load(written(tmp_path, text.replace("flow.xml", "gone.xml")))


def test_jobs_may_be_there_from_the_beginning(tmp_path: Path) -> None:
    text = SCENARIO.replace(
        'jobs = 6\nrate = 0.02\nworkflows = ["cybershake"]', 'closed = "small_1"'
    )
    text = text.replace("slots = 2", "map_slots = 2\nreduce_slots = 2").replace(
        "count = 4", "count = 10"
    )
    text = text.replace('"WFBB_PD_SL_TSP1", "EDF"', '"MRCP_RM_AHEAD"')
    cell = load(written(tmp_path, text)).plan().cells[0]
    jobs = cell.setup.jobs(0)
    assert {each.arrival for each in jobs} == {0}
    assert [len(each.real_tasks) for each in jobs] == [13] * 5
    assert STUDY.run(cell, range(1)).columns["late_jobs"] == [0]


def test_solvers_are_told_what_the_scenario_says(tmp_path: Path) -> None:
    text = SCENARIO.replace('"EDF"', '"MRCP_RM"') + "[solver]\nlimit = 0.5\nstep = 3\n"
    setup = load(written(tmp_path, text)).plan().cells[2].setup
    manager = setup.maker()(setup.resources())
    assert manager.settings == SolverTable(limit=0.5, step=3)


def test_what_comes_first_may_not_count(tmp_path: Path) -> None:
    path = written(tmp_path, SCENARIO.replace("load_factors", "warm_up = 0.5\nload_factors"))
    measured = load(path).plan().cells[0].setup.measured(0)
    assert len(measured.turnarounds) == 3
    values = np.concatenate([np.linspace(100, 10, 20), np.full(80, 10.0)])
    assert mser_warm_up(values + np.tile([0.1, -0.1], 50)) == 20
    assert mser_warm_up(np.full(7, 3.0)) == 0


@given(st.lists(st.floats(0, 1e6), max_size=60))
def test_no_more_than_half_of_the_jobs_are_left_out(values: list[float]) -> None:
    left_out = mser_warm_up(np.array(values))
    assert left_out <= most_warm_up(len(values)) <= len(values) / 2
    assert left_out % 5 == 0


@given(st.integers(10, 200), st.floats(0.5, 100))
def test_what_grows_throughout_has_not_settled(count: int, slope: float) -> None:
    assert mser_warm_up(slope * np.arange(count)) == most_warm_up(count)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"EDF"]', '"EDFF"]', "no resource manager is called 'EDFF'; did you mean EDF"),
        ("slots = 2", "map_slots = 2", "give either slots, or map_slots and reduce_slots"),
        ("slots = 2", "map_slots = 2\nreduce_slots = 2", "neither maps nor reduces: replace"),
        ('workflows = ["cybershake"]\n', "", "give one of workflows = "),
        ("jobs = 6", "jobs = 0", "workload.jobs"),
        ("jobs = 6\n", "", "give jobs and rate, or closed without them"),
        ('workflows = ["cybershake"]', 'closed = "small_1"', "or closed without them"),
        ("rate = 0.02", "rate = -1", "workload.rate"),
        ("multiplier = 2", "multiplier = 0.5", "workload.multiplier"),
        ('name = "small"', 'name = "small"\nwarm_up = 0.95', "warm_up"),
        ('name = "small"', 'name = "small"\nbaseline = "FIFO"', "should be one of the policies"),
        ('name = "small"', 'name = "small"\nmetrics = ["processing"]', "measured = true"),
        ('name = "small"', 'name = "small"\nmetrics = ["batch_processing"]', "batch_processing n"),
        ('name = "small"', 'name = "small"\nreplications = 9999', "at most 10000 are allowed"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in SCENARIO
    with pytest.raises(ScenarioError, match=message):
        load_scenario(written(tmp_path, SCENARIO.replace(old, new)))


def test_a_file_without_a_kind_is_told_which_one_it_looks_like(tmp_path: Path) -> None:
    bare = SCENARIO.replace('kind = "stages"\n', "")
    with pytest.raises(ScenarioError, match=r'kind: is missing .*; add kind = "stages"'):
        load(written(tmp_path, bare))

"""Pictures and tables of runs of stages show what they are given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rebecsim.clusters.scenarios import plan_scenario
from rebecsim.clusters.stages.measures import mser_warm_up
from rebecsim.clusters.stages.report.charts import (
    StoredStages,
    TaskColumns,
    gantt_figure,
    lateness_figure,
    laxity_figure,
    read_stages,
)
from rebecsim.clusters.stages.report.sections import stages_sections
from rebecsim.clusters.stages.scenario import StagesScenario
from rebecsim.studies import Results, ResultsError
from rebecsim.studies.scenario import validated
from tests.plans import run_plan

VALUES = {
    "name": "tiny",
    "policies": ["EDF", "WFBB_PD_SL_TSP1"],
    "replications": 2,
    "workload": {
        "jobs": 6,
        "rate": 0.05,
        "workflows": ["cybershake"],
        "sizes": ["small"],
        "reserved": 0.0,
        "multiplier": 1.5,
    },
    "resources": {"count": 4, "slots": 2},
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[StoredStages], object]:
    plan = plan_scenario(validated(StagesScenario, "tiny", VALUES, {}))
    results = Results.create(tmp_path_factory.mktemp("runs") / "out", plan)
    run_plan(plan, results)
    return read_stages(plan, results), stages_sections(plan, results)


def test_runs_are_read_as_they_were_kept(shown) -> None:
    runs, _ = shown
    assert [each.manager for each in runs] == VALUES["policies"]
    for each in runs:
        assert len(each.end) == 12
        assert (each.laxity >= 0).all()
        # A job ends when its last task does, and never sooner than alone.
        assert (each.end - each.start >= each.alone).all()
        ends = {job: each.first.end[each.first.job == job].max() for job in each.first.ended}
        assert ends == pytest.approx(dict(each.first.ended))


def test_the_section_says_where_runs_were_too_short(tmp_path: Path) -> None:
    workload = {**VALUES["workload"], "jobs": 20, "rate": 1.0}
    values = {**VALUES, "policies": ["FIFO"], "workload": workload, "warm_up": "mser5"}
    plan = plan_scenario(validated(StagesScenario, "tiny", values, {}))
    results = Results.create(tmp_path / "out", plan)
    run_plan(plan, results)
    # Jobs come much faster than they end, and wait the longer the later they come.
    (runs,) = read_stages(plan, results)
    assert [mser_warm_up(each) for each in runs.turnarounds] == [10, 10]
    (section,) = stages_sections(plan, results)
    assert section.notes[1:] == (
        "FIFO: MSER-5 left out the first 10 to 10 of 20 jobs.",
        "FIFO: in 2 of 2 runs MSER-5 reached its limit: the warm-up had not ended. Use more "
        "jobs, or less load.",
    )


def test_the_section_says_what_is_not_repeatable(tmp_path: Path) -> None:
    values = {**VALUES, "policies": ["FIFO"], "decisions": {"charged_by": "clock"}}
    plan = plan_scenario(validated(StagesScenario, "tiny", values, {}))
    results = Results.create(tmp_path / "out", plan)
    run_plan(plan, results)
    (section,) = stages_sections(plan, results)
    assert section.notes[-1].endswith("by the wall clock, so these runs cannot be repeated.")


def test_the_section_says_how_late_jobs_are(shown) -> None:
    runs, (section,) = shown
    latest = section.tables[0].rows[-1]
    assert latest == ("100 % of jobs at most", tuple(f"{r.lateness.max():,.0f}" for r in runs))
    assert [each.name for each in section.pictures] == ["lateness", "laxity", "gantt"]
    lines = section.files["lateness.csv"].splitlines()
    assert lines[0] == "policy,percent,lateness"
    assert len(lines) == 1 + 2 * len(section.tables[0].rows)


def stored(name: str, starts: list[int], ends: list[int], deadlines: list[int]) -> StoredStages:
    columns = [np.array(each, dtype=float) for each in (starts, deadlines, ends)]
    alone = np.ones(len(starts))
    tasks = TaskColumns(
        np.arange(len(starts)),
        np.array(["work"] * len(starts), dtype=object),
        np.zeros(len(starts), dtype=np.int64),
        columns[0],
        columns[2],
        dict(enumerate(columns[1].tolist())),
        dict(enumerate(columns[2].tolist())),
    )
    return StoredStages(name, *columns, alone, tasks)


def test_curves_and_dots_are_those_of_the_jobs() -> None:
    runs = [stored("EDF", [0, 0, 2], [4, 9, 6], [8, 8, 8])]
    (axes,) = lateness_figure(runs).axes
    assert axes.lines[0].get_xdata() == pytest.approx([-4, -2, 1])
    assert axes.lines[0].get_ydata() == pytest.approx([100 / 3, 200 / 3, 100])
    (panel,) = laxity_figure(runs).axes
    dots = panel.collections[0].get_offsets()
    assert dots.tolist() == [[7, -4], [7, 1], [5, -2]]
    assert panel.get_title() == "EDF: 1 of 3 late"


def test_every_late_job_has_a_dot() -> None:
    many = 9000  # of which some in time are left out, and the two late ones lie far away
    starts, ends, deadlines = [0] * many, [4] * many, [8] * many
    ends[17], ends[4444], deadlines[4444] = 5000, 9000, 700
    (panel,) = laxity_figure([stored("EDF", starts, ends, deadlines)]).axes
    dots = panel.collections[0].get_offsets().tolist()
    late = [each for each in dots if each[1] > 0]
    assert np.array(late) * 60 == pytest.approx(np.array([[7, 4992], [699, 8300]]))
    assert len(dots) < many
    assert panel.get_xlim()[1] > 699 / 60
    assert panel.get_ylim()[1] > 8300 / 60


def test_a_gantt_chart_shows_what_ran_around_the_latest_job() -> None:
    runs = [stored("EDF", [0, 100, 104], [3, 106, 107], [8, 103, 120])]
    (axes,) = gantt_figure(runs).axes
    (bars,) = axes.collections
    assert len(bars.get_paths()) == 2  # the first job was long over
    assert axes.get_xlim() == pytest.approx((0, 18))
    assert axes.get_xlabel() == "Time (seconds from second 94 on)"
    dashed = [line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == "--"]
    assert dashed == [103 - 94]


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    plan = plan_scenario(validated(StagesScenario, "tiny", VALUES, {}))
    results = Results.create(tmp_path / "out", plan)
    with pytest.raises(ResultsError, match="edf_load1"):
        read_stages(plan, results)

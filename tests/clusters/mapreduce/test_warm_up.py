"""A share of the jobs does not count: in figures, in tables by family, and in the report."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rebecsim.clusters.mapreduce.report.tables import read_jobs
from rebecsim.clusters.mapreduce.scenario import MapReduceScenario
from rebecsim.clusters.mapreduce.study import STUDY
from rebecsim.studies.plan import plan_study
from rebecsim.studies.results import Results
from rebecsim.studies.running import PlannedRun, run_plans

SCENARIO = {
    "name": "warm",
    "replications": 2,
    "warm_up": 0.25,
    "cluster": {"nodes": 3, "map_slots": 2, "reduce_slots": 1},
    "workload": {
        "jobs": [
            {"family": "first", "maps": 4, "count": 2},
            {"family": "others", "maps": 2, "count": 6, "arrivals": {"first": 10.0, "gap": 5.0}},
        ]
    },
    "variants": [{"name": "fifo", "scheduler": "FIFO"}],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> PlannedRun:
    plan = plan_study(STUDY, MapReduceScenario.model_validate(SCENARIO))
    planned = PlannedRun(plan, Results.create(tmp_path_factory.mktemp("warm") / "run", plan))
    run_plans([planned])
    return planned


def test_first_jobs_are_in_no_table_of_figures(run: PlannedRun) -> None:
    (cell,) = run.plan.cells
    jobs, replications = read_jobs(run.results, cell)
    assert set(jobs.family.tolist()) == {"others"}
    assert replications.tolist() == [0] * 6 + [1] * 6
    families = pq.read_table(run.results.table("families", cell)).to_pydict()
    assert (families["family"], families["jobs"]) == (["others"] * 2, [6, 6])
    # What ran is kept, all the same.
    assert len(pq.read_table(run.results.table("jobs", cell))) == 16


def test_throughput_is_shown_with_a_warm_up_or_where_it_is_asked_for() -> None:
    def shown(**keys: object) -> list[str]:
        scenario = MapReduceScenario.model_validate({**SCENARIO, **keys})
        return [each.name for each in STUDY.measures(scenario)]

    assert "throughput" in shown()
    assert "throughput" not in shown(warm_up=0.0)
    assert shown(warm_up=0.0, metrics=("throughput",)) == ["throughput"]


def test_the_report_is_made_of_those_that_count(run: PlannedRun, tmp_path: Path) -> None:
    _, families, *_ = STUDY.sections(run.plan, run.results, ())
    assert [name for name, _ in families.tables[0].rows] == ["others"]

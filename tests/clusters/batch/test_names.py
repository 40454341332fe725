"""Names of users and queues in stored runs: in tables, reports and differences."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from rebecsim.clusters.batch import study
from rebecsim.clusters.batch.measures import (
    JOB_COLUMNS,
    NAMES,
    job_columns,
    read_schedules,
    schedule_difference,
)
from rebecsim.clusters.batch.report.schedule_charts import gantt_figure
from rebecsim.clusters.batch.report.sections import read_shown
from rebecsim.clusters.scenarios import open_run, plan_of_run
from rebecsim.studies import Results, ResultsError
from rebecsim.studies.plan import Plan
from rebecsim.workloads.logs import labels_of
from tests.clusters.batch.scenarios import LOG, SCENARIO, plan_of, written
from tests.conftest import Run
from tests.plans import run_plan

NAMED = "; User: 1 ann\n; User: 3 $x$\n; Queue: 0 interactive\n" + LOG
USERS = ["ann", "2", "ann", "$x$", "2"]


def run_named(folder: Path) -> tuple[Plan, Results]:
    plan = plan_of(folder)
    written(folder, log=NAMED)
    results = Results.create(folder / "run", plan)
    run_plan(plan, results)
    return plan, results


def test_a_table_of_jobs_has_the_names_of_its_log(tmp_path: Path) -> None:
    plan, results = run_named(tmp_path)
    table = pq.read_table(results.table("jobs", plan.cells[0]))
    assert table.column("user_name").to_pylist() == USERS
    assert table.column("queue_name").to_pylist() == ["interactive"] * 2 + ["1"] * 3
    stored = next(read_schedules(results, plan.cells[0])).schedule.workload
    assert labels_of(stored, "user") == {1: "ann", 2: "2", 3: "$x$"}
    assert labels_of(stored, "queue") == {0: "interactive", 1: "1"}


def test_reports_and_differences_call_users_by_their_names(tmp_path: Path) -> None:
    read = read_shown(*run_named(tmp_path))
    assert read.labels == {1: "ann", 2: "2", 3: "$x$"}
    one, other = read.shown.values()
    assert schedule_difference(one, other).users.labels == ("ann", "2", "$x$")
    figure = gantt_figure([one.schedule], 0, 60)
    figure.canvas.draw()  # a name is no formula
    texts = [each.get_text() for each in figure.legends[0].get_texts()]
    assert sorted(texts) == ["free", "user $x$", "user 2", "user ann"]


def test_queries_and_files_have_names(run: Run, tmp_path: Path) -> None:
    written(tmp_path, SCENARIO, NAMED)
    assert run("compare", "scenario.toml", "--out", "made", cwd=tmp_path).returncode == 0
    wanted = "select distinct user_name, queue_name from jobs where user = 1 order by 2"
    asked = run("query", wanted, "made", "--csv", cwd=tmp_path)
    assert asked.stdout == "user_name,queue_name\nann,1\nann,interactive\n"
    users = (tmp_path / "made" / "users.csv").read_text().splitlines()
    assert users[1].startswith("FCFS,1.0,requested,0,ann,2,")
    changes = (tmp_path / "made" / "changes.csv").read_text().splitlines()
    assert [each.split(",")[2] for each in changes[1:]] == ["ann", "2", "$x$"]


def test_a_run_that_was_stored_without_names_is_still_read(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(columns: Mapping[str, Any]) -> dict[str, Any]:
        return {name: each for name, each in columns.items() if name not in NAMES}

    with monkeypatch.context() as earlier:
        earlier.setattr(study, "job_columns", lambda *of: without(job_columns(*of)))
        earlier.setattr(study, "columns_of_jobs", lambda _: without(JOB_COLUMNS))
        plan, results = run_named(tmp_path)
    stored = open_run(results.directory)
    again = plan_of_run(stored)
    assert "user_name" not in again.tables()["jobs"]
    assert read_shown(again, results).labels == {1: "1", 2: "2", 3: "3"}
    assert run("report", "run", cwd=tmp_path).returncode == 0
    assert (tmp_path / "run" / "users.csv").read_text().count("requested,0,3,1,") == 2
    counted = run("query", "select count(*) as jobs from jobs", "run", "--csv", cwd=tmp_path)
    assert counted.stdout == "jobs\n10\n"
    with pytest.raises(ResultsError, match="its tables are not those"):
        Results.resume(results.directory, plan)

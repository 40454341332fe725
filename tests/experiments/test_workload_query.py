"""SQL over schedules and their jobs, beside runs of generated models."""

from __future__ import annotations

import pytest

from rebecsim.experiments import ResultsError
from rebecsim.experiments.query import query
from rebecsim.experiments.store import find_runs, open_any_run, open_run
from rebecsim.experiments.workload_results import WorkloadResults
from rebecsim.experiments.workload_runner import run_workload_plan
from tests.experiments.workloads import SCENARIO, plan_of


@pytest.fixture
def runs(tmp_path):
    for name, text in (("a", SCENARIO), ("b", SCENARIO.replace("share = 2\n", ""))):
        plan = plan_of(tmp_path, text)
        run_workload_plan(plan, WorkloadResults.create(tmp_path / "runs" / name, plan))
    return [open_any_run(directory, name) for name, directory in find_runs(tmp_path / "runs")]


def ask(sql, runs):
    return list(query(sql, runs).rows)


def test_runs_and_cells_list_both_kinds(runs):
    assert ask(
        "select run, scenario, cells, finished, choice_law from runs order by run", runs
    ) == [
        ("a", "small", 2, 2, None),
        ("b", "small", 2, 2, None),
    ]
    found = ask("select cell, policy, arrivals, finished, bytes > 0 from cells", runs[:1])
    assert found == [
        ("fcfs_load1_requested_0", "FCFS", None, True, True),
        ("easy_load1_requested_0", "EASY", None, True, True),
    ]


def test_jobs_have_a_row_each_with_the_coordinates_of_their_schedule(runs):
    waits = "select policy, list(start - submit order by job) from jobs"
    assert dict(ask(f"{waits} where run = 'a' group by policy", runs)) == {
        "FCFS": [0, 9, 13, 12, 11],
        "EASY": [0, 9, 0, 12, 11],
    }
    assert ask("select count(*), count(expected_end) from jobs where run = 'b'", runs) == [(10, 0)]


def test_schedules_have_their_figures(runs):
    found = ask(
        "select run, mean_wait, weighted_tardiness is null from schedules "
        "where policy = 'EASY' order by run",
        runs,
    )
    assert found == [("a", 6.4, False), ("b", 6.4, True)]


def test_a_damaged_part_is_no_answer(runs):
    part = runs[0].results.part(runs[0].cells[0])
    part.write_bytes(part.read_bytes()[:-1])
    assert ask("select count(*) from runs", runs) == [(2,)]
    for view in ("jobs", "schedules"):
        with pytest.raises(ResultsError, match="damaged"):
            ask(f"select count(*) from {view}", runs)


def test_a_run_of_a_workload_is_none_of_generated_models(runs):
    with pytest.raises(ResultsError, match="holds a run of a workload scenario"):
        open_run(runs[0].results.directory)

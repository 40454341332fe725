"""Running workload scenarios: what is stored, resumed and refused."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from rebecsim.cluster.batch import InflatedEstimates, PolicySettings, run_schedule
from rebecsim.errors import UserError
from rebecsim.experiments import ResultsError, workload_runner
from rebecsim.experiments.workload_results import WorkloadResults
from rebecsim.experiments.workload_runner import require_fitting_jobs, run_workload_plan
from rebecsim.metrics import expected_ends
from rebecsim.workloads import WorkloadError, read_swf
from tests.experiments.workloads import DRAWN, LOG, SCENARIO, plan_of, written


def run(folder, text=SCENARIO, **options):
    plan = plan_of(folder, text)
    results = WorkloadResults.create(folder / "run", plan)
    run_workload_plan(plan, results, **options)
    return plan, results


def contents(results, plan):
    return {cell: results.part(cell).read_bytes() for cell in plan.cells}


def test_a_part_has_the_schedule_of_the_cell(tmp_path):
    plan, results = run(tmp_path)
    jobs = read_swf(tmp_path / "small.swf")
    for cell in plan.cells:
        schedule = run_schedule(jobs, policy=cell.policy)
        stored = results.read(cell)
        assert stored.schedule.start.tolist() == schedule.start.tolist()
        assert stored.schedule.duration.tolist() == schedule.duration.tolist()
        assert stored.schedule.workload.job.tolist() == [1, 2, 3, 4, 5]
        assert stored.schedule.workload.user.tolist() == jobs.user.tolist()
        assert stored.schedule.workload.memory.tolist() == jobs.memory.tolist()
        assert stored.schedule.workload.capacity == 4
        assert stored.expected_end.tolist() == expected_ends(schedule, 2).tolist()


def test_settings_machine_and_estimates_reach_the_scheduler(tmp_path):
    text = """\
name = "nodes"
policies = ["FAIR_EASY"]
estimate_errors = [1.5]

[settings]
half_life = 20
backfill_order = "shortest"

[[machine.nodes]]
count = 3
processors = 2
memory = 250

[workload]
log = "small.swf"
first = 4
"""
    plan, results = run(tmp_path, text)
    (cell,) = plan.cells
    assert plan.machine.processors == 6
    jobs = plan.workload(1.0, 0)
    assert (len(jobs), jobs.capacity) == (4, 6)
    expected = run_schedule(
        jobs,
        plan.machine,
        "FAIR_EASY",
        estimates=InflatedEstimates(1.5),
        settings=PolicySettings(half_life=20, backfill_order="shortest"),
        seed=plan.error_seed(0),
    )
    judged = results.read(cell)
    assert judged.schedule.start.tolist() == expected.start.tolist()
    assert judged.expected_end is None
    assert judged.users is None


def test_policies_see_the_same_draws_and_replications_do_not(tmp_path):
    plan, results = run(tmp_path, DRAWN)
    submits = {}
    for cell in plan.cells:
        jobs = results.read(cell).schedule.workload
        submits.setdefault((cell.load_factor, cell.replication), set()).add(tuple(jobs.submit))
    assert all(len(each) == 1 for each in submits.values())
    assert len({each.pop() for each in submits.values()}) == 6
    assert plan.error_seed(0) != plan.error_seed(1)


def test_results_do_not_depend_on_the_workers(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    plan, one = run(tmp_path / "one", DRAWN)
    counted = []
    _, two = run(tmp_path / "two", DRAWN, workers=2, progress=counted.append)
    assert sum(counted) == len(plan.cells)
    assert contents(one, plan) == contents(two, plan)


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    plan = plan_of(tmp_path, DRAWN)
    results = WorkloadResults.create(tmp_path / "run", plan)
    whole = workload_runner.run_cell
    left = iter(range(5))

    def interrupted(plan, cell):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return whole(plan, cell)

    monkeypatch.setattr(workload_runner, "run_cell", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_workload_plan(plan, results)
    done = [cell for cell in plan.cells if results.is_complete(cell)]
    assert len(done) == 5
    before = {cell: results.part(cell).stat().st_mtime_ns for cell in done}
    monkeypatch.setattr(workload_runner, "run_cell", whole)
    run_workload_plan(plan, WorkloadResults.resume(tmp_path / "run", plan))
    assert before == {cell: results.part(cell).stat().st_mtime_ns for cell in done}
    (tmp_path / "again").mkdir()
    _, straight = run(tmp_path / "again", DRAWN)
    assert contents(results, plan) == contents(straight, plan)


def test_damaged_parts_are_named_and_computed_again(tmp_path):
    plan, results = run(tmp_path)
    first, second = plan.cells
    good = contents(results, plan)
    damaged = bytearray(good[first])
    damaged[len(damaged) // 2] ^= 1
    results.part(first).write_bytes(damaged)
    (results.directory / "checksums" / f"{second.name}.b2").unlink()
    with pytest.raises(ResultsError, match=r"fcfs_load1_requested_0.parquet is damaged.*--resume"):
        results.read(first)
    warnings = []
    run_workload_plan(plan, results, warn=warnings.append)
    assert len(warnings) == 2
    assert "its checksum is missing; computing it again" in warnings[1]
    assert contents(results, plan) == good


def test_another_log_or_scenario_is_refused_on_resume(tmp_path):
    plan, results = run(tmp_path)
    WorkloadResults.resume(results.directory, plan)
    other = plan_of(tmp_path, SCENARIO.replace("share = 2", "share = 3"))
    with pytest.raises(ResultsError, match="holds a run of another scenario"):
        WorkloadResults.resume(results.directory, other)
    (tmp_path / "small.swf").write_text(LOG.replace(" 30 ", " 31 "))
    with pytest.raises(
        ResultsError, match=r"small.swf is not the log that this run was begun with"
    ):
        WorkloadResults.resume(results.directory, plan)
    with pytest.raises(ResultsError, match="holds the results of a run already"):
        WorkloadResults.create(results.directory, plan)


def test_results_of_another_version_are_refused_on_resume(tmp_path):
    plan, results = run(tmp_path)
    file = results.directory / "run.json"
    record = json.loads(file.read_text())
    record["versions"]["rebecsim"] = "0"
    file.write_text(json.dumps(record))
    with pytest.raises(ResultsError, match=r"was begun by rebecsim 0, this is"):
        WorkloadResults.resume(results.directory, plan)


def test_a_run_that_is_not_complete_has_no_report(tmp_path):
    plan = plan_of(tmp_path)
    results = WorkloadResults.create(tmp_path / "run", plan)
    with pytest.raises(ResultsError, match="the run is not complete, parts/fcfs_load1_requested_0"):
        results.read(plan.cells[0])


def test_jobs_that_do_not_fit_and_users_that_are_unknown_are_named(tmp_path):
    nodes = SCENARIO + "[[machine.nodes]]\ncount = 4\nprocessors = 1\nmemory = 50\n"
    fault = "job 3 takes 1 processors, 100 of memory for each and does not fit on the machine"
    with pytest.raises(UserError, match=fault):
        require_fitting_jobs(plan_of(tmp_path, nodes))
    with pytest.raises(UserError, match=fault):
        run(tmp_path, nodes)
    require_fitting_jobs(plan_of(tmp_path, nodes.replace("50", "100")))
    (tmp_path / "unknown").mkdir()
    file = written(tmp_path / "unknown", log=LOG.replace("100 1 3 ", "100 1 -1 "))
    plan = plan_of(tmp_path / "unknown")
    file.with_name("small.swf").write_text(LOG.replace("100 1 3 ", "100 1 -1 "))
    with pytest.raises(UserError, match="the users of some jobs are unknown"):
        plan.workload(1.0, 0)


def test_a_log_that_cannot_be_read_is_named(tmp_path):
    plan = plan_of(tmp_path)
    (tmp_path / "small.swf").write_text(LOG.replace(" 30 ", " x "))
    with pytest.raises(WorkloadError, match=r"small.swf:5: "):
        plan.workload(1.0, 0)


def test_the_parts_are_plain_parquet(tmp_path):
    plan, results = run(tmp_path)
    table = pq.read_table(results.part(plan.cells[1]))
    wait = table.column("start").to_numpy() - table.column("submit").to_numpy()
    assert np.array_equal(wait, results.read(plan.cells[1]).schedule.wait)

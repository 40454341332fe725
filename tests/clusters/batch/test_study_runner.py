"""Running scenarios of the kind `batch`: what is stored, resumed and refused."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from rebecsim.clusters.batch import InflatedEstimates, PolicySettings, run_schedule
from rebecsim.clusters.batch.measures import JOB_COLUMNS, read_schedules, schedule_figures
from rebecsim.errors import UserError
from rebecsim.metrics import expected_ends
from rebecsim.studies import Results, ResultsError, running
from rebecsim.studies.study import How
from rebecsim.workloads import WorkloadError, read_swf
from tests.clusters.batch.scenarios import DRAWN, LOG, SCENARIO, plan_of, written
from tests.plans import run_plan

JOBS = {"jobs": JOB_COLUMNS}


def run(folder, text=SCENARIO, **options):
    plan = plan_of(folder, text)
    results = Results.create(folder / "run", plan)
    run_plan(plan, results, **options)
    return plan, results


def contents(results, plan):
    return {
        (cell.name, table): results.table(table, cell).read_bytes()
        for cell in plan.cells
        for table in ("parts", "jobs")
    }


def test_a_part_has_the_schedule_of_the_cell(tmp_path):
    plan, results = run(tmp_path)
    jobs = read_swf(tmp_path / "small.swf")
    for cell in plan.cells:
        schedule = run_schedule(jobs, policy=cell.cell.policy)
        stored = next(read_schedules(results, cell))
        assert stored.schedule.start.tolist() == schedule.start.tolist()
        assert stored.schedule.duration.tolist() == schedule.duration.tolist()
        assert stored.schedule.workload.job.tolist() == [1, 2, 3, 4, 5]
        assert stored.schedule.workload.user.tolist() == jobs.user.tolist()
        assert stored.schedule.workload.memory.tolist() == jobs.memory.tolist()
        assert stored.schedule.workload.capacity == 4
        assert stored.expected_end.tolist() == expected_ends(schedule, 2).tolist()
        (row,) = pq.read_table(results.part(cell)).to_pylist()
        assert row == {"replication": 0, **schedule_figures(stored)}


def test_a_log_that_has_changed_is_read_again(tmp_path):
    plan = plan_of(tmp_path)
    setup = plan.cells[0].setup
    assert len(setup.workload(0)) == 5
    written(tmp_path, log="\n".join(LOG.splitlines()[:-1]) + "\n")
    assert len(setup.workload(0)) == 4


def test_settings_machine_and_estimates_reach_the_scheduler(tmp_path):
    text = """\
kind = "batch"
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
    setup = cell.setup
    assert setup.machine.processors == 6
    jobs = setup.workload(0)
    assert (len(jobs), jobs.capacity) == (4, 6)
    expected = run_schedule(
        jobs,
        setup.machine,
        "FAIR_EASY",
        estimates=InflatedEstimates(1.5),
        settings=PolicySettings(half_life=20, backfill_order="shortest"),
        seed=setup.error_seed(0),
    )
    judged = next(read_schedules(results, cell))
    assert judged.schedule.start.tolist() == expected.start.tolist()
    assert judged.expected_end is None
    assert judged.users is None


def test_policies_see_the_same_draws_and_replications_do_not(tmp_path):
    plan, results = run(tmp_path, DRAWN)
    submits = {}
    for cell in plan.cells:
        for replication, judged in enumerate(read_schedules(results, cell)):
            jobs = judged.schedule.workload
            where = cell.cell["load_factor"], replication
            submits.setdefault(where, set()).add(tuple(jobs.submit))
    assert all(len(each) == 1 for each in submits.values())
    assert len({each.pop() for each in submits.values()}) == 6
    setup = plan.cells[0].setup
    assert setup.error_seed(0) != setup.error_seed(1)


def test_results_do_not_depend_on_the_workers(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    plan, one = run(tmp_path / "one", DRAWN)
    counted = []
    _, two = run(tmp_path / "two", DRAWN, workers=2, progress=counted.append)
    assert sum(counted) == plan.total == 3 * len(plan.cells)
    assert contents(one, plan) == contents(two, plan)


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    plan = plan_of(tmp_path, DRAWN)
    results = Results.create(tmp_path / "run", plan)
    whole = running._done
    left = iter(range(5))

    def interrupted(pack):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return whole(pack)

    monkeypatch.setattr(running, "_done", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, results)
    done = [cell for cell in plan.cells if results.is_complete(cell, JOBS)]
    assert len(done) == 1  # three schedules of the first cell, two of the second are lost
    before = {cell: results.part(cell).stat().st_mtime_ns for cell in done}
    monkeypatch.setattr(running, "_done", whole)
    run_plan(plan, Results.resume(tmp_path / "run", plan))
    assert before == {cell: results.part(cell).stat().st_mtime_ns for cell in done}
    (tmp_path / "again").mkdir()
    _, straight = run(tmp_path / "again", DRAWN)
    assert contents(results, plan) == contents(straight, plan)


def test_more_replications_leave_those_that_are_there(tmp_path):
    few, results = run(tmp_path, DRAWN.replace("replications = 3", "replications = 2"))
    before = pq.read_table(results.table("jobs", few.cells[0]))
    plan = plan_of(tmp_path, DRAWN)
    run_plan(plan, Results.resume(results.directory, plan))
    after = pq.read_table(results.table("jobs", plan.cells[0]))
    assert after.slice(0, len(before)) == before
    (tmp_path / "again").mkdir()
    _, straight = run(tmp_path / "again", DRAWN)
    assert contents(results, plan) == contents(straight, plan)


def test_damaged_files_are_named_and_computed_again(tmp_path):
    plan, results = run(tmp_path)
    first, second = plan.cells
    good = contents(results, plan)
    path = results.table("jobs", first)
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    (results.directory / "checksums" / f"{second.name}.b2").unlink()
    with pytest.raises(ResultsError, match=r"fcfs_load1_requested.parquet is damaged.*--resume"):
        next(read_schedules(results, first))
    warnings = []
    run_plan(plan, results, warn=warnings.append)
    assert len(warnings) == 2
    assert "its checksum is missing; computing it again" in warnings[1]
    assert contents(results, plan) == good


def test_another_log_or_scenario_is_refused_on_resume(tmp_path):
    plan, results = run(tmp_path)
    Results.resume(results.directory, plan)
    other = plan_of(tmp_path, SCENARIO.replace("share = 2", "share = 3"))
    with pytest.raises(ResultsError, match="holds a run of another scenario"):
        Results.resume(results.directory, other)
    (tmp_path / "small.swf").write_text(LOG.replace(" 30 ", " 31 "))
    with pytest.raises(ResultsError, match=r"the log has changed since this run began"):
        Results.resume(results.directory, plan)
    with pytest.raises(ResultsError, match="holds the results of a run already"):
        Results.create(results.directory, plan)


def test_results_of_another_version_are_refused_on_resume(tmp_path):
    plan, results = run(tmp_path)
    file = results.directory / "run.json"
    record = json.loads(file.read_text())
    record["versions"]["rebecsim"] = "0"
    file.write_text(json.dumps(record))
    with pytest.raises(ResultsError, match=r"was begun by rebecsim 0, this is"):
        Results.resume(results.directory, plan)


def test_a_run_that_is_not_complete_has_no_report(tmp_path):
    plan = plan_of(tmp_path)
    results = Results.create(tmp_path / "run", plan)
    with pytest.raises(ResultsError, match="the run is not complete, parts/fcfs_load1_requested"):
        next(read_schedules(results, plan.cells[0]))


def fitting(plan):
    plan.prepare(How(), lambda line: None)


def test_jobs_that_do_not_fit_and_users_that_are_unknown_are_named(tmp_path):
    nodes = SCENARIO + "[[machine.nodes]]\ncount = 4\nprocessors = 1\nmemory = 50\n"
    fault = "job 3 takes 1 processors, 100 of memory for each and does not fit on the machine"
    with pytest.raises(UserError, match=fault):
        fitting(plan_of(tmp_path, nodes))
    with pytest.raises(UserError, match=fault):
        run(tmp_path, nodes)
    fitting(plan_of(tmp_path, nodes.replace("50", "100")))
    (tmp_path / "unknown").mkdir()
    file = written(tmp_path / "unknown", log=LOG.replace("100 1 3 ", "100 1 -1 "))
    plan = plan_of(tmp_path / "unknown")
    file.with_name("small.swf").write_text(LOG.replace("100 1 3 ", "100 1 -1 "))
    with pytest.raises(UserError, match=r"small.swf: the users of some jobs are unknown"):
        fitting(plan)


def test_a_log_that_cannot_be_read_is_named(tmp_path):
    plan = plan_of(tmp_path)
    (tmp_path / "small.swf").write_text(LOG.replace(" 30 ", " x "))
    with pytest.raises(WorkloadError, match=r"small.swf:5: "):
        plan.cells[0].setup.workload(0)

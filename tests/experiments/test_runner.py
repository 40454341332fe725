"""Running plans: the same results whoever does the work, however often it is interrupted."""

import multiprocessing

import pyarrow.parquet as pq
import pytest

from rebecsim.experiments import Results, ResultsError, plan_scenario, run_plan, runner


def parts(results, plan):
    return {cell.name: pq.read_table(results.part(cell)) for cell in plan.cells}


@pytest.fixture
def plan(small):
    return plan_scenario(small)


@pytest.fixture
def serial(plan, tmp_path):
    results = Results.create(tmp_path / "serial", plan.scenario)
    run_plan(plan, results)
    return results


def test_results_do_not_depend_on_the_workers(plan, serial, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "_REPLICATIONS_PER_TASK", 2)
    parallel = Results.create(tmp_path / "parallel", plan.scenario)
    reported = []
    run_plan(plan, parallel, workers=2, progress=reported.append)
    assert parts(parallel, plan) == parts(serial, plan)
    assert parallel.moments(plan) == serial.moments(plan)
    assert sum(reported) == 4 * 6
    assert multiprocessing.active_children() == []


def test_a_part_has_a_row_for_each_replication(plan, serial):
    table = pq.read_table(serial.part(plan.cells[0]))
    assert table.column("replication").to_pylist() == list(range(6))
    assert set(table.column("outcome").to_pylist()) == {"time limit"}
    decided = sum(
        sum(table.column(name).to_pylist()) for name in ("queue_misses", "completions", "drops")
    )
    assert decided > 0


def test_an_interrupted_run_goes_on_where_it_stopped(plan, serial, tmp_path):
    results = Results.create(tmp_path / "broken", plan.scenario)
    calls = []

    def interrupt(replications):
        calls.append(replications)
        if len(calls) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, results, progress=interrupt)
    finished = sorted(path.name for path in (tmp_path / "broken" / "parts").iterdir())
    assert finished == sorted(f"{cell.name}.parquet" for cell in plan.cells[:2])

    kept = results.part(plan.cells[0]).stat().st_mtime_ns
    run_plan(plan, Results.resume(tmp_path / "broken", plan.scenario))
    assert results.part(plan.cells[0]).stat().st_mtime_ns == kept
    assert parts(results, plan) == parts(serial, plan)


def test_a_failing_worker_leaves_no_half_part(plan, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "run_task", lambda task: 1 / 0)
    results = Results.create(tmp_path / "out", plan.scenario)
    with pytest.raises(ZeroDivisionError):
        run_plan(plan, results)
    assert list((tmp_path / "out" / "parts").iterdir()) == []


def test_damaged_and_foreign_parts_are_computed_again(plan, serial):
    good = parts(serial, plan)
    first, second, *_ = (serial.part(cell) for cell in plan.cells)
    first.write_bytes(first.read_bytes()[:100])
    pq.write_table(pq.read_table(second).slice(0, 3), second)
    with pytest.raises(ResultsError, match="cannot be read"):
        serial.moments(plan)
    run_plan(plan, serial)
    assert parts(serial, plan) == good


def test_directories_that_cannot_be_used(plan, serial, tmp_path):
    with pytest.raises(ResultsError, match="holds the results of a run already; go on with it by"):
        Results.create(serial.directory, plan.scenario)
    with pytest.raises(ResultsError, match="there is no run here"):
        Results.resume(tmp_path / "nowhere", plan.scenario)
    other = plan.scenario.model_copy(update={"seed": 8})
    with pytest.raises(ResultsError, match="another scenario, seed or number of replications"):
        Results.resume(serial.directory, other)
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match="cannot be written"):
        Results.create(tmp_path / "file", plan.scenario)
    record = serial.directory / "run.json"
    record.write_text(record.read_text().replace('"format": 1', '"format": 0'))
    with pytest.raises(ResultsError, match="is not of format 1"):
        Results.resume(serial.directory, plan.scenario)
    record.write_text("{")
    with pytest.raises(ResultsError, match="cannot be read"):
        Results.resume(serial.directory, plan.scenario)


def test_traces_hold_every_message(plan, tmp_path):
    results = Results.create(tmp_path / "traced", plan.scenario)
    run_plan(plan, results, trace=True)
    cell = plan.cells[0]
    trace = pq.read_table(results.trace(cell))
    servers = trace.column("server").to_pylist()
    assert servers.count("checkQueue") == 6 * 20
    assert set(servers) == {"checkQueue", "runJob", "update"}
    part = pq.read_table(results.part(cell))
    updates = sum(part.column("completions").to_pylist() + part.column("update_misses").to_pylist())
    assert servers.count("update") == updates

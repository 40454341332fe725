"""Running plans: the same results whoever does the work, however often it is interrupted."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rebecsim.clusters.dispatch.study import DispatchStudy
from rebecsim.clusters.scenarios import plan_scenario
from rebecsim.native import engines
from rebecsim.studies import PlannedRun, Results, ResultsError, run_plans, running
from rebecsim.studies.executors import executor_of
from rebecsim.studies.simulated import ORDERS, message_order
from tests.plans import run_plan


def parts(results, plan):
    return {cell.name: pq.read_table(results.part(cell)) for cell in plan.cells}


@pytest.fixture
def plan(small):
    return plan_scenario(small)


@pytest.fixture
def serial(plan, tmp_path):
    results = Results.create(tmp_path / "serial", plan)
    run_plan(plan, results)
    return results


def test_results_do_not_depend_on_the_workers(plan, serial, tmp_path, monkeypatch):
    monkeypatch.setattr(DispatchStudy, "replications_per_task", 2)
    parallel = Results.create(tmp_path / "parallel", plan)
    reported = []
    run_plan(plan, parallel, workers=2, progress=reported.append)
    assert parts(parallel, plan) == parts(serial, plan)
    assert parallel.moments(plan) == serial.moments(plan)
    assert sum(reported) == 4 * 6
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("workers", [1, 2])
def test_plans_are_simulated_together_as_they_are_alone(plan, small, tmp_path, workers):
    plans = [plan, *plan.beside(small.replications).values()]
    alone = [Results.create(tmp_path / f"alone{n}", each) for n, each in enumerate(plans)]
    for each, results in zip(plans, alone, strict=True):
        run_plan(each, results)
    together = [Results.create(tmp_path / f"together{n}", each) for n, each in enumerate(plans)]
    reported = []
    with executor_of(workers) as pool:
        runs = [PlannedRun(*pair) for pair in zip(plans, together, strict=True)]
        run_plans(runs, pool, progress=reported.append)
        run_plans(runs, pool)  # there is nothing left to do
    assert sum(reported) == 4 * sum(each.scenario.replications for each in plans)
    for each, one, other in zip(plans, alone, together, strict=True):
        assert parts(one, each) == parts(other, each)
    assert parts(together[0], plan) != parts(together[1], plans[1])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_that_python_drops_ends_the_run_too(plan, tmp_path, monkeypatch):
    class Freed:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def done(pack):
        found = [do() for do in pack]
        Freed()
        return found

    monkeypatch.setattr(running, "_done", done)
    results = Results.create(tmp_path / "run", plan)
    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, results)
    assert not all(results.part(cell).exists() for cell in plan.cells)


def test_the_models_of_several_plans_are_read_once(plan, small, tmp_path, monkeypatch):
    packs, orders = [], [message_order(each, "checkQueue") for each in ORDERS]

    def done(pack):
        packs.append([(do.args[0].cell, do.args[0].runs.order) for do in pack])
        return [do() for do in pack]

    monkeypatch.setattr(running, "_done", done)
    plans = [plan, *plan.beside(small.replications).values()]
    runs = [
        PlannedRun(each, Results.create(tmp_path / str(n), each)) for n, each in enumerate(plans)
    ]
    run_plans(runs)
    assert [{cell for cell, _ in pack} for pack in packs] == [{cell.name} for cell in plan.cells]
    assert all([order for _, order in pack] == orders for pack in packs)

    packs.clear()
    monkeypatch.setattr(DispatchStudy, "replications_per_task", 10)
    for each in runs:
        each.results.part(plan.cells[1]).unlink()
    run_plans(runs)
    name = plan.cells[1].name
    assert packs == [[(name, order)] for order in orders]  # 6 runs each, 12 are too many for one


def test_auto_leaves_small_comparisons_to_python(plan, tmp_path, monkeypatch):
    asked = []

    def done(pack):
        asked.extend(do.args[0].engine for do in pack)
        return [do() for do in pack]

    monkeypatch.setattr(running, "_done", done)
    results = Results.create(tmp_path / "small", plan)
    run_plan(plan, results)
    assert set(asked) == {"python"}
    monkeypatch.setattr(engines, "STUDY_LOADS", 4 * 6 * plan.scenario.ticks)
    asked.clear()
    run_plan(plan, Results.create(tmp_path / "large", plan))
    assert set(asked) == {"auto"}


def test_a_part_has_a_row_for_each_replication(plan, serial):
    table = pq.read_table(serial.part(plan.cells[0]))
    assert table.column("replication").to_pylist() == list(range(6))
    assert set(table.column("outcome").to_pylist()) == {"time limit"}
    decided = sum(
        sum(table.column(name).to_pylist()) for name in ("queue_misses", "completions", "drops")
    )
    assert decided > 0


def test_an_interrupted_run_goes_on_where_it_stopped(plan, serial, tmp_path):
    results = Results.create(tmp_path / "broken", plan)
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
    run_plan(plan, Results.resume(tmp_path / "broken", plan))
    assert results.part(plan.cells[0]).stat().st_mtime_ns == kept
    assert parts(results, plan) == parts(serial, plan)


def test_a_failing_worker_leaves_no_half_part(plan, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "_done", lambda pack: 1 / 0)
    results = Results.create(tmp_path / "out", plan)
    with pytest.raises(ZeroDivisionError):
        run_plan(plan, results)
    assert list((tmp_path / "out" / "parts").iterdir()) == []


def test_damaged_parts_are_named_and_computed_again(plan, serial):
    good = parts(serial, plan)
    first, second, third, fourth = (serial.part(cell) for cell in plan.cells)
    first.write_bytes(first.read_bytes()[:100])
    pq.write_table(pq.read_table(second).slice(0, 3), second)
    third.write_bytes(fourth.read_bytes())  # whole, but of another cell
    with pytest.raises(
        ResultsError, match=r"am1\.parquet is damaged: .*--resume computes it again"
    ):
        serial.moments(plan)
    warnings, reported = [], []
    run_plan(plan, serial, warn=warnings.append, progress=reported.append)
    assert parts(serial, plan) == good
    for path, text in zip((first, second, third), warnings, strict=True):
        assert text.startswith(f"part {path} is damaged: ")
    assert "magic bytes" in warnings[0]
    assert "its checksum differs" in warnings[1]
    assert "its checksum differs" in warnings[2]
    assert all(text.endswith("; computing it again") for text in warnings)
    assert sum(reported) == 4 * 6

    run_plan(plan, serial, warn=warnings.append)
    assert len(warnings) == 3


def test_damage_is_logged_where_nobody_asks(plan, serial, caplog):
    serial.part(plan.cells[0]).write_bytes(b"")
    run_plan(plan, serial)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "is damaged" in caplog.text


def test_two_writers_do_not_mix(plan, serial):
    with (
        serial.writing(),
        pytest.raises(ResultsError, match=f"process {os.getpid()} on .* is writ"),
    ):
        run_plan(plan, serial)
    run_plan(plan, serial)


def test_temporary_files_of_the_dead_are_removed(plan, serial):
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], stdout=-1)
    dead, alive = int(ended.stdout), os.getpid()
    for folder in ("charts", ".study"):
        (serial.directory / folder).mkdir()
    places = {
        "parts/.a.parquet.{}.tmp": {dead: False, alive: False},  # whoever holds the lock wrote it
        "charts/.a.svg.{}.tmp": {dead: False, alive: True},  # a report that is being written
        ".study/.progress.json.{}.tmp": {dead: False, alive: True},  # of the browser
        ".run.json.{}.tmp": {dead: False, alive: True},
        "parts/.mine.tmp": {dead: True},
    }
    expected = {}
    for pattern, fates in places.items():
        for process, stays in fates.items():
            path = serial.directory / pattern.format(process)
            path.write_text("half")
            expected[path] = stays
    run_plan(plan, serial)
    assert {path: path.exists() for path in expected} == expected


KILLED = """
import os, sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from rebecsim.studies.executors import start_worker

if __name__ == "__main__":
    context = get_context(sys.argv[1])
    pool = ProcessPoolExecutor(1, mp_context=context, initializer=start_worker)
    print(pool.submit(os.getpid).result(), flush=True)
    os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(os.name == "nt", reason="processes are asked for by signal 0")
@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_workers_end_when_their_parent_is_killed(method, tmp_path):
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    # Not run(): the pipe of standard error stays open while the worker lives.
    with subprocess.Popen([sys.executable, script, method], stdout=-1, stderr=-3) as process:
        worker = int(process.stdout.readline())
        assert process.wait() == -signal.SIGKILL
    deadline = time.monotonic() + 30
    while is_running(worker) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_running(worker)


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")  # a zombie has ended, even if nobody asks for its end
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


def test_directories_that_cannot_be_used(plan, serial, tmp_path):
    with pytest.raises(ResultsError, match="holds the results of a run already; continue it with"):
        Results.create(serial.directory, plan)
    for changes in ({"seed": 8}, {"replications": 5}):
        other = plan_scenario(plan.scenario.replace(**changes))
        with pytest.raises(ResultsError, match="another scenario or seed, or with more repl"):
            Results.resume(serial.directory, other)
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match="cannot be written"):
        Results.create(tmp_path / "file", plan)
    record = serial.directory / "run.json"
    record.write_text("{")
    with pytest.raises(ResultsError, match="cannot be read"):
        Results.resume(serial.directory, plan)


def test_traces_hold_every_message(plan, tmp_path):
    results = Results.create(tmp_path / "traced", plan)
    run_plan(plan, results, trace=True)
    cell = plan.cells[0]
    trace = pq.read_table(results.table("traces", cell))
    servers = trace.column("server").to_pylist()
    assert servers.count("checkQueue") == 6 * 20
    assert set(servers) == {"checkQueue", "runJob", "update"}
    part = pq.read_table(results.part(cell))
    updates = sum(part.column("completions").to_pylist() + part.column("update_misses").to_pylist())
    assert servers.count("update") == updates


def test_a_run_gets_more_replications(plan, serial, tmp_path):
    more = plan_scenario(plan.scenario.replace(replications=10))
    again = Results.resume(serial.directory, more)
    assert again.record()["scenario"]["replications"] == 10
    reported = []
    run_plan(more, again, progress=reported.append)
    assert sum(reported) == 4 * 10
    alone = Results.create(tmp_path / "alone", more)
    run_plan(more, alone)
    assert parts(again, more) == parts(alone, more)


def test_a_directory_without_a_record_is_left_as_it_is(plan, serial):
    (serial.directory / "run.json").unlink()
    kept = parts(serial, plan)  # nobody knows what they are of, or whose
    with pytest.raises(ResultsError, match=r"other files \(checksums/, parts/\); choose a new"):
        Results.resume(serial.directory, plan)
    assert parts(serial, plan) == kept


def test_what_was_killed_before_it_had_a_record_is_begun_anew(plan, serial, tmp_path):
    killed = tmp_path / "killed"
    (killed / "parts").mkdir(parents=True)
    (killed / ".lock").write_text("process 1 on elsewhere\n")
    (killed / ".run.json.1.tmp").write_text("{")
    results = Results.resume(killed, plan)
    run_plan(plan, results)
    assert parts(results, plan) == parts(serial, plan)

"""Worker processes: there when they are needed, with what they need, and gone afterwards."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures.process import BrokenProcessPool, _ExecutorManagerThread
from contextlib import nullcontext
from multiprocessing import forkserver

import pytest

from rebecsim.studies.executors import (
    ThisProcess,
    WorkerPool,
    available_workers,
    executor_of,
    interrupts_only_here,
)

EARLY = """
import sys
from rebecsim.studies.executors import simulation_modules, start_server, executor_of

def loaded(name):
    return name in sys.modules

if __name__ == "__main__":
    start_server(2, (*simulation_modules(sys.argv[1]), "wave"))
    with executor_of(2) as pool:
        names = ["rebecsim.simulation.montecarlo", "rebecsim.simulation.native", "wave", "chunk"]
        print([pool.submit(loaded, name).result() for name in names], loaded("numpy"))
"""


@pytest.mark.skipif(
    "forkserver" not in multiprocessing.get_all_start_methods(), reason="there is no fork server"
)
@pytest.mark.parametrize(("engine", "compiler"), [("python", False), ("native", True)])
def test_workers_begin_with_what_the_engine_needs(engine, compiler, tmp_path):
    script = tmp_path / "early.py"
    script.write_text(EARLY)
    found = subprocess.run(
        [sys.executable, script, engine], capture_output=True, text=True, check=True
    )
    assert found.stdout == f"[True, {compiler}, True, False] False\n"
    assert found.stderr == ""


def test_one_worker_is_this_process():
    for workers in (0, 1):
        with executor_of(workers) as pool:
            assert isinstance(pool, ThisProcess)
            assert pool.submit(abs, -1).result() == 1
            assert list(pool.map(abs, [-1, -2])) == [1, 2]


def test_workers_end_with_the_block():
    with executor_of(2) as pool:
        assert pool.size == 2
        assert pool.submit(abs, -1).result() == 1
        assert multiprocessing.active_children()
    assert multiprocessing.active_children() == []


def was_dropped(future):
    """Ask whether a task ended without a result: cancelled, or lost with the processes ended."""
    return future.cancelled() or isinstance(future.exception(timeout=0), BrokenProcessPool)


def test_tasks_that_have_not_begun_are_dropped_when_the_block_is_interrupted():
    pool = executor_of(2)
    for _ in range(2):
        pool.submit(time.sleep, 600)  # which nothing overtakes
    waiting = [pool.submit(abs, -1) for _ in range(2_000)]
    with pytest.raises(KeyboardInterrupt), pool:
        raise KeyboardInterrupt
    assert all(map(was_dropped, waiting))


def test_tasks_that_have_begun_are_not_waited_for_when_the_block_is_interrupted():
    began = time.monotonic()
    pool = executor_of(2)
    told = [pool.submit(time.sleep, 600) for _ in range(2)]
    while not all(future.running() for future in told):
        time.sleep(0.01)
    with pytest.raises(KeyboardInterrupt), pool:
        raise KeyboardInterrupt
    assert time.monotonic() - began < 300
    assert multiprocessing.active_children() == []


@pytest.mark.skipif(os.name == "nt", reason="signals cannot be held back")
def test_ctrl_c_does_not_reach_what_workers_are_forked_from():
    show = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    for context, expected in ((interrupts_only_here(), "True"), (nullcontext(), "False")):
        with context:
            shown = subprocess.run(
                [sys.executable, "-c", show], capture_output=True, text=True, check=True
            )
        assert shown.stdout.strip() == expected


def test_a_worker_that_is_killed_before_the_next_task_is_missed():
    with executor_of(2) as pool:
        told = [pool.submit(time.sleep, 60) for _ in range(2)]
        while not all(future.running() for future in told):
            time.sleep(0.01)
        newest = max(multiprocessing.active_children(), key=lambda worker: worker.pid)
        os.kill(newest.pid, signal.SIGKILL)
        with pytest.raises(BrokenProcessPool):
            told[1].result(timeout=30)


def test_no_worker_is_left_that_is_started_while_another_is_killed(monkeypatch):
    all_ended, started = threading.Event(), threading.Event()
    start, tidy = WorkerPool._spawn_process, _ExecutorManagerThread.join_executor_internals
    connect = forkserver.connect_to_new_process

    def kill_and_connect(files):
        for first in multiprocessing.active_children():
            os.kill(first.pid, signal.SIGKILL)
            all_ended.wait(2)  # newer Pythons end none while another is being started
        return connect(files)

    def start_and_tell(pool):
        start(pool)
        if len(pool._processes) == 2:
            started.set()

    def tidy_later(manager):
        all_ended.set()
        started.wait()
        tidy(manager)

    monkeypatch.setattr(forkserver, "connect_to_new_process", kill_and_connect)
    monkeypatch.setattr(WorkerPool, "_spawn_process", start_and_tell)
    monkeypatch.setattr(_ExecutorManagerThread, "join_executor_internals", tidy_later)
    done = threading.Event()

    def use():
        with executor_of(2) as pool:
            pool.submit(time.sleep, 60)
            with pytest.raises(BrokenProcessPool):
                pool.submit(time.sleep, 60).result()
        done.set()

    threading.Thread(target=use, daemon=True).start()
    assert done.wait(30)
    assert multiprocessing.active_children() == []


def test_there_is_a_worker_for_each_processor():
    assert available_workers() >= 1

"""Run directories on disks that are full, or may only be read, and under a clock that goes back."""

import contextlib
import os
import subprocess
import sys
import time

import pytest

from rebecsim.clusters.scenarios import open_run, plan_of_run, plan_scenario
from rebecsim.report import write_report
from rebecsim.report.comparison import report_input
from rebecsim.studies import Results, ResultsError
from rebecsim.studies.query import query
from rebecsim.studies.run_directory import exclusive
from tests.plans import run_plan
from tests.program import files_of_at_most

resource = pytest.importorskip("resource")


@pytest.fixture(scope="module")
def plan(small):
    return plan_scenario(small)


@pytest.fixture(scope="module")
def undisturbed(plan, tmp_path_factory):
    """A complete run, only to be read."""
    results = Results.create(tmp_path_factory.mktemp("undisturbed") / "run", plan)
    run_plan(plan, results)
    return results.directory


def contents(run):
    """Give the files of results, by name."""
    return {
        path.relative_to(run).as_posix(): path.read_bytes()
        for path in run.rglob("*")
        if path.suffix in (".parquet", ".b2")
    }


# --- full ----------------------------------------------------------------------------------------


def test_a_lock_that_does_not_fit_is_left_empty(tmp_path):
    with files_of_at_most(20), pytest.raises(OSError, match="No space left"), exclusive(tmp_path):
        pass
    assert (tmp_path / ".lock").read_bytes() == b""


@pytest.mark.parametrize(
    ("size", "left"),
    [(0, [".lock"]), (20, [".lock"]), (400, [".lock"]), (1_000_000, [".lock", "run.json"])],
)
def test_what_a_full_disk_has_stopped_goes_on_when_there_is_room(
    size, left, plan, undisturbed, tmp_path, monkeypatch
):
    """The lock, the record and a part are what does not fit."""
    if size == 1_000_000:  # parts are smaller than the record
        monkeypatch.setattr("rebecsim.studies.parts.digest_of", no_room)
    run = tmp_path / "run"
    with (
        files_of_at_most(size),
        pytest.raises(ResultsError, match=r"cannot be written: (File too large|No space left)"),
    ):
        run_plan(plan, Results.create(run, plan))
    assert sorted(path.name for path in run.rglob("*") if path.is_file()) == left
    monkeypatch.undo()
    results = Results.resume(run, plan)
    run_plan(plan, results)
    assert contents(run) == contents(undisturbed)


def no_room(path):
    raise OSError(28, os.strerror(28), str(path))


def test_a_report_on_a_full_disk_leaves_the_one_before(undisturbed, tmp_path):
    stored = open_run(undisturbed)
    drawn = report_input(plan_of_run(stored), stored.results)
    out = tmp_path / "out"
    write_report(drawn, out)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with files_of_at_most(500), pytest.raises(OSError, match="File too large"):
        write_report(drawn, out)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


# --- only to be read -----------------------------------------------------------------------------


@contextlib.contextmanager
def read_only(directory):
    """Let nothing be written into a directory, and what is in it, by root neither."""
    if os.geteuid():
        folders = [directory, *(path for path in directory.rglob("*") if path.is_dir())]
        for folder in folders:
            folder.chmod(0o555)
        try:
            yield
        finally:
            for folder in folders:
                folder.chmod(0o755)
        return
    bound = subprocess.run(["mount", "--bind", directory, directory], check=False)
    if bound.returncode:
        pytest.skip("directories cannot be mounted here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", directory], check=True)
        yield
    finally:
        subprocess.run(["umount", directory], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="root needs file systems of its own")
def test_a_run_that_may_only_be_read_is_read(plan, undisturbed, tmp_path):
    run = tmp_path / "run"
    run_plan(plan, Results.create(run, plan))
    before = contents(run)
    with read_only(run):
        stored = open_run(run)
        assert list(query("select count(*) from cells", [stored]).rows) == [(4,)]
        drawn = report_input(plan_of_run(stored), stored.results)
        with pytest.raises(OSError, match=r"Read-only file system|Permission denied"):
            write_report(drawn, run)
        write_report(drawn, tmp_path / "elsewhere")
        with pytest.raises(ResultsError, match=r"run: cannot be written: (Read-only|Permission)"):
            run_plan(plan, Results.resume(run, plan))
        with pytest.raises(ResultsError, match=r"new: cannot be written: (Read-only|Permission)"):
            Results.create(run / "new", plan)
    assert contents(run) == before == contents(undisturbed)


# --- the clock -----------------------------------------------------------------------------------


def test_a_clock_that_goes_back_changes_no_results(plan, undisturbed, tmp_path, monkeypatch):
    run = tmp_path / "run"
    run_plan(plan, Results.create(run, plan))
    began = Results(run).record()["started"]
    for part in list((run / "parts").iterdir())[:2]:
        part.unlink()
    later = time.time() + 10 * 365 * 86_400
    for path in (run, *run.rglob("*")):
        os.utime(path, (later, later))
    falling = iter(range(2 * 10**9, 0, -1))
    monkeypatch.setattr(time, "time", lambda: float(next(falling)))
    results = Results.resume(run, plan)
    run_plan(plan, results)
    assert contents(run) == contents(undisturbed)
    assert results.record()["started"] == began

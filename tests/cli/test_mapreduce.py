"""`rebecsim mapreduce`: tables for what is right, and a line for what is not."""

from __future__ import annotations

import pytest

from tests.conftest import Run

SMALL = ("mapreduce", "--nodes", "3", "--map-slots", "2", "--reduce-slots", "1")
JOBS = ("--jobs", "one:maps=2,queue=a", "--jobs", "two:count=2,maps=1,queue=b")
SETTINGS = ("--setting", "queue.a.capacity=60", "--setting", "queue.b.capacity=40")


def test_runs_are_shown_and_kept(run: Run, tmp_path) -> None:
    schedulers = ("--scheduler", "capacity", "--scheduler", "FIFO")
    ended = run(*SMALL, *JOBS, *SETTINGS, *schedulers, "--out", ".", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert lines[0] == "FIFO instead of CAPACITY, on average:"
    assert max(map(len, lines)) <= 80
    attempts = (tmp_path / "attempts.csv").read_text().splitlines()
    assert attempts[0].startswith("variant,job,kind,task,node,locality")
    assert len(attempts) == 1 + 2 * (4 + 3)  # maps and reduces under both
    assert (tmp_path / "queues.csv").read_text().count("\n") == 1 + 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say which jobs there are"),
        (("--jobs", "one:maps=two"), "maps should be a whole number, not 'two'"),
        (("--jobs", "one:count=2"), "with maps at least"),
        (("--jobs", "one:maps=2,colour=red"), "'colour=red' is none of these"),
        ((*JOBS, "--setting", "queue.a.capacity"), "write it as queue.NAME.capacity=60"),
        ((*JOBS, *SETTINGS), "add --scheduler CAPACITY"),
        ((*JOBS, "--scheduler", "CAPACITY=gone.xml"), "there is no file gone.xml"),
        ((*JOBS, "--scheduler", "CAPACTY"), "did you mean CAPACITY"),
        (("--mix", "apart", "--queue", "a"), "give queues in pairs"),
        ((*JOBS, "--scheduler", "CAPACITY", *SETTINGS[:2]), "should be 100"),
    ],
)
def test_what_is_wrong_is_said(run: Run, words: tuple[str, ...], said: str, tmp_path) -> None:
    ended = run(*SMALL, *words, cwd=tmp_path)
    assert ended.returncode == 2
    assert said in " ".join(ended.stderr.split())


REFUSING = ("--setting", "queue.a.maximum-initialized-active-tasks-per-user=1")


def test_if_all_jobs_are_rejected_the_answer_is_that_none_ran_and_why(run: Run, tmp_path) -> None:
    jobs = ("--jobs", "one:count=2,maps=2,queue=a")
    settings = ("--setting", "queue.a.capacity=100", *REFUSING)
    ended = run(*SMALL, *jobs, *settings, "--scheduler", "CAPACITY", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    said = " ".join(ended.stdout.split())
    assert said.startswith("CAPACITY: no job ran: all 2 jobs were rejected. Job 0 (one): it has 3")
    assert said.endswith("(maximum-initialized-active-tasks-per-user)")
    both = run(
        *(*SMALL, *jobs, *settings, "--scheduler", "CAPACITY", "--scheduler", "FIFO"),
        *("--out", "new/tables"),
        cwd=tmp_path,
    )
    assert both.returncode == 0
    (makespan,) = [line for line in both.stdout.splitlines() if "Makespan" in line]
    capacity, fifo = (cell.strip() for cell in makespan.split("│")[2:4])
    assert capacity == ""
    assert float(fifo) > 0
    assert (tmp_path / "new/tables/rejected.csv").read_text().count("\n") == 1 + 2


def test_a_comparison_says_where_no_job_ran(run: Run, tmp_path) -> None:
    (tmp_path / "none.toml").write_text(NONE_RUNS)
    ended = run("compare", "none.toml", "--out", "found", cwd=tmp_path)
    assert ended.returncode == 2
    assert "TIGHT, replication 0: no job ran: all 2 jobs were rejected" in ended.stderr


NONE_RUNS = """
kind = "mapreduce"
name = "none"
replications = 1

[cluster]
nodes = 3

[[workload.jobs]]
family = "one"
maps = 2
count = 2

[[variants]]
name = "TIGHT"
scheduler = "CAPACITY"
settings = { "queue.default.maximum-initialized-active-tasks-per-user" = "1" }

[[variants]]
name = "FIFO"
scheduler = "FIFO"
"""

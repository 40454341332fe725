"""`rebecsim mapreduce`: tables for what is right, and a line for what is not."""

from __future__ import annotations

import csv
from pathlib import Path

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
        ((), "give jobs: a trace"),
        (("--jobs", "one:maps=two"), "maps should be a whole number, not 'two'"),
        (("--jobs", "one:count=2"), "with maps at least"),
        (("--jobs", "one:maps=2,colour=red"), "'colour=red' is none of these"),
        ((*JOBS, "--setting", "queue.a.capacity"), "write settings as queue.NAME.capacity=60"),
        ((*JOBS, *SETTINGS), "add --scheduler CAPACITY"),
        ((*JOBS, "--scheduler", "CAPACITY=gone.xml"), "there is no file gone.xml"),
        ((*JOBS, "--scheduler", "CAPACTY"), "did you mean CAPACITY"),
        (("--mix", "apart", "--queue", "a"), "give queues in pairs"),
        ((*JOBS, "--scheduler", "CAPACITY", *SETTINGS[:2]), "should be 100"),
        ((*JOBS, "--classes", "two:map_slots=1"), "--classes two:map_slots=1: write it as 10:map_"),
        ((*JOBS, "--classes", "1:map_slots"), "--classes 1:map_slots: write it as 10:map_slots=2"),
        ((*JOBS, "--classes", "1:slots=2"), "cluster.classes"),
        ((*JOBS, "--classes", "4:map_slots=2"), "classes have 4 nodes"),
        ((*JOBS, "--changes", "at=soon:a=1"), "--changes at=soon:a=1: write it as at=600:KEY=VAL"),
        ((*JOBS, "--changes", "at=5:a"), "--changes a: write settings as queue.NAME.capacity=60"),
        ((*JOBS, "--changes", "queue=a:a=1"), "give below or above"),
        ((*JOBS, "--changes", "at=5:capacity=1"), "FIFO: changes:"),
        ((*JOBS, "--warm-up", "1"), "warm-up"),
    ],
)
def test_what_is_wrong_is_said(run: Run, words: tuple[str, ...], said: str, tmp_path) -> None:
    ended = run(*SMALL, *words, cwd=tmp_path)
    assert ended.returncode == 2
    assert said in " ".join(ended.stderr.split())


SAME = """
kind = "mapreduce"
name = "same"
replications = 1
seed = 2015
warm_up = 0.25

[cluster]
nodes = 3
map_slots = 2
reduce_slots = 1
classes = [{ count = 1, map_slots = 4, disk_read = 100.5 }, { count = 1, reduce_slots = 2 }]

[[workload.jobs]]
family = "one"
maps = 9
count = 3
queue = "a"

[[workload.jobs]]
family = "two"
maps = 4
count = 2
queue = "b"

[[variants]]
name = "CAPACITY"
scheduler = "CAPACITY"
settings = { "queue.a.capacity" = 60, "queue.b.capacity" = 40 }
changes = [
    { at = 2.5, settings = { "queue.a.capacity" = 20, "queue.b.capacity" = 80 } },
    { when = { queue = "b", below = 1 }, settings = { "queue.a.maximum-capacity" = 90 } },
]
"""


def test_classes_changes_and_a_warm_up_are_those_of_a_scenario(run: Run, tmp_path: Path) -> None:
    (tmp_path / "same.toml").write_text(SAME)
    words = [
        *("--jobs", "one:count=3,maps=9,queue=a", "--jobs", "two:count=2,maps=4,queue=b"),
        *("--scheduler", "CAPACITY", *SETTINGS, "--warm-up", "0.25"),
        *("--classes", "1:map_slots=4,disk_read=100.5", "--classes", "1:reduce_slots=2"),
        *("--changes", "at=2.5:queue.a.capacity=20,queue.b.capacity=80"),
        *("--changes", "queue=b,below=1:queue.a.maximum-capacity=90"),
    ]
    ended = run(*SMALL, *words, "--out", "tables", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert run("compare", "same.toml", "--out", "made", cwd=tmp_path).returncode == 0
    columns = ["job", "kind", "task", "node", "start", "end"]
    asked = f'select {", ".join(columns[:5])}, "end" from attempts'
    kept = run("query", asked, "made", "--csv", cwd=tmp_path).stdout.splitlines()[1:]
    table = list(csv.DictReader((tmp_path / "tables" / "attempts.csv").read_text().splitlines()))
    ours = [tuple(row[name] for name in columns) for row in table]
    assert sorted(ours) == sorted(tuple(line.split(",")) for line in kept)
    assert len(ours) == 3 * (9 + 1) + 2 * (4 + 1)


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

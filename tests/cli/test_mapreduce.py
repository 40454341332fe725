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
    assert "CAPACITY" in lines[1]
    assert "FIFO" in lines[1]
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

"""Batch scheduling as a user does it: run a log, check the schedule."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "models/plugins/widest_first.py"

LOG = """\
; MaxProcs: 4
1  0 -1 10 2 -1 -1 2 12 100 1 1 1 -1 0 -1 -1 -1
2  1 -1  5 4 -1 -1 4  6 100 1 2 1 -1 0 -1 -1 -1
3  2 -1  8 1 -1 -1 1  9 100 1 1 1 -1 1 -1 -1 -1
4  3 -1 30 1 -1 -1 1 30 100 1 3 1 -1 1 -1 -1 -1
5  4 -1  0 1 -1 -1 1 30 100 0 3 1 -1 1 -1 -1 -1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "log.swf").write_text(LOG)
    return tmp_path


def waits(file: Path) -> list[int]:
    rows = [line.split() for line in file.read_text().splitlines() if not line.startswith(";")]
    return [int(row[2]) for row in rows]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--policy", "FCFS"], [0, 9, 13, 12]),
        (["--policy", "EASY"], [0, 9, 0, 12]),
        (["--policy", "CONSERVATIVE"], [0, 9, 0, 12]),
        (["--policy", "EASY", "--processors", "6"], [0, 0, 4, 3]),
        (["--policy", "FAIR_EASY", "--half-life", "60", "--window", "99"], [0, 9, 0, 12]),
        (["--nodes", "2:processors=2,memory=250"], [0, 9, 0, 12]),
        (["--nodes", "1:processors=4,memory=400", "--placement", "best-fit"], [0, 9, 0, 12]),
        (["--policy", "WIDEST", "--plugin", str(PLUGIN)], [0, 9, 13, 12]),
        (["--error", "0", "--backfill-order", "shortest"], [0, 9, 0, 12]),
    ],
)
def test_a_log_is_run_and_its_schedule_holds(
    run: Run, folder: Path, options: list[str], expected: list[int]
) -> None:
    done = run("batch", "log.swf", *options, "--out", "schedule.swf", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "log.swf: 1 row skipped: no run time" in done.stderr
    assert "wait: mean" in done.stdout
    assert "schedule in schedule.swf" in done.stdout
    assert waits(folder / "schedule.swf") == expected
    checked = run("validate", "schedule.swf", cwd=folder)
    assert checked.returncode == 0, checked.stdout
    assert checked.stdout.count("holds:") == 2


def test_the_promises_of_policies_are_checked_on_request(run: Run, folder: Path) -> None:
    run("batch", "log.swf", "--policy", "EASY", "--out", "schedule.swf", cwd=folder)
    easy = run("validate", "schedule.swf", "--easy", cwd=folder)
    assert easy.returncode == 0, easy.stdout + easy.stderr
    assert "holds: the head of the queue never starts after its first reservation" in easy.stdout
    fcfs = run("validate", "schedule.swf", "--fcfs", cwd=folder)
    assert fcfs.returncode == 1
    assert "broken by 1 job: jobs start in the order of submission" in fcfs.stdout
    assert "first by job 3, which starts at 2, before job 2" in fcfs.stdout


@pytest.mark.parametrize(
    ("row", "changed", "message"),
    [
        (2, "2  1 8 5 4", "first by job 2, which starts at 9 on 4 processors, which makes 7 of 4"),
        (2, "2  1 -4 5 4", "first by job 2, which is submitted at 1 and starts at -3"),
        (2, "2  1 9 5 9", "first by job 2, which starts at 10 on 9 processors"),
        (2, "2  1 99 5 4", "first by job 2, which is the head at 1 with a reservation for 12"),
    ],
)
def test_planted_faults_are_found(
    run: Run, folder: Path, row: int, changed: str, message: str
) -> None:
    run("batch", "log.swf", "--policy", "EASY", "--out", "schedule.swf", cwd=folder)
    lines = (folder / "schedule.swf").read_text().splitlines()
    place = next(number for number, line in enumerate(lines) if line.split()[0] == str(row))
    lines[place] = " ".join([*changed.split(), *lines[place].split()[5:]])
    (folder / "faulty.swf").write_text("\n".join(lines) + "\n")
    checked = run("validate", "faulty.swf", "--easy", cwd=folder)
    assert checked.returncode == 1, checked.stdout + checked.stderr
    assert message in checked.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["batch", "log.swf", "--policy", "ESAY"], "no batch policy is called 'ESAY'; did you"),
        (["batch", "missing.swf"], "missing.swf: No such file"),
        (["batch", "log.swf", "--nodes", "2x3"], "--nodes 2x3: write it as 120:processors=2"),
        (
            ["batch", "log.swf", "--nodes", f"{'9' * 18}:processors=2"],
            "the limit is 1,000,000 for a cluster",
        ),
        (["batch", "log.swf", "--nodes", f"{'9' * 5000}:processors=2"], "write it as 120:processo"),
        (["batch", "log.swf", "--nodes", "2:memory=3"], "say how many processors a node has"),
        (["batch", "log.swf", "--nodes", "2:processors=1", "--processors", "2"], "not both"),
        (["batch", "log.swf", "--nodes", "2:processors=2,memory=1"], "and does not fit on the"),
        (["batch", "log.swf", "--placement", "best-fit"], "--placement needs nodes"),
        (["batch", "log.swf", "--error", "1", "--estimates", "exact"], "leave out --estimates"),
        (["validate", "log.swf"], "log.swf: no job has a wait, so this is a log"),
    ],
)
def test_mistakes_are_explained_and_nothing_is_written(
    run: Run, folder: Path, arguments: list[str], message: str
) -> None:
    extra = ["--out", "out.swf"] if arguments[0] == "batch" else []
    done = run(*arguments, *extra, cwd=folder)
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert not (folder / "out.swf").exists()

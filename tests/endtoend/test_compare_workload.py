"""Comparing batch policies as a user does it: compare, interrupt, resume, report, query, diff."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run

ROOT = Path(__file__).parents[2]

LOG = """\
; MaxProcs: 4
1  0 -1 10 2 -1 -1 2 12 100 1 1 1 -1 0 -1 -1 -1
2  1 -1  5 4 -1 -1 4  6 100 1 2 1 -1 0 -1 -1 -1
3  2 -1  8 1 -1 -1 1  9 100 1 1 1 -1 1 -1 -1 -1
4  3 -1 30 1 -1 -1 1 30 100 1 3 1 -1 1 -1 -1 -1
5  4 -1  0 1 -1 -1 1 30 100 0 3 1 -1 1 -1 -1 -1
"""

SCENARIO = """\
kind = "batch"
name = "small"
policies = ["FCFS", "EASY"]
share = 2

[workload]
log = "logs/small.swf"
"""

DRAWN = """\
kind = "batch"
name = "drawn"
policies = ["FCFS", "EASY"]
estimates = ["exact"]
load_factors = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]
replications = 2

[workload]
generate = { jobs = 500, processors = 64, users = 5 }
load = 0.6
"""


CELLS = 12


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study/logs").mkdir(parents=True)
    (tmp_path / "study/logs/small.swf").write_text(LOG)
    (tmp_path / "study/small.toml").write_text(SCENARIO)
    return tmp_path


@pytest.mark.large
def test_a_comparison_from_the_scenario_to_the_questions(run: Run, folder: Path) -> None:
    done = run("compare", "study/small.toml", "--out", "a", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "1 row skipped: no run time" in done.stderr
    assert done.stdout.startswith("EASY instead of FCFS, on average:\n  queue 1 waits 6 s less")
    assert "by_group.csv, schedules.csv, users.csv, changes.csv, parts" in " ".join(
        done.stdout.split()
    )
    assert (folder / "a/report.html").stat().st_size > 100_000

    again = run("report", "a", "--out", "b", cwd=folder)
    assert again.returncode == 0, again.stderr
    for file in ("report.html", "schedules.csv", "charts/gantt.svg", "charts/users.png"):
        assert (folder / "a" / file).read_bytes() == (folder / "b" / file).read_bytes(), file

    sql = "select job from jobs where policy = 'EASY' and start = submit order by job"
    assert run("query", sql, "a", "--csv", cwd=folder).stdout.split() == ["job", "1", "3"]
    listed = run("runs", "a", cwd=folder)
    assert "small" in listed.stdout
    assert "2/2" in listed.stdout
    differ = run("diff", "a", "a", cwd=folder)
    assert differ.returncode == 0, differ.stderr
    assert "of 4 jobs 0 wait for less time, 0 for more, 4 for as long" in " ".join(
        differ.stdout.split()
    )


def test_the_builtin_scenario_is_listed(run: Run, folder: Path) -> None:
    done = run("scenarios", cwd=folder)
    listed = "backfilling_or_fairshare batch     Does backfilling or fairshare serve users better?"
    assert listed in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["study/small.toml", "--trace"], "does not work for scenarios of the kind batch"),
        (["study/small.toml", "--law", "rmc"], "does not work for scenarios of the kind batch"),
        (["study/small.toml", "--no-orders"], "does not work for scenarios of the kind batch"),
        (["study/small.toml", "--replications", "3"], "has no randomness"),
        (["study/none.toml"], "no such file"),
        (
            ["study/bad.toml"],
            "study/bad.toml:7: workload.log: there is no file study/logs/none.swf",
        ),
        (["study/wide.toml"], "job 3 takes 1 processors, 100 of memory for each and does not fit"),
        (["study/text.toml"], "study/logs/text.swf:2: "),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_left(
    run: Run, folder: Path, arguments: list[str], message: str
) -> None:
    (folder / "study/bad.toml").write_text(SCENARIO.replace("small.swf", "none.swf"))
    nodes = "[[machine.nodes]]\ncount = 4\nprocessors = 1\nmemory = 99\n"
    (folder / "study/wide.toml").write_text(SCENARIO + nodes)
    (folder / "study/text.toml").write_text(SCENARIO.replace("small.swf", "text.swf"))
    (folder / "study/logs/text.swf").write_text(LOG.replace(" 10 ", " ten "))
    done = run("compare", *arguments, "--out", "a", cwd=folder)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert not (folder / "a").exists()


@pytest.mark.large
@pytest.mark.usefixtures("without_charts")
def test_resume_does_what_is_missing_and_nothing_else(run: Run, folder: Path) -> None:
    (folder / "drawn.toml").write_text(DRAWN)
    done = run("compare", "drawn.toml", "--out", "a", "--explain", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "gives the half-width of the 95 % interval" in done.stdout
    parts = sorted((folder / "a/parts").glob("*.parquet"))
    assert len(parts) == CELLS
    content = {part: part.read_bytes() for part in parts}
    kept = {part: part.stat().st_mtime_ns for part in parts[::2]}
    for part in parts[1::2]:  # as if it had been interrupted
        part.unlink()
    refused = run("compare", "drawn.toml", "--out", "a", cwd=folder)
    assert refused.returncode == 2
    assert "continue it with --resume" in refused.stderr
    resumed = run("compare", "drawn.toml", "--out", "a", "--resume", "--explain", cwd=folder)
    assert (resumed.returncode, resumed.stdout) == (0, done.stdout)
    assert {part: part.read_bytes() for part in parts} == content
    assert {part: part.stat().st_mtime_ns for part in parts[::2]} == kept


@pytest.mark.large
def test_workers_know_the_policies_of_plugins(run: Run, folder: Path) -> None:
    (folder / "study/wide.toml").write_text(SCENARIO.replace("EASY", "WIDEST"))
    plugin = ROOT / "models/plugins/widest_first.py"
    options = ("--out", "a", "--workers", 2, "--plugin", plugin)
    done = run("compare", "study/wide.toml", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "WIDEST" in done.stdout
    without = run("report", "a", cwd=folder)
    assert without.returncode == 2
    assert "needs that plug-in to be resumed" in without.stderr

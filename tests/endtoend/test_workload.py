"""Logs of real machines on the command line, as a user would."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from rebecsim.cli.workload import workload_app
from rebecsim.workloads import generate, write_swf
from rebecsim.workloads.cleaning import RULES
from tests.conftest import Run

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference" / "workload.md"
COMMANDS = {
    command.name or command.callback.__name__: command.callback
    for command in workload_app.registered_commands
    if command.callback is not None
}


@pytest.fixture
def run(run: Run, tmp_path: Path) -> Run:
    """Run a command about workloads in the directory of the test."""
    return partial(run, "workload", cwd=tmp_path)


def test_a_log_is_described_and_drawn(run, shared_data, tmp_path):
    done = run("info", shared_data / "swf" / "KTH-SP2-1996.swf.gz", "--chart", "kth.png")
    assert done.returncode == 0, done.stderr
    assert "jobs              28,481" in done.stdout
    assert "8 rows skipped: no run time" in done.stdout
    assert done.stdout.endswith("picture in kth.png\n")
    assert (tmp_path / "kth.png").read_bytes().startswith(b"\x89PNG")


def test_a_workload_is_made_cut_and_judged(run, tmp_path):
    made = run("generate", "--out", "g.swf.gz", "--jobs", 500, "--users", 5, "--load", 0.7)
    assert made.stdout == "500 jobs in g.swf.gz, offered load 0.700\n"
    cut = run("slice", "g.swf.gz", "--out", "c.swf", "--user", 2, "--user", 3, "--first", 50)
    assert cut.stdout.startswith("50 jobs in c.swf")
    again = run("generate", "--out", "r.swf", "--like", "g.swf.gz", "--users", 3, "--seed", 2)
    assert again.returncode == 0, again.stderr
    table = run("convert", "g.swf.gz", "--out", "g.csv")
    assert table.stdout.startswith("500 jobs in g.csv")
    assert len((tmp_path / "g.csv").read_text().splitlines()) == 501
    assert run("info", "g.swf.gz").returncode == 0


def test_the_same_seed_gives_the_same_file(run, tmp_path):
    for name, seed in (("a.swf", 1), ("b.swf", 1), ("c.swf", 2)):
        run("generate", "--out", name, "--jobs", 100, "--seed", seed)
    a, b, c = ((tmp_path / f"{name}.swf").read_bytes() for name in "abc")
    assert a == b.replace(b"b.swf", b"a.swf")
    assert a != c


def test_the_schedule_of_a_real_machine_is_judged(run, shared_data, tmp_path):
    done = run(
        *("metrics", shared_data / "swf" / "hpc2n.swf", "--share", 24, "--by", "user"),
        *("--boxes", "boxes.svg", "--heatmap", "map.png"),
    )
    assert done.returncode == 0, done.stderr
    assert "25 rows skipped: run time unknown" in done.stderr
    assert "VEET of users: median" in done.stdout
    assert (tmp_path / "boxes.svg").exists()
    assert (tmp_path / "map.png").exists()


def test_a_view_of_one_user(run, shared_data):
    done = run(
        "metrics", shared_data / "swf" / "hpc2n.swf", "--user", 8, "--queue", -1, "--by", "queue"
    )
    assert "│  987 │" in done.stdout


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (b"1 2 3\n", "bad.swf:1: 3 fields instead of 18; is the line cut off?"),
        (b"1 0 0 x 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n", "field 4 (run) should be a number, not 'x'"),
        (b"1 " * 2_000_000, "bad.swf:1: a line of more than 65,536 bytes"),
        (
            b"\x1f\x8b\x08\x00\x00",
            "the compressed data are cut off about here; fetch the file",
        ),
        (b"", "no usable job in the log"),
    ],
)
def test_damaged_logs(run, tmp_path, damage, complaint):
    (tmp_path / "bad.swf").write_bytes(damage)
    done = run("convert", "bad.swf", "--out", "good.swf")
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "good.swf").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["info", "nothing.swf"], "nothing.swf: No such file or directory"),
        (["info", "g.swf", "--chart", "g.gif"], "should be named .png or .svg"),
        (["generate", "--out", "g.txt"], "should end with one of"),
        (
            ["generate", "--out", "x.swf", "--like", "g.swf", "--jobs", "5"],
            "--jobs cannot be given with --like",
        ),
        (["generate", "--out", "x.swf", "--load", "-1"], "offered load should be above 0"),
        (["slice", "g.swf", "--out", "x.swf", "--user", "9"], "no job of user 9"),
        (
            ["slice", "g.swf", "--out", "x.swf", "--load", "1", "--load-factor", "2"],
            "one of the two",
        ),
        (["slice", "g.swf", "--out", "x.swf", "--from", "99999999"], "no job is submitted from"),
        (["metrics", "g.swf"], "50 skipped: wait unknown"),
        (["metrics", "g.swf", "--boxes", "b.png"], "need --share"),
    ],
)
def test_what_cannot_be_done_is_said(run, tmp_path, arguments, complaint):
    write_swf(generate(50, 128, seed=0), tmp_path / "g.swf")
    done = run(*arguments)
    assert done.returncode == 2
    assert complaint in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x.swf").exists()


def test_the_reference_has_the_cleaning_rules_in_their_order():
    rules = "".join(f"|{rule.reason}|{rule.meaning}|\n" for rule in RULES)
    assert f"|Reason|Which rows|\n|---|---|\n{rules}" in REFERENCE.read_text("utf-8")

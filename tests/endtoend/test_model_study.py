"""Studies of a model of one's own, as a user runs them."""

from __future__ import annotations

import csv
import io
import re
import statistics
import sys
from unittest import mock

import pytest

from rebecsim.cli import main
from rebecsim.errors import ExitCode
from tests.clusters.model.models import SCENARIO, written
from tests.docs.markdown import ROOT

ONE = SCENARIO.replace("[1, 3]", "[3]").partition("[[observe]]\nwaits")[0]
"""One variant and one observation: little to draw."""


def called(capsys, *words: object) -> tuple[int, str, str]:
    """Run a command in this process: its exit code and what it prints."""
    code = 0
    with mock.patch.object(sys, "argv", ["rebecsim", *map(str, words)]):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    out, err = capsys.readouterr()
    return int(code or 0), out, err


def rows(capsys, sql: str, run: object) -> list[dict[str, str]]:
    code, out, err = called(capsys, "query", sql, run, "--csv")
    assert (code, err) == (0, "")
    return list(csv.DictReader(io.StringIO(out)))


@pytest.mark.usefixtures("without_charts")
def test_a_study_from_scenario_to_sql(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    path, run = written(tmp_path), tmp_path / "run"
    code, out, err = called(capsys, "compare", path, "--out", run, "--workers", 1, "--explain")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines()[:20])) <= 80
    assert "Run by run, all variants use the same random numbers" in out
    assert "All 24 runs ended alike: time limit." in out
    assert "Wait of desk.serve (time units)" in out
    cells = rows(capsys, "select * from cells order by SERVICE", run)
    assert [each["policy"] for each in cells] == ["SERVICE=1", "SERVICE=3"]
    for each in cells:
        where = f"where SERVICE = {each['SERVICE']}"
        runs = rows(capsys, f"select desk_served from replications {where}", run)
        mean = statistics.fmean(int(one["desk_served"]) for one in runs)
        assert float(each["desk_served"]) == pytest.approx(mean)
        waits = rows(capsys, f"select avg(wait) as mean from waits {where}", run)
        assert float(each["wait_desk_serve"]) == pytest.approx(float(waits[0]["mean"]))
    (pair,) = rows(capsys, "select * from differences where measure = 'wait_desk_serve'", run)
    assert pair["better"] == "SERVICE=1"
    assert (run / "charts/wait_desk_serve_waits.svg").exists()
    assert (run / "charts/desk_served_along.svg").exists()
    orders = (run / "orders.csv").read_text()
    assert "fifo" in orders
    page = (run / "report.html").read_text()
    assert "Differences between variants" in page
    assert "reactiveclass" not in page  # the model is recorded, and no setting to be read

    (tmp_path / "queue.rebeca").unlink()
    code, again, err = called(capsys, "report", run, "--out", tmp_path / "again", "--explain")
    assert (code, err) == (0, "")
    assert again.partition("\nreport ")[0] == out.partition("\nreport ")[0]


@pytest.mark.usefixtures("without_charts")
def test_more_replications_are_added_until_a_precision_is_reached(tmp_path, capsys):
    path, run = written(tmp_path, ONE), tmp_path / "run"
    options = ("--out", run, "--workers", 1, "--no-orders")
    assert called(capsys, "compare", path, *options)[0] == 0
    assert called(capsys, "compare", path, *options, "--resume", "--replications", 20)[0] == 0
    (found,) = rows(capsys, "select min(replications) as runs from cells", run)
    assert found["runs"] == "20"
    wanted = (*options[2:], "--out", tmp_path / "precise", "--precision", "20%")
    code, out, _ = called(capsys, "compare", path, *wanted)
    assert code == 0
    assert "reached by every variant after" in " ".join(out.split())


@pytest.mark.usefixtures("without_charts")
def test_many_runs_in_one_line_are_those_of_the_scenario(tmp_path, capsys):
    path, run = written(tmp_path, ONE), tmp_path / "run"
    assert called(capsys, "compare", path, "--out", run, "--workers", 1, "--no-orders")[0] == 0
    kept = tmp_path / "kept"
    words = ["simulate", tmp_path / "queue.rebeca", "--runs", 12, "--until", 60, "--seed", 2015]
    words += ["--env", "SERVICE=3", "--observe", "desk.served"]
    code, short, err = called(capsys, *words, "--workers", 1)
    assert (code, err) == (0, "")
    assert not kept.exists()
    assert called(capsys, *words, "--workers", 1, "--out", kept)[0] == 0
    sql = "select policy, replication, desk_served, messages from replications"
    assert rows(capsys, sql, run) == rows(capsys, sql, kept)
    figures = re.findall(r"SERVICE=3 │ +([\d.]+ ± [\d.]+)", short)
    code, stored, _ = called(capsys, "report", run, "--out", tmp_path / "again")
    assert figures
    assert figures == re.findall(r"SERVICE=3 │ +([\d.]+ ± [\d.]+)", stored)


def test_variants_are_generated_and_run_alone(tmp_path, capsys):
    path = written(tmp_path)
    code, out, _ = called(capsys, "generate", path, "--out", tmp_path / "variants")
    assert (code, out) == (0, f"2 models in {tmp_path / 'variants'}\n")
    models = sorted((tmp_path / "variants").iterdir())
    assert [each.name for each in models] == ["service_1.rebeca", "service_3.rebeca"]
    assert "env int SERVICE = 1;" in models[0].read_text()
    options = ("--until", 20, "--steps", 500, "--seed", 4)
    _, alone, _ = called(capsys, "simulate", models[0], *options)
    _, given, _ = called(
        capsys, "simulate", tmp_path / "queue.rebeca", "--env", "SERVICE=1", *options
    )
    assert alone == given
    assert "served = 1" in alone


def test_a_model_in_python_cannot_be_generated_and_is_not_run(tmp_path, capsys):
    scenario = SCENARIO.replace("queue.rebeca", "queue.py").replace("SERVICE", '"desk.service"')
    code, _, err = called(
        capsys, "generate", written(tmp_path, scenario), "--out", tmp_path / "variants"
    )
    assert code == ExitCode.BAD_INPUT
    assert "which is not a model in Rebeca" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--observe", "desk.srved"], "--observe 'desk.srved': 'desk.srved', column 1: `desk` has"),
        (["--observe", "waits=desk.srve"], "there is no message server desk.srve; did you mean"),
        (["--observe", "first=desk.served"], "is not a condition: its type is int"),
        (["--observe", "first=desk.served == "], "unexpected the end of the file"),
        (["--env", "SERVCE=1"], "--env SERVCE: there is no env constant of this name; did you"),
        (["--env", "SERVICE"], "--env SERVICE: write it as NAME=VALUE"),
        (["--env", "SERVICE=x"], "'x' is not a number, true or false"),
        (["--env", "SERVICE=1", "--env", "SERVICE=2"], "SERVICE was given before"),
        (["--every", "3"], "--every follows variables over time; give one with --observe"),
        (["--save", "x.json"], "is for a single run; leave it out"),
        (["--engine", "native", "--observe", "waits=desk.serve"], "the native engine cannot"),
    ],
)
def test_what_is_wrong_in_one_line_is_named(tmp_path, capsys, options, message):
    written(tmp_path)
    words = ["simulate", tmp_path / "queue.rebeca", "--runs", 2, "--until", 9, "--workers", 1]
    code, out, err = called(capsys, *words, *options)
    assert (code, out) == (ExitCode.BAD_INPUT, "")
    assert message in " ".join(err.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--observe", "desk.served"], "is for many runs; say how many with --runs"),
        (["--env", "SERVICE=1,2"], "--env SERVICE: one run has one value; give --runs for several"),
    ],
)
def test_a_single_run_observes_nothing(tmp_path, capsys, options, message):
    written(tmp_path)
    code, _, err = called(capsys, "simulate", tmp_path / "queue.rebeca", *options)
    assert code == ExitCode.BAD_INPUT
    assert message in " ".join(err.split())


def test_models_that_differ_are_compared_by_their_lines(tmp_path, run):
    text = (ROOT / "models/ticket_service.rebeca").read_text()
    for name, left in (("a", 2), ("b", 3)):
        (tmp_path / "office.rebeca").write_text(text.replace("left = 2;", f"left = {left};"))
        options = ("--runs", 3, "--until", 9, "--observe", "office.left", "--out", name)
        assert run("simulate", "office.rebeca", *options, cwd=tmp_path).returncode == 0
        page = (tmp_path / name / "report.html").read_text()
        assert "1 variant" in page
        assert "1 workload" not in page
    shown = run("diff", "a", "b", cwd=tmp_path).stdout
    assert re.search(r"scenario\.text │ 13: left = 2; +│ 13: left = 3; ", shown)
    assert "reactiveclass" not in shown
    assert "1 cell in both runs: 0 identical." in shown

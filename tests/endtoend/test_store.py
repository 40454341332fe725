"""Stored runs as a user sees them: runs, query, report, diff; and runs that are killed."""

import csv
import io
import json
import os
import random
import shutil
import signal
import time
from functools import partial

import pyarrow.parquet as pq
import pytest

from benchmarks.kill_and_resume import SCENARIOS as KINDS, kill_and_resume
from tests.program import started, undrawn

SCENARIO = """\
kind = "dispatch"
name = "tiny"
title = "A tiny comparison"
policies = ["EDF", "FIFO"]
app_masters = [1, 2]
queue_size = 4
epsilon = 0.5
replications = 10
ticks = 30

[[arrivals]]
pattern = "uniform"
count = 1

[[lengths]]
pattern = "nondet"
minimum = 1
maximum = 4
"""


@pytest.fixture(scope="module")
def made(run, tmp_path_factory):
    """A directory with two runs, made once; only to be read."""
    place = tmp_path_factory.mktemp("store")
    (place / "tiny.toml").write_text(SCENARIO)
    done = run("compare", "tiny.toml", "--out", "results/fair", cwd=place)
    assert done.returncode == 0, done.stderr
    with undrawn():  # no test looks at its charts
        done = run("compare", "tiny.toml", "--out", "results/old/rmc", "--law", "rmc", cwd=place)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def store(made, tmp_path):
    """A copy of these runs to do harm to."""
    return shutil.copytree(made, tmp_path / "store")


@pytest.fixture
def read(run, made):
    """Run the program in the directory above the runs."""
    return partial(run, cwd=made, columns=150)


@pytest.fixture
def use(run, store):
    """Run the program in the directory above the copied runs."""
    return partial(run, cwd=store, columns=150)


def snapshot(directory):
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_runs_are_listed(read):
    done = read("runs")
    assert done.returncode == 0, done.stderr
    for text in ("results/fair", "results/old/rmc", "tiny", "EDF, FIFO", "4/4", "2015", "MB"):
        assert text in done.stdout
    inside = read("runs", "results")
    assert "\nold/rmc " in inside.stdout


def test_queries_are_answered(read):
    sql = "select run, policy, sum(completions) as done from replications group by all order by all"
    table = read("query", sql)
    assert table.returncode == 0, table.stderr
    assert "results/old/rmc" in table.stdout
    rows = list(csv.DictReader(io.StringIO(read("query", sql, "--csv").stdout)))
    assert [(row["run"], row["policy"]) for row in rows] == [
        (run, policy) for run in ("results/fair", "results/old/rmc") for policy in ("EDF", "FIFO")
    ]
    found = json.loads(read("query", sql, "results", "--json").stdout)
    assert [str(row["done"]) for row in found] == [row["done"] for row in rows]


def test_all_kinds_of_values_can_be_written(read):
    sql = (
        "select policies, true as yes, null as nothing, 'nan'::double as nan, 1.50 as d, "
        "'a,\"b' as text, date '2015-01-02' as day, {'x': [1]} as s from runs limit 1"
    )
    code, out, _ = read("query", sql, "--json")
    assert code == 0
    assert json.loads(out) == [
        {
            "policies": ["EDF", "FIFO"],
            "yes": True,
            "nothing": None,
            "nan": None,
            "d": 1.5,
            "text": 'a,"b',
            "day": "2015-01-02",
            "s": {"x": [1]},
        }
    ]
    _, out, _ = read("query", sql, "--csv")
    [row] = csv.DictReader(io.StringIO(out))
    assert json.loads(row["policies"]) == ["EDF", "FIFO"]
    assert (row["yes"], row["nothing"], row["nan"], row["d"]) == ("true", "", "", "1.5")
    assert (row["text"], row["day"], row["s"]) == ('a,"b', "2015-01-02", '{"x": [1]}')
    code, out, _ = read("query", sql)
    assert code == 0
    assert "2015-01-02" in out
    assert json.loads(read("query", "from runs where seed = 1", "--json")[1]) == []


def test_long_tables_say_that_there_is_more(read):
    assert "only the first 100 rows" not in read("query", "from range(100)")[1]
    code, out, _ = read("query", "from range(101)")
    assert (code, out.count("│ 99")) == (0, 1)
    assert "│ 100" not in out
    assert "only the first 100 rows; --csv or --json gives all" in out
    assert len(read("query", "from range(2500)", "--csv")[1].splitlines()) == 2501


def test_a_report_is_drawn_again_without_simulating(store, use, monkeypatch):
    original = snapshot(store / "results" / "fair")
    monkeypatch.setattr("rebecsim.studies.running._done", lambda pack: 1 / 0)
    code, out, err = use("report", "results/fair", "--out", "again")
    assert (code, err) == (0, "")
    assert "A tiny comparison" in out
    assert "again/report.html" in out
    for path, content in original.items():
        name = path.relative_to(store / "results" / "fair")
        if path.suffix in (".csv", ".svg", ".png"):
            assert (store / "again" / name).read_bytes() == content
    assert snapshot(store / "results" / "fair") == original

    page = store / "results" / "fair" / "report.html"
    page.unlink()
    assert use("report", "results/fair")[0] == 0
    assert "A tiny comparison" in page.read_text()


def test_two_runs_are_compared(read):
    code, out, _ = read("diff", "results/fair", "results/old/rmc")
    assert code == 0
    for text in ("scenario.choice_law", "fair", "rmc", "Deadline misses", "app masters 1"):
        assert text in out
    assert "4 cells in both runs: 0 identical." in out
    code, out, _ = read("diff", "results/fair", "results/fair")
    assert (code, out) == (
        0,
        "The settings are the same.\n4 cells in both runs: 4 identical.\n",
    )


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["runs", "nowhere"], ["nowhere", "is not a directory"]),
        (["runs", "empty"], ["empty: there are no runs", "--out"]),
        (["query", "select 1", "empty"], ["empty: there are no runs"]),
        (["query", "selec 1"], ["query: ", "syntax error"]),
        (["query", "select x from runs"], ['"x" not found', "Views are"]),
        (["query", "select * from read_text('tiny.toml')"], ["Permission Error"]),
        (["query", "copy runs to 'stolen.csv'"], ["COPY"]),
        (["query", "select 1", "--csv", "--json"], ["--csv, --json and --parquet"]),
        (["report", "nowhere"], ["nowhere: there is no run here"]),
        (["report", "results"], ["results: there is no run here"]),
        (["report", "tiny.toml"], ["tiny.toml: there is no run here"]),
        (["diff", "results/fair", "results"], ["results: there is no run here"]),
        (["report", "results/fair", "--out", "tiny.toml"], ["tiny.toml"]),
    ],
)
def test_bad_input_leaves_the_store_as_it_is(arguments, parts, store, use):
    (store / "empty").mkdir()
    before = snapshot(store)
    code, _, errors = use(*arguments)
    assert code == 2
    for part in parts:
        assert part in errors
    assert snapshot(store) == before


def test_a_damaged_part_is_named_everywhere(store, use):
    fair = store / "results" / "fair"
    part = sorted((fair / "parts").iterdir())[0]
    good = part.read_bytes()
    content = bytearray(good)
    content[50] ^= 4
    part.write_bytes(content)
    before = snapshot(store)
    code, out, errors = use("query", "select distinct run from replications", "--csv")
    assert (code, out) == (0, "run\nresults/old/rmc\n")
    assert f"{part.name} is damaged: " in errors
    assert "results/fair is left out" in errors
    for command in (
        ["report", "results/fair"],
        ["diff", "results/old/rmc", "results/fair"],
    ):
        code, out, errors = use(*command)
        assert (code, out) == (2, "")
        assert f"{part.name} is damaged: " in errors
        assert "--resume" in errors
    assert snapshot(store) == before

    done = use("compare", "tiny.toml", "--out", "results/fair", "--resume")
    assert done.returncode == 0
    assert f"part results/fair/parts/{part.name} is damaged: " in done.stderr
    assert "; computing it again" in done.stderr
    assert part.read_bytes() == good


def test_a_damaged_record_is_named_and_other_runs_are_listed(store, use):
    record = store / "results" / "old" / "rmc" / "run.json"
    record.write_text("{")
    code, out, errors = use("runs")
    assert code == 2
    assert "results/fair" in out
    assert "results/old/rmc/run.json: cannot be read" in errors
    code, out, errors = use("query", "select run from runs", "--csv")
    assert (code, out) == (0, "run\nresults/fair\n")
    assert "warning: " in errors
    assert "run.json: cannot be read" in errors


def test_views_are_listed_where_nothing_is_asked(read):
    for command in (["query"], ["query", "results"]):
        code, out, _ = read(*command)
        assert code == 0
        for name in ("runs", "cells", "replications", "differences", "deadline_misses_high"):
            assert name in out


def test_answers_are_written_as_parquet(use, store):
    sql = "select run, sum(completions) as done, avg(drops) as mean from replications group by run"
    code, out, _ = use("query", sql, "--parquet", "answer.parquet")
    assert (code, out) == (0, "rows in answer.parquet\n")
    rows = pq.read_table(store / "answer.parquet").to_pylist()
    assert sorted(row["run"] for row in rows) == ["results/fair", "results/old/rmc"]
    assert all(isinstance(row["done"], int) and isinstance(row["mean"], float) for row in rows)


def test_a_second_writer_is_told_who_the_first_is(run, tmp_path):
    long = SCENARIO.replace("replications = 10", "replications = 2000")
    (tmp_path / "long.toml").write_text(long)
    command = ("compare", "long.toml", "--out", "long", "--workers", 1, "--engine", "python")
    with started(*command, cwd=tmp_path) as first:
        lock, parts = tmp_path / "long" / ".lock", tmp_path / "long" / "parts"
        while first.poll() is None and not any(parts.glob(".*.tmp")):
            time.sleep(0.01)
        assert lock.read_text().startswith(f"process {first.pid} ")
        first.send_signal(signal.SIGSTOP)  # so that it does not end before the second has begun
        second = run(*command, "--resume", cwd=tmp_path)
        first.kill()
    assert second.returncode == 2
    assert f"process {first.pid} on " in second.stderr
    assert "is writing here" in second.stderr


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
@pytest.mark.parametrize(
    "kind", [pytest.param(each, marks=[pytest.mark.slow] * (each != "dispatch")) for each in KINDS]
)
def test_killed_runs_go_on_with_the_same_results(kind, tmp_path):
    """`benchmarks/kill_and_resume.py` does the same with 10 kills of each kind."""
    assert len(kill_and_resume(tmp_path, 2, random.Random(), kind)) == 2

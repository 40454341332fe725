"""SQL over runs: the views, and everything that it must not do."""

from datetime import UTC, datetime

import pyarrow.parquet as pq
import pytest

from rebecsim.experiments import Results, ResultsError, plan_scenario, run_plan
from rebecsim.experiments.plan import PlannedCell
from rebecsim.experiments.query import QueryError, query
from rebecsim.experiments.store import open_run


@pytest.fixture
def runs(small, tmp_path):
    """Two runs: one complete, one of which a cell is missing."""
    stored = []
    for name, law in (("fair", "fair"), ("rmc's", "rmc")):
        scenario = small.replace(choice_law=law)
        plan = plan_scenario(scenario)
        results = Results.create(tmp_path / name, scenario)
        run_plan(plan, results)
        if law == "rmc":
            results.part(plan.cells[3]).unlink()
        stored.append(open_run(results.directory, name))
    return stored


def ask(sql, runs):
    return list(query(sql, runs).rows)


def test_a_row_for_each_run(runs):
    answer = query("select * from runs order by run", runs)
    [first, second] = (dict(zip(answer.columns, row, strict=True)) for row in answer.rows)
    assert first["started"] <= datetime.now(UTC).replace(tzinfo=None)
    assert first.pop("started").isoformat() + "+00:00" == runs[0].record["started"]
    assert first.pop("bytes") == runs[0].size
    assert first == {
        "run": "fair",
        "scenario": "small",
        "title": "small",
        "policies": ["EDF", "MDF"],
        "cells": 4,
        "finished": 4,
        "replications": 6,
        "seed": 7,
        "choice_law": "fair",
        "rebecsim": runs[0].record["versions"]["rebecsim"],
    }
    assert (second["run"], second["choice_law"], second["finished"]) == ("rmc's", "rmc", 3)


def test_a_row_for_each_cell(runs):
    assert ask("select count(*), count(bytes) from cells where finished", runs) == [(7, 7)]
    [row] = ask("from cells where not finished", runs)
    cell = runs[1].plan.cells[3]
    assert row == ("rmc's", cell.name, "MDF", "nondet 0..2", "nondet 1..4", 3, False, None)


def test_a_row_for_each_replication(runs):
    rows = ask("from replications order by run, cell, replication", runs)
    assert len(rows) == 7 * 6
    run = runs[0]
    cell = run.plan.cells[0]
    expected = pq.read_table(run.results.part(cell)).to_pylist()
    place = ("fair", cell.name, "EDF", "nondet 0..2", "nondet 1..4", 1)
    assert rows[:6] == [(*place, *row.values()) for row in expected]


def test_views_can_be_joined_and_summed_up(runs):
    sql = """
        with means as (
            select choice_law, policy, avg(completions) as mean
            from replications join runs using (run) where app_masters = 1 group by all
        )
        select choice_law, policy, mean from means order by all
    """
    rows = ask(sql, runs)
    moments = {m.cell: m for m in runs[0].results.moments(runs[0].plan)}
    cell = runs[0].plan.cells[0].cell
    mean = float(moments[cell].mean_of({"completions": 1}))
    assert rows[0] == ("fair", "EDF", pytest.approx(mean))
    assert [row[:2] for row in rows[1:]] == [("fair", "MDF"), ("rmc", "EDF"), ("rmc", "MDF")]


def test_a_counter_that_a_run_lacks_is_null(runs, small, tmp_path, monkeypatch):
    counters = {"queue_misses": "m_queue_misses", "checkpoints": "m_update_misses"}
    monkeypatch.setattr(PlannedCell, "counters", property(lambda cell: counters))
    scenario = small.replace(seed=9)
    plan = plan_scenario(scenario)
    results = Results.create(tmp_path / "other", scenario)
    run_plan(plan, results)
    other = open_run(results.directory, "other")
    monkeypatch.undo()
    # Each run with its own counters, as runs of different models have them.
    both = PlannedCell.counters.fget
    monkeypatch.setattr(
        PlannedCell, "counters", property(lambda c: counters if c in plan.cells else both(c))
    )
    sql = """
        select run, count(queue_misses), count(checkpoints), count(drops)
        from replications group by run order by run
    """
    assert ask(sql, [runs[0], other]) == [("fair", 24, 0, 24), ("other", 24, 24, 0)]


def test_columns_can_be_listed(runs):
    names = [row[0] for row in ask("describe replications", runs)]
    assert names[:2] == ["run", "cell"]
    assert names[-1] == "outcome"
    views = ["cells", "jobs", "replications", "runs", "schedules"]
    assert sorted(row[0] for row in ask("show tables", runs)) == views


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("", "there are 0 statements"),
        ("-- nothing", "there are 0 statements"),
        ("select 1; select 2", "there are 2 statements"),
        ("selec 1", "syntax error"),
        ("select nosuch from runs", '"nosuch" not found(.|\n)*Views are runs: a row for each run'),
        ("select * from nosuch", "nosuch does not exist"),
        ("select cast(run as int) from runs", "Could not convert string"),
        ("select 1 / 0 :: int from runs, error('asked for')", "rror"),
        ("drop view runs", "DROP is not for this store, which is only read"),
        ("create table runs2 as from runs", "CREATE is not for"),
        ("insert into runs values (1)", "INSERT is not for"),
        ("update runs set seed = 1", "UPDATE is not for"),
        ("delete from runs", "DELETE is not for"),
        ("set enable_external_access = true", "SET is not for"),
        ("attach 'out.db'", "ATTACH is not for"),
        ("install httpfs", "is not for"),
        ("load 'x.so'", "LOAD is not for"),
        ("pragma enable_profiling", "is not for"),
        ("call pragma_version()", "CALL is not for"),
    ],
)
def test_what_is_refused(sql, message, runs):
    with pytest.raises(QueryError, match=message):
        ask(sql, runs)


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_csv('{secret}')",
        "select * from read_text('{secret}')",
        "select * from read_blob('{secret}')",
        "select * from read_json('{secret}')",
        "select * from read_parquet('{part}')",
        "select * from '{part}'",
        "select * from '{secret}'",
        "select * from glob('{folder}/*')",
        "select * from sniff_csv('{secret}')",
        "select * from parquet_metadata('{part}')",
        "select * from query('select * from read_text(''{secret}'')')",
        "select * from query_table('{part}')",
        "copy (select 42) to '{folder}/written.csv'",
        "copy runs to '{part}'",
        "export database '{folder}/written'",
        "explain analyze copy runs to '{folder}/written.csv'",
        "select * from stored",  # a variable of this program
        "select getenv('HOME')",
    ],
)
def test_files_are_out_of_reach(sql, runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    part = runs[0].results.part(runs[0].plan.cells[0])
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    with pytest.raises(QueryError):
        ask(sql.format(secret=secret, part=part, folder=tmp_path), runs)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_damage_is_named_when_it_matters(runs):
    path = runs[0].results.part(runs[0].plan.cells[1])
    content = bytearray(path.read_bytes())
    content[60] ^= 1
    path.write_bytes(content)
    for sql in (
        "select count(*) from replications",
        "with r as (from replications) select max(drops) from r",
        "select (select sum(drops) from REPLICATIONS) from runs",
        "summarize replications",
        "from query('from replications')",
    ):
        with pytest.raises(ResultsError, match=f"part {path} is damaged"):
            ask(sql, runs)
    assert ask("select count(*) from cells", runs) == [(8,)]
    assert path.read_bytes() == content


def test_a_part_that_goes_away_is_an_error_not_an_answer(runs):
    runs[0].results.part(runs[0].plan.cells[1]).unlink()
    with pytest.raises(FileNotFoundError):
        ask("select sum(drops) from replications", runs)

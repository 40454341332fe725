"""SQL over runs: the views, and everything that it must not do."""

import shutil
from datetime import UTC, datetime

import pyarrow.parquet as pq
import pytest

from rebecsim.clusters.dispatch.measures import DEADLINE_MISSES
from rebecsim.clusters.scenarios import open_run, plan_scenario
from rebecsim.studies import Results, paired_moments, pairwise_differences
from rebecsim.studies.estimates import estimate
from rebecsim.studies.query import QueryError, query, views
from tests.plans import run_plan


@pytest.fixture(scope="module")
def made(small, tmp_path_factory):
    """Two runs: one complete, one of which a cell is missing."""
    place = tmp_path_factory.mktemp("made")
    for name, law in (("fair", "fair"), ("rmc's", "rmc")):
        plan = plan_scenario(small.replace(choice_law=law))
        results = Results.create(place / name, plan)
        run_plan(plan, results)
        if law == "rmc":
            results.part(plan.cells[3]).unlink()
    return place


@pytest.fixture
def runs(made, tmp_path):
    """Copies of these runs, to be asked and damaged."""
    return [
        open_run(shutil.copytree(made / name, tmp_path / name), name) for name in ("fair", "rmc's")
    ]


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
        "kind": "dispatch",
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
    cell = runs[1].cells[3]
    place = ("rmc's", cell.name, "MDF", "nondet 0..2", "nondet 1..4", 3, False)
    assert row == (*place, *[None] * 11)


def test_cells_have_every_measure_with_its_interval(runs):
    sql = "select deadline_misses, deadline_misses_low, replications from cells where run = 'fair'"
    rows = ask(sql + " order by cell", runs)
    cells = sorted(runs[0].cells, key=lambda cell: cell.name)
    for row, moments in zip(rows, runs[0].results.moments(cells), strict=True):
        expected = estimate(DEADLINE_MISSES, [moments])
        assert row == (expected.value, expected.low, 6)


def test_differences_are_those_of_complete_runs(runs):
    rows = ask("select run, measure, first, second, shown from differences order by all", runs)
    assert [row[:4] for row in rows] == [
        ("fair", name, "EDF", "MDF")
        for name in ("am_job_success", "deadline_misses", "job_request_success")
    ]
    pairs = paired_moments(runs[0].results, runs[0].cells, ["queue_misses", "update_misses"])
    [pair] = pairwise_differences([DEADLINE_MISSES], pairs)
    sql = "select difference, holm_p_value from differences where measure = 'deadline_misses'"
    assert ask(sql, runs) == [(pair.estimate.value, pair.adjusted_p_value)]


def test_a_row_for_each_replication(runs):
    rows = ask("from replications order by run, cell, replication", runs)
    assert len(rows) == 7 * 6
    run = runs[0]
    cell = run.cells[0]
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
    moments = {m.cell: m for m in runs[0].results.moments(runs[0].cells)}
    cell = runs[0].cells[0].cell
    mean = float(moments[cell].mean_of({"completions": 1}))
    assert rows[0] == ("fair", "EDF", pytest.approx(mean))
    assert [row[:2] for row in rows[1:]] == [("fair", "MDF"), ("rmc", "EDF"), ("rmc", "MDF")]


def test_a_counter_that_a_run_lacks_is_null(runs, small, tmp_path):
    eviction = {"checkpoint_overhead": 0}
    plan = plan_scenario(small.replace(policies=["MDF"], eviction=eviction))
    results = Results.create(tmp_path / "other", plan)
    run_plan(plan, results)
    other = open_run(results.directory, "other")
    sql = """
        select run, count(queue_misses), count(checkpoints), count(drops)
        from replications group by run order by run
    """
    assert ask(sql, [runs[0], other]) == [("fair", 24, 0, 24), ("other", 0, 12, 12)]


def test_columns_can_be_listed(runs):
    names = [row[0] for row in ask("describe replications", runs)]
    assert names[:2] == ["run", "cell"]
    assert names[-1] == "outcome"
    assert list(views(runs)) == ["runs", "cells", "replications", "differences"]
    assert "deadline_misses_high" in views(runs)["cells"][1]
    assert sorted(row[0] for row in ask("show tables", runs)) == sorted(views(runs))


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("", "there are 0 statements"),
        ("-- nothing", "there are 0 statements"),
        ("select 1; select 2", "there are 2 statements"),
        ("selec 1", "syntax error"),
        ("select nosuch from runs", '"nosuch" not found(.|\n)*Views are runs: run, kind, '),
        ("select * from nosuch", "nosuch does not exist"),
        ("select cast(run as int) from runs", "Could not convert string"),
        ("select 1 / 0 :: int from runs, error('asked for')", "rror"),
        ("drop view runs", "DROP is refused, because a query only reads"),
        ("create table runs2 as from runs", "CREATE is refused"),
        ("insert into runs values (1)", "INSERT is refused"),
        ("update runs set seed = 1", "UPDATE is refused"),
        ("delete from runs", "DELETE is refused"),
        ("set enable_external_access = true", "SET is refused"),
        ("attach 'out.db'", "ATTACH is refused"),
        ("install httpfs", "is refused"),
        ("load 'x.so'", "LOAD is refused"),
        ("pragma enable_profiling", "is refused"),
        ("call pragma_version()", "CALL is refused"),
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
    part = runs[0].results.part(runs[0].cells[0])
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    with pytest.raises(QueryError):
        ask(sql.format(secret=secret, part=part, folder=tmp_path), runs)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_damage_is_named_when_it_matters(runs):
    path = runs[0].results.part(runs[0].cells[1])
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
        told = []
        answer = list(query(sql, runs, told.append).rows)
        assert len(told) == 1
        assert told[0].startswith(f"part {path} is damaged")
        assert "fair is left out" in told[0]
        assert answer
    assert ask("select count(*) from runs", runs) == [(2,)]
    assert list(query("select count(*) from cells", runs, lambda text: None).rows) == [(4,)]
    assert path.read_bytes() == content


def test_a_part_that_goes_away_is_an_error_not_an_answer(runs):
    runs[0].results.part(runs[0].cells[1]).unlink()
    with pytest.raises(QueryError, match="Failed to open"):
        ask("select sum(drops) from replications", runs)


def test_a_question_takes_no_more_memory_than_its_limit(runs, monkeypatch):
    monkeypatch.setenv("REBECSIM_MAX_QUERY", "50")
    huge = "SELECT list(a.range) FROM range(100000000) a"
    with pytest.raises(QueryError, match=r"The limit is 50 MB. To raise it, set REBECSIM_MAX_Q"):
        list(query(huge, runs).rows)

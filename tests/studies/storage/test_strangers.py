"""Run directories that somebody else has made: nothing in them is followed, or taken on trust."""

import json
import os
import re
import shutil
import sys
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rebecsim.clusters.scenarios import open_run, plan_of_run, plan_scenario
from rebecsim.errors import UserError
from rebecsim.files import digest_of
from rebecsim.report import write_report
from rebecsim.report.comparison import report_input
from rebecsim.studies import Results, ResultsError
from rebecsim.studies.parts import write_checksums
from rebecsim.studies.query import query
from rebecsim.studies.run_directory import exclusive, is_being_written, last_writer
from rebecsim.studies.stored_runs import compare_runs
from tests.plans import run_plan

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")


@pytest.fixture(scope="module")
def made(small, tmp_path_factory):
    """A complete run, only to be read."""
    plan = plan_scenario(small.replace(replications=2))
    results = Results.create(tmp_path_factory.mktemp("made") / "run", plan)
    run_plan(plan, results)
    return results.directory


@pytest.fixture
def sent(made, tmp_path):
    """A copy of it to change, beside what it must not touch."""
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/own.svg").write_text("own")
    return shutil.copytree(made, tmp_path / "sent")


def link(place, to):
    """Put a symbolic link where a file or folder is, or none."""
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.symlink_to(to)


def report(run):
    stored = open_run(run)
    plan = plan_of_run(stored)
    write_report(report_input(plan, stored.results), run)


# --- links ---------------------------------------------------------------------------------------

INSIDE = (
    *("table.csv", "report.html", ".report.json", ".lock", "run.json", "exact.json", "own.txt"),
    *("parts/edf_nondet0to2_nondet1to4_am1.parquet", "checksums/edf_nondet0to2_nondet1to4_am1.b2"),
)


@pytest.mark.parametrize("name", INSIDE)
@pytest.mark.parametrize("to", ["../victim", "nowhere", "/dev/zero"])
def test_a_run_with_a_link_in_it_is_not_opened(name, to, sent, small, tmp_path):
    link(sent / name, to if "/" not in name else f"../{to}")
    plan = plan_scenario(small.replace(replications=2))
    for use in (open_run, report, lambda run: Results.resume(run, plan)):
        with pytest.raises(ResultsError, match=r"is a symbolic link, so the run is not opened"):
            use(sent)
    with pytest.raises(ResultsError):
        Results(sent).writing().__enter__()
    assert (tmp_path / "victim").read_text() == "precious"


@pytest.mark.parametrize("name", ["charts", "parts", "checksums", "orders", "orders/fifo", "own"])
def test_a_folder_that_is_a_link_is_not_gone_into(name, sent, tmp_path):
    (sent / "orders").mkdir()
    link(sent / name, tmp_path / "folder")
    (sent / ".report.json").write_text('["charts/own.svg"]')
    with pytest.raises(ResultsError, match=f"{name}: is a symbolic link"):
        report(sent)
    assert [each.name for each in (tmp_path / "folder").iterdir()] == ["own.svg"]


def test_the_directory_itself_may_be_named_by_a_link(sent, tmp_path):
    (tmp_path / "named").symlink_to(sent)
    report(tmp_path / "named")
    assert (sent / "table.csv").is_file()
    with Results(tmp_path / "named").writing():
        assert is_being_written(sent)


def test_what_would_be_waited_for_is_not_opened(sent):
    (sent / "run.json").unlink()
    os.mkfifo(sent / "run.json")
    with pytest.raises(ResultsError, match=r"run\.json: is neither file nor folder"):
        open_run(sent)


def test_hidden_folders_are_no_part_of_a_run(sent):
    (sent / ".git").mkdir()
    (sent / ".git/link").symlink_to("/dev/zero")
    report(sent)


# --- what is written and removed -----------------------------------------------------------------


def test_a_lock_is_a_file_of_ours_alone(sent, tmp_path):
    (sent / ".lock").unlink()
    (sent / ".lock").hardlink_to(tmp_path / "victim")
    with pytest.raises(ResultsError, match=r"\.lock: this is not a lock file of rebecsim"):
        exclusive(sent).__enter__()
    (sent / ".lock").unlink()
    (sent / ".lock").write_text("notes of mine")
    with pytest.raises(ResultsError, match=r"\.lock: this is not a lock file of rebecsim"):
        exclusive(sent).__enter__()
    assert (sent / ".lock").read_text() == "notes of mine"
    assert (tmp_path / "victim").read_text() == "precious"
    (sent / ".lock").write_text("process 5 on elsewhere\n")  # as earlier versions wrote it
    with exclusive(sent):
        assert last_writer(sent) == os.getpid()


def test_the_words_of_a_lock_do_nothing_to_a_terminal(sent):
    with exclusive(sent):
        (sent / ".lock").write_text("process 5 on x\x1b[2J\ncommand y\x07\nsince ever\n")
        with pytest.raises(ResultsError) as caught:
            exclusive(sent).__enter__()
    assert r"process 5 on x\u001b[2J (`y\u0007`, since ever) is writing here" in str(caught.value)
    (sent / ".lock").write_text("")


def test_a_report_removes_nothing_but_what_it_may_have_written(sent, tmp_path):
    report(sent)
    listed = ["../victim", "run.json", "parts", "charts/../../victim", "/etc/passwd", 7, None, {}]
    for text in (json.dumps(listed), "[" * 5_000, '{"a": 1}', "\xff", " " * 2_000_000):
        (sent / ".report.json").write_text(text, "latin-1")
        report(sent)
    assert (tmp_path / "victim").read_text() == "precious"
    assert open_run(sent).finished


@pytest.mark.parametrize("names", [["table.csv"], ["parts/measured.parquet"], [".report.json"]])
def test_a_directory_of_somebody_else_is_left_as_it_is(names, small, tmp_path):
    mine = tmp_path / "mine"
    for name in names:
        (mine / name).parent.mkdir(parents=True, exist_ok=True)
        (mine / name).write_text("mine")
    plan = plan_scenario(small)
    said = f"other files ({names[0].replace('measured.parquet', '')}); choose a new or an"
    for make in (Results.create, Results.resume):
        with pytest.raises(ResultsError, match=re.escape(said)):
            make(mine, plan)
    assert [(mine / name).read_text() for name in names] == ["mine"] * len(names)
    assert sorted(path.name for path in mine.rglob("*") if path.is_file()) == [
        name.rpartition("/")[2] for name in names
    ]


def test_a_report_goes_where_there_is_nothing_or_an_earlier_one(sent, tmp_path):
    stored = open_run(sent)
    drawn = report_input(plan_of_run(stored), stored.results)
    for _ in range(2):
        write_report(drawn, tmp_path / "new")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/table.csv").write_text("mine")
    with pytest.raises(UserError, match=r"holds other files \(table\.csv\); choose a"):
        write_report(drawn, tmp_path / "mine")
    assert (tmp_path / "mine/table.csv").read_text() == "mine"
    link(tmp_path / "new/table.csv", tmp_path / "victim")
    with pytest.raises(OSError, match="a symbolic link leads out of the directory"):
        write_report(drawn, tmp_path / "new")
    assert (tmp_path / "victim").read_text() == "precious"


def test_nothing_is_removed_where_the_folder_of_charts_leads(sent, tmp_path):
    """A run without a chart has no file in `charts`, so only the folder itself shows the link."""
    stored = open_run(sent)
    drawn = replace(report_input(plan_of_run(stored), stored.results), axis=None, sections=())
    write_report(drawn, tmp_path / "new")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/mine.svg").write_text("precious")
    (tmp_path / "new/charts").rmdir()
    (tmp_path / "new/charts").symlink_to(tmp_path / "elsewhere")
    listed = tmp_path / "new/.report.json"
    listed.write_text(json.dumps([*json.loads(listed.read_text()), "charts/mine.svg"]))
    with pytest.raises(OSError, match="a symbolic link leads out of the directory"):
        write_report(drawn, tmp_path / "new")
    assert (tmp_path / "elsewhere/mine.svg").read_text() == "precious"


# --- records -------------------------------------------------------------------------------------


def changed(run, change):
    path = run / "run.json"
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


def set_to(*path, value):
    """Change one value of a record."""

    def change(record):
        for key in path[:-1]:
            record = record[key]
        record[path[-1]] = value

    return change


FAULTS = {
    "a condition that is a list": (
        ("cells", 0, "condition", "app_masters"),
        [4],
        "must be a short",
    ),
    "a policy that is a list": (("cells", 3, "policy"), ["EDF"], "cells.3.policy: "),
    "a name that leads upwards": (("cells", 0, "name"), "../up", "cells.0.name: "),
    "a hidden name": (("cells", 0, "name"), ".lock", "cells.0.name: String should match"),
    "a name of a folder": (("tables", "parts"), {"a": "int32"}, "is a reserved name"),
    "a number that is none": (("scenario", "epsilon"), float("nan"), "that is not finite"),
    "a number without end": (("cells", 0, "condition", "app_masters"), 1e999, "not finite"),
    "a number too large": (("scenario", "seed"), 2**63, "scenario.seed: "),
    "a yes for a number": (("cells", 0, "most"), True, "cells.0.most: "),
    "a type that nobody has": (("columns", "drops"), "timestamp[s]", "columns.drops: "),
    "a level of more than all": (("level",), 1.5, "level: "),
    "a time before all times": (
        ("started",),
        "0001-01-01T00:00:00+23:59",
        "started: is not a time",
    ),
    "a scenario that is a list": (("scenario", "name"), [], "scenario.name: "),
    "a measure of nothing": (("measures", 0, "numerator"), {}, "measures.0.numerator: "),
    "a key of a measure": (("measures", 0, "more"), 1, "measures.0.more: "),
    "a baseline that is not there": (("baseline",), "NONE", "there is no cell of 'NONE'"),
    "a cell twice": (("cells", 1, "name"), "edf_nondet0to2_nondet1to4_am1", "not all different"),
    "a weight too large": (
        ("measures", 0, "numerator", "queue_misses"),
        1e300,
        "between -1e+30 and 1e+30",
    ),
    "a long text": (("caution",), "x" * 10_001, "caution: "),
    "nested": (("plugins",), json.loads("[" * 300 + "]" * 300), "levels; the limit is 200"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_record_is_looked_at_before_it_is_used(name, sent):
    path, value, said = FAULTS[name]
    changed(sent, set_to(*path, value=value))
    with pytest.raises(ResultsError, match=r"run\.json: (is damaged: |301 levels)") as caught:
        open_run(sent)
    assert said in str(caught.value)


def test_a_large_record_is_not_read(sent, monkeypatch):
    monkeypatch.setenv("REBECSIM_MAX_RECORD", "1000")
    with pytest.raises(ResultsError, match=r"bytes; the limit is 1,000 .* REBECSIM_MAX_RECORD="):
        open_run(sent)


def test_columns_of_another_version_are_not_reported_or_gone_on_with(sent, small):
    """Such a run can still be listed, asked and compared with another."""

    def renamed(record):
        record["columns"]["dropped"] = record["columns"].pop("drops")

    changed(sent, renamed)
    said = "its columns are not those of its scenario in this version; it was made by another one"
    with pytest.raises(ResultsError, match=said):
        plan_of_run(open_run(sent))
    with pytest.raises(ResultsError, match=said):
        Results.resume(sent, plan_scenario(small.replace(replications=2)))


def test_a_scenario_without_its_model_is_refused(sent, tmp_path):
    def of_a_model(record):
        record["kind"] = "model"
        scenario = {"kind": "model", "name": "x", "model": "../victim.rebeca", "until": 5}
        record["scenario"] = {**scenario, "text": None, "replications": 2}

    changed(sent, of_a_model)
    with pytest.raises(ResultsError, match="the text of the model is missing"):
        plan_of_run(open_run(sent))


# --- parts ---------------------------------------------------------------------------------------


def put(run, name, change):
    """Change a part, with the checksum that it then has."""
    path = run / "parts" / f"{name}.parquet"
    pq.write_table(change(pq.read_table(path)), path)
    write_checksums(run / "checksums" / f"{name}.b2", {f"parts/{path.name}": digest_of(path)})


PARTS = {
    "no rows": lambda table: table.slice(0, 0),
    "another type": lambda table: table.set_column(
        1, "queue_misses", table.column(1).cast(pa.string())
    ),
    "a column less": lambda table: table.drop_columns(["queue_misses"]),
    "a column more": lambda table: table.append_column("own", table.column(1)),
    "nothing in it": lambda table: table.set_column(
        1, pa.field("queue_misses", pa.int32()), pa.array([None, 1], pa.int32())
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_are_what_the_record_says(name, sent, made):
    put(sent, "edf_nondet0to2_nondet1to4_am1", PARTS[name])
    run, said = open_run(sent), []
    assert list(query("from cells", [run], said.append).rows) == []
    fault = "it holds no replications" if name == "no rows" else "its columns are"
    assert fault in said[0]
    with pytest.raises(ResultsError, match=fault):
        compare_runs(run, open_run(made))


def test_rows_that_are_not_written_together_are_not_read_together(sent, monkeypatch):
    monkeypatch.setattr("rebecsim.studies.parts._ROWS_PER_GROUP", 1)
    run = open_run(sent)
    assert "more than 1 rows in a row group" in run.results.damage(run.finished[0])


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1e308])
def test_numbers_that_cannot_be_added_up_are_named(number, sent, made):
    """Of a kind whose counters are no whole numbers."""
    changed(sent, set_to("columns", "queue_misses", value="float64"))
    for name in ("edf", "mdf"):
        for masters in (1, 3):
            put(
                sent,
                f"{name}_nondet0to2_nondet1to4_am{masters}",
                lambda table: table.set_column(
                    1,
                    pa.field("queue_misses", pa.float64(), nullable=False),
                    pa.array([number, 1.0]),
                ),
            )
    run = open_run(sent)
    said = "column queue_misses has a number that is not finite, or is too large"
    for use in (
        lambda: query("from cells", [run]),
        lambda: query("from differences", [run]),
        lambda: compare_runs(run, open_run(made)),
    ):
        with pytest.raises(ResultsError, match=said):
            use()


def test_a_question_that_is_no_text_is_refused() -> None:
    from rebecsim.studies.query import QueryError, _require_reading

    with pytest.raises(QueryError, match="is not UTF-8 text"):
        _require_reading("select '\udcff'")

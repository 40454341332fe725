"""Results directories: records, checksums, damage, and parts larger than memory should be."""

import errno
import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.summarise import bytes_per_row, write_run
from rebecsim.clusters.scenarios import load, open_run, plan_of_run, plan_scenario
from rebecsim.simulation import OUTCOMES
from rebecsim.studies import Results, ResultsError
from rebecsim.studies.cells import Coded, Rows
from rebecsim.studies.parts import content_digest, row_groups
from rebecsim.studies.run_directory import exclusive
from rebecsim.studies.running import PlannedRun, run_plans
from rebecsim.studies.scenario_files import builtin_scenarios
from rebecsim.studies.simulated import TRACE_COLUMNS, TRACES
from tests.plans import run_plan

TRACED = {TRACES: TRACE_COLUMNS}


@pytest.fixture
def plan(small):
    return plan_scenario(small)


@pytest.fixture
def results(plan, tmp_path):
    """A directory with one finished cell, the first."""
    results = Results.create(tmp_path / "run", plan)
    results.write(plan.cells[0], drawn(plan, 6))
    return results


def drawn(plan, replications, size=4):
    random = np.random.default_rng(1)
    for first in range(0, replications, size):
        count = min(size, replications - first)
        columns = {
            name: random.integers(0, 9, count).astype(np.int32)
            for name in plan.columns
            if name != "outcome"
        }
        yield Rows({**columns, "outcome": Coded(random.integers(0, 2, count), OUTCOMES)})


def edit(results, **changes):
    path = results.directory / "run.json"
    record = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({key: v for key, v in record.items() if v is not ...}))


# --- records -----------------------------------------------------------------------------------


def test_a_record_says_what_was_run_and_when(results, plan):
    record = results.record()
    assert record["format"] == 3
    assert record["kind"] == "dispatch"
    assert datetime.now(UTC) - datetime.fromisoformat(record["started"]) < timedelta(minutes=10)
    assert record["started"].endswith("+00:00")
    assert plan_of_run(open_run(results.directory)).scenario == plan.scenario


@pytest.mark.parametrize("name", builtin_scenarios())
def test_every_scenario_can_be_rebuilt(name, tmp_path):
    loaded = load(name)
    Results.create(tmp_path / "run", loaded.plan())
    assert plan_of_run(open_run(tmp_path / "run")).scenario == loaded.scenario


def test_when_a_run_was_started_and_what_came_later_is_not_its_identity(results, plan):
    edit(results, started="1999-01-01T00:00:00+00:00", plugins=["a"])
    assert Results.resume(results.directory, plan).record()["plugins"] == ["a"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 4}, "is not of format 1 to 3"),
        ({"format": ...}, "is not of format 1 to 3"),
        ({"scenario": ...}, "damaged: scenario: Field required"),
        ({"scenario": {"name": "x"}}, "holds no valid scenario: policies: Field required"),
        ({"versions": []}, "damaged: versions: Input should be"),
        ({"versions": {}}, r"damaged: versions\.rebecsim: Field required"),
        ({"versions": {"rebecsim": "0"}}, "was begun by rebecsim 0, this is"),
        ({"started": 5}, "damaged: started: Input should be a valid string"),
        ({"started": "noon"}, "damaged: started: is not a time: 'noon'"),
    ],
)
def test_records_that_cannot_be_used(changes, message, results, plan):
    edit(results, **changes)
    with pytest.raises(ResultsError, match=message):
        Results.resume(results.directory, plan)


@pytest.mark.parametrize("text", ["", "[]", "1", "{", '{"format": ' + "[" * 100_000, "\x00"])
def test_records_that_are_none(text, results, plan):
    (results.directory / "run.json").write_text(text)
    with pytest.raises(
        ResultsError, match=r"run\.json: (is not of format|cannot be read|100,001 levels)"
    ):
        Results.resume(results.directory, plan)


def test_format_1_is_read(results, plan):
    """It had no `started` and no checksums, and a row group for each task."""
    cell = plan.cells[0]
    moments = results._moments(cell)
    results.checksums(cell).unlink()
    edit(results, format=1, started=...)
    table = pq.read_table(results.part(cell))
    pq.write_table(table, results.part(cell), row_group_size=2)
    assert results.record()["started"] is None
    assert results.is_complete(cell)
    assert results._moments(cell) == moments
    resumed = Results.resume(results.directory, plan)
    run_plan(plan, resumed)
    assert pq.read_table(results.part(cell)) == table

    pq.write_table(table.take([0, 1, 1, 2, 3, 4]), results.part(cell))
    assert "not numbered from 0 (after 0 rows)" in results.damage(cell)
    content = bytearray(results.part(cell).read_bytes())
    content[8:60] = bytes(52)
    results.part(cell).write_bytes(content)
    assert not results.is_complete(cell)


# --- damage ------------------------------------------------------------------------------------


def test_any_flipped_bit_is_found(results, plan):
    cell = plan.cells[0]
    path = results.part(cell)
    good = path.read_bytes()
    assert results.is_complete(cell)
    for place in range(0, len(good), 7):
        flipped = bytearray(good)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        assert not results.is_complete(cell)
        assert results.damage(cell).startswith(f"part {path} is damaged: ")
        with pytest.raises(ResultsError, match="is damaged"):
            results._moments(cell)


def test_any_truncation_is_found(results, plan):
    cell = plan.cells[0]
    good = results.part(cell).read_bytes()
    for length in range(0, len(good), 13):
        results.part(cell).write_bytes(good[:length])
        assert results.damage(cell) is not None
    results.part(cell).write_bytes(good)
    assert results.damage(cell) is None


def foreign_columns(table):
    return table.rename_columns(["replication", "a", "b", "c", "d", "e", "outcome"])


def foreign_types(table):
    return table.set_column(1, "queue_misses", table.column(1).cast(pa.float64()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (foreign_columns, "its columns are replication, a, b, c, d, e, outcome, not replication"),
        (foreign_types, "its columns are not of the types of this version"),
        (lambda table: table.slice(1), "its checksum differs"),
        (lambda table: table.slice(0, 0), "its checksum differs"),
        (lambda table: table.take([5, 4, 3, 2, 1, 0]), "its checksum differs"),
    ],
)
def test_foreign_tables_are_told_apart(change, message, results, plan):
    path = results.part(plan.cells[0])
    pq.write_table(change(pq.read_table(path)), path)
    assert message in results.damage(plan.cells[0])


def test_checksums_are_those_of_b2sum(results, plan):
    cell = plan.cells[0]
    line = results.checksums(cell).read_text()
    assert line.endswith(f"  parts/{cell.name}.parquet\n")
    for text in ("", "nonsense\n", line.replace("parts/", "bits/"), "\x00\xff"):
        results.checksums(cell).write_text(text)
        assert "its checksum is missing" in results.damage(cell)
    results.checksums(cell).unlink()
    assert "its checksum is missing" in results.damage(cell)


def test_damaged_traces_are_named_and_written_again(plan, tmp_path):
    results = Results.create(tmp_path / "run", plan)
    run_plan(plan, results, trace=True)
    cell = plan.cells[1]
    good = results.table(TRACES, cell).read_bytes()
    results.table(TRACES, cell).write_bytes(good[:-1])
    results.table(TRACES, plan.cells[2]).unlink()
    assert results.is_complete(cell)
    assert not results.is_complete(cell, TRACED)
    warnings = []
    run_plan(plan, results, trace=True, warn=warnings.append)
    assert [str(results.table(TRACES, cell)) in text for text in warnings] == [True]
    assert results.table(TRACES, cell).read_bytes() == good
    assert results.is_complete(plan.cells[2], TRACED)

    # Parts that are computed again without traces leave those that are there, with their checksum.
    results.part(cell).unlink()
    run_plan(plan, results)
    assert results.is_complete(cell, TRACED)


def test_what_cannot_be_written_is_said(results, plan, tmp_path):
    cell = plan.cells[1]
    (results.directory / "checksums").rename(tmp_path / "elsewhere")
    (results.directory / "checksums").write_text("in the way")
    with pytest.raises(ResultsError, match=r"am3\.parquet: cannot be written: "):
        results.write(cell, drawn(plan, 6))
    assert [path.name for path in (results.directory / "parts").iterdir()] == [
        f"{plan.cells[0].name}.parquet"
    ]


def test_an_incomplete_run_is_not_summed_up(results, plan):
    with pytest.raises(ResultsError, match=r"not complete, parts/.*am3\.parquet is missing"):
        results.moments(plan)


# --- columns and row groups --------------------------------------------------------------------


def test_columns_are_those_of_the_cell(results, plan):
    cell = replace(plan.cells[1], columns={"misses": "int32", "share": "float64"})
    rows = Rows({"misses": [1, 2], "share": [0.25, 0.5]})
    results.write(cell, [rows])
    assert pq.read_schema(results.part(cell)).names == ["replication", "misses", "share"]
    assert results.is_complete(cell)
    assert results._moments(cell).counters == ("misses", "share")
    assert results._moments(cell).sums == (3, Fraction(3, 4))
    assert "its columns are" in results.damage(plan.cells[1])


def test_files_do_not_depend_on_the_size_of_batches(plan, tmp_path, monkeypatch):
    monkeypatch.setattr("rebecsim.studies.parts._ROWS_PER_GROUP", 10)
    batch = next(drawn(plan, 37, size=37))
    parts = []
    for size in (1, 7, 10, 25, 37):
        results = Results.create(tmp_path / str(size), plan)
        results.write(plan.cells[0], sliced(batch, size))
        parts.append(results.part(plan.cells[0]))
    assert [len(group) for group in row_groups(parts[0])] == [10, 10, 10, 7]
    assert len({part.read_bytes() for part in parts}) == 1


def sliced(rows, size):
    for first in range(0, len(rows), size):
        part = slice(first, first + size)
        columns = {
            name: Coded(column.codes[part], column.words)
            if isinstance(column, Coded)
            else column[part]
            for name, column in rows.columns.items()
        }
        yield Rows(columns)


def test_content_is_what_the_rows_say(results, plan, tmp_path):
    path = results.part(plan.cells[0])
    table, digest = pq.read_table(path), content_digest(path)
    other = tmp_path / "other.parquet"
    pq.write_table(table, other, row_group_size=1, compression="none", use_dictionary=False)
    assert other.read_bytes() != path.read_bytes()
    assert content_digest(other) == digest
    for changed in (table.take([1, 0, 2, 3, 4, 5]), table.slice(0, 5), foreign_columns(table)):
        pq.write_table(changed, other)
        assert content_digest(other) != digest


MEASURE = """
import sys
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.summarise import peak_memory, sum_up
from rebecsim.clusters.scenarios import open_run

small, large = map(Path, sys.argv[2:])
sum_up(small)
if sys.argv[1] == "whole":
    run = open_run(large)
    before = peak_memory()
    table = pq.read_table(run.results.part(run.cells[0]))
    print(peak_memory() - before)
else:
    print(sum_up(large)[0])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
def test_a_part_is_summed_up_without_holding_it(tmp_path):
    rows = 2_000_000
    small, large = tmp_path / "small", tmp_path / "large"
    write_run(small, 100_000)
    plan = write_run(large, rows)
    root = Path(__file__).resolve().parents[3]
    grown = {}
    for way in ("whole", "streamed"):
        command = [sys.executable, "-c", MEASURE, way, small, large]
        grown[way] = int(subprocess.run(command, cwd=root, check=True, stdout=-1).stdout)
    # The way that holds the table shows that the measure would notice.
    assert grown["whole"] > 0.8 * rows * bytes_per_row(plan)
    assert grown["streamed"] < 0.4 * rows * bytes_per_row(plan)
    [moments] = Results(large).moments(plan)
    assert moments.replications == rows
    means = [float(moments.mean_of({counter: 1})) for counter in moments.counters]
    assert len(means) == len(plan.columns) - 1  # all but the outcome
    assert means == pytest.approx([20] * len(means), rel=0.01)


# --- the lock ----------------------------------------------------------------------------------

HOLD = """
import sys
from pathlib import Path

from rebecsim.studies.run_directory import exclusive

with exclusive(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_holds_the_lock_until_it_ends_in_whichever_way(results, plan, small):
    command = [sys.executable, "-c", HOLD, results.directory]
    with subprocess.Popen(command, stdin=-1, stdout=-1) as holder:
        holder.stdout.readline()
        message = f"process {holder.pid} on .* is writing here; wait for it"
        with pytest.raises(ResultsError, match=message):
            run_plan(plan, results)
        holder.kill()
    with exclusive(results.directory):
        pass


def test_of_two_that_make_a_run_the_second_is_told_who_the_first_is(plan, tmp_path):
    new = tmp_path / "new"
    new.mkdir()
    with subprocess.Popen([sys.executable, "-c", HOLD, new], stdin=-1, stdout=-1) as holder:
        holder.stdout.readline()  # it has not come to write the record yet
        said = rf"process {holder.pid} on .* \(`-c .*new`, since 20..-..-..T.*\) is writing here"
        with pytest.raises(ResultsError, match=said):
            Results.create(new, plan)
        holder.kill()
    Results.create(new, plan)


def test_on_windows_nothing_is_locked(results, monkeypatch):
    with exclusive(results.directory), pytest.raises(ResultsError):
        results.writing().__enter__()
    monkeypatch.setattr(sys, "platform", "win32")
    with exclusive(results.directory), exclusive(results.directory):
        pass


def test_a_file_system_without_locks_gets_results_and_a_warning(results, plan, monkeypatch):
    def flock(*asked):
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr("fcntl.flock", flock)
    said = []
    run_plans([PlannedRun(plan, results)], warn=said.append)
    assert all(results.replications(cell, plan.tables()) for cell in plan.cells)
    (warning,) = said
    assert "this file system has no locks (Operation not supported)" in warning
    assert "do not let two processes write here" in warning


def test_another_failure_to_lock_is_an_error(results, monkeypatch):
    def flock(*asked):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("fcntl.flock", flock)
    with pytest.raises(ResultsError, match="cannot be written: Input/output error"):
        results.writing().__enter__()

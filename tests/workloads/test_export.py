from __future__ import annotations

import csv

import numpy as np
import pyarrow.parquet as pq
import pytest

from rebecsim.workloads import Workload, WorkloadError, generate, read_swf, write_workload
from rebecsim.workloads.logs import FORMS, read_log
from rebecsim.workloads.workload import COLUMNS


@pytest.fixture
def workload() -> Workload:
    return generate(50, 16, seed=1, users=3)


def test_parquet_has_every_column(workload, tmp_path):
    write_workload(workload, tmp_path / "w.parquet")
    table = pq.read_table(tmp_path / "w.parquet")
    assert table.column_names == [*COLUMNS, "processors"]
    for name in table.column_names:
        assert np.array_equal(table[name].to_numpy(), getattr(workload, name))


def test_csv_has_every_column(workload, tmp_path):
    write_workload(workload, tmp_path / "w.csv")
    with (tmp_path / "w.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["submit"]) for row in rows] == workload.submit.tolist()
    assert [int(row["processors"]) for row in rows] == workload.processors.tolist()


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_written_whole_and_alone(workload, tmp_path, form):
    write_workload(workload, tmp_path / f"w{form}")
    assert [each.name for each in tmp_path.iterdir()] == [f"w{form}"]


def test_swf_is_the_form_to_read_again(workload, tmp_path):
    write_workload(workload, tmp_path / "w.swf.gz")
    assert read_swf(tmp_path / "w.swf.gz").run.tolist() == workload.run.tolist()


def test_another_name_is_refused(workload, tmp_path):
    with pytest.raises(WorkloadError, match=r"should end with one of \.swf, "):
        write_workload(workload, tmp_path / "w.xlsx")
    with pytest.raises(WorkloadError, match="there is no directory"):
        write_workload(workload, tmp_path / "no" / "w.csv")


def test_csv_is_read_as_it_was_written(workload, tmp_path):
    write_workload(workload, tmp_path / "w.csv.gz")
    found = read_log(tmp_path / "w.csv.gz", processors=16)
    assert found.capacity == 16
    for name in (*COLUMNS, "processors"):
        assert np.array_equal(getattr(found, name), getattr(workload, name)), name


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("1,0,5", "3 columns, but the first line has 4"),
        ("1,0,5,two", "not a row of numbers: 1,0,5,two"),
        ("1,0,nan,2", "not a row of numbers"),
    ],
)
def test_a_wrong_row_of_csv_is_named(tmp_path, row, problem):
    (tmp_path / "w.csv").write_text(f"job,submit,run,processors\n7,0,5,2\n{row}\n")
    with pytest.raises(WorkloadError, match=rf"w\.csv:3: {problem}"):
        read_log(tmp_path / "w.csv")

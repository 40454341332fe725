from __future__ import annotations

import csv

import numpy as np
import pyarrow.parquet as pq
import pytest

from rebecsim.workloads import Workload, WorkloadError, generate, read_swf, write_workload
from rebecsim.workloads.logs import FORMS
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

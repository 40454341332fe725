"""Charts of jobs: by user, by their number in the queue, and by family and queue."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from rebecsim.clusters.mapreduce.columns import JobColumns
from rebecsim.clusters.mapreduce.report.charts import (
    families_figure,
    users_figure,
    users_of,
    waits_by_number,
    waits_figure,
)
from rebecsim.clusters.mapreduce.report.tables import StoredRuns, answer_of_stored

SECOND = 1_000_000


def seconds(*values: float) -> np.ndarray:
    return np.array([round(each * SECOND) for each in values], dtype=np.int64)


@pytest.fixture
def stored() -> StoredRuns:
    """Two runs: in queue a two jobs, given in the wrong order in the second run; in b one."""
    zeros = np.zeros(6, dtype=np.int64)
    jobs = JobColumns(
        family=np.array(["sort", "sort", "count", "sort", "sort", "count"]),
        queue=np.array(["a", "a", "b", "a", "a", "b"]),
        user=np.array(["ann", "bob", "ann", "bob", "ann", "ann"]),
        submit=seconds(0, 1, 0, 1, 0, 0),
        begin=seconds(4, 11, 2, 31, 6, 2),
        maps_end=seconds(14, 31, 7, 41, 16, 7),
        reduces_begin=seconds(5, 20, 3, 35, 10, 3),
        end=seconds(25, 40, 9, 55, 30, 9),
        node_local=zeros,
        rack_local=zeros,
        remote=zeros,
    )
    queues = pa.table({"queue": ["a", "b"], "capacity": [50.0, 50.0]})
    nothing = pa.table({})
    replications = np.array([0, 0, 0, 1, 1, 1])
    numbers = np.array([1, 2, 3, 2, 1, 3])
    refused = {"queue": {"b": 2}, "user": {"ann": 2}}
    tables = nothing, nothing, queues, nothing, nothing
    return StoredRuns("one", jobs, replications, numbers, refused, *tables)


def test_waits_are_means_over_runs_by_the_number_of_the_job(stored: StoredRuns) -> None:
    waits = dict(waits_by_number(stored))
    assert waits["a"].tolist() == [5.0, 20.0]
    assert waits["b"].tolist() == [2.0]


def test_lines_of_waits_are_those_of_the_queues(stored: StoredRuns) -> None:
    (axes,) = waits_figure([stored]).get_axes()
    lines = {line.get_label(): list(line.get_ydata()) for line in axes.get_lines()}
    assert lines == {"a": [5.0, 20.0], "b": [2.0]}
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylim()[1] > 20


def test_bars_of_users_are_map_reduce_and_waiting_times(stored: StoredRuns) -> None:
    assert users_of([stored]) == [("ann", "count"), ("ann", "sort"), ("bob", "sort")]
    (axes,) = users_figure([stored]).get_axes()
    bars = {
        each.get_label(): [bar.get_height() for bar in each.patches]
        for each in axes.containers
        if hasattr(each, "patches")
    }
    assert bars == {
        "map": [5.0, 10.0, 15.0],
        "reduce": [6.0, 20.0, 20.0],
        "waiting": [2.0, 5.0, 20.0],
    }
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["ann\ncount", "ann\nsort", "bob\nsort"]


def test_families_are_split_by_queue(stored: StoredRuns) -> None:
    axes = families_figure([stored], queues=["a", "b"]).get_axes()
    assert [each.get_title() for each in axes[:2]] == ["a", "b"]
    labels = [[label.get_text() for label in each.get_xticklabels()] for each in axes[-2:]]
    assert labels == [["sort"], ["count"]]


def test_the_answer_by_queue_is_of_all_runs(stored: StoredRuns) -> None:
    slower = replace(stored.all_jobs, begin=stored.all_jobs.begin + 10_000_000)
    later = replace(stored, variant="two", all_jobs=slower, refused={"queue": {}, "user": {}})
    answer = answer_of_stored([stored, later])
    assert answer.noun == "queue"
    assert "job 2 of run 1 (sort)" in answer.runs["one"].job.tolist()
    assert answer.common["one"].group.tolist().count("a") == 4
    lines = answer.told()[0].lines
    assert lines[0] == "a waits 10 s more (12 to 22 s)."
    assert lines[-1] == "b refuses 0 jobs (2 under one)."

"""What a trace of container jobs is like, in numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rebecsim.workloads.container_jobs import ContainerJob, TaskClass
from rebecsim.workloads.summary import summarise_containers

JOBS = [
    ContainerJob(
        0,
        5000,
        None,
        (TaskClass("map", 3, 3_600_000, 2048), TaskClass("reduce", 1, 7_200_000, 1024, 4)),
        label="gpu",
    ),
    ContainerJob(1, 1000, None, (), user="a"),
    ContainerJob(
        2, None, 1, (TaskClass("map", 2, 0, 512, penalty="STEP", bump=2.0),), queue="q", label="gpu"
    ),
]


def test_a_trace_is_described():
    summary = summarise_containers(JOBS)
    assert (summary.jobs, summary.waiting, summary.maps, summary.reduces) == (3, 1, 5, 1)
    assert (summary.users, summary.queues, summary.labels) == (2, 2, ("gpu",))
    assert (summary.span, summary.elastic) == (4000, 2)
    assert summary.memory_hours == pytest.approx(3 * 2 + 2 * 1)
    assert summary.core_hours == pytest.approx(3 + 2 * 4)
    by_name = {each.name: each for each in summary.distributions}
    assert list(by_name) == ["tasks of a job", "duration", "memory", "cores", "between arrivals"]
    tasks, memory = by_name["tasks of a job"], by_name["memory"]
    assert (tasks.count, tasks.mean, tasks.least, tasks.median, tasks.most) == (3, 2, 0, 2, 4)
    assert (memory.count, memory.mean) == (6, (3 * 2048 + 1024 + 2 * 512) / 6)
    assert (memory.least, memory.median, memory.upper_quartile) == (512, 1024, 2048)


def test_jobs_that_all_wait_or_have_no_tasks_have_fewer_distributions():
    (only,) = summarise_containers([ContainerJob(0, 7, None, ())]).distributions
    assert only.name == "tasks of a job"


@given(st.lists(st.tuples(st.integers(1, 20), st.integers(1, 10**6)), min_size=1, max_size=12))
def test_quantiles_are_those_of_all_tasks_one_by_one(classes):
    job = ContainerJob(0, 0, None, tuple(TaskClass("map", c, 1, m) for c, m in classes))
    memory = summarise_containers([job]).distributions[2]
    alone = np.repeat([m for _, m in classes], [c for c, _ in classes])
    expected = np.quantile(alone, (0, 0.25, 0.5, 0.75, 0.95, 1), method="inverted_cdf")
    assert [
        *(memory.least, memory.lower_quartile, memory.median),
        *(memory.upper_quartile, memory.percentile_95, memory.most),
    ] == expected.tolist()
    assert memory.mean == pytest.approx(alone.mean())

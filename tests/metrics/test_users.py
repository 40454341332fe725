from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.metrics import expected_ends, overdue_map, tardiness, user_metrics, window_edges
from rebecsim.metrics.users import overdue_intervals
from rebecsim.workloads import Schedule, Workload

END, EXPECTED = np.array([10, 20, 30, 40]), np.array([10, 15, 40, 10])
USER, PROCESSORS = np.array([7, 7, 3, 3]), np.array([1, 2, 3, 4])


def test_tardiness_is_never_below_zero():
    assert tardiness(END, EXPECTED).tolist() == [0, 5, 0, 30]


def test_users_are_judged_one_by_one():
    metrics = user_metrics(END, EXPECTED, USER, PROCESSORS)
    assert metrics.user.tolist() == [3, 7]
    assert metrics.jobs.tolist() == [2, 2]
    assert metrics.violated.tolist() == [1, 1]
    assert metrics.veet.tolist() == [50.0, 50.0]
    assert metrics.weighted_tardiness.tolist() == [120, 10]


def test_a_view_counts_some_jobs_only():
    metrics = user_metrics(
        END, EXPECTED, USER, PROCESSORS, only=np.array([True, True, True, False])
    )
    assert metrics.veet.tolist() == [0.0, 50.0]
    assert user_metrics(END, EXPECTED, USER, PROCESSORS, only=np.array([3])).user.tolist() == [3]


def test_weighted_tardiness_is_exact_beyond_what_floats_hold():
    big = 2**53 + 1
    metrics = user_metrics(np.array([big]), np.array([0]), np.array([1]), np.array([1]))
    assert metrics.weighted_tardiness.tolist() == [big]


def test_a_job_is_overdue_from_its_latest_start_until_its_start():
    late, begin, until = overdue_intervals(END - 5, END, EXPECTED)
    assert late.tolist() == [False, True, False, True]
    assert begin.tolist() == [10, 5]
    assert until.tolist() == [15, 35]


job = st.tuples(
    st.integers(0, 1500),
    st.integers(0, 900),
    st.integers(1, 500),
    st.integers(1, 4),
    st.integers(1, 3),
)


@settings(max_examples=60)
@given(st.lists(job, min_size=1, max_size=8), st.integers(1, 3))
def test_the_map_counts_overdue_jobs_second_by_second(rows, share):
    rows.sort(key=lambda each: each[0])
    submit, wait, run, processors, user = (
        np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)
    )
    workload = Workload.of(submit, run, processors, user=user, requested_memory=user * 3)
    schedule = Schedule(workload, submit + wait)
    ends = expected_ends(schedule, share)
    last = int(schedule.end.max())
    edges = window_edges(0, last, 50)
    found = overdue_map(schedule, ends, edges)
    seconds = int(edges[-1])
    overdue = np.zeros((len(found.user), seconds))
    used, memory = np.zeros(seconds), np.zeros(seconds)
    for k in range(len(rows)):
        row = found.user.tolist().index(user[k])
        for t in range(max(int(ends[k] - run[k]), 0), int(schedule.start[k])):
            overdue[row, t] += 1
        used[schedule.start[k] : schedule.end[k]] += processors[k]
        memory[schedule.start[k] : schedule.end[k]] += user[k] * 3 * processors[k]
    width = edges[1] - edges[0]
    assert found.overdue == pytest.approx(overdue.reshape(len(found.user), -1, width).mean(axis=2))
    assert found.processors == pytest.approx(used.reshape(-1, width).mean(axis=1))
    assert found.memory == pytest.approx(memory.reshape(-1, width).mean(axis=1))


def test_the_map_of_some_jobs_shows_their_users_and_the_usage_of_all():
    header = {"User": "5 ann"}
    workload = Workload.of([0, 0], [60, 60], [2, 2], user=[4, 5], header=header)
    schedule = Schedule(workload, np.array([0, 60]))
    edges = window_edges(0, 120, 10)
    view = overdue_map(schedule, expected_ends(schedule, 2), edges, only=workload.user == 5)
    assert (view.user.tolist(), view.labels) == ([5], ("ann",))
    assert view.overdue[0, :2].tolist() == [1.0, 0.0]
    assert view.processors[:2].tolist() == [2.0, 2.0]
    assert view.memory is None


@settings(max_examples=100)
@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(2, 900))
def test_windows_cover_the_time_and_are_few(begin, length, most):
    edges = window_edges(begin, begin + length, most)
    widths = np.diff(edges)
    assert 1 <= len(widths) <= most + 1
    assert (widths == widths[0]).all()
    assert edges[0] <= begin < edges[0] + widths[0]
    assert edges[-1] >= begin + length
    assert edges[0] % widths[0] == 0

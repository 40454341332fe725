from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.metrics import batch_metrics, batch_metrics_by, bounded_slowdown, response, slowdown
from rebecsim.workloads import Schedule, Workload, read_schedule

# Three jobs on four processors: waits 0, 3 and 20.
WORKLOAD = Workload.of(
    [0, 2, 10], [5, 20, 4], [1, 2, 4], capacity=4, user=[1, 2, 1], queue=[0, 1, 1]
)
SCHEDULE = Schedule(WORKLOAD, np.array([0, 5, 30]))


def test_definitions_by_hand():
    assert response(SCHEDULE).tolist() == [5, 23, 24]
    assert slowdown(SCHEDULE).tolist() == [1.0, 1.15, 6.0]
    assert bounded_slowdown(SCHEDULE).tolist() == [1.0, 1.15, 2.4]  # 24 / 10, not 24 / 4
    metrics = batch_metrics(SCHEDULE)
    assert metrics.jobs == 3
    assert metrics.wait.mean == pytest.approx(23 / 3)
    assert (metrics.wait.median, metrics.wait.most) == (3, 20)
    assert metrics.response.mean == pytest.approx(52 / 3)
    areas = [5, 40, 16]
    assert metrics.awrt == pytest.approx(np.dot(areas, [5, 23, 24]) / 61)
    assert metrics.awsd == pytest.approx(np.dot(areas, [1, 1.15, 6]) / 61)
    assert metrics.makespan == 34
    assert metrics.utilisation == pytest.approx(61 / (4 * 34))
    assert batch_metrics(SCHEDULE, processors=8).utilisation == pytest.approx(61 / (8 * 34))


def test_percentiles_interpolate():
    workload = Workload.of([0] * 11, [10] * 11, [1] * 11)
    waits = batch_metrics(Schedule(workload, np.arange(0, 110, 10))).wait
    assert (waits.percentile_90, waits.percentile_95, waits.percentile_99) == (90, 95, 99)


def test_the_makespan_begins_with_the_first_submission_not_with_time_0():
    late = Workload.of([100, 100], [5, 5], [1, 1])
    assert batch_metrics(Schedule(late, np.array([103, 104]))).makespan == 9


def test_a_killed_job_counts_for_as_long_as_it_ran():
    killed = Schedule(WORKLOAD, SCHEDULE.start, np.array([5, 10, 4]))
    assert response(killed).tolist() == [5, 13, 24]
    assert batch_metrics(killed).utilisation == pytest.approx((5 + 20 + 16) / (4 * 34))


def test_groups_have_their_own_figures_and_share_the_utilisation():
    by_user = batch_metrics_by(SCHEDULE, WORKLOAD.user)
    assert list(by_user) == [1, 2]
    assert by_user[1].wait.mean == 10
    assert by_user[2].jobs == 1
    whole = batch_metrics(SCHEDULE).utilisation
    assert sum(each.utilisation for each in by_user.values()) == pytest.approx(whole)
    by_queue = batch_metrics_by(SCHEDULE, WORKLOAD.queue, only=WORKLOAD.user == 1)
    assert {queue: each.jobs for queue, each in by_queue.items()} == {0: 1, 1: 1}


def test_no_job_has_no_metrics():
    with pytest.raises(ValueError, match="without jobs"):
        batch_metrics(SCHEDULE, only=np.array([], dtype=np.int64))
    with pytest.raises(ValueError, match="run time 0 is undefined"):
        slowdown(Schedule(WORKLOAD, SCHEDULE.start, np.array([5, 0, 4])))


row = st.tuples(
    st.integers(0, 100),
    st.integers(0, 100),
    st.integers(1, 50),
    st.integers(1, 8),
    st.integers(0, 3),
)


@settings(max_examples=60)
@given(st.lists(row, min_size=1, max_size=12))
def test_laws(rows):
    rows.sort(key=lambda each: each[0])
    submit, wait, run, processors, user = zip(*rows, strict=True)
    workload = Workload.of(submit, run, processors, user=user)
    schedule = Schedule(workload, workload.submit + np.array(wait))
    metrics = batch_metrics(schedule)
    assert (slowdown(schedule) >= 1).all()
    assert (bounded_slowdown(schedule) <= slowdown(schedule)).all()
    assert (bounded_slowdown(schedule) >= 1).all()
    assert metrics.response.mean == pytest.approx(metrics.wait.mean + np.mean(run))
    # Splitting a job into equal ones side by side changes no figure that is weighted by area.
    twice = np.repeat(np.arange(len(rows)), 2)
    halves = Workload.of(
        *(np.repeat(column, 2) for column in (submit, run)),
        np.repeat(processors, 2),
        capacity=2 * workload.capacity,
    )
    split = batch_metrics(Schedule(halves, schedule.start[twice]))
    assert split.awrt == pytest.approx(metrics.awrt)
    assert split.awsd == pytest.approx(metrics.awsd)
    assert split.utilisation == pytest.approx(metrics.utilisation)
    groups = batch_metrics_by(schedule, workload.user)
    assert sum(each.jobs for each in groups.values()) == metrics.jobs
    assert sum(each.utilisation for each in groups.values()) == pytest.approx(metrics.utilisation)


def test_the_published_schedule_of_kth_has_its_published_figures(shared_data):
    metrics = batch_metrics(read_schedule(shared_data / "oracles" / "KTH-SP2.easy.swf.gz"))
    assert metrics.jobs == 28_481
    assert metrics.wait.mean == pytest.approx(6836.87, abs=0.005)
    assert metrics.bounded_slowdown.mean == pytest.approx(92.577, abs=0.0005)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.workloads import (
    Workload,
    WorkloadError,
    cut,
    first_jobs,
    offered_load,
    read_swf,
    scale_load,
    window,
    with_load,
)
from rebecsim.workloads.summary import local_clock

WORKLOAD = Workload.of(
    [10, 20, 30, 50],
    [5, 10, 20, 40],
    [1, 2, 4, 1],
    capacity=8,
    user=[1, 2, 1, 3],
    queue=[0, 0, 1, 1],
    wait=[1, 2, 3, 4],
)


def test_the_offered_load_is_work_over_capacity_and_span():
    assert offered_load(WORKLOAD) == (5 + 20 + 80 + 40) / (8 * 40)


def test_the_load_of_jobs_that_come_at_once_has_no_bound():
    assert offered_load(Workload.of([3, 3], [1, 1], [1, 1])) == float("inf")


def test_scaling_divides_the_times_between_submissions():
    scaled = scale_load(WORKLOAD, 2)
    assert scaled.submit.tolist() == [10, 15, 20, 30]
    assert offered_load(scaled) == 2 * offered_load(WORKLOAD)
    assert scaled.run.tolist() == WORKLOAD.run.tolist()
    assert scaled.wait.tolist() == [-1] * 4  # those of the log are no longer true


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 10**7), min_size=2, max_size=20),
    st.floats(0.01, 100),
)
def test_scaled_jobs_stay_in_their_order_and_near_their_place(times, factor):
    submit = np.array(sorted(times))
    scaled = scale_load(Workload.of(submit, [1] * len(times), [1] * len(times)), factor).submit
    assert (np.diff(scaled) >= 0).all()
    wanted = submit[0] + (submit - submit[0]) / factor
    assert (scaled <= wanted).all()
    assert (scaled > wanted - 1).all()


def test_a_real_log_at_another_load(shared_data):
    log = read_swf(shared_data / "swf" / "hpc2n.swf")
    for load in (0.3, 0.9):
        assert offered_load(with_load(log, load)) == pytest.approx(load, rel=1e-5)


@pytest.mark.parametrize("factor", [0, -1, float("nan"), float("inf"), 1e-16])
def test_a_factor_that_makes_no_sense(factor):
    with pytest.raises(WorkloadError, match="load"):
        scale_load(WORKLOAD, factor)


@pytest.mark.parametrize("load", [0, -1, float("nan"), float("inf")])
def test_a_load_that_makes_no_sense(load):
    with pytest.raises(WorkloadError, match="offered load should be above 0"):
        with_load(WORKLOAD, load)


def test_jobs_at_once_cannot_be_given_a_load():
    with pytest.raises(WorkloadError, match="at once"):
        with_load(Workload.of([3, 3], [1, 1], [1, 1]), 0.5)


def test_a_window_takes_its_beginning_and_leaves_its_end():
    assert window(WORKLOAD, 20, 50).job.tolist() == [2, 3]
    assert window(WORKLOAD, 20, 50).submit.tolist() == [0, 10]
    assert window(WORKLOAD, 0).submit.tolist() == [10, 20, 30, 50]
    with pytest.raises(WorkloadError, match="no job is submitted from 60 s"):
        window(WORKLOAD, 60)


def test_the_hour_of_the_day_stays_where_it_is_known():
    header = {"UnixStartTime": "1000000", "TimeZone": "3600", "EndTime": "Friday", "Note": "x"}
    log = WORKLOAD.with_columns(header=header)
    part = window(log, 20)
    assert part.header == {"UnixStartTime": "1000020", "TimeZone": "3600", "Note": "x"}
    assert local_clock(part)[0].tolist() == local_clock(log)[0][1:].tolist()
    squeezed = scale_load(log, 2)
    assert not local_clock(squeezed)[1]  # the day is no longer a day


def test_users_queues_and_first_jobs():
    assert cut(WORKLOAD, users=[1]).job.tolist() == [1, 3]
    assert cut(WORKLOAD, users=[3, 2]).job.tolist() == [2, 4]
    assert cut(WORKLOAD, queues=[1]).job.tolist() == [3, 4]
    assert first_jobs(WORKLOAD, 2).job.tolist() == [1, 2]
    assert first_jobs(WORKLOAD, 20).job.tolist() == [1, 2, 3, 4]


def test_someone_who_is_not_there():
    with pytest.raises(WorkloadError, match="no job of user 7, 9"):
        cut(WORKLOAD, users=[9, 1, 7])
    with pytest.raises(WorkloadError, match="no job of queue 5"):
        cut(WORKLOAD, queues=[5])
    with pytest.raises(WorkloadError, match="no job is chosen"):
        first_jobs(WORKLOAD, 0)

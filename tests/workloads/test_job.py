from __future__ import annotations

import numpy as np
import pytest

from rebecsim.workloads import Workload, WorkloadError


def test_what_is_not_given_is_unknown_and_jobs_are_numbered():
    workload = Workload.of([0, 3], [5, 6], [1, 2], user=[4, 5])
    assert workload.job.tolist() == [1, 2]
    assert workload.user.tolist() == [4, 5]
    assert workload.queue.tolist() == [-1, -1]
    assert workload.requested_processors.tolist() == [1, 2]
    assert workload.capacity == 2
    assert workload.cpu_time.dtype == np.float64


def test_estimates_are_run_times_where_nothing_is_requested():
    workload = Workload.of([0, 0], [5, 6], [1, 1], requested_time=[9, -1])
    assert workload.estimate.tolist() == [9, 6]


def test_area_and_memory_count_processors():
    workload = Workload.of(
        [0, 0, 0], [5, 6, 7], [1, 2, 3], requested_memory=[10, -1, -1], memory_used=[8, 9, -1]
    )
    assert workload.area.tolist() == [5, 12, 21]
    assert workload.memory.tolist() == [10, 18, 0]


def test_a_workload_cannot_be_changed():
    workload = Workload.of([0], [1], [1])
    with pytest.raises(ValueError, match="read-only"):
        workload.submit[0] = 5
    with pytest.raises(TypeError):
        workload.header["x"] = "y"  # type: ignore[index]


def test_jobs_are_selected_by_mask_and_by_index():
    workload = Workload.of([0, 1, 2], [1, 1, 1], [1, 1, 3], capacity=8, header={"Note": "x"})
    for chosen in (np.array([True, False, True]), np.array([0, 2])):
        part = workload.select(chosen)
        assert part.job.tolist() == [1, 3]
        assert (part.capacity, part.header) == (8, {"Note": "x"})


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        (([-1], [1], [1]), "job 1 is submitted before time 0"),
        (([5, 4], [1, 1], [1, 1]), "job 2 is submitted before the job ahead"),
        (([0], [0], [1]), "job 1 has a run time below 1 s"),
        (([0], [1], [0]), "job 1 takes no processor"),
        (([0, 0], [1, 1], [1, 9]), "job 2 is larger than the machine of 8"),
        (([], [], []), "at least one job"),
    ],
)
def test_impossible_jobs_are_refused(columns, problem):
    with pytest.raises(WorkloadError, match=problem):
        Workload.of(*columns, capacity=8)


def test_columns_of_the_wrong_kind_are_refused():
    with pytest.raises(TypeError, match="whole numbers"):
        Workload.of([0.5], [1], [1])
    with pytest.raises(TypeError, match="no column 'colour'"):
        Workload.of([0], [1], [1], colour=[3])
    with pytest.raises(ValueError, match="user should be 1 values"):
        Workload.of([0], [1], [1], user=[1, 2])

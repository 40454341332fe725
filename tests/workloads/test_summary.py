from __future__ import annotations

import numpy as np
import pytest

from rebecsim.workloads import Workload, generate, read_swf, summarise
from rebecsim.workloads.summary import local_clock


def test_a_small_workload_in_numbers():
    summary = summarise(
        Workload.of(
            [0, 10, 40],
            [3600, 7200, 10],
            [1, 2, 3],
            capacity=6,
            user=[5, 6, 6],
            requested_time=[7200, 3600, -1],
        )
    )
    assert (summary.jobs, summary.capacity, summary.span) == (3, 6, 40)
    assert (summary.users, summary.queues) == (2, 0)
    assert summary.work == 3600 + 14_400 + 30
    assert summary.offered_load == 18_030 / (6 * 40)
    assert (summary.serial, summary.power_of_two) == (1 / 3, 1 / 3)
    assert (summary.estimated, summary.overrun) == (2 / 3, 1 / 2)
    assert summary.half_of_work == 1
    by_name = {each.name: each for each in summary.distributions}
    assert by_name["requested time"].count == 2
    assert by_name["between arrivals"].mean == 20
    assert by_name["run time"].median == 3600
    assert by_name["work"].most == 4


def test_a_workload_of_one_job():
    summary = summarise(Workload.of([7], [5], [1]))
    assert summary.offered_load == float("inf")
    assert summary.users == summary.half_of_work == 0
    assert {each.name for each in summary.distributions} == {"run time", "processors", "work"}


def test_half_of_the_work_is_of_the_fewest_users():
    workload = Workload.of([0] * 4, [40, 30, 20, 10], [1] * 4, user=[1, 2, 3, 4])
    assert summarise(workload).half_of_work == 2


def test_a_real_log(shared_data):
    summary = summarise(read_swf(shared_data / "swf" / "KTH-SP2-1996.swf.gz"))
    assert (summary.users, summary.skipped) == (214, {"no run time": 8})
    assert summary.offered_load == pytest.approx(0.6877, abs=1e-4)


def test_the_clock_of_the_machine(shared_data):
    """KTH's header says that its log begins at 14:00:31 in Stockholm, winter time 13:00:31."""
    log = read_swf(shared_data / "swf" / "KTH-SP2-1996.swf.gz")
    clock, known = local_clock(log)
    assert known
    assert int(clock[0]) == 13 * 3600 + 31
    assert np.array_equal(np.diff(clock), np.diff(log.submit))


def test_a_log_that_does_not_know_the_time_of_day():
    workload = generate(10, 4, seed=1)
    clock, known = local_clock(workload)
    assert not known
    assert np.array_equal(clock, workload.submit)

from __future__ import annotations

import numpy as np
import pytest

from rebecsim.workloads import Schedule, Workload, read_schedule, write_schedule
from tests.oracles import schedule_rows

WORKLOAD = Workload.of([0, 2, 4], [5, 6, 7], [1, 2, 3], capacity=4, user=[1, 2, 1])


def test_jobs_run_as_long_as_logged_if_nothing_else_is_said():
    schedule = Schedule(WORKLOAD, np.array([0, 5, 9]))
    assert schedule.duration.tolist() == [5, 6, 7]
    assert schedule.end.tolist() == [5, 11, 16]
    assert schedule.wait.tolist() == [0, 3, 5]


def test_a_schedule_has_a_start_for_every_job():
    with pytest.raises(ValueError, match="start should be 3 values"):
        Schedule(WORKLOAD, np.array([0, 5]))
    with pytest.raises(ValueError, match="duration should be 3 values of int64"):
        Schedule(WORKLOAD, np.array([0, 5, 9]), np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("name", ["s.swf", "s.swf.gz"])
def test_a_schedule_survives_writing_and_reading(tmp_path, name):
    killed = Schedule(WORKLOAD, np.array([0, 5, 9]), np.array([5, 3, 7]))
    write_schedule(killed, tmp_path / name)
    again = read_schedule(tmp_path / name)
    assert again.policy == name
    for column in ("start", "duration", "end"):
        assert getattr(again, column).tolist() == getattr(killed, column).tolist()
    assert again.workload.processors.tolist() == [1, 2, 3]


def test_the_processors_that_were_taken_are_kept_beside_the_requested_ones(tmp_path):
    given = WORKLOAD.with_columns(processors=np.array([1, 2, 4]))
    write_schedule(Schedule(given, np.array([0, 5, 9])), tmp_path / "s.swf")
    again = read_schedule(tmp_path / "s.swf").workload
    assert again.processors.tolist() == [1, 2, 4]
    assert again.requested_processors.tolist() == [1, 2, 3]


def test_rows_in_the_order_of_their_ends_are_sorted(shared_data):
    schedule = read_schedule(shared_data / "oracles" / "KTH-SP2.easy.swf.gz")
    assert len(schedule) == 28_481
    assert schedule.workload.skipped == {}
    assert (np.diff(schedule.workload.submit) >= 0).all()
    assert schedule.wait.mean() == pytest.approx(6836.87, abs=0.005)


def test_a_schedule_of_another_tool_may_break_every_rule(log):
    """Whether the machine could run it, is not for the reader to say."""
    path = log("; MaxProcs: 2", "1 5 0 9 4 -1 -1 4 9 -1 1 1 1 1 1 1 -1 -1")
    schedule = read_schedule(path)
    assert (schedule.start.tolist(), schedule.workload.capacity) == ([5], 2)


def test_a_log_without_waits_is_no_schedule(shared_data):
    from rebecsim.workloads import WorkloadError

    with pytest.raises(WorkloadError, match="10000 skipped: wait unknown"):
        read_schedule(shared_data / "swf" / "lublin_256.swf.gz")


def test_selected_jobs_keep_their_times():
    schedule = Schedule(WORKLOAD, np.array([0, 5, 9]), policy="FCFS").select(np.array([2]))
    assert (schedule.start.tolist(), schedule.end.tolist(), schedule.policy) == ([9], [16], "FCFS")


def test_sizes_as_allocated_are_those_that_another_simulator_took(shared_data):
    from rebecsim.workloads import CleaningRules, read_swf

    rows = schedule_rows("hpc2n-exact-FCFS")
    log = read_swf(shared_data / "swf" / "hpc2n.swf", rules=CleaningRules(size="allocated"))
    assert log.job.tolist() == [int(row["job"]) for row in rows]
    assert log.processors.tolist() == [int(row["cpus"]) for row in rows]

"""The checks of schedules, with planted faults."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.batch import (
    BatchPolicy,
    BySubmission,
    EasyBackfilling,
    Job,
    check_capacity,
    check_head_reservations,
    check_start_order,
    check_submissions,
    run_schedule,
)
from rebecsim.errors import UserError
from rebecsim.workloads import Schedule, Workload
from tests.clusters.batch.reference import Request
from tests.clusters.batch.workloads import PROCESSORS, requests, workload_of
from tests.examples import dear


class WithoutReservation(EasyBackfilling):
    """The planted fault: whatever fits overtakes the head."""

    def schedule(self, now: int) -> list[Job]:
        started = self.start_heads(now)
        for job in list(self.waiting):
            amount = self.machine.place(job, self.allocations.free)
            if amount is not None:
                self.start(job, amount, now)
                started.append(job)
        return started


FAULTY = BatchPolicy("FAULTY", "Faulty", "no reservation", BySubmission, WithoutReservation)


def planted(starts: list[int], **columns: list[int]) -> Schedule:
    workload = Workload.of(**columns, capacity=4)  # type: ignore[arg-type]
    return Schedule(workload, np.array(starts, dtype=np.int64))


def test_a_start_before_the_submission() -> None:
    schedule = planted([0, 4, 3], submit=[0, 5, 5], run=[1, 1, 1], processors=[1, 1, 1])
    check = check_submissions(schedule)
    assert not check.holds
    assert check.offenders == (2, 1)
    assert check.first == "is submitted at 5 and starts at 3"


def test_more_processors_than_there_are() -> None:
    schedule = planted(
        [0, 9, 9, 10], submit=[0, 0, 0, 0], run=[10, 5, 1, 1], processors=[2, 2, 1, 2]
    )
    check = check_capacity(schedule, 4)
    assert check.offenders == (2,)
    assert check.first == "starts at 9 on 1 processors, which makes 5 of 4 in use"
    assert check_capacity(schedule, 5).holds


def test_an_end_and_a_start_at_one_time_do_not_collide() -> None:
    schedule = planted([0, 10], submit=[0, 0], run=[10, 1], processors=[4, 4])
    assert check_capacity(schedule, 4).holds


def test_a_job_that_overtakes() -> None:
    schedule = planted([0, 7, 5, 6], submit=[0, 1, 2, 2], run=[5, 1, 1, 1], processors=[4, 1, 1, 1])
    check = check_start_order(schedule)
    assert check.offenders == (2, 3)
    assert check.first == "starts at 5, before job 2, which was submitted earlier and starts at 7"


def test_jobs_submitted_together_may_start_in_any_order() -> None:
    schedule = planted([0, 7, 5], submit=[0, 1, 1], run=[5, 1, 1], processors=[4, 1, 1])
    assert check_start_order(schedule).holds


def test_a_head_that_is_delayed() -> None:
    jobs = {"submit": [0, 1, 2], "run": [10, 5, 20], "processors": [3, 4, 1]}
    assert check_head_reservations(planted([0, 10, 15], **jobs), 4, np.array([10, 5, 20])).holds
    late = check_head_reservations(planted([0, 22, 2], **jobs), 4, np.array([10, 5, 20]))
    assert late.offenders == (1,)
    assert late.first == "is the head at 1 with a reservation for 10, and starts at 22"


def test_the_planted_policy_is_found_out() -> None:
    jobs = [Request(0, 5, 4, 5), Request(1, 3, 6, 3), Request(1, 9, 2, 9)]
    workload = workload_of(jobs)
    assert check_head_reservations(run_schedule(workload), PROCESSORS, workload.estimate).holds
    check = check_head_reservations(
        run_schedule(workload, policy=FAULTY), PROCESSORS, workload.estimate
    )
    assert [int(workload.job[job]) for job in check.offenders] == [2]


@settings(max_examples=dear(100))
@given(jobs=requests(), data=st.data())
def test_delaying_any_head_beyond_its_reservation_is_found(
    jobs: list[Request], data: st.DataObject
) -> None:
    """A head under FCFS with exact estimates starts at its reservation; later is too late."""
    workload = workload_of(jobs)
    schedule = run_schedule(workload, policy="FCFS", estimates="exact")
    waited = np.flatnonzero(schedule.wait > 0)
    if waited.size:
        job = data.draw(st.sampled_from(waited.tolist()))
        starts = schedule.start.copy()
        starts[job:] += 100
        check = check_head_reservations(Schedule(workload, starts), PROCESSORS, schedule.duration)
        assert job in check.offenders


def test_estimates_below_the_run_time_guarantee_nothing() -> None:
    schedule = planted([0], submit=[0], run=[10], processors=[1])
    with pytest.raises(UserError, match="job 1 runs for 10 s, longer than its estimate of 9 s"):
        check_head_reservations(schedule, 4, np.array([9]))

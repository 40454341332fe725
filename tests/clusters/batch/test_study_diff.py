"""Two schedules side by side."""

from __future__ import annotations

import numpy as np
import pytest

from rebecsim.clusters.batch.measures import judge, schedule_difference
from rebecsim.workloads import Schedule, Workload


def judged(starts, *, users=(1, 2, 1), submit=(0, 0, 5), expected=None, jobs=None):
    workload = Workload.of(
        submit, [10] * len(submit), [2] * len(submit), user=users, job=jobs or [7, 8, 9]
    )
    schedule = Schedule(workload, np.array(starts), policy="P")
    return judge(schedule, None if expected is None else np.array(expected))


def test_jobs_and_users_are_compared_by_their_waits():
    first = judged([0, 10, 20], expected=[10, 15, 20])
    second = judged([10, 0, 20], expected=[10, 15, 20])
    found = schedule_difference(first, second, ("one", "two"))
    assert (found.first, found.second) == ("one", "two")
    assert found.change.tolist() == [10, -10, 0]
    assert (found.earlier, found.later) == (1, 1)
    assert found.users.user.tolist() == [1, 2]
    assert found.users.jobs.tolist() == [2, 1]
    assert found.users.earlier.tolist() == [0, 1]
    assert found.users.later.tolist() == [1, 0]
    assert found.users.wait.tolist() == [5, -10]
    # Job 7 becomes 10 s late on two processors, job 8 is no longer 5 s late.
    assert found.users.weighted_tardiness == pytest.approx([20 / 3600, -10 / 3600])


def test_jobs_that_only_one_has_are_counted_and_left_out():
    first = judged([0, 10, 20])
    second = judged([3, 12], users=(2, 1), submit=(0, 5), jobs=[8, 9])
    found = schedule_difference(first, second)
    assert found.job.tolist() == [8, 9]
    assert found.change.tolist() == [3 - 10, 7 - 15]
    assert (found.only_first, found.only_second) == (1, 0)
    assert found.users.weighted_tardiness is None


def test_the_same_schedule_has_no_difference():
    each = judged([0, 10, 20])
    found = schedule_difference(each, each)
    assert not found.change.any()
    assert (found.earlier, found.later) == (0, 0)


def test_different_workloads_are_refused():
    first = judged([0, 10, 20])
    with pytest.raises(ValueError, match="no job in common"):
        schedule_difference(first, judged([0, 10, 20], jobs=[1, 2, 3]))
    with pytest.raises(ValueError, match="user of job 8 is 2 in one, 3 in the other"):
        schedule_difference(first, judged([0, 10, 20], users=(1, 3, 1)))

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from rebecsim.workloads import Workload, WorkloadError, read_swf, resample

WEEK = 7 * 86_400


@pytest.fixture
def log(shared_data) -> Workload:
    return read_swf(shared_data / "swf" / "hpc2n.swf")


def doings(workload: Workload, user: int, begin: int) -> Counter[tuple[int, int, int]]:
    """What a user does: when in the week, for how long, how large."""
    mine = workload.user == user
    columns = ((workload.submit - begin) % WEEK, workload.run, workload.processors)
    return Counter(zip(*(column[mine].tolist() for column in columns), strict=True))


def test_every_user_does_what_one_of_the_log_did_at_the_same_time_of_the_week(log):
    drawn = resample(log, seed=4, users=12)
    originals = [doings(log, user, int(log.submit[0])) for user in np.unique(log.user)]
    assert np.unique(drawn.user).tolist() == list(range(1, 13))
    assert all(doings(drawn, user, 0) in originals for user in range(1, 13))


def test_the_result_is_a_workload_of_the_same_machine_and_length(log):
    drawn = resample(log, seed=1)
    weeks = (log.submit[-1] - log.submit[0]) // WEEK + 1
    assert len(np.unique(drawn.user)) == len(np.unique(log.user))
    assert (np.diff(drawn.submit) >= 0).all()
    assert int(drawn.submit[0]) >= 0
    assert int(drawn.submit[-1]) < weeks * WEEK
    assert drawn.capacity == log.capacity
    assert drawn.job.tolist() == list(range(1, len(drawn) + 1))
    assert set(drawn.wait.tolist()) == {-1}


def test_a_seed_gives_the_same_workload(log):
    once, again, other = (resample(log, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(once.submit, again.submit)
    assert not np.array_equal(once.run[:100], other.run[:100])


def test_more_users_make_more_jobs(log):
    jobs = [np.mean([len(resample(log, seed=s, users=n)) for s in range(20)]) for n in (10, 40)]
    assert jobs[1] / jobs[0] == pytest.approx(4, rel=0.5)


def test_a_log_without_users(shared_data):
    with pytest.raises(WorkloadError, match="does not name the users"):
        resample(read_swf(shared_data / "swf" / "lublin_256.swf.gz"), seed=1)


def test_no_users_asked_for():
    with pytest.raises(WorkloadError, match="0 users"):
        resample(Workload.of([0], [1], [1], user=[3]), seed=1, users=0)

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.metrics import (
    Demand,
    expected_end_times,
    expected_ends,
    user_metrics,
)
from rebecsim.metrics.expected_end import ShareProfile
from rebecsim.workloads import Schedule, Workload
from tests.oracles import expected_end_times_of, schedule_rows


def ints(*values: int):
    return np.array(values, dtype=np.int64)


def second_by_second(jobs: Sequence[tuple[int, int, int]], share: int) -> list[int]:
    """Algorithm 1 as it stands in the paper, for jobs (arrival, request, runtime) of one user."""
    capacity: dict[int, int] = {}
    ends = []
    for arrival, request, runtime in jobs:
        work, time = request * runtime, arrival
        while work > 0:
            left = capacity.get(time, share)
            taken = min(left, request, work)
            capacity[time] = left - taken
            work -= taken
            time += 1
        ends.append(time)
    return ends


def of_one_user(jobs: Sequence[tuple[int, int, int]], share: int) -> list[int]:
    arrival, request, runtime = (np.array(c, dtype=np.int64) for c in zip(*jobs, strict=True))
    user = np.ones_like(arrival)
    return expected_end_times(
        arrival, runtime, user, [Demand("processors", request, share)]
    ).tolist()


def test_table_1_of_the_paper():
    assert of_one_user([(0, 2, 4), (1, 2, 1)], 3) == [4, 3]


@pytest.mark.parametrize(
    ("jobs", "share", "ends"),
    [
        ([(7, 2, 5)], 2, [12]),  # alone, it ends as if it ran at once
        ([(7, 4, 5)], 2, [17]),  # wider than the share: narrower and longer
        ([(7, 1, 5)], 2, [12]),  # it never becomes shorter
        ([(0, 2, 5), (0, 2, 5)], 2, [5, 10]),  # one after the other
        ([(0, 3, 1), (0, 3, 1)], 2, [2, 3]),  # the last second of the first has one unit left
        ([(0, 2, 3), (100, 2, 3)], 2, [3, 103]),  # what was not used is lost
        ([(4, 0, 9), (4, 5, 0)], 2, [4, 4]),  # nothing to do
    ],
)
def test_small_cases(jobs, share, ends):
    assert of_one_user(jobs, share) == ends == second_by_second(jobs, share)


job = st.tuples(st.integers(0, 12), st.integers(0, 7), st.integers(0, 9))


@settings(max_examples=300)
@given(st.lists(job, min_size=1, max_size=14).map(sorted), st.integers(1, 6))
def test_the_steps_give_what_the_seconds_give(jobs, share):
    jobs.sort(key=lambda each: each[0])
    assert of_one_user(jobs, share) == second_by_second(jobs, share)


@settings(max_examples=60)
@given(st.lists(job, min_size=1, max_size=14), st.integers(1, 6))
def test_a_profile_keeps_its_form(jobs, share):
    profile = ShareProfile(share)
    for arrival, request, runtime in sorted(jobs, key=lambda each: each[0]):
        profile.pour(arrival, request, runtime)
        assert profile.times[0] == arrival  # the past is dropped
        assert profile.times == sorted(set(profile.times))
        assert profile.free[-1] == share  # in the end all is free again
        assert all(0 <= left <= share for left in profile.free)
        assert all(a != b for a, b in zip(profile.free, profile.free[1:], strict=False))


def test_a_long_log_needs_few_steps():
    """Jobs of months do not make months of steps."""
    profile = ShareProfile(4)
    for number in range(1000):
        profile.pour(number * 10, 4, 86_400 * 30)
    assert len(profile.times) <= 2


@settings(max_examples=60)
@given(
    st.lists(st.tuples(job, st.integers(1, 3), st.integers(0, 4)), min_size=1, max_size=10),
    st.integers(1, 5),
    st.integers(1, 5),
)
def test_users_and_resources_do_not_disturb_each_other(rows, share, memory_share):
    """The end is the latest of those by each resource, each user counted alone."""
    arrival, request, runtime = (
        np.array(column, dtype=np.int64)
        for column in zip(*(each for each, _, _ in rows), strict=True)
    )
    user, memory = (np.array([row[k] for row in rows], dtype=np.int64) for k in (1, 2))
    demands = [Demand("processors", request, share), Demand("memory", memory, memory_share)]
    ends = expected_end_times(arrival, runtime, user, demands)
    for name in np.unique(user):
        mine = np.flatnonzero(user == name)
        mine = mine[np.argsort(arrival[mine], kind="stable")]
        alone = [
            second_by_second(
                list(zip(*(c[mine].tolist() for c in (arrival, units, runtime)), strict=True)), most
            )
            for units, most in ((request, share), (memory, memory_share))
        ]
        assert ends[mine].tolist() == [max(pair) for pair in zip(*alone, strict=True)]


def test_shares_may_differ_by_user():
    ends = expected_end_times(
        ints(0, 0), ints(6, 6), ints(1, 2), [Demand("processors", ints(2, 2), {1: 2, 2: 1})]
    )
    assert ends.tolist() == [6, 12]


@pytest.mark.parametrize("share", [0, {1: 3}, {1: 3, 2: 0}])
def test_a_user_without_a_share(share):
    with pytest.raises(ValueError, match=r"user \d has no share of memory"):
        expected_end_times(
            ints(0, 0), ints(1, 1), ints(1, 2), [Demand("memory", ints(1, 1), share)]
        )


def test_arrays_that_do_not_fit():
    demand = Demand("processors", ints(1, 1), 2)
    with pytest.raises(ValueError, match="runtime should have shape"):
        expected_end_times(ints(0, 0), ints(1), ints(1, 1), [demand])
    with pytest.raises(ValueError, match="arrival has a value below 0"):
        expected_end_times(ints(0, -1), ints(1, 1), ints(1, 1), [demand])
    with pytest.raises(ValueError, match="some resource"):
        expected_end_times(ints(0), ints(1), ints(1), [])


def test_jobs_of_a_schedule_need_the_time_that_they_ran_there():
    jobs = Workload.of([0, 0], [5, 5], [2, 2], user=[1, 1], requested_memory=[10, -1])
    killed = Schedule(jobs, ints(0, 5), ints(5, 3))
    assert expected_ends(killed, 2).tolist() == [5, 8]
    # 20 KB for 5 s through a share of 4 KB take 25 s; the second job's memory is not known.
    assert expected_ends(killed, 2, 4).tolist() == [25, 8]


@pytest.mark.parametrize("name", ["hpc2n-exact-FCFS", "hpc2n-exact-FairFCFS"])
def test_golden_values(name):
    """Two schedules of a real log against an independent implementation of Algorithm 1."""
    golden = expected_end_times_of(name)
    rows = schedule_rows(name)
    submit, wait, run, processors, user = (
        np.array([int(row[key]) for row in rows], dtype=np.int64)
        for key in ("submit", "wait", "runtime", "cpus", "user")
    )
    ends = expected_end_times(
        submit, run, user, [Demand("processors", processors, golden["capacity"])]
    )
    metrics = user_metrics(submit + wait + run, ends, user, processors)
    columns = (
        metrics.user,
        metrics.jobs,
        metrics.violated,
        metrics.veet,
        metrics.weighted_tardiness,
    )
    found = {
        str(who): {"jobs": jobs, "violated": violated, "VEET": round(veet, 4), "WT": tardy}
        for who, jobs, violated, veet, tardy in zip(*(c.tolist() for c in columns), strict=True)
    }
    assert found == golden["users"]

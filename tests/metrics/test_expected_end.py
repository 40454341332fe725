from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from rebecsim.metrics import (
    Demand,
    EndRules,
    expected_end_times,
    expected_ends,
    user_metrics,
)
from rebecsim.metrics.users import ShareProfile
from rebecsim.workloads import Schedule, Workload, WorkloadError
from tests.oracles import expected_end_times_of, schedule_rows

Job = tuple[int, int, int]
PRINTED, REFINED = EndRules(), EndRules(algorithm="refined")


def ints(*values: int):
    return np.array(values, dtype=np.int64)


def as_printed(
    jobs: Sequence[Job], share: int, *, window: int | None = None, wastes: bool = True
) -> list[int]:
    """Algorithm 1 as the paper prints it, for jobs (arrival, request, runtime) of one user.

    In every second a job consumes what is free of the share, up to its request, and it does so in
    its last second as well, however little work is left; unless it `wastes` nothing. With a
    `window`, the share is what makes the mean over it and as much time again the share that is
    given.
    """
    consumed: dict[int, int] = {}
    ends = []
    for arrival, request, runtime in jobs:
        capacity = share
        if window is not None:
            past = sum(consumed.get(time, 0) for time in range(arrival - window, arrival))
            capacity = max((2 * share * window - past) // window, 1)
        work, time = request * runtime, arrival
        while work > 0:
            taken = max(min(capacity - consumed.get(time, 0), request), 0)
            consumed[time] = consumed.get(time, 0) + (taken if wastes else min(taken, work))
            work -= taken
            time += 1
        ends.append(time)
    return ends


def of_one_user(jobs: Sequence[Job], share: int, rules: EndRules = PRINTED) -> list[int]:
    arrival, request, runtime = (np.array(c, dtype=np.int64) for c in zip(*jobs, strict=True))
    user = np.ones_like(arrival)
    demands = [Demand("processors", request, share)]
    return expected_end_times(arrival, runtime, user, demands, rules).tolist()


def test_table_1_of_the_paper():
    for rules in (PRINTED, REFINED):
        assert of_one_user([(0, 2, 4), (1, 2, 1)], 3, rules) == [4, 3]


@pytest.mark.parametrize(
    ("jobs", "share", "ends", "refined"),
    [
        ([(7, 2, 5)], 2, [12], [12]),  # alone, it ends as if it ran at once
        ([(7, 4, 5)], 2, [17], [17]),  # wider than the share: narrower and longer
        ([(7, 1, 5)], 2, [12], [12]),  # it never becomes shorter
        ([(0, 2, 5), (0, 2, 5)], 2, [5, 10], [5, 10]),  # one after the other
        ([(0, 3, 1), (0, 1, 1)], 2, [2, 3], [2, 2]),  # the last second of the first: one unit left
        ([(0, 3, 1), (0, 3, 1)], 2, [2, 4], [2, 3]),
        ([(0, 2, 3), (100, 2, 3)], 2, [3, 103], [3, 103]),  # what was not used is lost
        ([(4, 0, 9), (4, 5, 0)], 2, [4, 4], [4, 4]),  # nothing to do
    ],
)
def test_small_cases(jobs, share, ends, refined):
    assert of_one_user(jobs, share) == ends == as_printed(jobs, share)
    assert of_one_user(jobs, share, REFINED) == refined == as_printed(jobs, share, wastes=False)


job = st.tuples(st.integers(0, 12), st.integers(0, 7), st.integers(0, 9))
in_order = st.lists(job, min_size=1, max_size=14).map(
    lambda jobs: sorted(jobs, key=lambda each: each[0])
)


@settings(max_examples=300)
@given(in_order, st.integers(1, 6), st.sampled_from(["printed", "refined"]))
@example([(0, 3, 1), (0, 1, 1)], 2, "printed")
def test_the_steps_give_what_the_seconds_give(jobs, share, algorithm):
    by_seconds = as_printed(jobs, share, wastes=algorithm == "printed")
    assert of_one_user(jobs, share, EndRules(algorithm=algorithm)) == by_seconds


@settings(max_examples=300)
@given(in_order, st.integers(1, 6), st.integers(1, 9), st.sampled_from(["printed", "refined"]))
def test_past_usage_counts_as_it_does_second_by_second(jobs, share, window, algorithm):
    rules = EndRules(algorithm=algorithm, usage_window=window)
    wastes = algorithm == "printed"
    assert of_one_user(jobs, share, rules) == as_printed(jobs, share, window=window, wastes=wastes)


def test_who_has_used_little_may_expect_more_and_who_has_used_much_less():
    """A job of 4 processors and 10 s; the share is 4 in a window of 100 s."""
    rules = EndRules(usage_window=100)

    def end_after(past: list[Job]) -> int:
        return of_one_user([*past, (100, 8, 10)], 4, rules)[-1]

    assert end_after([]) == 110  # twice the share
    assert end_after([(0, 4, 100)]) == 120  # the share
    assert end_after([(0, 8, 100)]) == 180  # twice the share was used: one processor is left


@settings(max_examples=60)
@given(in_order, st.integers(1, 6), st.sampled_from(["printed", "refined"]))
def test_a_profile_keeps_its_form(jobs, share, algorithm):
    profile = ShareProfile(share, EndRules(algorithm=algorithm))
    for arrival, request, runtime in jobs:
        profile.pour(arrival, request, runtime)
        assert profile.times[0] == arrival  # the past is dropped
        assert profile.times == sorted(set(profile.times))
        assert profile.used[-1] == 0  # in the end all is free again
        assert all(0 <= units <= share for units in profile.used)
        assert all(a != b for a, b in pairwise(profile.used))


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
            as_printed(
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


def ends_per(grouping: str, **columns: object) -> list[int]:
    """Four jobs of 5 s on a share of one processor; the second comes 100 s after the first."""
    jobs = Workload.of([0, 100, 150, 300], [5, 5, 5, 5], [1, 1, 1, 1], user=[1, 1, 1, 1], **columns)
    schedule = Schedule(jobs, jobs.submit)
    return expected_ends(schedule, 1, rules=EndRules(per=grouping)).tolist()  # type: ignore[arg-type]


def test_a_bag_has_one_expected_end():
    assert ends_per("job") == [5, 105, 155, 305]
    assert ends_per("bag") == [155, 155, 155, 305]  # 150 s after the one before is another bag


def test_bags_are_those_of_a_user():
    jobs = Workload.of([0, 0, 100, 100], [5, 5, 5, 5], [1, 1, 1, 1], user=[1, 2, 1, 2])
    ends = expected_ends(Schedule(jobs, jobs.submit), 1, rules=EndRules(per="bag", bag_gap=99))
    assert ends.tolist() == [5, 5, 105, 105]
    ends = expected_ends(Schedule(jobs, jobs.submit), 1, rules=EndRules(per="bag", bag_gap=100))
    assert ends.tolist() == [105, 105, 105, 105]


def test_a_workflow_has_one_expected_end():
    assert ends_per("workflow", preceding=[-1, 1, -1, 2]) == [305, 305, 155, 305]
    assert ends_per("workflow", preceding=[-1, -1, -1, 3]) == [5, 105, 305, 305]
    with pytest.raises(WorkloadError, match="no job of the log has a preceding job"):
        ends_per("workflow")


@pytest.mark.parametrize("name", ["hpc2n-exact-FCFS", "hpc2n-exact-FairFCFS"])
def test_golden_values(name):
    """Two schedules of a real log against an independent implementation, which wastes nothing."""
    golden = expected_end_times_of(name)
    rows = schedule_rows(name)
    submit, wait, run, processors, user = (
        np.array([int(row[key]) for row in rows], dtype=np.int64)
        for key in ("submit", "wait", "runtime", "cpus", "user")
    )
    ends = expected_end_times(
        submit, run, user, [Demand("processors", processors, golden["capacity"])], REFINED
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

from __future__ import annotations

import numpy as np
import pytest

from rebecsim.metrics import fair_slowdown, fair_start_times, unfairness
from rebecsim.workloads import Schedule, Workload


def one_at_a_time(workload: Workload, shortest_first: bool) -> Schedule:
    """Run jobs one at a time: in the order of arrival, or always the shortest that waits."""
    start = np.zeros(len(workload), dtype=np.int64)
    left, now = list(range(len(workload))), 0
    while left:
        waiting = [job for job in left if workload.submit[job] <= now]
        if not waiting:
            now = int(workload.submit[left].min())
            continue
        job = min(waiting, key=lambda j: int(workload.run[j])) if shortest_first else waiting[0]
        start[job] = now
        now += int(workload.run[job])
        left.remove(job)
    return Schedule(workload, start)


# The second job waits for the first; the third comes later but is shorter.
WORKLOAD = Workload.of([0, 1, 2], [10, 8, 3], [1, 1, 1])


def test_in_the_order_of_arrival_nobody_is_treated_unfairly():
    fair = fair_start_times(WORKLOAD, lambda jobs: one_at_a_time(jobs, shortest_first=False))
    start = one_at_a_time(WORKLOAD, shortest_first=False).start
    assert unfairness(start, fair).tolist() == [0, 0, 0]
    assert fair_slowdown(start, fair, WORKLOAD.submit, WORKLOAD.run).tolist() == [1, 1, 1]


def test_a_later_job_that_overtakes_makes_it_unfair():
    fair = fair_start_times(WORKLOAD, lambda jobs: one_at_a_time(jobs, shortest_first=True))
    start = one_at_a_time(WORKLOAD, shortest_first=True).start
    assert fair.tolist() == [0, 10, 10]
    assert start.tolist() == [0, 13, 10]
    assert unfairness(start, fair).tolist() == [0, 3, 0]
    slow = fair_slowdown(start, fair, WORKLOAD.submit, WORKLOAD.run)
    assert slow.tolist() == pytest.approx([1, 20 / 17, 1])


def test_some_jobs_can_be_asked_for():
    def run(jobs: Workload) -> Schedule:
        asked.append(len(jobs))
        return one_at_a_time(jobs, shortest_first=True)

    asked: list[int] = []
    assert fair_start_times(WORKLOAD, run, np.array([1])).tolist() == [10]
    assert asked == [2]

"""Fair starts: what becomes of a job if nobody comes after it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.batch import BATCH_POLICIES, NodeGroup, PolicySettings, Pool, run_schedule
from rebecsim.clusters.batch.machine import machine_of
from rebecsim.workloads import Workload, first_jobs
from tests.clusters.batch.reference import Request
from tests.clusters.batch.workloads import PROCESSORS, requests, workload_of
from tests.examples import dear

MACHINES = (
    Pool(PROCESSORS),
    machine_of(NodeGroup(PROCESSORS, 1)),
    machine_of(NodeGroup(1, 2), NodeGroup(1, 4), placement="best-fit"),
)


@pytest.mark.parametrize("policy", BATCH_POLICIES)
@settings(max_examples=dear(60))
@given(
    jobs=requests(most=9),
    usage=st.sampled_from(("running", "ended")),
    order=st.sampled_from(("queue", "shortest")),
    machine=st.sampled_from(MACHINES),
)
def test_a_fair_start_is_that_in_the_schedule_without_later_jobs(
    policy: str, jobs: list[Request], usage: str, order: str, machine: Pool
) -> None:
    """By running the policy once for every job, on it and on those before it."""
    rules = PolicySettings(
        refresh=5,
        half_life=7,
        usage=usage,  # type: ignore[arg-type]
        backfill_order=order,  # type: ignore[arg-type]
    )
    workload = workload_of(jobs)
    schedule = run_schedule(workload, machine, policy, settings=rules, fair_starts=True)
    assert (
        schedule.start.tolist()
        == run_schedule(workload, machine, policy, settings=rules).start.tolist()
    )  # looking ahead changes nothing
    assert schedule.fair_start is not None
    assert schedule.fair_start.tolist() == [
        run_schedule(first_jobs(workload, count), machine, policy, settings=rules).start[-1]
        for count in range(1, len(workload) + 1)
    ]


def test_who_is_overtaken_starts_later_than_is_fair() -> None:
    """The second job waits for the first; the shortest one, which comes last, goes before it."""
    workload = Workload.of([0, 1, 2], [10, 10, 5], [4, 4, 4], capacity=4)
    schedule = run_schedule(workload, policy="SJF", fair_starts=True)
    assert schedule.start.tolist() == [0, 15, 10]
    assert schedule.fair_start is not None
    assert schedule.fair_start.tolist() == [0, 10, 10]
    assert run_schedule(workload, policy="FCFS").fair_start is None

"""The policies against naive ones, job by job, and laws that need no reference."""

from __future__ import annotations

from typing import Literal
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from rebecsim.actors import FifoScheduler
from rebecsim.clusters.batch import (
    BATCH_POLICIES,
    BatchPolicy,
    BySubmission,
    EasyBackfilling,
    Machine,
    NodeGroup,
    PolicySettings,
    Pool,
    QueueOrder,
    ShortestJob,
    SmallestArea,
    check_capacity,
    check_head_reservations,
    check_start_order,
    check_submissions,
    machine_of,
    run,
    run_schedule,
)
from rebecsim.simulation import simulate
from rebecsim.workloads import Workload
from tests.clusters.batch import reference
from tests.clusters.batch.reference import Request
from tests.clusters.batch.workloads import PROCESSORS, requests, workload_of
from tests.examples import dear

SHORTEST = PolicySettings(backfill_order="shortest")
FAST = PolicySettings(refresh=5, half_life=7)


@pytest.mark.parametrize(
    ("policy", "chosen", "naive"),
    [
        ("FCFS", None, reference.Simulation),
        ("EASY", None, reference.Easy),
        ("EASY", SHORTEST, reference.EasyShortestFirst),
        ("CONSERVATIVE", None, reference.Conservative),
    ],
)
@settings(max_examples=dear(240))
@given(jobs=requests())
@example(  # two reservations for one time, of which the new one must not come first
    jobs=[
        Request(submit=0, run=6, processors=3, estimate=6),
        Request(submit=0, run=1, processors=4, estimate=2),
        Request(submit=3, run=1, processors=5, estimate=1),
        Request(submit=6, run=1, processors=2, estimate=2),
        Request(submit=6, run=1, processors=3, estimate=1),
    ]
)
def test_every_job_starts_when_the_naive_policy_starts_it(
    policy: str,
    chosen: PolicySettings | None,
    naive: type[reference.Simulation],
    jobs: list[Request],
) -> None:
    schedule = run_schedule(workload_of(jobs), policy=policy, settings=chosen)
    assert schedule.start.tolist() == naive(jobs, PROCESSORS).run()


@pytest.mark.parametrize(
    ("usage", "later"), [("running", "who has run for ten days"), ("ended", "who ran for 600 s")]
)
def test_under_fairshare_usage_accrues_while_jobs_run_or_when_they_have_ended(
    usage: Literal["running", "ended"], later: str
) -> None:
    """User 1 has held 3 of 4 processors for ten days, user 2 one for 600 s; both want one more."""
    days = 10 * 86_400
    workload = Workload.of(
        submit=[0, 0, 600, days, days + 1],
        run=[2 * days, 600, days + 1000, 50, 50],
        processors=[3, 1, 1, 1, 1],
        user=[1, 2, 3, 1, 2],
        capacity=4,
    )
    schedule = run_schedule(workload, policy="FAIR_FCFS", settings=PolicySettings(usage=usage))
    of_first, of_second = schedule.start[3:].tolist()
    assert (of_first > of_second) == (later == "who has run for ten days")
    assert min(of_first, of_second) == days + 1600


@pytest.mark.parametrize("policy", BATCH_POLICIES)
@settings(max_examples=dear(40))
@given(jobs=requests())
def test_every_policy_gives_a_valid_schedule(policy: str, jobs: list[Request]) -> None:
    schedule = run_schedule(workload_of(jobs), policy=policy, settings=FAST)
    assert check_submissions(schedule).holds
    assert check_capacity(schedule, PROCESSORS).holds


@settings(max_examples=dear(60))
@given(jobs=requests())
def test_first_come_is_first_served(jobs: list[Request]) -> None:
    assert check_start_order(run_schedule(workload_of(jobs), policy="FCFS")).holds


@pytest.mark.parametrize("chosen", [None, SHORTEST])
@settings(max_examples=dear(100))
@given(jobs=requests())
def test_easy_keeps_what_it_has_promised_to_the_head(
    chosen: PolicySettings | None, jobs: list[Request]
) -> None:
    workload = workload_of(jobs)
    schedule = run_schedule(workload, policy="EASY", settings=chosen)
    assert check_head_reservations(schedule, PROCESSORS, workload.estimate).holds


@settings(max_examples=dear(100))
@given(jobs=requests(), data=st.data())
def test_under_conservative_nobody_is_delayed_by_later_jobs(
    jobs: list[Request], data: st.DataObject
) -> None:
    """With exact estimates a job starts at its first reservation, whatever comes after it."""
    count = data.draw(st.integers(1, len(jobs)))
    whole = run_schedule(workload_of(jobs), policy="CONSERVATIVE", estimates="exact")
    without = run_schedule(workload_of(jobs[:count]), policy="CONSERVATIVE", estimates="exact")
    assert whole.start[:count].tolist() == without.start.tolist()


@pytest.mark.parametrize("policy", BATCH_POLICIES)
@settings(max_examples=dear(40))
@given(jobs=requests(), later=st.integers(1, 10_000))
def test_nothing_depends_on_when_it_all_begins(
    policy: str, jobs: list[Request], later: int
) -> None:
    shifted = [job._replace(submit=job.submit + later) for job in jobs]
    one = run_schedule(workload_of(jobs), policy=policy, settings=FAST)
    other = run_schedule(workload_of(shifted), policy=policy, settings=FAST)
    assert (other.start - one.start).tolist() == [later] * len(jobs)


@pytest.mark.parametrize("policy", BATCH_POLICIES)
@settings(max_examples=dear(40))
@given(jobs=requests())
def test_one_node_is_a_pool(policy: str, jobs: list[Request]) -> None:
    workload = workload_of(jobs)
    pooled = run_schedule(workload, policy=policy, settings=FAST)
    on_node = run_schedule(workload, machine_of(NodeGroup(1, PROCESSORS)), policy, settings=FAST)
    assert on_node.start.tolist() == pooled.start.tolist()


@pytest.mark.parametrize("machine", [Pool(PROCESSORS), machine_of(NodeGroup(PROCESSORS, 1))])
@settings(max_examples=dear(400))
@given(
    jobs=requests(),
    order=st.sampled_from([BySubmission, ShortestJob, SmallestArea]),
    shortest=st.booleans(),
)
def test_easy_tries_new_jobs_alone_where_it_may(
    machine: Machine[int], jobs: list[Request], order: type[QueueOrder], shortest: bool
) -> None:
    """Trying all jobs whenever something happens gives the same."""
    policy = BatchPolicy("AN_EASY", "an EASY", "for this test", order, EasyBackfilling)
    chosen = SHORTEST if shortest else PolicySettings()
    workload = workload_of(jobs)
    alone = run_schedule(workload, machine, policy, settings=chosen)
    with patch.object(type(machine), "are_alike", False):
        together = run_schedule(workload, machine, policy, settings=chosen)
    assert alone.start.tolist() == together.start.tolist()


@pytest.mark.parametrize("policy", ["FCFS", "SJF", "FAIR_FCFS"])
@settings(max_examples=dear(40))
@given(jobs=requests())
def test_nodes_of_one_processor_are_a_pool_when_nothing_is_reserved(
    policy: str, jobs: list[Request]
) -> None:
    """A reservation is for certain nodes, so that backfilling leaves these alone."""
    workload = workload_of(jobs)
    pooled = run_schedule(workload, policy=policy, settings=FAST)
    on_nodes = run_schedule(workload, machine_of(NodeGroup(PROCESSORS, 1)), policy, settings=FAST)
    assert on_nodes.start.tolist() == pooled.start.tolist()


@pytest.mark.parametrize("order", ["SJF", "LJF", "SMALLEST_AREA", "LARGEST_AREA", "PRIORITY"])
@settings(max_examples=dear(40))
@given(jobs=requests())
def test_jobs_that_wait_together_start_in_the_order_of_the_policy(
    order: str, jobs: list[Request]
) -> None:
    """All jobs are submitted while the first one has the whole machine to itself."""
    first = Request(0, 100, PROCESSORS, 100)
    together = [first, *(job._replace(submit=1) for job in jobs)]
    workload = workload_of(together)
    keys = {
        "SJF": workload.estimate,
        "LJF": -workload.estimate,
        "SMALLEST_AREA": workload.estimate * workload.processors,
        "LARGEST_AREA": -workload.estimate * workload.processors,
        "PRIORITY": workload.queue,
    }[order]
    starts = run_schedule(workload, policy=order).start[1:]
    expected = np.argsort(keys[1:], kind="stable")
    assert (np.diff(starts[expected]) >= 0).all()


@pytest.mark.parametrize("policy", BATCH_POLICIES)
@settings(max_examples=dear(40))
@given(jobs=requests())
def test_nodes_of_one_processor_are_nodes_like_others(policy: str, jobs: list[Request]) -> None:
    workload = workload_of(jobs)
    single, others = (
        run_schedule(workload, machine_of(NodeGroup(PROCESSORS, 1, more)), policy, settings=FAST)
        for more in ({}, {"nothing": 0})
    )
    assert single.start.tolist() == others.start.tolist()


@pytest.mark.parametrize("policy", BATCH_POLICIES)
@settings(max_examples=dear(40))
@given(jobs=requests(), nodes=st.booleans())
def test_messages_are_served_as_the_semantics_say(
    policy: str, jobs: list[Request], nodes: bool
) -> None:
    workload = workload_of(jobs)
    machine = machine_of(NodeGroup(PROCESSORS, 1)) if nodes else None
    schedule = run_schedule(workload, machine, policy, settings=FAST)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(run, "QueuedSystem", lambda model: simulate(model, FifoScheduler()).system)
        patched.setattr(run, "serve", lambda system, _: None)
        expected = run_schedule(workload, machine, policy, settings=FAST)
    assert schedule.start.tolist() == expected.start.tolist()

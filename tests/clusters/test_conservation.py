"""No job gets lost: every one that arrived is done, missed or dropped, or it waits or runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from hypothesis import Phase, given, settings, strategies as st

from rebecsim.actors import Rebec, Streams
from rebecsim.clusters.dispatch.configuration import Configuration, HighPriority
from rebecsim.clusters.dispatch.patterns import (
    Ascending,
    Bursty,
    Descending,
    Linear,
    Nondet,
    UniformArrivals,
    UniformLengths,
    Wave,
)
from rebecsim.clusters.dispatch.policies import DISPATCH_POLICIES, EVICTION_POLICIES
from rebecsim.clusters.dispatch.source import (
    COUNTERS,
    NATJAM_COUNTERS,
    Eviction,
    NatjamConfiguration,
)
from rebecsim.clusters.dispatch.study import model_source
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.simulation import RunResult, simulate
from rebecsim.simulation.simulator import scheduler_for
from rebecsim.studies.simulated import ORDERS, message_order

UNCOUNTED = {"arrived", "checkpoints", "margin", "production_drops"}
"""Columns that are no ends of jobs, or ends that are counted with others."""

_EACH = 250
"""Scenarios with eviction, and as many without: 500 of the kind."""

PROBABILITIES = st.integers(0, 100) | st.sampled_from([0, 10, 50, 100])

COMMON = {
    "arrivals": st.builds(UniformArrivals, count=st.integers(0, 4))
    | st.builds(Bursty, size=st.integers(1, 9), interval=st.integers(1, 9))
    | st.builds(Nondet, minimum=st.integers(0, 1), maximum=st.integers(2, 4)),
    "lengths": st.builds(UniformLengths, length=st.integers(0, 9))
    | st.builds(Nondet, minimum=st.integers(0, 3), maximum=st.integers(4, 8))
    | st.builds(
        Ascending, minimum=st.integers(1, 3), increment=st.just(1), points=st.integers(1, 6)
    )
    | st.builds(Descending, maximum=st.integers(3, 9), decrement=st.just(1), points=st.just(6))
    | st.builds(Linear, multiplier=st.integers(1, 2))
    | st.builds(Wave, minimum=st.integers(1, 3), increment=st.just(1), points=st.just(6)),
    "app_masters": st.integers(1, 6),
    "queue_size": st.integers(1, 12),
    "epsilon": st.sampled_from([0.0, 0.1, 0.5, 1.0, 1.5, 3.0]),
    "high_priority": st.builds(
        HighPriority, probability=PROBABILITIES, length=st.sampled_from([0, 0, 1, 9])
    ),
    "speeds": st.sampled_from([(), (), (0.5, 2.0), (3.0,), (0.3, 1.1)]),
}

dispatch = partial(st.builds, Configuration, policy=st.sampled_from(sorted(DISPATCH_POLICIES)))
eviction = partial(
    st.builds,
    NatjamConfiguration,
    policy=st.sampled_from(sorted(EVICTION_POLICIES)),
    eviction=st.builds(Eviction, checkpoint_overhead=st.integers(0, 3)),
)


def ended(manager: Rebec, counters: Mapping[str, str]) -> int:
    return sum(getattr(manager, v) for name, v in counters.items() if name not in UNCOUNTED)


def run_of(source: str, order: str, ticks: int, replication: int = 0) -> RunResult:
    model = build_model(check_source(source, "model.rebeca"), "model.rebeca")
    streams = Streams((1, 2), replication)
    return simulate(
        model, scheduler_for(message_order(order, "checkQueue"), streams, "fair"), until=ticks - 1
    )


@settings(max_examples=_EACH, phases=[Phase.generate])
@given(configuration=dispatch(**COMMON), order=st.sampled_from(ORDERS), ticks=st.integers(1, 150))
def test_no_job_of_a_dispatch_model_gets_lost(configuration, order, ticks):
    run = run_of(model_source(configuration), order, ticks)
    manager = run.system.rebecs[0]
    assert run.outcome == "time limit"
    waiting = sum(left > 0 for left in manager.m_deadline)
    running = sum(not free for free in manager.m_free)
    assert manager.m_arrived_jobs == ended(manager, COUNTERS) + waiting + running


@settings(max_examples=_EACH, phases=[Phase.generate])
@given(configuration=eviction(**COMMON), order=st.sampled_from(ORDERS), ticks=st.integers(1, 150))
def test_no_job_of_an_eviction_model_gets_lost(configuration, order, ticks):
    run = run_of(model_source(configuration), order, ticks)
    manager, *app_masters = run.system.rebecs
    assert run.outcome == "time limit"
    waiting = sum(
        left > 0 for left in (*manager.m_incoming_deadline, *manager.m_checkpoint_deadline)
    )
    running = sum(each.m_job_type != 0 for each in app_masters)
    assert manager.m_arrived_jobs == ended(manager, NATJAM_COUNTERS) + waiting + running


ONE_PRODUCTION_JOB_OF_TWO = NatjamConfiguration(
    policy="MDF",
    arrivals=UniformArrivals(count=1),
    lengths=Nondet(minimum=1, maximum=6),
    app_masters=1,
    queue_size=2,
    epsilon=1.0,
    high_priority=HighPriority(probability=50),
)


def outcome_of(source: str, replication: int = 0) -> str:
    return run_of(source, "random", 2000, replication).outcome


def test_production_jobs_evict_no_job_that_ends_in_this_time_unit():
    assert outcome_of(model_source(ONE_PRODUCTION_JOB_OF_TWO)) == "time limit"


def test_a_model_that_evicts_a_job_at_its_deadline_fails_its_assertion():
    guarded = model_source(ONE_PRODUCTION_JOB_OF_TWO)
    bare = guarded.replace("&& m_am_deadline[a] > 1", "")
    assert bare != guarded
    assert outcome_of(bare) == "assertion failed"


def test_a_model_that_evicts_a_job_that_a_fast_app_master_ends_fails_its_assertion():
    fast = NatjamConfiguration(
        policy="MDF",
        arrivals=UniformArrivals(count=2),
        lengths=Nondet(minimum=1, maximum=8),
        app_masters=3,
        queue_size=6,
        epsilon=2.0,
        high_priority=HighPriority(probability=20),
        speeds=(2.0,),
    )
    guarded = model_source(fast)
    bare = guarded.replace("m_am_time[a] > nextWork(a)", "m_am_time[a] > 1")
    assert bare != guarded
    assert outcome_of(guarded, _UNLUCKY) == "time limit"
    assert outcome_of(bare, _UNLUCKY) == "assertion failed"


_UNLUCKY = 8
"""A run of 40 in which a job is evicted that has just ended."""

"""Common random numbers: run r sees the same jobs under every policy, whatever the policy drops."""

from __future__ import annotations

import pytest

from rebecsim.clusters import Configuration, NatjamConfiguration, natjam_source, rebeca_source
from rebecsim.clusters.dispatch.patterns import Bursty, Nondet
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.simulation import Observation
from tests.batches import run_batch

UNTIL = 40

# More jobs than the queue holds, so that policies drop some, and not the same number.
CLUSTER = {
    "arrivals": Bursty(size=5, interval=4),
    "lengths": Nondet(minimum=1, maximum=6),
    "app_masters": 2,
    "queue_size": 6,
    "epsilon": 0.5,
    "high_priority": {"probability": 30, "length": 2},
}


def drawn(source: str) -> tuple[list[list[int]], list[int]]:
    """What the ticks of each run have drawn, and the jobs that each run has dropped."""
    batch = run_batch(
        build_model(check_source(source, "test.rebeca")),
        Observation("rm", ("m_dropped_jobs",)),
        key=(3, 4),
        replications=range(8),
        until=UNTIL,
        trace=True,
    )
    runs = [
        [choice for event in run if event.server == "checkQueue" for choice in event.choices]
        for run in batch.events
    ]
    return runs, batch.columns["m_dropped_jobs"].tolist()


def assert_the_same_jobs(sources: list[str]) -> None:
    results = [drawn(source) for source in sources]
    assert len({tuple(drops) for _, drops in results}) > 1, "the policies drop the same jobs"
    first = results[0][0]
    assert all(runs == first for runs, _ in results)


def test_dispatch_policies_see_the_same_jobs():
    policies = ["EDF", "FIFO", "MDF", "LLF", "SJF", "PRIORITY"]
    assert_the_same_jobs(
        [rebeca_source(Configuration(policy=policy, **CLUSTER)) for policy in policies]
    )


def test_eviction_policies_see_the_same_jobs_and_priorities():
    assert_the_same_jobs(
        [natjam_source(NatjamConfiguration(policy=each, **CLUSTER)) for each in ("MDF", "MLF")]
    )


@pytest.mark.parametrize("policy", ["EDF", "PRIORITY"])
def test_every_job_is_drawn_once(policy):
    configuration = Configuration(policy=policy, workload="as-published", **CLUSTER)
    runs, _ = drawn(rebeca_source(configuration))
    bursts = UNTIL // 4 + 1
    assert {len(run) for run in runs} == {5 * bursts * (2 if policy == "PRIORITY" else 1)}

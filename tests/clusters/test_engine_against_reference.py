"""The generated models, run by the engine, against the independent simulator of the same text."""

import math
import random
from statistics import mean, variance

import pytest

from rebecsim.clusters import COUNTERS, Configuration, busy_time_variables, rebeca_source
from rebecsim.clusters.dispatch.pattern_kinds import Sine, Spline
from rebecsim.clusters.dispatch.patterns import (
    Ascending,
    Bursty,
    Linear,
    Nondet,
    UniformArrivals,
    Wave,
)
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.simulation import Observation
from tests.batches import run_batch
from tests.clusters.reference_dispatch import (
    Cluster,
    drawn_between,
    fair,
    one_job,
    rmc,
    simulate,
)

RUNS = 80

WORKLOADS = {
    "nondet lengths": (
        UniformArrivals(pattern="uniform", count=1),
        Nondet(pattern="nondet", minimum=1, maximum=6),
        one_job,
        drawn_between(1, 6),
    ),
    "bursts of linear length": (
        Bursty(pattern="bursty", size=5, interval=4),
        Linear(pattern="linear", multiplier=1),
        lambda time, draw: 5 if time % 4 == 0 else 0,
        lambda time, draw: time,
    ),
    "ascending arrivals": (
        Ascending(pattern="ascending", minimum=0, increment=1, points=3),
        Nondet(pattern="nondet", minimum=2, maximum=3),
        lambda time, draw: time % 3,
        drawn_between(2, 3),
    ),
    "curves": (
        Sine(pattern="sine", mean=1, amplitude=1, period=7),
        Spline(pattern="spline", period=4, knots=[[0, 1], [2, 6], [4, 1]]),
        lambda time, draw: math.floor(1 + math.sin(2 * math.pi * (time % 7) / 7) + 0.5),
        # Two cubics that meet at 2 with slope 0: 1, 4.4, 6, 4.4, 1, ...
        lambda time, draw: (1, 4, 6, 4)[time % 4],
    ),
}
POLICIES = ["EDF", "FIFO", "MDF", "PRIORITY", "LLF", "MLF", "SJF"]


def test_the_wave_is_the_one_assumed_here():
    wave = Wave(pattern="wave", minimum=1, increment=2, points=6)
    assert [wave.alternatives(time) for time in range(7)] == [
        (value,) for value in (1, 3, 5, 7, 5, 3, 1)
    ]


def cases():
    """All under both laws; at each commit, each policy and each workload under the second one.

    Under the second one, the original's, priorities decide lengths under PRIORITY alone.
    """
    for one, policy in enumerate(POLICIES):
        for other, workload in enumerate(WORKLOADS):
            yield pytest.param(policy, workload, "fair")
            rest = [pytest.mark.slow] if (one - other) % len(WORKLOADS) else []
            yield pytest.param(policy, workload, "rmc", marks=rest)


@pytest.mark.parametrize(("policy", "workload", "law"), list(cases()))
def test_means_agree(policy, workload, law):
    arrivals, lengths, reference_arrivals, reference_lengths = WORKLOADS[workload]
    compare(
        Configuration(
            policy=policy,
            arrivals=arrivals,
            lengths=lengths,
            app_masters=2,
            queue_size=6,
            epsilon=0.5,
            high_priority={"probability": 30, "length": 2},
            workload="same" if law == "fair" else "as-published",
        ),
        Cluster(
            policy,
            2,
            reference_arrivals,
            reference_lengths,
            0.5,
            queue_size=6,
            high_probability=30,
            high_length=2,
            ticks=60,
            same_jobs=law == "fair",
        ),
        law,
    )


@pytest.mark.parametrize("policy", ["FIFO", "SJF"])
def test_priorities_are_counted_under_policies_that_do_not_use_them(policy):
    """Also where they decide no lengths."""
    compare(
        Configuration(
            policy=policy,
            arrivals=UniformArrivals(count=2),
            lengths=Nondet(minimum=1, maximum=6),
            app_masters=2,
            queue_size=4,
            epsilon=0.5,
            high_priority={"probability": 30},
        ),
        Cluster(
            policy,
            2,
            lambda time, draw: 2,
            drawn_between(1, 6),
            0.5,
            queue_size=4,
            high_probability=30,
            ticks=60,
            same_jobs=True,
        ),
        "fair",
    )


@pytest.mark.parametrize("policy", ["EDF", "FIFO", "SJF"])
@pytest.mark.parametrize("speeds", [(1.0,), (2.0, 0.5), (1.5, 0.75, 1.1)])
def test_means_agree_on_app_masters_of_different_speeds(policy, speeds):
    compare(
        Configuration(
            policy=policy,
            arrivals=UniformArrivals(count=1),
            lengths=Nondet(minimum=1, maximum=6),
            app_masters=3,
            queue_size=6,
            epsilon=0.5,
            speeds=speeds,
            horizon=60,
        ),
        Cluster(
            policy,
            3,
            one_job,
            drawn_between(1, 6),
            0.5,
            queue_size=6,
            ticks=60,
            speeds=tuple(str(speed) for speed in speeds),
        ),
        "fair",
    )


HIGH = {
    "m_high_queue_misses": "queue_misses",
    "m_high_update_misses": "update_misses",
    "m_high_jobs_complete": "completions",
    "m_high_dropped_jobs": "dropped",
}
"""What the reference calls what is counted of jobs of high priority."""


def compare(configuration: Configuration, cluster: Cluster, law: str) -> None:
    """Assert that the means of all counters differ by no more than chance explains."""
    model = build_model(check_source(rebeca_source(configuration), "test.rebeca"))
    busy = busy_time_variables(cluster.app_masters) if configuration.horizon else ()
    high = HIGH if configuration.counts_priorities else {}
    batch = run_batch(
        model,
        Observation("rm", (*COUNTERS.values(), *high, *busy)),
        key=(1, 2),
        replications=range(RUNS),
        until=cluster.ticks - 1,
        choice_law=law,
    )
    generator = random.Random(f"{cluster.policy} {configuration.file_stem} {law}")
    draw = {"fair": fair, "rmc": rmc}[law](generator)
    outcomes = [simulate(cluster, draw, generator) for _ in range(RUNS)]
    expected = {
        "m_queue_misses": [outcome.queue_misses for outcome in outcomes],
        "m_update_misses": [outcome.update_misses for outcome in outcomes],
        "m_jobs_complete": [outcome.completions for outcome in outcomes],
        "m_dropped_jobs": [outcome.dropped for outcome in outcomes],
        "m_arrived_jobs": [outcome.arrived for outcome in outcomes],
        **{
            variable: [outcome.high.get(name, 0) for outcome in outcomes]
            for variable, name in high.items()
        },
        **{
            name: [outcome.busy.get(number, 0) for outcome in outcomes]
            for number, name in enumerate(busy)
        },
    }
    assert list(expected) == list(batch.columns)
    for name, reference in expected.items():
        ours = batch.columns[name].tolist()
        error = ((variance(ours) + variance(reference)) / RUNS) ** 0.5
        assert abs(mean(ours) - mean(reference)) <= 4.5 * error, name

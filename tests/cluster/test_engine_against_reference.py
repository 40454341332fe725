"""The generated models, run by the engine, against the independent simulator of the same text."""

import random
from statistics import mean, variance

import pytest

from rebecsim.cluster import COUNTERS, Configuration, rebeca_source
from rebecsim.cluster.patterns import Ascending, Bursty, Linear, Nondet, UniformArrivals, Wave
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.simulate import Observation, run_batch
from tests.cluster.reference_dispatch import (
    Cluster,
    drawn_between,
    fair,
    one_job,
    rmc,
    simulate,
)

RUNS = 120

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
}


def test_the_wave_is_the_one_assumed_here():
    wave = Wave(pattern="wave", minimum=1, increment=2, points=6)
    assert [wave.alternatives(time) for time in range(7)] == [
        (value,) for value in (1, 3, 5, 7, 5, 3, 1)
    ]


@pytest.mark.parametrize("law", ["fair", "rmc"])
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("policy", ["EDF", "FIFO", "MDF", "PRIORITY"])
def test_means_agree(policy, workload, law):
    arrivals, lengths, reference_arrivals, reference_lengths = WORKLOADS[workload]
    configuration = Configuration(
        policy=policy,
        arrivals=arrivals,
        lengths=lengths,
        app_masters=2,
        queue_size=6,
        epsilon=0.5,
        high_priority={"probability": 30, "length": 2},
    )
    model = build_model(check_source(rebeca_source(configuration), "test.rebeca"))
    batch = run_batch(
        model,
        Observation("rm", COUNTERS),
        key=(1, 2),
        replications=range(RUNS),
        until=59,
        choice_law=law,
    )
    cluster = Cluster(
        policy,
        2,
        reference_arrivals,
        reference_lengths,
        0.5,
        queue_size=6,
        high_probability=30,
        high_length=2,
        ticks=60,
    )
    generator = random.Random(f"{policy} {workload} {law}")
    draw = {"fair": fair, "rmc": rmc}[law](generator)
    outcomes = [simulate(cluster, draw, generator) for _ in range(RUNS)]
    expected = [
        [outcome.queue_misses for outcome in outcomes],
        [outcome.update_misses for outcome in outcomes],
        [outcome.completions for outcome in outcomes],
        [outcome.dropped for outcome in outcomes],
    ]
    for name, reference in zip(COUNTERS, expected, strict=True):
        ours = batch.columns[name].tolist()
        error = ((variance(ours) + variance(reference)) / RUNS) ** 0.5
        assert abs(mean(ours) - mean(reference)) <= 4.5 * error, name

from __future__ import annotations

import itertools
import re

import pytest

from rebecsim.clusters import (
    COUNTERS,
    DISPATCH_POLICIES,
    Ascending,
    Bursty,
    Configuration,
    Descending,
    Geometric,
    HighPriority,
    Linear,
    Nondet,
    UniformArrivals,
    UniformLengths,
    Wave,
    rebeca_source,
)
from rebecsim.clusters.dispatch.source import HIGH_PRIORITY_COUNTERS
from rebecsim.lang import check_source

ARRIVALS = (
    Bursty(size=5, interval=10),
    Nondet(minimum=0, maximum=2),
    UniformArrivals(count=1),
    Wave(minimum=0, increment=1, points=6),
    Ascending(minimum=0, increment=1, points=3),
    Descending(maximum=2, decrement=1, points=4),
)
LENGTHS = (
    Linear(multiplier=2),
    Geometric(base=1, ratio=2, points=5),
    Nondet(minimum=1, maximum=6),
    UniformLengths(length=3),
    Wave(minimum=1, increment=1, points=6),
    Ascending(minimum=1, increment=1, points=6),
    Descending(maximum=6, decrement=1, points=6),
    Nondet(minimum=4, maximum=4),
)


def configuration(**changes) -> Configuration:
    values = {
        "policy": "EDF",
        "arrivals": UniformArrivals(count=1),
        "lengths": Nondet(minimum=1, maximum=6),
        "app_masters": 2,
        "queue_size": 12,
        "epsilon": 0.5,
    }
    return Configuration(**{**values, **changes})


def choices(source: str) -> list[str]:
    return re.findall(r"\?\(([^)]*)\)", source)


def sources_of(policy, arrivals, every_length):
    """Models with these workloads; mostly one for both lengths of jobs of high priority."""
    return {
        rebeca_source(
            configuration(
                policy=policy,
                arrivals=arrivals,
                lengths=lengths,
                high_priority=HighPriority(probability=30, length=high_length),
            )
        )
        for lengths, high_length in itertools.product(every_length, (0, 9))
    }


def lengths_with(policy, arrivals):
    """Some lengths, so that all policies together have every pair of arrivals and lengths.

    And each policy has every length.
    """
    first = list(DISPATCH_POLICIES).index(policy) + ARRIVALS.index(arrivals)
    return [LENGTHS[(first + step) % len(LENGTHS)] for step in (0, 3)]


def test_all_pairs_of_arrivals_and_lengths_are_among_those_below():
    chosen = [
        (policy, arrivals.slug, lengths.slug)
        for policy in DISPATCH_POLICIES
        for arrivals in ARRIVALS
        for lengths in lengths_with(policy, arrivals)
    ]
    assert len({each[1:] for each in chosen}) == len(ARRIVALS) * len(LENGTHS)
    assert len({each[::2] for each in chosen}) == len(DISPATCH_POLICIES) * len(LENGTHS)


@pytest.mark.parametrize("policy", DISPATCH_POLICIES)
@pytest.mark.parametrize("arrivals", ARRIVALS, ids=lambda pattern: pattern.slug)
def test_every_policy_renders_a_model_that_checks_with_every_workload(policy, arrivals):
    for source in sources_of(policy, arrivals, lengths_with(policy, arrivals)):
        check_source(source, "model.rebeca")
        assert "{{" not in source
        assert "{%" not in source


def test_the_counters_are_state_variables_of_the_resource_manager():
    source = rebeca_source(configuration())
    manager = source[source.index("reactiveclass ResourceManager") :]
    statevars = manager[manager.index("statevars") : manager.index("ResourceManager()")]
    assert set(re.findall(r"int (m_\w+_\w+);", statevars)) == set(COUNTERS.values())


def test_choices_stand_in_the_order_arrivals_lengths_priorities():
    workload = {
        "arrivals": Nondet(minimum=0, maximum=1),
        "lengths": Nondet(minimum=2, maximum=4),
    }
    shared = ["0, 1", "2, 3, 4"]
    for policy in ("EDF", "FIFO", "MDF"):
        assert choices(rebeca_source(configuration(policy=policy, **workload))) == shared
    priority = choices(rebeca_source(configuration(policy="PRIORITY", **workload)))
    assert priority == [*shared, "10, 20, 30, 40, 50, 60, 70, 80, 90, 100"]


def test_deterministic_patterns_have_no_choice():
    assert choices(rebeca_source(configuration(lengths=Linear(multiplier=2)))) == []


@pytest.mark.parametrize("app_masters", [1, 2, 6, 30])
def test_there_is_an_app_master_for_every_index(app_masters):
    source = rebeca_source(configuration(app_masters=app_masters))
    indices = [int(index) for index in re.findall(r"AppMaster am\d+\(rm\):\((\d+)\);", source)]
    assert indices == list(range(app_masters))
    assert len(re.findall(r"am\d+\.runJob", source)) == app_masters
    check_source(source, "model.rebeca")


@pytest.mark.parametrize(("app_masters", "queue"), [(1, 20), (18, 20), (19, 21), (100, 102)])
def test_the_manager_has_room_for_an_update_of_every_app_master(app_masters, queue):
    source = rebeca_source(configuration(app_masters=app_masters))
    assert f"reactiveclass ResourceManager({queue})" in source


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [(0.1, "0.1"), (2.0, "2.0"), (2, "2.0"), (0.0, "0.0"), (1e-7, "0.0000001"), (100.0, "100.0")],
)
def test_epsilon_is_written_without_exponent(epsilon, text):
    assert f"env float EPSILON = {text};" in rebeca_source(configuration(epsilon=epsilon))


def test_only_models_that_need_the_time_count_it():
    assert "m_time" not in rebeca_source(configuration())
    assert "m_time++;" in rebeca_source(configuration(lengths=Linear(multiplier=2)))


@pytest.mark.parametrize(
    ("workload", "high"),
    [
        ("as-published", HighPriority(probability=30, length=9)),
        ("same", HighPriority(probability=0, length=9)),  # there are none
    ],
)
def test_priorities_that_decide_nothing_are_in_the_priority_model_only(workload, high):
    for policy in ("EDF", "FIFO", "MDF"):
        config = configuration(policy=policy, high_priority=high, workload=workload)
        assert "priority" not in rebeca_source(config).lower()
    config = configuration(policy="PRIORITY", high_priority=high, workload=workload)
    assert f"env int HIGH_PRIORITY = {high.probability};" in rebeca_source(config)


def test_all_policies_give_jobs_of_high_priority_their_length():
    high = HighPriority(probability=30, length=9)
    source = rebeca_source(configuration(policy="EDF", high_priority=high))
    assert "env int HIGH_PRIORITY = 30;" in source
    assert "env int HIGH_PRIORITY_LENGTH = 9;" in source


def test_jobs_of_high_priority_are_counted_in_all_models_but_those_for_exact_orders():
    config = configuration(policy="EDF", high_priority=HighPriority(probability=30))
    source = rebeca_source(config)
    assert set(HIGH_PRIORITY_COUNTERS.values()) <= set(re.findall(r"int (m_high_\w+);", source))
    bare = rebeca_source(config, asserting=False)
    assert "m_priority" not in bare
    assert "m_high" not in bare
    assert choices(bare) == choices(source)


def test_a_high_priority_length_of_zero_keeps_the_length_of_the_job():
    high = HighPriority(probability=30, length=0)
    source = rebeca_source(configuration(policy="PRIORITY", high_priority=high))
    assert "HIGH_PRIORITY_LENGTH" not in source


def test_the_fifo_model_closes_gaps_before_arrivals():
    source = rebeca_source(configuration(policy="FIFO"))
    assert source.index("// 2.") < source.index("move up") < source.index("// 3.")

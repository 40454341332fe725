"""Exact orders of dispatching clusters: equal to those of the graph of all messages."""

from __future__ import annotations

import json
import random

import pytest

from rebecsim.actors import ReplayScheduler
from rebecsim.clusters.dispatch.configuration import Configuration, Power, cycled
from rebecsim.clusters.dispatch.orders.replaying import extreme_run
from rebecsim.clusters.dispatch.orders.results import ClusterValues
from rebecsim.clusters.dispatch.orders.solving import exact_cluster, states_of
from rebecsim.clusters.dispatch.orders.states import cluster_of
from rebecsim.clusters.dispatch.policies import BUILTIN_DISPATCH_POLICIES
from rebecsim.clusters.dispatch.source import rebeca_source
from rebecsim.errors import UserError
from rebecsim.exploration import Limits
from rebecsim.exploration.orders import GOALS, Quantity, exact_orders
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.simulation import simulate
from tests.examples import dear

POLICIES = [each.name for each in BUILTIN_DISPATCH_POLICIES]
MOST_RAW_STATES = 4_000

TABLE_4_3 = {
    "arrivals": {"pattern": "uniform", "count": 1},
    "lengths": {"pattern": "nondet", "minimum": 1, "maximum": 6},
    "queue_size": 12,
    "epsilon": 2.0,
}


def drawn_configuration(draw: random.Random) -> Configuration:
    arrivals = [
        {"pattern": "uniform", "count": draw.choice([1, 1, 2])},
        {"pattern": "nondet", "minimum": draw.choice([0, 1]), "maximum": draw.choice([1, 2])},
        {"pattern": "bursty", "size": 2, "interval": 2},
    ]
    lengths = [
        {"pattern": "uniform", "length": draw.choice([1, 2, 3])},
        {"pattern": "nondet", "minimum": draw.choice([0, 1]), "maximum": draw.choice([1, 2, 3])},
        {"pattern": "ascending", "minimum": 1, "increment": 1, "points": 3},
        {"pattern": "linear", "multiplier": 2},
    ]
    return Configuration.model_validate(
        {
            "policy": draw.choice(POLICIES),
            "arrivals": draw.choice(arrivals),
            "lengths": draw.choice(lengths),
            "app_masters": draw.choice([1, 1, 2, 2, 3]),
            "queue_size": draw.choice([1, 2, 3, 4]),
            "epsilon": draw.choice([0.0, 0.1, 0.5, 1.0, 2.0]),
            "high_priority": {
                "probability": draw.choice([0, 30, 100]),
                "length": draw.choice([0, 2]),
            },
            "speeds": draw.choice([(), (), (2.0,), (1.0, 0.5), (0.5, 0.5, 2.0)]),
        }
    )


POWER = Power(idle=(1.0, 3.0, 3.0), busy=(5.0, 2.0, 2.0))


@pytest.mark.parametrize("seed", range(dear(400, share=24)))
def test_values_are_those_of_the_graph_of_all_messages(seed):
    """States that were merged have the same values: all goals of all figures are equal."""
    draw = random.Random(seed)
    configuration, law = drawn_configuration(draw), draw.choice(["fair", "rmc"])
    ticks = draw.choice([4, 6, 8])
    power = draw.choice([None, POWER])
    measured = configuration.model_copy(update={"horizon": ticks if power else None})
    checked = check_source(rebeca_source(measured), "cluster.rebeca")
    asked = ["rm.m_queue_misses + rm.m_update_misses", "rm.m_jobs_complete"]
    if power:
        draws = zip(
            cycled(power.idle, configuration.app_masters),
            cycled(power.busy, configuration.app_masters),
            strict=True,
        )
        asked.append(
            " + ".join(
                f"am{n}.m_busy_time * ({busy - idle:g}) + {ticks * idle:g}"
                for n, (idle, busy) in enumerate(draws, start=1)
            )
        )
    raw = exact_orders(
        build_model(checked, "cluster"),
        [Quantity("final", each) for each in asked],
        ticks - 1,
        checked=checked,
        law=law,
        limits=Limits(states=MOST_RAW_STATES),
    )
    if not raw.is_known or (power and raw.bound):
        pytest.skip("the graph of all messages is too large")
    found = exact_cluster(measured, raw.until + 1, law=law, power=power)
    assert found.is_exact
    assert found.known_ticks == raw.until + 1
    for value, goals in zip(raw.values, found.values.values(), strict=True):
        expected = [value[goal] for goal in GOALS]
        assert [goals[goal].low for goal in GOALS] == pytest.approx(expected, abs=1e-9)
        assert [goals[goal].high for goal in GOALS] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("policy", POLICIES)
def test_values_lie_between_the_bounds_where_not_all_states_are_looked_at(policy):
    lengths = {"pattern": "nondet", "minimum": 1, "maximum": 3}
    changes = {"policy": policy, "app_masters": 2, "epsilon": 1.0, "lengths": lengths}
    configuration = Configuration.model_validate(TABLE_4_3 | changes | {"queue_size": 4})
    whole = exact_cluster(configuration, 20)
    assert whole.is_exact
    for most in (20, 60, 200):
        part = exact_cluster(configuration, 20, most_states=most)
        assert part.figures["states"] < whole.figures["states"]
        for name, goals in whole.values.items():
            for goal, exact in goals.items():
                bounds = part.values[name][goal]
                assert bounds.low - 1e-9 <= exact.low <= bounds.high + 1e-9
    assert 0 < part.known_ticks < 20
    for ticks in (1, part.known_ticks):
        for name, goals in exact_cluster(configuration, ticks).values.items():
            for goal, exact in goals.items():
                assert part.at(ticks)[name][goal].low == pytest.approx(exact.low, abs=1e-12)
    assert ClusterValues.from_json(json.loads(json.dumps(part.to_json()))) == part


def test_one_order_is_as_good_as_another_where_it_makes_no_difference():
    """More AppMasters than jobs: one that is late is never missed."""
    configuration = Configuration.model_validate(TABLE_4_3 | {"policy": "EDF", "app_masters": 9})
    values = exact_cluster(configuration, 12).values
    assert [values["deadline_misses"][goal].high for goal in GOALS] == [0, 0, 0]
    least, mean, most = (values["completions"][goal].low for goal in GOALS)
    assert least == pytest.approx(mean, abs=1e-12)
    assert mean == pytest.approx(most, abs=1e-12)


def test_a_pattern_that_comes_again_is_looked_at_once():
    lengths = {"pattern": "ascending", "minimum": 1, "increment": 1, "points": 3}
    values = TABLE_4_3 | {"policy": "EDF", "app_masters": 2, "lengths": lengths}
    cluster = cluster_of(Configuration.model_validate(values), 50)
    assert cluster.periods == 3
    found = [
        exact_cluster(Configuration.model_validate(values), ticks).figures for ticks in (40, 80)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arrivals": {"pattern": "uniform", "count": 9}}, "more than 4096 ways"),
        ({"ticks": 20_000}, "at most 10000 ticks"),
        ({"most_states": 0}, "must be 1 or more"),
    ],
)
def test_what_is_not_reckoned_is_refused(change, message):
    values = TABLE_4_3 | {"policy": "EDF", "app_masters": 2} | change
    ticks, most = values.pop("ticks", 9), values.pop("most_states", 9)
    with pytest.raises(UserError, match=message):
        exact_cluster(Configuration.model_validate(values), ticks, most_states=most)


@pytest.mark.parametrize("seed", range(dear(100, share=10)))
def test_runs_of_the_extremes_are_runs_of_the_model(seed):
    """Runs whose messages are picked so come, on average, to the least and to the most."""
    draw = random.Random(seed)
    configuration, law = drawn_configuration(draw), draw.choice(["fair", "rmc"])
    found = states_of(configuration, 8, law, None, 20_000)
    checked = check_source(rebeca_source(configuration), "cluster.rebeca")
    for goal in ("minimum", "maximum"):
        run = extreme_run(found, configuration, goal, law=law, seed=seed)
        assert run is not None
        model = build_model(checked, "cluster")
        again = simulate(model, ReplayScheduler(run.run), until=run.ticks - 1)
        manager = again.system.rebecs[0]
        assert again.time == run.ticks - 1
        assert manager.m_queue_misses + manager.m_update_misses == run.counted


def test_runs_of_the_extremes_come_to_them_where_nothing_is_drawn():
    lengths = {"pattern": "uniform", "length": 3}
    changes = {"policy": "MDF", "app_masters": 2, "lengths": lengths, "epsilon": 0.1}
    configuration = Configuration.model_validate(TABLE_4_3 | changes)
    misses = exact_cluster(configuration, 60).values["deadline_misses"]
    found = states_of(configuration, 60, "fair", None, 20_000)
    for goal, expected in (("minimum", 18), ("maximum", 36)):
        run = extreme_run(found, configuration, goal)
        assert run is not None
        assert run.counted == misses[goal].low == expected

"""Exact orders of clusters with eviction, and of policies that only their models know."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest

from rebecsim.actors import ReplayScheduler, Run as Choices
from rebecsim.clusters.dispatch.configuration import Configuration
from rebecsim.clusters.dispatch.orders.messages import MessageCluster, message_orders
from rebecsim.clusters.dispatch.orders.results import ClusterValues
from rebecsim.clusters.dispatch.orders.solving import exact_cluster
from rebecsim.clusters.dispatch.source import NatjamConfiguration, natjam_source, rebeca_source
from rebecsim.exploration.orders import GOALS, Quantity, exact_orders
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.simulation import simulate
from tests.clusters.orders.test_exact_clusters import POWER, drawn_configuration
from tests.conftest import Run
from tests.examples import dear

PLUGINS = Path(__file__).resolve().parents[3] / "models" / "plugins"
MISSES = (
    "rm.m_production_queue_misses + rm.m_research_queue_misses + rm.m_production_job_misses "
    "+ rm.m_research_job_misses + rm.m_checkpoint_queue_misses + rm.m_checkpoint_overflow"
)
COMPLETIONS = "rm.m_production_jobs_complete + rm.m_research_jobs_complete"

EVICTION = """\
kind = "dispatch"
name = "evict"
policies = ["MDF", "MLF"]
app_masters = [1, 2]
queue_size = 4
epsilon = 1.0
ticks = 16
replications = 100

[eviction]
checkpoint_overhead = 1

[[arrivals]]
pattern = "uniform"
count = 1

[[lengths]]
pattern = "ascending"
minimum = 2
increment = 1
points = 3
"""


def evicting(draw: random.Random) -> NatjamConfiguration:
    lengths = [
        {"pattern": "uniform", "length": draw.choice([2, 3, 4])},
        {"pattern": "ascending", "minimum": 2, "increment": 1, "points": 3},
        {"pattern": "nondet", "minimum": 2, "maximum": 3},
    ]
    return NatjamConfiguration.model_validate(
        {
            "policy": draw.choice(["MDF", "MLF"]),
            "arrivals": {"pattern": "uniform", "count": 1},
            "lengths": draw.choice(lengths),
            "app_masters": draw.choice([1, 2]),
            "queue_size": draw.choice([1, 2, 3]),
            "epsilon": draw.choice([0.0, 0.5, 1.0]),
            "high_priority": {
                "probability": draw.choice([0, 30, 100]),
                "length": draw.choice([0, 2]),
            },
            "eviction": {
                "checkpoint_overhead": draw.choice([0, 1]),
                "as_published": draw.choice([False, True]),
            },
        }
    )


def found_of(configuration, ticks, law="fair", most=20_000, power=None):
    is_dispatch = isinstance(configuration, Configuration)
    source = rebeca_source(configuration) if is_dispatch else natjam_source(configuration)
    return message_orders(MessageCluster(configuration, source, ticks, law, power), most)


@pytest.mark.parametrize("seed", range(dear(100, share=10)))
def test_with_eviction_values_are_those_of_the_plain_graph(seed):
    """That has counters in its states, and all ten priorities: nothing is known of its text."""
    draw = random.Random(seed)
    configuration, law = evicting(draw), draw.choice(["fair", "rmc"])
    model = build_model(check_source(natjam_source(configuration), "cluster.rebeca"), "cluster")
    ticks = 4
    plain = exact_orders(
        model, [Quantity("final", MISSES), Quantity("final", COMPLETIONS)], ticks - 1, law=law
    )
    values = found_of(configuration, ticks, law).values()
    assert values.is_exact
    for expected, goals in zip(plain.values, values.values.values(), strict=True):
        assert [goals[goal].low for goal in GOALS] == pytest.approx(
            [expected[goal] for goal in GOALS], abs=1e-9
        )


@pytest.mark.parametrize("seed", range(dear(100, share=10)))
def test_both_ways_to_reckon_come_to_the_same(seed):
    """Message by message, and tick by tick, for policies that are known to both."""
    draw = random.Random(seed)
    ticks, power = 5, draw.choice([None, POWER])
    configuration = drawn_configuration(draw)
    configuration = configuration.model_copy(update={"horizon": ticks if power else None})
    law = draw.choice(["fair", "rmc"])
    found = found_of(configuration, ticks, law, 4_000, power)
    if found.known_ticks < ticks:
        pytest.skip("the graph of all messages is too large")
    by_ticks = exact_cluster(configuration, ticks, law=law, power=power)
    by_messages = found.values()
    assert by_messages.known_ticks == ticks
    assert by_messages.values.keys() == by_ticks.values.keys()
    for name, goals in by_ticks.values.items():
        for goal in GOALS:
            assert by_messages.values[name][goal].low == pytest.approx(goals[goal].low, abs=1e-9)


@pytest.mark.parametrize("seed", range(dear(40, share=4)))
def test_values_lie_between_the_bounds_where_not_all_states_are_looked_at(seed):
    draw = random.Random(seed)
    configuration = draw.choice([evicting, drawn_configuration])(draw)
    power = POWER if isinstance(configuration, Configuration) else None
    if power:
        configuration = configuration.model_copy(update={"horizon": 4})
    whole = found_of(configuration, 4, most=50_000, power=power)
    if whole.known_ticks < 4:
        pytest.skip("there are too many states")
    exact = whole.values()
    for most in (1, 5, 40):
        part = found_of(configuration, 4, most=most, power=power)
        values = part.values()
        assert ClusterValues.from_json(json.loads(json.dumps(values.to_json()))) == values
        for name, goals in exact.values.items():
            for goal in GOALS:
                bounds = values.values[name][goal]
                assert bounds.low - 1e-9 <= goals[goal].low <= bounds.high + 1e-9
        for ticks, worth in values.by_ticks.items():
            shorter = found_of(configuration, ticks).values().values
            for name, goals in worth.items():
                assert goals["expected"].low == pytest.approx(
                    shorter[name]["expected"].low, abs=1e-9
                )


@pytest.mark.parametrize("seed", range(dear(40, share=4)))
def test_runs_of_the_extremes_are_runs_of_the_model(seed):
    configuration = evicting(random.Random(seed))
    found = found_of(configuration, 5)
    model = build_model(check_source(natjam_source(configuration), "cluster.rebeca"), "cluster")
    for goal in ("minimum", "maximum"):
        run = Choices.from_json(found.run(goal, seed))
        assert simulate(model, ReplayScheduler(run), until=run.until).time == 4


def test_orders_of_eviction_are_compared(run: Run, tmp_path):
    (tmp_path / "evict.toml").write_text(EVICTION)
    options = ("--exact", "--no-orders", "--workers", "1", "--engine", "python")
    code, shown, complaint = run("compare", "evict.toml", "--out", "out", *options, cwd=tmp_path)
    assert code == 0, complaint
    assert "Deadline misses over all orders" in shown
    assert "has the exact expected value in" in " ".join(shown.split())
    with (tmp_path / "out/exact.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 2 * 2 * 2
    assert all(row["expected_low"] == row["expected_high"] for row in rows)
    (file,) = (tmp_path / "out/exact").glob("mlf_*_am2_most.json")
    text = file.with_name(f"{file.stem.removesuffix('_most')}.rebeca")
    code, shown, complaint = run("simulate", "--replay", file, text)
    assert code == 0, complaint
    assert "time limit" in shown


def test_policies_of_plugins_are_compared_with_others(run: Run, tmp_path):
    plugin = tmp_path / "plugin.py"
    text = (PLUGINS / "longest_job_first.py").read_text()
    plugin.write_text(text.replace("LJF", "OURS").replace("m_length[i] > m_length[best]", "false"))
    (tmp_path / "small.toml").write_text(
        EVICTION.replace("[eviction]\ncheckpoint_overhead = 1\n", "")
        .replace('"MDF", "MLF"', '"EDF", "OURS", "FIFO"')
        .replace("app_masters = [1, 2]", "app_masters = [2]")
        .replace("minimum = 2\nincrement = 1\npoints = 3", "minimum = 3\nincrement = 0\npoints = 1")
        + "\n[power]\nidle = [100]\nbusy = [250.5]\n"
    )
    options = ("--exact", "--no-orders", "--workers", "1", "--plugin", plugin)
    code, shown, complaint = run("compare", "small.toml", "--out", "out", *options, cwd=tmp_path)
    assert code == 0, complaint
    with (tmp_path / "out/exact.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    found = {
        (row["policy"], row["figure"]): [float(row[f"{goal}_low"]) for goal in GOALS]
        for row in rows
    }
    # All jobs are alike, and the first slot is whose the earliest of them is or is not.
    for figure in ("deadline_misses", "completions", "energy"):
        assert found["EDF", figure] == pytest.approx(found["FIFO", figure])
        assert found["OURS", figure][0] <= found["OURS", figure][2]
    assert "OURS" in shown

"""Exact orders: equal to what all runs come to, to a second method and, on average, to samples."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy.optimize import linprog

from models import ticket_service
from rebecsim.actors import RandomScheduler, ReplayScheduler, Streams
from rebecsim.actors.randomness import key_of
from rebecsim.clusters.model.expressions import Expression
from rebecsim.errors import UserError
from rebecsim.exploration import Limits
from rebecsim.exploration.orders import GOALS, ExactOrders, Quantity, exact_orders
from rebecsim.exploration.orders.decision_process import DecisionProcess, Rewards
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.simulation import simulate
from tests.examples import dear
from tests.exploration.orders.by_definition import ByDefinition, TooManyRunsError
from tests.exploration.orders.models_at_random import model_at_random

ALL_KINDS = (
    Quantity("increase", "n0.count"),
    Quantity("final", "n1.last - n0.count"),
    Quantity("increase", "n0.served - n1.served"),
    Quantity("final", "2 * n1.served - n0.served"),
    Quantity("reached", "n0.count == 2 || n1.last == 2"),
    Quantity("goes wrong"),
)

TICKETS = ticket_service.model
SOLD = (Quantity("increase", "ann.tickets"), Quantity("reached", "bob.tickets == 2"))


@pytest.fixture(scope="module")
def tickets() -> ExactOrders:
    return exact_orders(TICKETS, SOLD, 12)


def test_values_are_those_of_all_runs():
    """Seeds and no strategies: a model that is drawn cannot be made simpler."""
    compared = 0
    for seed in range(dear(800, share=40)):
        draw = random.Random(seed)
        law, until = draw.choice(["fair", "rmc"]), draw.choice([0, 1, 2, 3, 3])
        checked = check_source(model_at_random(draw, law == "fair"), "drawn.rebeca")
        model = build_model(checked, "drawn")
        found = exact_orders(model, ALL_KINDS, until, checked=checked, law=law)
        asked = [
            (each.kind, Expression(each.text or "0", model, checked).read) for each in ALL_KINDS
        ]
        try:
            expected = ByDefinition(model, until, law, asked, 200).values()
        except TooManyRunsError:
            continue
        values = [[each[goal] for goal in GOALS] for each in found.values]
        np.testing.assert_allclose(values, expected, atol=1e-9, err_msg=f"seed {seed}")
        compared += 1
    assert compared >= 12


@pytest.mark.parametrize("seed", range(dear(40, share=4)))
def test_values_of_a_shorter_time_are_found_in_those_of_a_longer_one(seed):
    checked = check_source(model_at_random(random.Random(seed)), "drawn.rebeca")
    model = build_model(checked, "drawn")
    whole = exact_orders(model, ALL_KINDS, 4, checked=checked)
    for until in range(4):
        part = exact_orders(model, ALL_KINDS, until, checked=checked)
        values = [[each[goal] for goal in GOALS] for each in part.values]
        cut = [[each[goal] for goal in GOALS] for each in whole.sooner(until)]
        np.testing.assert_allclose(cut, values, atol=1e-9)


@pytest.mark.parametrize("seed", range(dear(100, share=10)))
def test_the_expected_value_lies_between_the_extremes(seed):
    checked = check_source(model_at_random(random.Random(seed)), "drawn.rebeca")
    found = exact_orders(build_model(checked, "drawn"), ALL_KINDS, 3, checked=checked)
    process = found.unrolled.process
    actions = np.flatnonzero(np.diff(process.first_action))
    assert np.add.reduceat(process.weight, process.first_action[actions]) == pytest.approx(1)
    assert np.add.reduceat(process.probability, process.first_outcome[:-1]) == pytest.approx(1)
    for value in found.values:
        least, mean, most = (value.values[goal] for goal in GOALS)
        assert (least - 1e-9 <= mean).all()
        assert (mean <= most + 1e-9).all()


def by_linear_programming(process: DecisionProcess, rewards: Rewards, is_maximum: bool) -> float:
    """The values are the largest that no action undercuts, or the smallest that none exceeds."""
    states = process.states
    rows, limits = [], []
    bounds: list[tuple[float | None, float | None]] = [(None, None)] * (states + 1)
    bounds[states] = (0, 0)
    for state in range(states):
        actions = range(process.first_action[state], process.first_action[state + 1])
        if not math.isnan(rewards.settled[state]):
            bounds[state] = (rewards.settled[state],) * 2
        elif not actions:
            bounds[state] = (rewards.ending[state],) * 2
        else:
            for action in actions:
                outcomes = slice(*process.first_outcome[action : action + 2])
                row = np.zeros(states + 1)
                row[state] = 1
                np.subtract.at(row, process.target[outcomes], process.probability[outcomes])
                rows.append(row)
                limits.append(process.probability[outcomes] @ rewards.gain[outcomes])
    sign = -1 if is_maximum else 1
    solved = linprog(
        -sign * np.ones(states + 1), sign * np.array(rows), sign * np.array(limits), bounds=bounds
    )
    return float(solved.x[0])


def test_linear_programming_comes_to_the_same(tickets):
    for value in tickets.values:
        for goal in ("minimum", "maximum"):
            by_other = by_linear_programming(
                tickets.unrolled.process, value.rewards, goal == "maximum"
            )
            assert value[goal] == pytest.approx(by_other, abs=1e-6)
    assert tickets.values[0]["minimum"] < tickets.values[0]["maximum"]


def test_expected_values_lie_in_most_intervals_of_samples():
    exact = exact_orders(TICKETS, [Quantity("final", "office.left")], 10).values[0]["expected"]
    inside = 0
    for sample in range(20):
        runs = [
            simulate(TICKETS, RandomScheduler(Streams(key_of(sample), each)), until=10)
            for each in range(40)
        ]
        found = np.array([run.system.rebec("office").left for run in runs])
        inside += abs(found.mean() - exact) <= 2.02 * found.std(ddof=1) / math.sqrt(len(found))
    assert inside >= 17


@pytest.mark.parametrize("goal", ["minimum", "maximum"])
def test_runs_of_an_extreme_can_be_done_again_and_come_to_it_on_average(tickets, goal):
    worth = []
    for seed in range(60):
        path = tickets.run(1, goal, seed)
        assert path.run is not None
        again = simulate(TICKETS, ReplayScheduler(path.run), until=12)
        assert again.system is not None
        assert again.outcome in ("time limit", "end of record")
        worth.append(float(_ever(path, "bob", 2)))
    spread = 4 * math.sqrt(0.25 / len(worth))
    assert abs(sum(worth) / len(worth) - tickets.values[1][goal]) < spread


def _ever(path, rebec, tickets):
    return any(step.rebec == rebec and ("tickets", tickets) in step.changed for step in path.steps)


def test_a_limit_gives_the_values_of_a_shorter_time():
    found = exact_orders(TICKETS, SOLD, 30, limits=Limits(states=600))
    assert found.bound == "states"
    assert 0 < found.until < 30
    whole = exact_orders(TICKETS, SOLD, found.until)
    assert whole.bound is None
    for short, other in zip(found.values, whole.values, strict=True):
        assert {goal: short[goal] for goal in GOALS} == {goal: other[goal] for goal in GOALS}


def test_a_limit_at_once_leaves_nothing_known():
    found = exact_orders(TICKETS, SOLD, 30, limits=Limits(states=1))
    assert found.until < 0


@pytest.mark.parametrize(
    ("source", "law", "text"),
    [
        ("msgsrv go() { self.go(); }", "fair", "time need not advance"),
        ("msgsrv go() { }", "rmc", "priorities"),
        ("msgsrv go() { }", "fair", "1:1: error: expected a number, found boolean"),
    ],
)
def test_what_cannot_be_answered_is_said(source, law, text):
    model = check_source(
        f"reactiveclass A(2) {{ statevars {{ boolean b; int n; }} A() {{ self.go(); }} {source} }}"
        "main { @priority(1) A a():(); @priority(2) A c():(); }",
        "small.rebeca",
    )
    asked = Quantity("increase", "a.b" if "number" in text else "a.n")
    with pytest.raises(UserError, match=text):
        exact_orders(build_model(model, "small"), [asked], 3, checked=model, law=law)


def test_core_models_and_nothing_asked_are_refused():
    core = check_source(
        "reactiveclass A(2) { A() { self.go(); } msgsrv go() { } } main { A a():(); }",
        "core.rebeca",
        "core",
    )
    with pytest.raises(UserError, match="core model"):
        exact_orders(build_model(core, "core"), [Quantity("goes wrong")], 3)
    with pytest.raises(UserError, match="no quantity is given"):
        exact_orders(TICKETS, [], 3)
    with pytest.raises(UserError, match="0 or more"):
        exact_orders(TICKETS, SOLD, -1)

"""Distributions: means and spreads, errors, what a search tries, and one draw in all engines."""

from __future__ import annotations

import math
import pickle
import random
import re
from pathlib import Path
from statistics import fmean, stdev

import pytest

import rebecsim as rs
from rebecsim.arithmetic import FRACTION_BITS
from rebecsim.distributions import DISTRIBUTIONS, MOST, PARAMETERS
from rebecsim.native.layout import native_model

SPREAD = {  # mean and standard deviation, from the formulas of textbooks
    rs.exponential(1000): (1000, 1000),
    rs.uniform(5, 500): (252.5, math.sqrt((496**2 - 1) / 12)),
    rs.normal(500, 40): (500, 40),
    rs.lognormal(900, 300): (900, 300),
    rs.weibull(2, 1000): (
        1000 * math.gamma(1.5),
        1000 * math.sqrt(math.gamma(2) - math.gamma(1.5) ** 2),
    ),
    rs.gamma(3, 200): (600, 200 * math.sqrt(3)),
    rs.gamma(0.5, 2000): (1000, 2000 * math.sqrt(0.5)),
    rs.pareto(6, 1000): (1200, 1000 * math.sqrt(6 / (5**2 * 4))),
    rs.empirical(1, 1, 4): (2, math.sqrt(2)),
}


@pytest.mark.parametrize("drawn", SPREAD, ids=str)
def test_values_have_the_mean_and_the_deviation_of_the_distribution(drawn: rs.Distribution) -> None:
    fractions = random.Random(7)
    values = [drawn.at(fractions.getrandbits(FRACTION_BITS)) for _ in range(4000)]
    mean, deviation = SPREAD[drawn]
    assert abs(fmean(values) - mean) < 4 * deviation / math.sqrt(len(values)) + 0.01
    assert stdev(values) == pytest.approx(deviation, rel=0.15)
    assert min(values) >= 0
    assert drawn.at(0) <= drawn.at(1 << FRACTION_BITS - 1) <= drawn.at((1 << FRACTION_BITS) - 1)


@pytest.mark.parametrize("mean", [0.3, 1, 7])
def test_shares_are_those_of_rounding(mean: float) -> None:
    drawn = rs.exponential(mean)
    least = math.exp(-0.5 / mean)
    values = dict(zip(drawn, drawn.shares, strict=True))
    if 0 in values and not drawn.cut.startswith("its"):
        total = 1 - math.exp(-(max(values) + 0.5) / mean)
        assert values[0] == pytest.approx((1 - least) / total)


def test_a_search_tries_all_of_few_values_and_quantiles_of_many() -> None:
    assert (tuple(rs.uniform(1, 6)), rs.uniform(1, 6).cut) == ((1, 2, 3, 4, 5, 6), "")
    assert rs.uniform(1, 4).shares == pytest.approx((0.25,) * 4)
    assert tuple(rs.exponential(1000)) == (105, 357, 693, 1204, 2303)
    assert rs.empirical(4, 4, 9, 100).shares == (0.5, 0.25, 0.25)
    assert rs.normal(3, 1).cut == "the values between 1 and 99 %"


def test_what_is_drawn_lies_behind_the_values_of_a_search() -> None:
    drawn = rs.normal(50, 10)
    assert drawn[drawn.place(1 << FRACTION_BITS - 1)] == 50
    assert pickle.loads(pickle.dumps(drawn)) is drawn
    assert rs.pareto(0.1, 5).at((1 << FRACTION_BITS) - 1) == MOST
    assert [each.__name__ for each in DISTRIBUTIONS] == list(PARAMETERS)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rs.exponential(0), "exponential: mean must be above 0, not 0"),
        (lambda: rs.gamma(2, math.inf), "gamma: scale must be above 0, not inf"),
        (
            lambda: rs.exponential(1e308),
            "exponential: mean must be from 1e-09 to 2147483647, not 1e+308",
        ),
        (lambda: rs.lognormal(1, 1e200), "lognormal: deviation must be from 1e-09"),
        (lambda: rs.normal(5, 1e-200), "normal: deviation must be from 1e-09"),
        (
            lambda: rs.uniform(0, math.inf),
            "uniform: high must be a whole number, 0 or more, not inf",
        ),
        (
            lambda: rs.empirical(math.nan),
            "empirical: value must be a whole number, 0 or more, not nan",
        ),
        (lambda: rs.uniform(3, 1), "uniform: low is 3, above high, 1"),
        (lambda: rs.uniform(0.5, 1), "uniform: low must be a whole number, 0 or more, not 0.5"),
        (lambda: rs.empirical(), "empirical: give at least one value"),
    ],
)
def test_parameters_that_do_not_fit(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        make()  # type: ignore[operator]


TEXT = """
env double MEAN = 40;
reactiveclass Dice(3) {
    statevars { int sum; int last; }
    Dice() { self.roll(); }
    msgsrv roll() {
        last = ?(exponential(MEAN)); sum = (sum + last) % 1000;
        last = ?(weibull(1.5, 30)); sum = (sum + last) % 1000;
        last = ?(pareto(2, 10)); sum = (sum + last) % 1000;
        last = ?(uniform(3, 12)); sum = (sum + last) % 1000;
        last = ?(normal(30, 8)); sum = (sum + last) % 1000;
        last = ?(lognormal(30, 8)); sum = (sum + last) % 1000;
        last = ?(gamma(2.5, 9)); sum = (sum + last) % 1000;
        last = ?(empirical(4, 4, 9, 100)); sum = (sum + last) % 1000;
        self.roll() after(?(uniform(1, 2)));
    }
}
main { Dice dice():(); }
"""


def test_all_engines_draw_the_same() -> None:
    dice = rs.loads(TEXT)
    one = rs.simulate(dice, until=60, seed=5, engine="python")
    assert dice.checked is not None
    native = native_model(dice.model, dice.checked)
    assert native.checked.distributions
    other = rs.simulate(dice, until=60, seed=5, engine="native")
    assert [each.drawn for each in one.events] == [each.drawn for each in other.events]
    assert one.state == other.state


def test_a_saved_run_is_done_again(tmp_path: Path) -> None:
    dice = rs.loads(TEXT)
    run = rs.simulate(dice, until=20, seed=5, engine="python")
    file = tmp_path / "run.json"
    run.save(str(file))
    assert rs.simulate(dice, replay=str(file)).state == run.state


def test_a_live_run_is_checked() -> None:
    assert rs.run_live(rs.loads(TEXT), until=20, speed=0, seed=1).log.ending.outcome == "time limit"


def test_exact_uses_the_shares() -> None:
    coin = rs.loads(
        "reactiveclass A(2) { statevars { int x; } A() { self.go(); } "
        "msgsrv go() { x = ?(empirical(0, 0, 0, 8)); } } main { A a():(); }"
    )
    assert rs.exact(coin, until=1, rewards="a.x")["a.x"]["expected"] == pytest.approx(2)
    found = rs.explore(coin)
    assert (found.states, found.result.cut) == (3, ())


def test_a_verdict_says_which_values_stood_for_a_distribution() -> None:
    waits = rs.loads(
        "reactiveclass A(2) { A() { self.go(); } msgsrv go() { delay(?(exponential(1000))); } } "
        "main { A a():(); }"
    )
    said = str(rs.exact(waits, until=9, goes_wrong=True))
    assert said.endswith("tried: 105, 357, 693, 1204, 2303.")
    for engine in ("python", "native"):
        found = rs.explore(waits, engine=engine)
        assert found.states == 2
        assert (
            "Of exponential(1000), its 10, 30, 50, 70 and 90 % quantiles were tried: 105, 357, "
            "693, 1204, 2303." in " ".join(str(found).split())
        )
        assert found.result.to_json()["cut"] == list(found.result.cut)

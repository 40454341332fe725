"""Weighted choices: shares add up to 1, and alternatives are drawn as often as these say."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from rebecsim.actors import (
    Instance,
    Int,
    Model,
    ModelCodeError,
    RandomScheduler,
    Rebec,
    Streams,
    message_server,
    state_variable,
)
from rebecsim.actors.randomness import key_of
from rebecsim.arithmetic import FRACTION_BITS, TOLERANCE, limits_of, shares_of
from rebecsim.distributions import Weighted
from rebecsim.simulation import Tracer, simulate

parts = st.lists(st.integers(1, 1000), min_size=1, max_size=6)


def of_parts(whole: list[int]) -> tuple[float, ...]:
    return tuple(each / sum(whole) for each in whole)


@given(parts, st.floats(1 - TOLERANCE, 1 + TOLERANCE))
def test_shares_add_up_to_one_in_the_proportions_of_the_weights(whole, missed):
    weights = tuple(each * missed for each in of_parts(whole))
    shares = shares_of(weights)
    assert math.isclose(math.fsum(shares), 1, rel_tol=1e-12)
    for share, each in zip(shares, whole, strict=True):
        assert math.isclose(share, each / sum(whole), rel_tol=1e-9)


@given(parts)
def test_each_alternative_has_its_share_of_the_random_numbers(whole):
    limits = (0, *limits_of(of_parts(whole)), 1 << FRACTION_BITS)
    assert list(limits) == sorted(limits)
    for (begin, end), each in zip(pairwise(limits), whole, strict=True):
        exact = Fraction(each, sum(whole))
        assert abs(Fraction(end - begin, 1 << FRACTION_BITS) - exact) < Fraction(1, 10**14)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ((0.5, 0.4), "the weights add up to 0.9, not to 1"),
        ((1.0, 0.0), "a weight must be above 0, not 0.0"),
        ((1.5, -0.5), "a weight must be above 0, not -0.5"),
        ((math.nan, 1.0), "a weight must be above 0, not nan"),
        ((math.inf, 1.0), "the weights add up to inf, not to 1"),
    ],
)
def test_other_weights_are_refused(weights, said):
    with pytest.raises(ValueError, match="^" + said.replace(".", r"\.")):
        shares_of(weights)


@given(parts, st.integers(0, 50))
def test_alternatives_are_drawn_as_often_as_their_weights_say(whole, seed):
    stream = Streams(key_of(seed), 0)[7]
    shares = of_parts(whole)
    runs = 2000
    found = Counter(stream.weighted(shares) for _ in range(runs))
    for place, share in enumerate(shares):
        deviation = math.sqrt(runs * share * (1 - share))
        assert abs(found[place] - runs * share) <= 6 * deviation + 1


class Coin(Rebec, queue_size=2):
    heads: int = state_variable(Int)
    tosses: int = state_variable(Int)

    def __init__(self, weights: list[float]) -> None:
        self.weights = weights
        self.toss()

    @message_server
    def toss(self) -> None:
        self.heads += self.choose(1, 0, site=1, weights=self.weights)
        self.tosses += self.choose(1, 1, site=2)
        self.toss(after=1)


def tossed(weights: list[float], runs: int = 400) -> tuple[int, list[tuple[int, ...]]]:
    """The heads, and what the plain choice beside has drawn."""
    model = Model("coin", (Instance("coin", Coin, arguments=[weights]),))
    tracer = Tracer()
    simulate(model, RandomScheduler(Streams(key_of(3), 0)), max_steps=runs, tracer=tracer)
    return sum(each.drawn[0] for each in tracer.events), [
        each.choices[1:] for each in tracer.events
    ]


def test_a_python_class_may_weigh_its_choices_and_other_sites_draw_as_before():
    rare, beside = tossed([0.05, 0.95])
    often, still = tossed([0.75, 0.25])
    assert 5 <= rare <= 40
    assert 260 <= often <= 340
    assert beside == still


@pytest.mark.parametrize(
    ("weights", "said"),
    [([0.5, 0.1], "the weights add up to 0.6"), ([1.0], "1 weights for 2 alternatives")],
)
def test_wrong_weights_in_a_python_class_are_shown_with_their_line(weights, said):
    with pytest.raises(ModelCodeError, match=said) as found:
        tossed(weights)
    assert f"{__file__}:" in str(found.value)


def test_weighted_alternatives_are_the_alternatives():
    assert Weighted((4, 5), [0.25, 0.75]) == (4, 5)
    assert Weighted((4, 5), [0.25, 0.75]).shares == (0.25, 0.75)

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from pydantic import ValidationError
from scipy.interpolate import CubicSpline

from rebecsim.clusters import Sine, Spline
from rebecsim.clusters.dispatch.pattern_kinds import MAX_PERIOD, TablePattern
from rebecsim.clusters.dispatch.patterns import MAX_LENGTH

LEVELS = st.one_of(st.integers(0, 50), st.floats(0, 50)).map(float)


@st.composite
def splines(draw) -> Spline:
    period = draw(st.integers(2, 60))
    inner = draw(st.sets(st.integers(1, period - 1).filter(lambda t: t < period - 1), max_size=6))
    last = draw(st.sampled_from((period - 1, period)))
    times = sorted({0, *inner, last})
    return Spline(period=period, knots=[(time, draw(LEVELS)) for time in times])


SINES = st.builds(Sine, mean=LEVELS, amplitude=LEVELS, period=st.integers(1, 120))
CURVES = st.one_of(SINES, splines())


@settings(max_examples=60)
@given(CURVES, st.integers(0, 500))
def test_curves_are_whole_not_negative_periodic_and_bounded(curve, time):
    values = curve.values()
    assert len(values) == curve.period
    assert all(type(value) is int and 0 <= value <= MAX_LENGTH for value in values)
    assert curve.alternatives(time) == curve.alternatives(time + curve.period)
    assert curve.alternatives(time) == (values[time % curve.period],)
    assert curve.alternatives(time)[0] <= curve.largest(time + 1)


@settings(max_examples=60)
@given(CURVES)
def test_the_steps_are_the_values_without_repetitions(curve):
    firsts, levels = zip(*curve.steps, strict=True)
    assert firsts[0] == 0
    assert all(one != other for one, other in pairwise(levels))
    lengths = np.diff([*firsts, curve.period])
    assert tuple(np.repeat(levels, lengths).tolist()) == curve.values()


@settings(max_examples=40)
@given(CURVES, CURVES)
def test_labels_and_slugs_tell_curves_apart(one, other):
    assert (one.label == other.label) == (one == other)
    assert (one.slug == other.slug) == (one == other)
    assert one.slug.isalnum()
    assert type(one).model_validate_json(one.model_dump_json()) == one


@settings(max_examples=60)
@given(LEVELS, LEVELS, st.integers(1, 120))
def test_a_sine_is_the_rounded_curve_and_symmetric(mean, amplitude, period):
    values = Sine(mean=mean, amplitude=amplitude, period=period).values()
    for time, value in enumerate(values):
        exact = mean + amplitude * math.sin(2 * math.pi * time / period)
        assert abs(value - max(0.0, exact)) <= 0.5 + 1e-9
        mirrored = period // 2 - time
        if period % 2 == 0 and mirrored >= 0:
            assert values[mirrored] == value


@pytest.mark.parametrize(
    ("mean", "amplitude", "period", "values"),
    [
        (2, 2, 4, [2, 4, 2, 0]),
        # sin(pi / 6) is a half: 2.5 is rounded up on both slopes, 1.5 too.
        (2, 1, 12, [2, 3, 3, 3, 3, 3, 2, 2, 1, 1, 1, 2]),
        (1, 3, 4, [1, 4, 1, 0]),
        (0, 0, 3, [0, 0, 0]),
        (2.5, 0, 2, [3, 3]),
        # 0.1 + 0.2 + 0.2: decimals mean what is written, not the nearest binary number.
        (0.3, 0.2, 4, [0, 1, 0, 0]),
        (7, 5, 1, [7]),
    ],
)
def test_sines_computed_by_hand(mean, amplitude, period, values):
    assert list(Sine(mean=mean, amplitude=amplitude, period=period).values()) == values


def test_a_spline_goes_through_its_knots():
    knots = ((0, 2.0), (5, 9.0), (9, 4.0), (14, 2.0))
    values = Spline(period=14, knots=knots).values()
    assert [values[time] for time, _ in knots[:-1]] == [2, 9, 4]


def test_two_knots_give_a_straight_line():
    assert Spline(period=5, knots=[[0, 1], [4, 3]]).values() == (1, 2, 2, 3, 3)


def test_a_spline_below_zero_is_cut_off():
    steep = Spline(period=10, knots=[[0, 0], [1, 8], [2, 0], [10, 0]])
    curve = CubicSpline([0, 1, 2, 10], [0, 8, 0, 0], bc_type="natural")
    below = [time for time in range(10) if curve(time) < -0.5]
    assert below
    assert all(steep.values()[time] == 0 for time in below)


@pytest.mark.parametrize(
    ("kind", "values", "message"),
    [
        (Sine, {"mean": 1, "amplitude": 1, "period": 0}, "greater than or equal to 1"),
        (Sine, {"mean": 1, "amplitude": 1, "period": MAX_PERIOD + 1}, "less than or equal"),
        (Sine, {"mean": float("nan"), "amplitude": 1, "period": 3}, "finite number"),
        (Sine, {"mean": "1", "amplitude": 1, "period": 3}, "valid number"),
        (Sine, {"mean": MAX_LENGTH, "amplitude": 1, "period": 4}, "value at time unit 1"),
        (Spline, {"period": 3, "knots": [[0, 1]]}, "at least 2"),
        (Spline, {"period": 3, "knots": [[0, 1], [2, -1]]}, "greater than or equal to 0"),
        (Spline, {"period": 3, "knots": [[0, 1], [2.5, 1]]}, "valid integer"),
        (Spline, {"period": 3, "knots": [[1, 1], [2, 1]]}, "begin at 0"),
        (Spline, {"period": 3, "knots": [[0, 1], [4, 1]]}, "end at 2"),
        (Spline, {"period": 3, "knots": [[0, 1], [2, 1], [2, 2]]}, "must ascend"),
        (
            Spline,
            {"period": 9, "knots": [[0, 0], [1, MAX_LENGTH], [8, MAX_LENGTH]]},
            "use whole numbers from 0",
        ),
    ],
)
def test_curves_that_make_no_sense_are_refused(kind, values, message):
    with pytest.raises(ValidationError, match=message):
        kind.model_validate(values)


@pytest.mark.parametrize(
    ("values", "message"),
    [((), "the period is 0"), ((1, 2.5), "time unit 1 is 2.5"), ((-1,), "time unit 0 is -1")],
)
def test_a_table_must_hold_whole_numbers(values, message):
    class Given(TablePattern):
        pattern: str = "given"

        @property
        def label(self) -> str:
            return "given"

        def values(self):
            return values

    with pytest.raises(ValidationError, match=message):
        Given()

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from pydantic import TypeAdapter, ValidationError

from rebecsim.clusters import (
    ARRIVAL_PATTERNS,
    LENGTH_PATTERNS,
    Arrivals,
    Ascending,
    Bursty,
    Descending,
    Geometric,
    Lengths,
    Linear,
    Nondet,
    UniformArrivals,
    UniformLengths,
    Wave,
)

SEQUENCES = [
    (Bursty(size=5, interval=3), "bursty 5 every 3", [5, 0, 0, 5, 0, 0, 5, 0]),
    (Bursty(size=2, interval=1), "bursty 2 every 1", [2, 2, 2]),
    (UniformArrivals(count=4), "uniform 4", [4, 4, 4]),
    (UniformLengths(length=3), "uniform 3", [3, 3, 3]),
    (Wave(minimum=1, increment=1, points=6), "wave 1+1x6", [1, 2, 3, 4, 3, 2, 1, 2]),
    (Wave(minimum=0, increment=2, points=5), "wave 0+2x5", [0, 2, 4, 2, 0, 0, 2, 4]),
    (Wave(minimum=3, increment=2, points=1), "wave 3+2x1", [3, 3, 3]),
    (Ascending(minimum=1, increment=1, points=6), "ascending 1+1x6", [1, 2, 3, 4, 5, 6, 1, 2]),
    (Ascending(minimum=5, increment=3, points=2), "ascending 5+3x2", [5, 8, 5, 8]),
    (Descending(maximum=6, decrement=1, points=6), "descending 6-1x6", [6, 5, 4, 3, 2, 1, 6, 5]),
    (Descending(maximum=3, decrement=2, points=4), "descending 3-2x4", [3, 1, 0, 0, 3, 1]),
    (Linear(multiplier=2), "linear x2", [0, 2, 4, 6, 8, 10]),
    (Geometric(base=1, ratio=2, points=5), "geometric 1*2x5", [1, 2, 4, 8, 16, 1, 2]),
    (Geometric(base=3, ratio=1, points=2), "geometric 3*1x2", [3, 3, 3]),
]


@pytest.mark.parametrize(("pattern", "label", "values"), SEQUENCES, ids=lambda value: str(value))
def test_deterministic_patterns_give_the_sequence_computed_by_hand(pattern, label, values):
    assert pattern.label == label
    assert [pattern.alternatives(time) for time in range(len(values))] == [(v,) for v in values]


@pytest.mark.parametrize(("pattern", "label", "values"), SEQUENCES, ids=lambda value: str(value))
def test_largest_bounds_the_sequence_and_is_reached_within_a_period(pattern, label, values):
    assert pattern.largest(len(values)) == max(values)


def test_nondet_draws_from_the_whole_range():
    pattern = Nondet(minimum=1, maximum=6)
    assert pattern.alternatives(17) == (1, 2, 3, 4, 5, 6)
    assert pattern.largest(99) == 6
    assert pattern.label == "nondet 1..6"
    assert Nondet(minimum=2, maximum=2).alternatives(0) == (2,)


def test_the_thesis_name_exponential_means_the_linear_pattern():
    read = TypeAdapter(Lengths).validate_python({"pattern": "exponential", "multiplier": 2})
    assert read == Linear(multiplier=2)
    assert read.pattern == "linear"
    assert Linear.names() == ("linear", "exponential")


@pytest.mark.parametrize(
    ("pattern", "slug"),
    [
        (UniformArrivals(count=1), "uniform1"),
        (Nondet(minimum=1, maximum=6), "nondet1to6"),
        (Ascending(minimum=1, increment=1, points=6), "ascending1plus1x6"),
        (Descending(maximum=6, decrement=1, points=6), "descending6minus1x6"),
        (Bursty(size=5, interval=10), "bursty5every10"),
        (Geometric(base=1, ratio=2, points=6), "geometric1times2x6"),
        (Linear(multiplier=2), "linearx2"),
    ],
)
def test_slugs_are_letters_and_digits(pattern, slug):
    assert pattern.slug == slug


NUMBERS = st.integers(0, 12)
POINTS = st.integers(1, 12)
PATTERNS = st.one_of(
    st.builds(Bursty, size=NUMBERS, interval=POINTS),
    st.builds(Wave, minimum=NUMBERS, increment=NUMBERS, points=POINTS),
    st.builds(Ascending, minimum=NUMBERS, increment=NUMBERS, points=POINTS),
    st.builds(Descending, maximum=NUMBERS, decrement=NUMBERS, points=POINTS),
    st.builds(Geometric, base=NUMBERS, ratio=st.integers(1, 3), points=POINTS),
    st.builds(Linear, multiplier=NUMBERS),
    st.builds(UniformLengths, length=NUMBERS),
    st.builds(lambda low, width: Nondet(minimum=low, maximum=low + width), NUMBERS, NUMBERS),
)


@settings(max_examples=150)
@given(PATTERNS, st.integers(0, 200))
def test_values_lie_between_zero_and_the_largest(pattern, time):
    values = pattern.alternatives(time)
    assert min(values) >= 0
    assert max(values) <= pattern.largest(time + 1)


@settings(max_examples=150)
@given(PATTERNS, PATTERNS)
def test_labels_and_slugs_tell_patterns_apart(one, other):
    assert (one.label == other.label) == (one == other)
    assert (one.slug == other.slug) == (one == other)


@settings(max_examples=50)
@given(PATTERNS)
def test_a_pattern_survives_json(pattern):
    assert type(pattern).model_validate_json(pattern.model_dump_json()) == pattern


@pytest.mark.parametrize(
    ("union", "values", "message"),
    [
        (Arrivals, {"pattern": "uniform", "count": -1}, "greater than or equal to 0"),
        (Arrivals, {"pattern": "uniform", "count": 10_001}, "more than 10000 jobs"),
        (Arrivals, {"pattern": "uniform", "count": "1"}, "valid integer"),
        (Arrivals, {"pattern": "uniform", "count": True}, "valid integer"),
        (Arrivals, {"pattern": "uniform", "length": 1}, "Field required"),
        (Arrivals, {"pattern": "uniform", "count": 1, "size": 1}, "Extra inputs"),
        (Arrivals, {"pattern": "bursty", "size": 1, "interval": 0}, "greater than or equal to 1"),
        (Arrivals, {"pattern": "linear", "multiplier": 1}, "no arrival pattern is called 'linear'"),
        (Arrivals, {"pattern": "nondet", "minimum": 2, "maximum": 1}, "exchange the two"),
        (Lengths, {"pattern": "nondet", "minimum": 0, "maximum": 1000}, "narrow the range"),
        (Lengths, {"pattern": "bursty", "size": 1, "interval": 1}, "no length pattern is called"),
        (Lengths, {"size": 1}, "has no pattern"),
        (Lengths, 3, "valid dictionary"),
        (
            Arrivals,
            {"pattern": "sine", "mean": 9_000, "amplitude": 2_000, "period": 4},
            "more than 10000 jobs",
        ),
        (
            Lengths,
            {"pattern": "wave", "minimum": 0, "increment": 10_000, "points": 10_000},
            "top of the wave exceeds",
        ),
        (
            Lengths,
            {"pattern": "ascending", "minimum": 0, "increment": 10_000, "points": 10_000},
            "last value exceeds",
        ),
        (
            Lengths,
            {"pattern": "descending", "maximum": 0, "decrement": 10_000, "points": 10_000},
            "whole descent exceeds",
        ),
        (
            Lengths,
            {"pattern": "geometric", "base": 1, "ratio": 2, "points": 25},
            "last value base * ratio",
        ),
    ],
)
def test_patterns_that_make_no_sense_are_refused(union, values, message):
    with pytest.raises(ValidationError, match=message.replace("*", r"\*").replace("(", r"\(")):
        TypeAdapter(union).validate_python(values)


def test_the_patterns_of_both_kinds_are_complete():
    both = ["nondet", "wave", "ascending", "descending", "sine", "spline"]
    assert list(ARRIVAL_PATTERNS) == ["uniform", "bursty", *both]
    assert list(LENGTH_PATTERNS) == ["uniform", "linear", "exponential", "geometric", *both]
    for patterns in (ARRIVAL_PATTERNS, LENGTH_PATTERNS):
        assert all(name in patterns[name].names() for name in patterns)


@pytest.mark.parametrize("union", [Arrivals, Lengths])
def test_the_schema_of_a_kind_lists_its_patterns(union):
    schema = TypeAdapter(union).json_schema()
    titles = {each["title"] for each in schema["oneOf"]}
    assert {"Nondet", "Sine", "Spline"} < titles
    assert ("Bursty" in titles) == (union is Arrivals)


def test_a_pattern_object_must_be_of_the_right_kind():
    with pytest.raises(ValidationError, match="linear x2 is not a registered arrival pattern"):
        TypeAdapter(Arrivals).validate_python(Linear(multiplier=2))
    assert TypeAdapter(Lengths).validate_python(Linear(multiplier=2)) == Linear(multiplier=2)

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from rebecsim.clusters.yarn.penalties import (
    PENALTIES,
    SAWTOOTH_SPILLS,
    SPARK_WORD_COUNT,
    penalty_named,
)
from rebecsim.errors import UserError


@pytest.mark.parametrize(
    ("name", "bump", "given_memory", "duration"),
    [
        ("NULL", 1.0, 500, 10_000),
        ("POWER1", 1.0, 300, 33_333),
        ("POWER2", 1.0, 500, 40_000),
        ("SQUAREROOT", 1.0, 250, 20_000),
        ("STEP", 1.5, 10, 15_000),
        ("STEP", 1.5, 1000, 10_000),
        ("SAWTOOTH", 2.0, 500, 14_995),
        ("SPARKWC", 2.0, 70, 10_000),
        ("SPARKWC", 2.0, 80, 23_033),
    ],
)
def test_durations_of_a_task_of_ten_seconds_and_a_thousand_megabytes(
    name, bump, given_memory, duration
):
    assert penalty_named(name.lower(), bump).duration(1000, given_memory, 10_000) == duration


@given(
    name=st.sampled_from(sorted(PENALTIES)),
    ideal=st.integers(100, 10_000),
    duration=st.integers(0, 10**6),
)
def test_the_ideal_memory_costs_nothing(name, ideal, duration):
    assert penalty_named(name, 1.7).duration(ideal, ideal, duration) == duration


@given(
    name=st.sampled_from(["NULL", "POWER1", "POWER2", "SQUAREROOT", "STEP"]),
    memories=st.lists(st.integers(1, 5_000), min_size=2, max_size=2).map(sorted),
    duration=st.integers(0, 10**6),
)
def test_more_memory_never_makes_a_task_slower(name, memories, duration):
    penalty = penalty_named(name, 2.0)
    less, more = (penalty.duration(5_000, memory, duration) for memory in memories)
    assert less >= more >= duration


def test_an_error_of_the_bump_is_added_to_it():
    assert penalty_named("STEP", 1.5).duration(1000, 500, 10_000, 0.25) == 17_500
    assert penalty_named("SAWTOOTH", 2.0).duration(1000, 250, 10_000, 0.5) == 25_000


def test_a_table_has_an_end():
    with pytest.raises(UserError, match="SPARKWC is not known for 101 % of the ideal memory"):
        penalty_named("SPARKWC", 2.0).duration(1000, 1010, 10)


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(UserError, match="no penalty 'CUBE'; there are NULL, POWER1"):
        penalty_named("CUBE", 1.0)


def test_tables_have_every_percent():
    assert len(SAWTOOTH_SPILLS) == 101
    assert len(SPARK_WORD_COUNT) == 100
    assert math.isclose(SAWTOOTH_SPILLS[50], 0.499567)

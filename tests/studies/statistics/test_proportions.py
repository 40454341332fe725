"""Probabilities from runs: the intervals, and that stopping early keeps what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc

from rebecsim.studies.estimates import Looks, looks_for, proportion


@given(st.integers(1, 400), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_the_ends_leave_half_of_the_risk_on_each_side(
    runs: int, share: float, level: float
) -> None:
    hits = round(share * runs)
    found = proportion(hits, runs, level)
    tail = (1 - level) / 2
    assert found.low <= found.value <= found.high
    if hits:
        assert math.isclose(bdtrc(hits - 1, runs, found.low), tail, rel_tol=1e-6)
    if hits < runs:
        assert math.isclose(bdtr(hits, runs, found.high), tail, rel_tol=1e-6)


def binomial(runs: int, probability: float) -> NDArray[np.float64]:
    each = np.arange(runs + 1)
    below = np.array([bdtr(k, runs, probability) for k in each.tolist()])
    return np.diff(below, prepend=0.0)


def coverage(looks: Looks, probability: float) -> float:
    """The probability, worked out and not drawn, that the interval where it stops is right."""
    on = np.ones(1)
    before, right = 0, 0.0
    for number in looks.runs:
        on = np.convolve(on, binomial(number - before, probability))
        before = number
        for hits in np.flatnonzero(on > 1e-12):
            found = looks.at(int(hits), number)
            if found.error <= looks.error or number == looks.runs[-1]:
                right += on[hits] * (found.low <= probability <= found.high)
                on[hits] = 0
    return float(right)


@pytest.mark.parametrize("probability", [0.003, 0.02, 0.13, 0.31, 0.5, 0.77, 0.99])
def test_stopping_early_keeps_the_level(probability: float) -> None:
    looks = looks_for(0.1, 0.9)
    assert coverage(looks, probability) >= 0.9 - 1e-9
    assert coverage(looks.at_most(looks.runs[1] + 5), probability) >= 0.9 - 1e-9


@pytest.mark.parametrize(("error", "level"), [(0.2, 0.5), (0.05, 0.95), (0.07, 0.999)])
def test_the_first_look_does_for_what_is_never_seen_the_last_one_for_anything(
    error: float, level: float
) -> None:
    looks = looks_for(error, level)
    assert list(looks.runs) == sorted(set(looks.runs))
    assert len(looks.runs) * (1 - looks.each) <= 1 - level + 1e-12
    assert looks.at(0, looks.runs[0]).error <= error < looks.at(0, looks.runs[0] - 1).error
    last = looks.runs[-1]
    assert max(looks.at(hits, last).error for hits in range(0, last + 1, 7)) <= error
    half = looks.runs[-2]
    assert looks.at(half // 2, half).error <= error


def test_what_makes_no_sense_is_refused() -> None:
    for error, level in ((0.0, 0.9), (0.5, 0.9), (0.1, 1.0)):
        with pytest.raises(ValueError, match="no runs tell"):
            looks_for(error, level)
    with pytest.raises(ValueError, match="no interval from 3 of 2 runs"):
        proportion(3, 2, 0.9)

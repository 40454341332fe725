"""Intervals of rare, skewed counts, and the bound for what was never seen."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rebecsim.metrics import Metric
from rebecsim.studies.estimates import (
    SAFE_DISTANCE,
    rests_on_rare_events,
    student_estimate,
    student_quantile,
)
from rebecsim.studies.precision import share_of_runs_at_most

MEAN = Metric("mean", "Mean", "jobs", "lower", {"y": 1})
SHARE = Metric("share", "Share", "jobs", "higher", {"y": 1}, {"y": 1, "x": 1})


def simulated(mean: float, clustering: float, runs: int) -> tuple[float, float]:
    """How often Student's interval covers, and how often it is said to rest on rare events.

    Negative binomial counts whose variance is `clustering` times the mean.
    """
    rng = np.random.default_rng([round(100 * mean), round(10 * clustering), runs])
    p = 1 / clustering
    counts = rng.negative_binomial(mean * p / (1 - p), p, (4_000, runs))
    means, errors = counts.mean(axis=1), counts.std(axis=1, ddof=1) / math.sqrt(runs)
    covered = np.abs(means - mean) <= student_quantile(0.95, runs - 1) * errors
    warned = [
        error == 0 or rests_on_rare_events(MEAN, student_estimate(value, error, runs - 1))
        for value, error in zip(means.tolist(), errors.tolist(), strict=True)
    ]
    return float(covered.mean()), float(np.mean(warned))


@pytest.mark.parametrize("runs", [10, 30, 100])
@pytest.mark.parametrize("clustering", [1.001, 2, 4, 8])
@pytest.mark.parametrize("mean", [0.05, 0.5, 1, 5, 20])
def test_intervals_that_cover_too_seldom_are_warned_of(mean, clustering, runs) -> None:
    covered, warned = simulated(mean, clustering, runs)
    if covered < 0.92:
        assert warned > 0.5, (covered, warned)
    if warned < 0.05:
        assert covered >= 0.93, (covered, warned)


def test_half_a_miss_per_run_at_30_runs_is_warned_of() -> None:
    covered, warned = simulated(0.5, 2, 30)
    assert covered < 0.92
    assert warned > 0.95


def test_plentiful_counts_are_not_warned_of() -> None:
    covered, warned = simulated(25, 1.5, 100)
    assert covered > 0.94
    assert warned == 0


def test_both_ends_of_a_share_count_and_constants_do_not() -> None:
    near = student_estimate(0.999, 0.0005, 29)
    assert rests_on_rare_events(SHARE, near)
    assert not rests_on_rare_events(SHARE, student_estimate(0.9, 0.0005, 29))
    assert not rests_on_rare_events(MEAN, student_estimate(0.0, 0.0, 29))
    assert rests_on_rare_events(MEAN, student_estimate(1.0, 1 / (SAFE_DISTANCE - 0.1), 29))
    assert not rests_on_rare_events(MEAN, student_estimate(1.0, 1 / (SAFE_DISTANCE + 0.1), 29))


@given(st.integers(1, 10**6), st.floats(0.5, 0.999))
def test_the_bound_is_the_probability_at_which_nothing_is_just_plausible(runs, level) -> None:
    bound = share_of_runs_at_most(runs, level)
    assert 0 < bound <= level
    assert (1 - bound) ** runs == pytest.approx(1 - level, rel=1e-6)


def test_three_by_the_number_of_runs() -> None:
    assert share_of_runs_at_most(300) == pytest.approx(3 / 300, rel=0.01)
    with pytest.raises(ValueError, match="no bound from 0 runs"):
        share_of_runs_at_most(0)

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
import scipy  # loads its parts when they are used
from hypothesis import given, settings, strategies as st

from rebecsim.metrics import Metric
from rebecsim.studies.cells import Cell
from rebecsim.studies.estimates import Estimate, estimate, student_estimate, student_quantile
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.student import student_tail, tail_quantile
from reproductions.framework import standard_error_for

Raw = np.ndarray
SHARE = Metric("share", "Share", "jobs", "higher", {"y": 1}, {"y": 1, "x": 1})
MEAN = Metric("mean", "Mean", "jobs", "lower", {"y": 1})
RATIO = Metric("ratio", "Ratio", "", "lower", {"y": 1}, {"x": 1})
RUNS = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50)), min_size=2, max_size=12)


def cells(*raw: Raw | Sequence[tuple[int, int]]) -> list[CellMoments]:
    """One cell per array of shape (n, 2), whose columns are the counters y and x."""
    result = []
    for i, runs in enumerate(raw):
        y, x = np.array(runs, dtype=np.int64).reshape(-1, 2).T
        columns = {"y": y, "x": x}
        result.append(
            CellMoments.from_columns(
                Cell.of("EDF", arrivals="a", lengths="l", app_masters=i + 1),
                columns,
                {"end": len(y)},
            )
        )
    return result


def covered(truth: float, interval: Estimate) -> bool:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low <= truth <= interval.high


def test_one_cell_gives_the_interval_of_scipy() -> None:
    raw = np.random.default_rng(1).integers(0, 90, size=(25, 2))
    found = estimate(MEAN, cells(raw)[:1], 0.9)
    y = raw[:, 0]
    expected = scipy.stats.t.interval(0.9, len(y) - 1, y.mean(), scipy.stats.sem(y))
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-12)
    assert found.value == pytest.approx(y.mean(), rel=1e-14)
    assert found.degrees_of_freedom == pytest.approx(24, rel=1e-14)
    assert found.half_width == pytest.approx((expected[1] - expected[0]) / 2, rel=1e-12)


def test_the_quantile_is_that_of_scipy() -> None:
    for level, degrees in itertools.product(
        (0.01, 0.5, 0.8, 0.95, 0.99, 0.9999),
        (1, 1.5, 3.7, 30, 99, 319, 321, 1e4, 1e6, 1e12, math.inf),
    ):
        expected = scipy.stats.t.ppf((1 + level) / 2, degrees)
        assert student_quantile(level, degrees) == pytest.approx(expected, rel=1e-12)
        assert student_tail(expected, degrees) == pytest.approx(1 - level, rel=1e-12)
    for level in (0, 1, 95):
        with pytest.raises(ValueError, match="between 0 and 1"):
            student_quantile(level, 5)


def test_tails_are_those_of_scipy_however_small() -> None:
    for tail, degrees in itertools.product((1e-200, 1e-30, 1e-9), (2.0, 7.3, 1e3, 1e9)):
        found = tail_quantile(tail, degrees)
        assert 2 * scipy.stats.t.sf(found, degrees) == pytest.approx(tail, rel=1e-11)
        assert student_tail(found, degrees) == pytest.approx(tail, rel=1e-12)
    assert tail_quantile(1, 5) == 0
    for tail in (0, 1.5):
        with pytest.raises(ValueError, match="above 0 and at most 1"):
            tail_quantile(tail, 5)


def test_two_cells_have_the_degrees_of_freedom_of_welchs_test() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 10, size=(8, 2)), rng.integers(0, 60, size=(21, 2))
    found = estimate(MEAN, cells(a, b))
    # The pooled mean is half a sum, Welch's statistic a difference: the same variance up to 1/4.
    welch = scipy.stats.ttest_ind(a[:, 0], -b[:, 0], equal_var=False).confidence_interval(0.95)
    assert found.low == pytest.approx(welch.low / 2, rel=1e-12)
    assert found.high == pytest.approx(welch.high / 2, rel=1e-12)


def test_the_ratio_and_its_error_are_those_of_the_textbook_formula() -> None:
    rng = np.random.default_rng(4)
    raw = [rng.integers(1, 40, size=(30, 2)) for _ in range(3)]
    found = estimate(RATIO, cells(*raw))
    pooled = np.concatenate(raw)
    ratio = pooled[:, 0].sum() / pooled[:, 1].sum()
    residuals = [r[:, 0] - ratio * r[:, 1] for r in raw]
    variance = (
        sum(d.var(ddof=1) / len(d) for d in residuals) / sum(r[:, 1].mean() for r in raw) ** 2
    )
    assert found.value == pytest.approx(ratio, rel=1e-14)
    assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-11)


def test_the_error_of_a_ratio_agrees_with_the_bootstrap() -> None:
    rng = np.random.default_rng(5)
    raw = [rng.multinomial(60, [p, 1 - p], size=80) for p in (0.2, 0.7)]
    draws = []
    for _ in range(2000):
        resampled = [r[rng.integers(0, len(r), len(r))].sum(axis=0) for r in raw]
        draws.append(sum(r[0] for r in resampled) / sum(r.sum() for r in resampled))
    found = estimate(SHARE, cells(*raw))
    assert found.standard_error == pytest.approx(np.std(draws), rel=0.06)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_cover_the_truth_as_often_as_they_say(level: float) -> None:
    rng = np.random.default_rng(6)
    rates, trials = (4.0, 30.0), 1500
    mean_hits = ratio_hits = 0
    for _ in range(trials):
        # Counters of one run are dependent: jobs that complete are not missed.
        raw = []
        for rate, share in zip(rates, (0.3, 0.8), strict=True):
            total = rng.poisson(rate, size=20)
            done = rng.binomial(total, share)
            raw.append(np.stack([done, total - done], axis=1))
        group = cells(*raw)
        mean_hits += covered((4 * 0.3 + 30 * 0.8) / 2, estimate(MEAN, group, level))
        ratio_hits += covered((4 * 0.3 + 30 * 0.8) / 34, estimate(SHARE, group, level))
    # Three binomial standard errors, and a point of tolerance for skewness and linearisation.
    tolerance = 3 * math.sqrt(level * (1 - level) / trials) + 0.01
    assert mean_hits / trials == pytest.approx(level, abs=tolerance)
    assert ratio_hits / trials == pytest.approx(level, abs=tolerance)


@settings(max_examples=50)
@given(runs=RUNS, factor=st.integers(1, 9))
def test_scaling_a_counter_scales_its_mean_and_interval(runs, factor) -> None:
    plain, scaled = (
        estimate(Metric("mean", "Mean", "", "lower", {"y": f}), cells(runs)) for f in (1, factor)
    )
    assert scaled.value == pytest.approx(factor * plain.value)
    assert scaled.half_width == pytest.approx(factor * (plain.half_width or 0), abs=1e-12)
    assert scaled.degrees_of_freedom == plain.degrees_of_freedom


@settings(max_examples=50)
@given(groups=st.lists(RUNS, min_size=1, max_size=4), randomness=st.randoms())
def test_the_order_of_cells_does_not_matter(groups, randomness) -> None:
    group = cells(*groups)
    shuffled = randomness.sample(group, len(group))
    assert estimate(MEAN, shuffled) == estimate(MEAN, group)
    assert estimate(RATIO, shuffled) == estimate(RATIO, group)


@settings(max_examples=50)
@given(groups=st.lists(RUNS, min_size=1, max_size=4))
def test_a_ratio_over_a_constant_is_a_mean(groups) -> None:
    constant = [[(y, 1) for y, _ in runs] for runs in groups]
    ratio, mean = (f(cells(*constant)) for f in (_ratio, _mean))
    assert ratio == mean


def _ratio(group: list[CellMoments]) -> Estimate:
    return estimate(RATIO, group)


def _mean(group: list[CellMoments]) -> Estimate:
    return estimate(MEAN, group)


@settings(max_examples=50)
@given(groups=st.lists(RUNS, min_size=1, max_size=4))
def test_the_interval_of_a_share_stays_between_0_and_1_and_holds_the_value(groups) -> None:
    found = estimate(SHARE, cells(*groups))
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize(
    ("metric", "runs", "ends"),
    [
        (Metric("late", "Late jobs", "%", "lower", {"y": 1}), [0, 1], (0, None)),
        (Metric("used", "Slots used", "%", "higher", {"y": 1}), [99, 100], (None, 100)),
        (Metric("misses", "Misses", "jobs per run", "lower", {"y": 1}), [0, 3], (0, None)),
        (Metric("balance", "Balance", "", "neither", {"y": 1}, least=None), [0, 3], (None, None)),
    ],
)
def test_intervals_end_where_a_quantity_ends(metric, runs, ends) -> None:
    found = estimate(metric, cells([(each, 1) for each in runs]))
    free = found.value - found.half_width, found.value + found.half_width
    wanted = [each if end is None else end for each, end in zip(free, ends, strict=True)]
    assert [found.low, found.high] == pytest.approx(wanted)
    assert free != pytest.approx((found.low, found.high)) or ends == (None, None)


def test_clipping_changes_the_ends_but_not_the_standard_error() -> None:
    found = student_estimate(0.99, 0.05, 10, within=(0, 1))
    assert found.high == 1
    assert found.low == pytest.approx(0.99 - scipy.stats.t.ppf(0.975, 10) * 0.05)
    assert found.standard_error == 0.05


def test_no_interval_from_a_single_run_even_if_other_cells_have_more() -> None:
    for group in (cells([(3, 4)]), cells([(3, 4)], [(1, 2), (2, 2)])):
        for found in (estimate(MEAN, group), estimate(RATIO, group)):
            assert found.is_defined
            assert (found.standard_error, found.low, found.high) == (None, None, None)
            assert found.half_width is None
        assert standard_error_for(MEAN, group, 100) is None


def test_runs_that_agree_give_an_interval_of_no_width() -> None:
    found = estimate(RATIO, cells([(1, 3)] * 4, [(2, 7)] * 5))
    assert found.value == pytest.approx(3 / 10)
    assert found.low == found.high == found.value
    assert found.degrees_of_freedom == 7
    # Counters vary, their ratio does not: exact arithmetic finds no spread at all.
    assert estimate(RATIO, cells([(1, 3), (2, 6), (5, 15)])).standard_error == 0


def test_a_ratio_over_zero_is_undefined() -> None:
    found = estimate(RATIO, cells([(0, 0)] * 3))
    assert math.isnan(found.value)
    assert not found.is_defined
    assert found.low is None
    nothing = Metric("r", "R", "", "higher", {"y": 1}, {"x": 1})
    assert standard_error_for(nothing, cells([(0, 0)] * 3), 100) is None


def test_the_standard_error_for_other_numbers_of_runs_shrinks_with_their_root() -> None:
    group = cells(np.random.default_rng(8).integers(1, 20, size=(40, 2)))
    for metric in (MEAN, SHARE):
        own = estimate(metric, group).standard_error
        assert own is not None
        assert standard_error_for(metric, group, 40) == pytest.approx(own, rel=1e-12)
        assert standard_error_for(metric, group, 160) == pytest.approx(own / 2, rel=1e-12)
    with pytest.raises(ValueError, match="must be positive"):
        standard_error_for(MEAN, group, 0)


def test_nothing_and_the_same_cell_twice_are_errors() -> None:
    with pytest.raises(ValueError, match="at least one cell"):
        estimate(MEAN, [])
    with pytest.raises(ValueError, match="given twice"):
        estimate(MEAN, cells([(1, 1)]) * 2)

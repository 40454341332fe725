import math

import numpy as np
import pytest
import scipy  # loads its parts when they are used
from hypothesis import given, settings, strategies as st

from rebecsim.metrics import Metric
from rebecsim.studies.cells import Cell
from rebecsim.studies.differences import difference, holm, pairwise_differences
from rebecsim.studies.estimates import estimate
from rebecsim.studies.moments import CellMoments
from tests.studies.statistics.paired_cells import paired

SHARE = Metric("share", "Share", "jobs", "higher", {"y": 1}, {"y": 1, "x": 1})
MEAN = Metric("mean", "Mean", "jobs", "lower", {"y": 1})
RUN = st.tuples(st.integers(0, 50), st.integers(1, 50))
BOTH = st.lists(st.tuples(RUN, RUN), min_size=2, max_size=10)
P_VALUES = st.lists(st.floats(0, 1), max_size=8)


def raw(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 60, size=(n, 2))


def split(runs) -> dict[str, list[tuple[int, int]]]:
    return {"EDF": [a for a, _ in runs], "MDF": [b for _, b in runs]}


def alone(policy: str, runs: np.ndarray) -> CellMoments:
    columns = {"y": runs[:, 0], "x": runs[:, 1]}
    return CellMoments.from_columns(
        Cell.of(policy, arrivals="a", lengths="l", app_masters=1), columns, {"end": len(runs)}
    )


def test_one_cell_is_the_paired_t_test_of_scipy() -> None:
    edf, mdf = raw(25, 1), raw(25, 2)
    (found,) = pairwise_differences([MEAN], paired({"EDF": edf, "MDF": mdf}), 0.9)
    expected = scipy.stats.ttest_rel(edf[:, 0], mdf[:, 0])
    interval = expected.confidence_interval(0.9)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-12)
    assert found.estimate.degrees_of_freedom == pytest.approx(expected.df, rel=1e-12)
    assert (found.estimate.low, found.estimate.high) == pytest.approx(
        (interval.low, interval.high), rel=1e-12
    )
    assert found.runs == 25
    assert found.adjusted_p_value == found.p_value


def test_cells_are_pooled_with_equal_weight_and_welchs_degrees_of_freedom() -> None:
    cells = [(raw(9, 1), raw(9, 2)), (raw(30, 3), raw(30, 4))]
    found = difference(MEAN, paired(*({"EDF": a, "MDF": b} for a, b in cells)), "EDF", "MDF")
    first, second = (a[:, 0] - b[:, 0] for a, b in cells)
    welch = scipy.stats.ttest_ind(first, -second, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((welch.low / 2, welch.high / 2), rel=1e-12)


def test_the_difference_of_ratios_is_linearised_with_its_covariance() -> None:
    edf, mdf = raw(40, 5), raw(40, 6)
    found = difference(SHARE, paired({"EDF": edf, "MDF": mdf}), "EDF", "MDF")
    contributions, ratios = [], []
    for runs in (edf, mdf):
        total = runs.sum(axis=1)
        ratio = runs[:, 0].sum() / total.sum()
        ratios.append(ratio)
        contributions.append((runs[:, 0] - ratio * total) / total.mean())
    spread = np.std(contributions[0] - contributions[1], ddof=1)
    assert found.value == pytest.approx(ratios[0] - ratios[1], rel=1e-12)
    assert found.standard_error == pytest.approx(spread / math.sqrt(40), rel=1e-11)


def test_the_error_of_a_difference_of_ratios_agrees_with_the_bootstrap() -> None:
    rng = np.random.default_rng(7)
    jobs = rng.poisson(40, size=(2, 60))
    # The jobs of a run are the same under both policies; only how many complete differs.
    cells = [
        {p: np.stack([(d := rng.binomial(n, q)), n - d], axis=1) for p, q in policies.items()}
        for n, policies in zip(jobs, ({"A": 0.3, "B": 0.4}, {"A": 0.7, "B": 0.7}), strict=True)
    ]
    draws = []
    for _ in range(2000):
        rows = [rng.integers(0, 60, 60) for _ in cells]
        sums = {p: sum(c[p][r].sum(axis=0) for c, r in zip(cells, rows, strict=True)) for p in "AB"}
        draws.append(sums["A"][0] / sums["A"].sum() - sums["B"][0] / sums["B"].sum())
    found = difference(SHARE, paired(*cells), "A", "B")
    assert found.standard_error == pytest.approx(np.std(draws), rel=0.06)


def test_pairing_narrows_the_interval_of_runs_that_move_together() -> None:
    rng = np.random.default_rng(8)
    common = rng.poisson(50, size=(100, 2))
    edf, mdf = (common + rng.poisson(rate, size=(100, 2)) for rate in (3, 4))
    found = difference(MEAN, paired({"EDF": edf, "MDF": mdf}), "EDF", "MDF")
    apart = [
        estimate(MEAN, [alone(p, runs)]).standard_error for p, runs in (("a", edf), ("b", mdf))
    ]
    assert found.standard_error < 0.5 * math.hypot(*apart)


@settings(max_examples=50)
@given(groups=st.lists(BOTH, min_size=1, max_size=3), metric=st.sampled_from([MEAN, SHARE]))
def test_swapping_two_policies_changes_the_sign_and_nothing_else(groups, metric) -> None:
    moments = paired(*map(split, groups))
    one, other = (difference(metric, moments, *pair) for pair in (("EDF", "MDF"), ("MDF", "EDF")))
    assert one.value == -other.value
    assert (one.low, one.high) == (-other.high, -other.low)
    assert one.standard_error == other.standard_error
    assert one.degrees_of_freedom == other.degrees_of_freedom


@settings(max_examples=50)
@given(groups=st.lists(BOTH, min_size=1, max_size=3), metric=st.sampled_from([MEAN, SHARE]))
def test_a_policy_does_not_differ_from_itself(groups, metric) -> None:
    moments = paired(*({"EDF": s["EDF"], "MDF": s["EDF"]} for s in map(split, groups)))
    (found,) = pairwise_differences([metric], moments)
    assert found.estimate.value == found.estimate.standard_error == 0
    assert found.p_value == 1
    assert found.is_identical
    assert not found.is_shown
    assert found.better is found.power is None


def test_the_value_is_the_difference_of_the_pooled_figures() -> None:
    edf, mdf = raw(10, 1), raw(10, 2)
    for metric in (MEAN, SHARE):
        found = difference(metric, paired({"EDF": edf, "MDF": mdf}), "EDF", "MDF")
        values = [estimate(metric, [alone(p, r)]).value for p, r in (("E", edf), ("M", mdf))]
        assert found.value == pytest.approx(values[0] - values[1], rel=1e-12)


def test_holm_on_an_example_worked_by_hand() -> None:
    # Ranks 2, 1, 4, 3 of 4: times 3, 4, 1, 2; the largest so far is carried on.
    assert holm([0.012, 0.004, 0.03, 0.02]) == pytest.approx([0.036, 0.016, 0.04, 0.04])
    # The third smallest, 2 * 0.03, holds back the largest, 1 * 0.04.
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([]) == []


@settings(max_examples=100)
@given(p_values=P_VALUES)
def test_holm_keeps_the_order_and_adjusts_the_least_by_all(p_values) -> None:
    adjusted = holm(p_values)
    for p, q in zip(p_values, adjusted, strict=True):
        assert p <= q <= 1
    by_p = [q for _, q in sorted(zip(p_values, adjusted, strict=True))]
    assert by_p == sorted(by_p)
    if p_values:
        assert min(adjusted) == min(1, len(p_values) * min(p_values))


def test_holm_shows_what_bonferroni_does_not() -> None:
    adjusted = holm([0.001, 0.02, 0.6])
    assert [p <= 0.05 for p in adjusted] == [True, True, False]
    assert 3 * 0.02 > 0.05


def test_false_claims_are_as_rare_as_promised() -> None:
    rng = np.random.default_rng(9)
    false = 0
    for _ in range(400):
        runs = {p: rng.poisson(20, size=(15, 2)) for p in "ABCD"}
        false += any(pair.is_shown for pair in pairwise_differences([MEAN], paired(runs)))
    assert false / 400 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


def test_pairs_come_by_metric_in_the_order_of_the_policies() -> None:
    found = pairwise_differences([MEAN, SHARE], paired({p: raw(5, ord(p)) for p in "CAB"}))
    assert [(f.metric, f.first, f.second) for f in found] == [
        (metric, *pair) for metric in (MEAN, SHARE) for pair in (("C", "A"), ("C", "B"), ("A", "B"))
    ]
    assert {f.compared for f in found} == {3}


def test_the_better_policy_follows_the_metric() -> None:
    moments = paired({"EDF": [(9, 1), (8, 1)], "MDF": [(2, 1), (1, 1)]})
    misses, share = pairwise_differences([MEAN, SHARE], moments)
    assert (misses.better, share.better) == ("MDF", "EDF")


def test_runs_that_all_agree_are_judged_by_the_sign_test() -> None:
    few, more = (
        pairwise_differences([MEAN], paired({"EDF": [(3, 1)] * n, "MDF": [(1, 1)] * n}))[0]
        for n in (2, 6)
    )
    assert (few.p_value, more.p_value) == (0.5, 2**-5)
    assert not few.is_shown
    assert few.power is None
    assert more.is_shown


def test_nothing_is_compared_with_fewer_than_two_runs_or_policies() -> None:
    assert pairwise_differences([MEAN], paired({"EDF": [(1, 1)], "MDF": [(2, 1)]})) == ()
    assert pairwise_differences([MEAN], paired({"EDF": raw(5, 1)})) == ()
    assert pairwise_differences([MEAN], []) == ()
    mixed = paired({"EDF": raw(5, 1), "MDF": raw(5, 2)}, {"EDF": [(1, 1)], "MDF": [(2, 1)]})
    assert pairwise_differences([MEAN], mixed) == ()


def test_an_undefined_ratio_is_no_part_of_the_family() -> None:
    runs = {"A": raw(9, 1), "B": raw(9, 2), "C": [(0, 0)] * 9}
    found = {(f.first, f.second): f for f in pairwise_differences([SHARE], paired(runs))}
    assert found["A", "B"].adjusted_p_value == found["A", "B"].p_value
    assert found["A", "B"].compared == 1
    undefined = found["A", "C"]
    assert not undefined.estimate.is_defined
    assert undefined.p_value is undefined.adjusted_p_value is undefined.better is None
    assert not undefined.is_shown


def test_conditions_with_different_policies_are_an_error() -> None:
    mixed = paired({"EDF": raw(5, 1), "MDF": raw(5, 2)}, {"EDF": raw(5, 1), "FIFO": raw(5, 2)})
    with pytest.raises(ValueError, match="different policies"):
        pairwise_differences([MEAN], mixed)


def test_only_undecided_pairs_have_a_power_note() -> None:
    rng = np.random.default_rng(3)
    runs = {p: rng.poisson(rate, size=(30, 2)) for p, rate in (("A", 20), ("B", 20), ("C", 60))}
    found = pairwise_differences([MEAN], paired(runs))
    assert [f.is_shown for f in found] == [False, True, True]
    assert [f.power is not None for f in found] == [True, False, False]
    # One pair is undecided, so the whole level is left to it.
    assert found[0].power.significance == pytest.approx(0.05)


def test_the_interval_of_a_difference_of_shares_stays_between_minus_1_and_1() -> None:
    runs = {"EDF": [(9, 1), (1, 0)], "MDF": [(0, 9), (3, 1)]}
    found = difference(SHARE, paired(runs), "EDF", "MDF")
    unclipped = found.value + found.half_width
    assert unclipped > 1 >= found.high
    assert found.low >= -1


def test_models_without_chance_need_no_test() -> None:
    for runs in (1, 2):
        edf, mdf, llf = ([(y, 5)] * runs for y in (7, 4, 4))
        cells = paired({"EDF": edf, "MDF": mdf, "LLF": llf})
        found = pairwise_differences([MEAN], cells, has_chance=False)
        assert [(each.is_shown, each.better) for each in found] == [
            (True, "MDF"),
            (True, "LLF"),
            (False, None),
        ]
        assert all(each.is_certain and each.power is None for each in found)
    assert pairwise_differences([MEAN], paired({"EDF": [(7, 5)], "MDF": [(4, 5)]})) == ()


def test_the_interval_of_a_difference_of_percentages_stays_within_100_points() -> None:
    late = Metric("late", "Late jobs", "%", "lower", {"y": 1})
    runs = {"EDF": [(99, 1), (40, 1)], "MDF": [(0, 1), (1, 1)]}
    found = difference(late, paired(runs), "EDF", "MDF")
    assert found.value + found.half_width > 100
    assert found.high == 100

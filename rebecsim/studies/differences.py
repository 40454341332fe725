"""Test which differences between policies are significant, and how many runs would decide.

A two-sided test at significance level a shows a difference d with probability p (its power) when

    (t(1 - a/2, f) + t(p, f)) * s / sqrt(n)  <=  |d|

n being the runs, s the standard deviation of one run's contribution, and t(q, f) the q-quantile of
Student's t with f degrees of freedom. This is the normal approximation with Student's quantiles in
place of the normal ones; it is a run or two off where n is small.

Source: J. M. Lachin, "Introduction to sample size determination and power analysis for clinical
trials", Controlled Clinical Trials 2 (1981) 93-113.

Under common random numbers the two runs of a pair move together, so their difference varies less
than either. The variance of a difference of means is that of the runs' differences; that of a
difference of ratios is the variance of the difference of the two linearised ratios, covariance
included. Cells are strata, as in `estimates`.

All pairs of policies are tested for each metric. S. Holm's step-down procedure ("A simple
sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979) 65-70)
bounds the probability that any difference is shown that is not there; it needs no assumption on
how the tests depend on each other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from rebecsim.metrics import Metric
from rebecsim.studies.estimates import (
    Estimate,
    LinearForm,
    estimate_of,
    linear_form,
    satterthwaite,
    undefined,
)
from rebecsim.studies.moments import PairedMoments
from rebecsim.studies.student import student_tail, tail_quantile

POWER = 0.8
"""The probability of showing a difference that is usually asked for."""

MOST_RUNS = 10**9
"""Beyond so many runs no number is given; a scenario cannot have more."""


@dataclass(frozen=True, slots=True)
class StatisticalPower:
    """What the runs of an undecided comparison could show, and how many would decide it.

    Attributes:
        runs_needed: runs per cell that would show a difference as large as the observed one with
            probability `POWER`; None when there is no such number up to `MOST_RUNS`.
        detectable: the difference that the present number of runs shows with that probability.
        significance: level of the test.
    """

    runs_needed: int | None
    detectable: float
    significance: float


def detectable_difference(
    standard_error: float, degrees_of_freedom: float, significance: float, power: float = POWER
) -> float:
    """The true difference that a test shows with probability `power`.

    Args:
        standard_error: of the estimated difference.
        degrees_of_freedom: of that standard error.
        significance: level of the two-sided test, in (0, 1).
        power: at least 1/2 and less than 1.

    Raises:
        ValueError: when the significance or the power is out of range.
    """
    if not 0 < significance < 1:
        raise ValueError(f"a significance level must be between 0 and 1, not {significance}")
    if not 0.5 <= power < 1:
        raise ValueError(f"the power must be from 0.5 to below 1, not {power}")
    quantiles = [
        tail_quantile(tail, degrees_of_freedom) for tail in (significance, 2 * (1 - power))
    ]
    return sum(quantiles) * standard_error


def runs_to_show(
    difference: float, spread: float, strata: float, significance: float, power: float = POWER
) -> int | None:
    """The least number of runs per cell with which a difference would be shown.

    Args:
        difference: the true difference.
        spread: standard error of the estimate times the root of the runs per cell.
        strata: degrees of freedom that each further run per cell adds (1 for one cell; for more,
            the effective number of cells).
        significance: level of the two-sided test, in (0, 1).
        power: at least 1/2 and less than 1.

    Returns:
        The runs, at least 2; None when even `MOST_RUNS` would not do.

    Raises:
        ValueError: when the significance or the power is out of range.
    """

    def detectable(runs: int) -> float:
        error = spread / math.sqrt(runs)
        return detectable_difference(error, (runs - 1) * strata, significance, power)

    def suffice(runs: int) -> bool:
        return detectable(runs) <= abs(difference)

    if difference == 0 or not suffice(MOST_RUNS):
        return None
    # What is detectable shrinks with every run, more than by the root, of which it is about.
    least = math.ceil(MOST_RUNS * (detectable(MOST_RUNS) / difference) ** 2)
    few, enough = max(1, least - 1), max(2, least)
    while not suffice(enough):
        few, enough = enough, 2 * enough - few + 1
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if suffice(middle) else (middle, enough)
    return enough


@dataclass(frozen=True, slots=True)
class PairDifference:
    """How two policies differ in one metric.

    Attributes:
        metric: what was compared.
        first: name of a policy.
        second: name of another one.
        runs: runs per cell that were compared (the least, if cells have different numbers).
        estimate: of the first minus the second; its interval is for this pair alone.
        p_value: two-sided, for this pair alone; None when the difference is undefined.
        adjusted_p_value: Holm's, for all pairs of the metric together; None when the
            difference is undefined.
        compared: pairs that were tested together for this metric.
        power: what more runs would show; only for a pair that is undecided and varies.
        is_identical: whether every run has the same counters under both policies.
        is_certain: whether the runs have no randomness, so one run gives the exact difference.
    """

    metric: Metric
    first: str
    second: str
    runs: int
    estimate: Estimate
    p_value: float | None = None
    adjusted_p_value: float | None = None
    compared: int = 0
    power: StatisticalPower | None = None
    is_identical: bool = False
    is_certain: bool = False

    @property
    def is_shown(self) -> bool:
        """Whether the difference is shown at the level of the estimate, after Holm."""
        significance = 1 - self.estimate.level
        return self.adjusted_p_value is not None and self.adjusted_p_value <= significance

    @property
    def better(self) -> str | None:
        """The policy with the better figure; None when they are equal, undefined, or neither is."""
        if self.metric.better == "neither":
            return None
        return self.ahead

    @property
    def ahead(self) -> str | None:
        """The policy with the better figure, or with the higher one where neither is better.

        None when they are equal or undefined.
        """
        if not self.estimate.is_defined or self.estimate.value == 0:
            return None
        first_is_better = (self.estimate.value < 0) == (self.metric.better == "lower")
        return self.first if first_is_better else self.second


def difference(
    metric: Metric,
    paired: Sequence[PairedMoments],
    first: str,
    second: str,
    level: float = 0.95,
) -> Estimate:
    """A metric of one policy minus that of another, pooled over conditions.

    For one condition and a mean this is Student's paired t; for several, a stratified mean with
    Satterthwaite's degrees of freedom.

    Args:
        metric: what to compare.
        paired: of one or more different conditions.
        first: name of a policy.
        second: name of another one.
        level: confidence level, in (0, 1).

    Returns:
        The estimate; value NaN when the metric is undefined for one of them, no interval when a
        condition has fewer than two runs.

    Raises:
        ValueError: when there is no condition, one is given twice, or one is without runs.
        KeyError: when a policy or counter was not recorded.
    """
    form = _difference_form(metric, paired, first, second)
    return undefined(level) if form is None else estimate_of(form, paired, level, _range(metric))


def pairwise_differences(
    metrics: Sequence[Metric],
    paired: Sequence[PairedMoments],
    level: float = 0.95,
    has_chance: bool = True,
    baseline: str | None = None,
) -> tuple[PairDifference, ...]:
    """Compare policies in every metric.

    Args:
        metrics: what to compare.
        paired: one per condition, all of the same policies.
        level: confidence level of the intervals, and 1 - level the probability of showing any
            difference in a metric that is not there.
        has_chance: whether anything in the models is drawn; if not, a difference needs no test.
        baseline: the policy that every other one is compared with; None: every two are compared.

    Returns:
        By metric, then by pair, policies in the order of `paired`; nothing when there are fewer
        than two policies, or some condition has fewer than two runs of models with chance.

    Raises:
        ValueError: when conditions have different policies, or one is given twice.
        KeyError: when a metric needs a counter that was not recorded.
    """
    pairs = _pairs(paired, has_chance, baseline)
    return tuple(
        compared
        for metric in metrics
        for compared in _decided(
            [_compared(metric, paired, pair, level, has_chance) for pair in pairs], paired
        )
    )


def differences_apart(
    metric: Metric,
    groups: Sequence[tuple[Sequence[PairedMoments], bool]],
    level: float = 0.95,
    baseline: str | None = None,
) -> list[tuple[PairDifference, ...]]:
    """Compare policies in one metric in each of several groups of conditions.

    The pairs of all groups are tested together: 1 - level is the probability of showing any
    difference, in whichever group, that is not there.

    Args:
        metric: what to compare.
        groups: of each its conditions, and whether anything in its models is drawn.
        level: confidence level of the intervals.
        baseline: the policy that every other one is compared with; None: every two are compared.

    Returns:
        The pairs of each group, without power; raises as `pairwise_differences`.
    """
    found = [
        [
            _compared(metric, paired, pair, level, has_chance)
            for pair in _pairs(paired, has_chance, baseline)
        ]
        for paired, has_chance in groups
    ]
    tested = iter(_adjusted([pair for pairs in found for pair in pairs]))
    return [tuple(itertools.islice(tested, len(pairs))) for pairs in found]


def _pairs(
    paired: Sequence[PairedMoments], has_chance: bool, baseline: str | None
) -> list[tuple[str, str]]:
    """Name the pairs to be tested; none where there are too few policies or runs."""
    if len({moments.policies for moments in paired}) > 1:
        raise ValueError("conditions were run under different policies; finish the runs first")
    if not paired or (has_chance and any(moments.replications < 2 for moments in paired)):
        return []
    policies = paired[0].policies
    if baseline is not None:
        return [(policy, baseline) for policy in policies if policy != baseline]
    return list(itertools.combinations(policies, 2))


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for testing all of them together, by Holm's step-down procedure.

    The i-th smallest of m (from i = 1) is multiplied by m - i + 1, and is then at least as large as
    those adjusted before it and at most 1. Each is compared with the level of the family.
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    ranked = sorted(range(len(p_values)), key=lambda i: p_values[i])
    for rank, i in enumerate(ranked):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted


def _range(metric: Metric) -> tuple[float, float]:
    low, high = metric.limits
    return low - high, high - low


def _difference_form(
    metric: Metric, paired: Sequence[PairedMoments], first: str, second: str
) -> LinearForm | None:
    forms = []
    for policy in (first, second):
        numerator = PairedMoments.of_policy(policy, metric.numerator)
        denominator = metric.denominator
        if denominator is not None:
            denominator = PairedMoments.of_policy(policy, denominator)
        forms.append(linear_form(paired, numerator, denominator))
    one, other = forms
    return None if one is None or other is None else one.minus(other)


def _compared(
    metric: Metric,
    paired: Sequence[PairedMoments],
    policies: tuple[str, str],
    level: float,
    has_chance: bool,
) -> PairDifference:
    """Compare two policies; of models without chance, what one run shows holds for all."""
    estimate = difference(metric, paired, *policies, level)
    runs = min(moments.replications for moments in paired)
    pair = PairDifference(metric, *policies, runs, estimate)
    if has_chance:
        is_identical = _identical(metric, paired, *policies)
        return replace(pair, p_value=_p_value(estimate, runs), is_identical=is_identical)
    p_value = (1.0 if estimate.value == 0 else 0.0) if estimate.is_defined else None
    return replace(pair, p_value=p_value, is_certain=True)


def _identical(metric: Metric, paired: Sequence[PairedMoments], first: str, second: str) -> bool:
    """Whether no run has a counter of the metric that differs between the two policies."""
    differing = [
        {**PairedMoments.of_policy(first, {name: 1}), **PairedMoments.of_policy(second, {name: -1})}
        for name in metric.counters
    ]
    return all(
        moments.mean_of(weights) == 0 and moments.variance_of(weights) == 0
        for moments in paired
        for weights in differing
    )


def _p_value(estimate: Estimate, runs: int) -> float | None:
    """Two-sided, of the hypothesis that there is no difference."""
    if estimate.standard_error is None or estimate.degrees_of_freedom is None:
        return None
    if estimate.value == 0:
        return 1.0
    if estimate.standard_error == 0:
        # If all runs agree, Student's t is certain even with two of them. The sign test is not:
        # without a difference, n independent runs fall on one side with probability 2^(1 - n).
        return 2.0 ** (1 - runs)
    t = abs(estimate.value) / estimate.standard_error
    return student_tail(t, estimate.degrees_of_freedom)


def _decided(
    pairs: Sequence[PairDifference], paired: Sequence[PairedMoments]
) -> list[PairDifference]:
    """Correct the pairs of one metric for being several, and add power to the undecided."""
    tested = _adjusted(pairs)
    undecided = sum(pair.p_value is not None and not pair.is_shown for pair in tested)
    return [
        pair if pair.is_shown else replace(pair, power=_power(pair, paired, undecided))
        for pair in tested
    ]


def _adjusted(pairs: Sequence[PairDifference]) -> list[PairDifference]:
    """Correct pairs for being several."""
    adjusted = iter(holm([pair.p_value for pair in pairs if pair.p_value is not None]))
    compared = sum(pair.p_value is not None for pair in pairs)
    return [
        pair
        if pair.p_value is None
        else replace(pair, adjusted_p_value=next(adjusted), compared=compared)
        for pair in pairs
    ]


def _power(
    pair: PairDifference, paired: Sequence[PairedMoments], undecided: int
) -> StatisticalPower | None:
    """The power at the level that Holm leaves to an undecided pair, others staying decided."""
    estimate = pair.estimate
    form = _difference_form(pair.metric, paired, pair.first, pair.second)
    if form is None or not estimate.standard_error or estimate.degrees_of_freedom is None:
        return None
    significance = (1 - estimate.level) / undecided
    variances = [moments.variance_of(form.weights) for moments in paired]
    return StatisticalPower(
        runs_needed=runs_to_show(
            estimate.value,
            spread=form.standard_error(variances),
            strata=_effective_strata(variances),
            significance=significance,
        ),
        detectable=detectable_difference(
            estimate.standard_error, estimate.degrees_of_freedom, significance
        ),
        significance=significance,
    )


def _effective_strata(variances: Sequence[Fraction]) -> float:
    """Degrees of freedom for each run per cell after the first: Satterthwaite's for f_h = 1."""
    return satterthwaite(variances, [1] * len(variances))

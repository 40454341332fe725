"""The runs that a comparison needs, and the differences that its runs could detect.

A two-sided test at significance level a shows a difference d with probability p (its power) when

    (t(1 - a/2, f) + t(p, f)) * s / sqrt(n)  <=  |d|

n being the runs, s the standard deviation of one run's contribution, and t(q, f) the q-quantile of
Student's t with f degrees of freedom. This is the normal approximation with Student's quantiles in
place of the normal ones; it is a run or two off where n is small.

Source: J. M. Lachin, "Introduction to sample size determination and power analysis for clinical
trials", Controlled Clinical Trials 2 (1981) 93-113.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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
    from scipy.special import stdtrit

    quantiles = stdtrit(degrees_of_freedom, 1 - significance / 2) + stdtrit(
        degrees_of_freedom, power
    )
    return float(quantiles * standard_error)


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

    def suffice(runs: int) -> bool:
        error = spread / math.sqrt(runs)
        return detectable_difference(error, (runs - 1) * strata, significance, power) <= abs(
            difference
        )

    if difference == 0 or not suffice(MOST_RUNS):
        return None
    # What is detectable shrinks with every run, so the least number is found by bisection.
    few, enough = 1, MOST_RUNS
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if suffice(middle) else (middle, enough)
    return enough

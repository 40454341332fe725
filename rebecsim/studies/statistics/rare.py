"""Rare events: when an interval is unreliable, and a bound for what was never seen.

Student's interval covers the truth less often than it says where the mean of the runs is skewed.
A mean of counts is skewed by up to twice its standard error divided by itself (once for Poisson
counts, nearly twice for strongly clustered ones), so that ratio tells without estimating a third
moment, which few runs do badly. Simulated with Poisson and negative binomial counts, variance up to
8 times the mean, 10 to 300 runs: from `SAFE_DISTANCE` standard errors on, 95 % intervals cover the
truth in at least 93 % of cases; below, in as few as half of them.

The bound for what was never seen is the exact form of the "rule of three": J. A. Hanley and A.
Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249 (1983) 1743-1745.
"""

from __future__ import annotations

from rebecsim.metrics import Metric
from rebecsim.studies.statistics.estimates import Estimate

SAFE_DISTANCE = 8.0
"""Standard errors between a figure and the end of its range that make an interval reliable."""


def rests_on_rare_events(metric: Metric, estimate: Estimate) -> bool:
    """Whether a figure is so near to an end of its range that its interval covers too seldom.

    Never so for a figure without an interval, or whose runs all agreed, or that is no count.
    """
    if not metric.is_counted or not estimate.is_defined or not estimate.standard_error:
        return False
    distance = abs(estimate.value)
    if metric.is_share:
        distance = min(distance, abs(1 - estimate.value))
    return distance < SAFE_DISTANCE * estimate.standard_error


def share_of_runs_at_most(runs: int, level: float = 0.95) -> float:
    """Upper bound of the probability of an event that none of so many runs has shown.

    With the runs divided equally among several cells it bounds the average of the cells'
    probabilities, since the chance (1 - p1)^n (1 - p2)^n ... of seeing nothing is greatest, for a
    given average, when all are equal. About 3 / runs for a level of 95 %.

    Raises:
        ValueError: when there is no run, or the level is not between 0 and 1.
    """
    if runs < 1 or not 0 < level < 1:
        raise ValueError(f"no bound from {runs} runs at a level of {level}")
    return float(1 - (1 - level) ** (1 / runs))

"""Estimate figures and probabilities, with confidence intervals.

A cell is a stratum of independent runs, independent of the runs of the other cells that are pooled
with it (common random numbers are for cells of different policies, which are never pooled but
compared run by run, see `differences`). Every cell weighs the same, so a pooled figure does not
depend on how many runs a cell happened to get. Computed exactly (`Fraction`) up to the last step,
so results are identical however runs were batched.

Sources: W. G. Cochran, "Sampling Techniques", 3rd edition, Wiley 1977, chapter 5 (stratified
means) and chapter 6 (ratios; the combined ratio estimate of section 6.11, here without the
correction for finite populations); F. E. Satterthwaite, "An approximate distribution of estimates
of variance components", Biometrics Bulletin 2 (1946) 110-114 (degrees of freedom).

An interval that is looked at again and again while runs are added covers the truth less often than
it says. So the numbers of runs at which it is looked at are laid down before, K of them, and at
each look the interval is wrong with a probability of at most (1 - level) / K: whichever of them is
the last one, it covers the truth with at least the level (Bonferroni's inequality).

The intervals: C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits
illustrated in the case of the binomial", Biometrika 26 (1934) 404-413. How many runs suffice
whatever the probability is: M. Okamoto, "Some inequalities relating to the partial sum of binomial
probabilities", Annals of the Institute of Statistical Mathematics 10 (1958) 29-35, whose bound
holds for the ends of Clopper's and Pearson's intervals, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import count
from typing import Any

from rebecsim.errors import ArgumentError
from rebecsim.metrics import Metric, Weights
from rebecsim.studies.moments import CellMoments, ExactMoments
from rebecsim.studies.student import tail_quantile

AnyMoments = ExactMoments[Any]
"""Of cells, or of pairs."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its uncertainty.

    Attributes:
        value: the point estimate; NaN when it is undefined (a ratio whose denominator is zero).
        standard_error: of the value, or None when some cell has fewer than two runs.
        low: lower end of the confidence interval, or None where there is no standard error.
        high: upper end, or None.
        level: confidence level, in (0, 1).
        degrees_of_freedom: of Student's t, or None where there is no interval.
    """

    value: float
    standard_error: float | None
    low: float | None
    high: float | None
    level: float
    degrees_of_freedom: float | None

    @property
    def is_defined(self) -> bool:
        """Whether there is a value at all."""
        return not math.isnan(self.value)

    @property
    def half_width(self) -> float | None:
        """Student quantile times standard error, before clipping to a range; None without one."""
        if self.standard_error is None or self.degrees_of_freedom is None:
            return None
        return student_quantile(self.level, self.degrees_of_freedom) * self.standard_error


def require_level(level: float) -> None:
    """Raise ArgumentError for what is no confidence level."""
    if not 0 < level < 1:
        raise ArgumentError("level", "must be between 0 and 1")


@cache
def student_quantile(level: float, degrees_of_freedom: float) -> float:
    """The t for which a Student variable lies in [-t, t] with probability `level`.

    Raises:
        ValueError: when the level is not strictly between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"a confidence level must be between 0 and 1, not {level}")
    return tail_quantile(1 - level, degrees_of_freedom)


def student_estimate(
    value: float,
    standard_error: float,
    degrees_of_freedom: float,
    level: float = 0.95,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> Estimate:
    """A Student interval, clipped to the range in which the true value must lie.

    Clipping never lowers the coverage. An interval of zero width means that all runs agreed.
    """
    half_width = student_quantile(level, degrees_of_freedom) * standard_error
    low, high = value - half_width, value + half_width
    return Estimate(
        value=value,
        standard_error=standard_error,
        low=min(max(low, within[0]), value),
        high=max(min(high, within[1]), value),
        level=level,
        degrees_of_freedom=degrees_of_freedom,
    )


def estimate(metric: Metric, moments: Sequence[CellMoments], level: float = 0.95) -> Estimate:
    """A metric pooled over H >= 1 different cells.

    A mean is that over cells of the cells' means per run of `sum(weight * counter)`. With the same
    number of runs in each cell it is the sum over all runs divided by runs and cells. Variance:
    sum(s_h^2 / n_h) / H^2 (Cochran, section 5.4). One cell gives Student's interval.

    A ratio is R = sum(mean_h y) / sum(mean_h x), y and x being the two linear combinations of
    counters: the combined ratio estimate (Cochran, section 6.11); with the same number of runs in
    each cell, the ratio of the sums over all runs. By the delta method its variance is
    sum(s_dh^2 / n_h) / (sum(mean_h x))^2, where s_dh^2 is the variance of d = y - R x in cell h.
    The
    interval is clipped to the limits of the metric, that of a share to [0, 1].

    Returns:
        The estimate; value NaN and no interval when the denominator is zero.

    Raises:
        ValueError: when there is no cell, or a cell without runs.
        KeyError: when a weight is for a counter that was not recorded.
    """
    form = linear_form(moments, metric.numerator, metric.denominator)
    return undefined(level) if form is None else estimate_of(form, moments, level, metric.limits)


@dataclass(frozen=True, slots=True)
class LinearForm:
    """A pooled value whose error is, or is nearly, linear in the means of the strata.

    error = sum over strata of (error of the stratum's mean of `weights`) / divisor

    Attributes:
        value: the pooled value.
        weights: counter -> weight.
        divisor: what the summed errors are divided by; not zero.
    """

    value: Fraction
    weights: Weights
    divisor: Fraction

    def standard_error(self, variances: Sequence[Fraction]) -> float:
        """Of the value, given the variance of each stratum's mean of `weights`."""
        return math.sqrt(sum(variances, Fraction(0)) / self.divisor**2)

    def minus(self, other: LinearForm) -> LinearForm:
        """The difference of two values that are estimated from the same runs."""
        weights = {name: Fraction(w) / self.divisor for name, w in self.weights.items()}
        for name, weight in other.weights.items():
            weights[name] = weights.get(name, Fraction(0)) - Fraction(weight) / other.divisor
        return LinearForm(self.value - other.value, weights, Fraction(1))


def linear_form(
    moments: Sequence[AnyMoments], numerator: Weights, denominator: Weights | None
) -> LinearForm | None:
    """The pooled mean, or the ratio of pooled sums, with its linearisation.

    Returns:
        The form; None when the denominator is zero.

    Raises:
        ValueError: when there is no stratum, one is given twice, or one is without runs.
        KeyError: when a weight is for a counter that was not recorded.
    """
    if denominator is None:
        strata = Fraction(len(moments))
        return LinearForm(_sum_of_means(moments, numerator) / strata, numerator, strata)
    total = _sum_of_means(moments, denominator)
    if total == 0:
        return None
    ratio = _sum_of_means(moments, numerator) / total
    residual = {name: Fraction(weight) for name, weight in numerator.items()}
    for name, weight in denominator.items():
        residual[name] = residual.get(name, Fraction(0)) - ratio * Fraction(weight)
    return LinearForm(ratio, residual, total)


def estimate_of(
    form: LinearForm,
    moments: Sequence[AnyMoments],
    level: float = 0.95,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> Estimate:
    """Student's interval for a pooled value; no interval when a stratum has fewer than two runs."""
    if any(stratum.replications < 2 for stratum in moments):
        return Estimate(float(form.value), None, None, None, level, None)
    variances = [stratum.variance_of(form.weights) / stratum.replications for stratum in moments]
    degrees = satterthwaite(variances, [stratum.replications - 1 for stratum in moments])
    return student_estimate(
        float(form.value), form.standard_error(variances), degrees, level, within
    )


def undefined(level: float = 0.95) -> Estimate:
    """The estimate of a ratio whose denominator is zero."""
    return Estimate(math.nan, None, None, None, level, None)


def satterthwaite(variances: Sequence[Fraction], degrees: Sequence[int]) -> float:
    """Effective degrees of freedom of a sum of independent estimated variances.

    (sum v_h)^2 / sum(v_h^2 / f_h), Satterthwaite 1946. Between the smallest f_h and their sum; the
    sum when all variances are zero.
    """
    total = sum(variances, Fraction(0))
    if total == 0:
        return float(sum(degrees))
    return float(total**2 / sum(v**2 / f for v, f in zip(variances, degrees, strict=True)))


def _sum_of_means(moments: Sequence[AnyMoments], weights: Weights) -> Fraction:
    if not moments:
        raise ValueError("an estimate needs the runs of at least one cell")
    if len({stratum.subject for stratum in moments}) != len(moments):
        raise ValueError("a cell is given twice; merge its moments first")
    return sum((stratum.mean_of(weights) for stratum in moments), Fraction(0))


@dataclass(frozen=True)
class Proportion:
    """A probability as so many runs show it.

    Attributes:
        hits: the runs that showed the event.
        runs: all of them.
        low: lower end of the interval.
        high: upper end.
    """

    hits: int
    runs: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """The share of runs that showed the event."""
        return self.hits / self.runs

    @property
    def error(self) -> float:
        """How far the value is from the farther end of the interval."""
        return max(self.value - self.low, self.high - self.value)


def proportion(hits: int, runs: int, level: float) -> Proportion:
    """Give the interval of Clopper and Pearson.

    Raises ValueError when there is no run, more hits than runs, or no level between 0 and 1.
    """
    if not 0 <= hits <= runs or runs < 1 or not 0 < level < 1:
        raise ValueError(f"no interval from {hits} of {runs} runs at a level of {level}")
    from scipy.special import betaincinv  # slow to import

    tail = (1 - level) / 2
    low = float(betaincinv(hits, runs - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, runs - hits, 1 - tail)) if hits < runs else 1.0
    return Proportion(hits, runs, low, high)


@dataclass(frozen=True)
class Looks:
    """When to look at an interval, and how sure it has to be each time.

    Attributes:
        runs: how many runs there are at each look, increasing.
        each: the level of the interval at each look.
        error: at which error to stop. The last look has it whatever the probability is, unless it
            was moved forward by `at_most`.
    """

    runs: tuple[int, ...]
    each: float
    error: float

    def at(self, hits: int, runs: int) -> Proportion:
        """Give the interval at a look."""
        return proportion(hits, runs, self.each)

    def at_most(self, runs: int) -> Looks:
        """Do not look later than at so many runs; the level stays right."""
        return Looks((*(each for each in self.runs if each < runs), runs), self.each, self.error)


def looks_for(error: float, level: float) -> Looks:
    """Plan when to look, to know a probability to within an error at a level.

    The first look is where an event that was never seen is known well enough, the last but one
    where one is that half of the runs show, the others between them, each twice as late as the one
    before. The last one suffices in any case. Raises ValueError for an error or level that makes no
    sense.
    """
    if not 0 < error < 0.5 or not 0 < level < 1:
        raise ValueError(f"no runs tell a probability to within {error} at a level of {level}")
    for number in count(3):
        each = 1 - (1 - level) / number
        last = math.ceil(math.log(2 / (1 - each)) / (2 * error**2))
        first = math.ceil(math.log((1 - each) / 2) / math.log1p(-error))
        middle = _enough_for_half(error, each, last)
        runs = [last, middle] if middle < last else [last]
        while runs[-1] > first:
            half = -(-runs[-1] // 2)
            runs.append(half if half > 1.5 * first else first)
        if len(runs) <= number:
            return Looks(tuple(reversed(runs)), each, error)
    raise AssertionError("the number of looks grows as a logarithm, that which is allowed by one")


def _enough_for_half(error: float, level: float, enough: int) -> int:
    """Give the fewest runs that do where half of them show the event; `enough` do."""
    low, high = 1, -(-enough // 2)
    while low < high:
        middle = (low + high) // 2
        if proportion(middle, 2 * middle, level).error <= error:
            high = middle
        else:
            low = middle + 1
    return 2 * low


SAFE_DISTANCE = 8.0
"""Standard errors between a figure and the end of its range that make an interval reliable.

Student's interval covers the truth less often than it says where the mean of the runs is skewed.
A mean of counts is skewed by up to twice its standard error divided by itself (once for Poisson
counts, nearly twice for strongly clustered ones), so that ratio tells without estimating a third
moment, which few runs do badly. Simulated with Poisson and negative binomial counts, variance up to
8 times the mean, 10 to 300 runs: from so many standard errors on, 95 % intervals cover the
truth in at least 93 % of cases; below, in as few as half of them.
"""


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

"""Student's t and the incomplete beta function.

`scipy.special` has both; importing it takes a third of a second, more than most commands do.
"""

from __future__ import annotations

import math
from functools import cache

_TINY = 1e-300
_ENOUGH = 1e-16


def student_tail(degrees_of_freedom: float, t: float) -> float:
    """The probability that a Student variable is above `t`, at least 0."""
    both = degrees_of_freedom + t * t
    return _share(degrees_of_freedom / 2, 0.5, degrees_of_freedom / both, t * t / both) / 2


@cache
def student_quantile(level: float, degrees_of_freedom: float) -> float:
    """The t for which a Student variable lies in [-t, t] with probability `level`.

    Raises:
        ValueError: when the level is not strictly between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"a confidence level must be between 0 and 1, not {level}")
    half = degrees_of_freedom / 2
    share = beta_quantile(0.5, half, level)
    rest = 1 - share if share < 0.5 else beta_quantile(half, 0.5, 1 - level)
    return math.sqrt(degrees_of_freedom * (1 - rest if share >= 0.5 else share) / rest)


def beta_quantile(a: float, b: float, share: float) -> float:
    """The x in [0, 1] below which a beta variable is with this probability.

    Found by Newton's method within bounds.
    """
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(200):
        missing = share - _share(a, b, x, 1 - x)
        low, high = (x, high) if missing > 0 else (low, x)
        slope = math.exp(_log_density(a, b, x, 1 - x)) / (x * (1 - x))
        after = x + missing / slope if slope > _TINY else -1.0
        if not low < after < high:
            after = (low + high) / 2
        if abs(after - x) <= 4 * _ENOUGH * x:
            return after
        x = after
    return x


def _share(a: float, b: float, x: float, y: float) -> float:
    """The regularised incomplete beta function at x = 1 - y.

    By its continued fraction (DLMF 8.17.22).
    """
    if x <= 0 or y <= 0:
        return float(y <= 0)
    if x > (a + 1) / (a + b + 2):
        return 1 - _share(b, a, y, x)
    numerator, denominator = 1.0, 1 / _apart(1 - (a + b) * x / (a + 1))
    found = denominator
    for m in range(1, 100_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            denominator = 1 / _apart(1 + term * denominator)
            numerator = _apart(1 + term / numerator)
            found *= numerator * denominator
        if abs(numerator * denominator - 1) < _ENOUGH:
            break
    return math.exp(_log_density(a, b, x, y)) * found / a


def _apart(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _log_density(a: float, b: float, x: float, y: float) -> float:
    """The logarithm of x^a y^b / B(a, b)."""
    of_x = math.log(x) if x < 0.5 else math.log1p(-y)
    of_y = math.log(y) if y < 0.5 else math.log1p(-x)
    return a * of_x + b * of_y - _log_beta(a, b)


def _log_beta(a: float, b: float) -> float:
    """The logarithm of the beta function, without losing digits for large arguments."""
    a, b = min(a, b), max(a, b)
    if b < 10:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    rest = _stirling_rest(b) - _stirling_rest(a + b)
    tail = (b - 0.5) * math.log1p(-a / (a + b))
    if a < 10:
        return math.lgamma(a) + a - a * math.log(a + b) + tail + rest
    head = (math.log(2 * math.pi / b) + (2 * a - 1) * math.log(a / (a + b))) / 2
    return head + _stirling_rest(a) + rest + tail + math.log1p(-a / (a + b)) / 2


def _stirling_rest(x: float) -> float:
    """What Stirling's formula lacks of the logarithm of gamma, for x of 10 or more."""
    y = 1 / (x * x)
    found = 0.0
    for term in (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
        found = found * y + term
    return found / x

"""Student's t distribution.

With f degrees of freedom, |T| exceeds t with probability

    P(t) = 2 c sqrt(f) * integral of cosh(u)^-f from asinh(t / sqrt(f)) to infinity,
    c sqrt(f) = G((f + 1) / 2) / (sqrt(pi) G(f / 2)),

G being the gamma function: Student's density with sqrt(f) sinh(u) in the place of its variable. The
integral is computed by the rule of H. Takahasi and M. Mori, "Double exponential formulas for
numerical integration", Publications of the Research Institute for Mathematical Sciences 9 (1974)
721-741, for integrands that fall as exp(-x); the ratio of gamma functions of large f by its series,
NIST Digital Library of Mathematical Functions, equation 5.11.13. Relative errors are below 1e-12.
SciPy has the same, but takes longer to import than most comparisons take.
"""

from __future__ import annotations

import math
from functools import cache


def student_tail(t: float, degrees_of_freedom: float) -> float:
    """The probability that a Student variable is farther from 0 than t > 0.

    `degrees_of_freedom` are at least 1.
    """
    return math.exp(_log_tail(t, degrees_of_freedom)[0])


def tail_quantile(tail: float, degrees_of_freedom: float) -> float:
    """The t >= 0 for which `student_tail` is `tail`; `degrees_of_freedom` are at least 1.

    Raises ValueError for a tail that is not above 0 and at most 1.
    """
    if not 0 < tail <= 1:
        raise ValueError(f"a tail must be above 0 and at most 1, not {tail}")
    if tail == 1:
        return 0.0
    wanted = math.log(tail)

    def nearer(t: float) -> float:
        found, over_slope = _log_tail(t, degrees_of_freedom)
        return t * math.exp((found - wanted) * over_slope)

    # Newton's method for log P over log t. That is concave, so all steps but the first are down,
    # and none passes the root; the last one is where rounding stops them.
    t = nearer(math.sqrt(-2 * wanted))
    while (lower := nearer(t)) < t:
        t = lower
    return t


def _log_tail(t: float, degrees_of_freedom: float) -> tuple[float, float]:
    """Give log P, and 1 over how much it falls for each unit of log t."""
    f = min(degrees_of_freedom, _NORMAL)
    tangent = t / math.hypot(math.sqrt(f), t)
    # The integrand falls to 1/e or less within so much of u.
    step = 1 / (math.sqrt(f) * max(1.0, math.sqrt(f) * tangent))
    area = 0.0
    for x, weight in _nodes():
        u = step * x
        rise = 2 * math.sinh(u / 2) ** 2 + tangent * math.sinh(u)  # of cosh, as a share of it
        area += weight * math.exp(-f * math.log1p(rise))
    area *= step
    return math.log(2 * _factor(f) * area) - f / 2 * math.log1p(t * t / f), area / tangent


@cache
def _nodes() -> tuple[tuple[float, float], ...]:
    """Give places x and weights such that the sum of weight * g(x) is the integral of g from 0."""
    places = [_WIDTH * number for number in range(_FIRST, _LAST)]
    inner = [(math.exp(v - math.exp(-v)), 1 + math.exp(-v)) for v in places]
    return tuple((x, _WIDTH * x * slope) for x, slope in inner)


_WIDTH = 1 / 8
_FIRST, _LAST = -29, 31
"""Beyond, less than 1e-16 is left out of the integral."""


def _factor(f: float) -> float:
    """G((f + 1) / 2) / (sqrt(pi) G(f / 2))."""
    a = f / 2
    if a < _LARGE:
        return math.gamma(a + 0.5) / math.gamma(a) / math.sqrt(math.pi)
    series = 1 - 1 / (8 * a) + 1 / (128 * a**2) + 5 / (1024 * a**3) - 21 / (32768 * a**4)
    return series * math.sqrt(a / math.pi)


_NORMAL = 1e15
"""From here on it is the normal distribution, to 1e-13 of t."""

_LARGE = 160.0
"""From here on the series is exact to 1e-13; `math.gamma` ends at 171."""

"""Distributions of whole numbers of time units, and choices that say how likely each value is.

A draw is the inverse of the distribution function at one random fraction, rounded to the nearest
whole number, halves up; what is below 0 becomes 0, and what is above `MOST` becomes that.
`exponential(10)` is written so in Rebeca and in Python.

A search cannot try every value. A distribution is therefore also a choice, between its values if
these are at most `MOST_VALUES` from its 1 % quantile to its 99 % quantile, else between its
quantiles `QUANTILES`, each of which stands for a fifth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import exp, floor, isfinite, lgamma, log, log1p, sqrt
from typing import Any, NamedTuple, Self, SupportsIndex

from rebecsim.arithmetic import FRACTION_BITS, Shares, shares_of

MOST = 2**31 - 1
"""The largest value that is drawn, and the largest parameter."""

LEAST_PARAMETER = 1e-9

QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)
MOST_VALUES = 8

_EXPONENTIAL, _WEIBULL, _PARETO, _UNIFORM, _NORMAL, _LOGNORMAL, _GAMMA, EMPIRICAL = range(8)


class Weighted(tuple[Any, ...]):
    """The alternatives of a choice that says how likely they are: by their `shares`."""

    shares: Shares

    def __new__(cls, alternatives: Iterable[Any], weights: Sequence[float]) -> Self:
        """Raise ValueError for weights that do not fit."""
        made = super().__new__(cls, alternatives)
        if len(made) != len(weights):
            raise ValueError(f"{len(weights)} weights for {len(made)} alternatives")
        made.shares = shares_of(tuple(weights))
        return made


class Numbers(NamedTuple):
    """What a distribution is for compiled code: its kind, and up to three numbers."""

    kind: int
    first: float
    second: float = 0.0
    third: float = 0.0


def whole(kind: int, first: float, second: float, third: float, fraction: int) -> int:
    """Give the value of a distribution at a random number of FRACTION_BITS bits.

    Where the distribution function has no simple inverse, the value is searched for: the least one
    whose upper border, half a unit above it, has a larger share below it. Shares of a gamma
    distribution are sums or continued fractions (Abramowitz and Stegun 6.5.29, 6.5.31).
    """
    share = ((fraction >> 1) + 0.5) * 2.0**-52  # never 0 or 1
    if kind == _UNIFORM:
        return int(first + floor(share * (second - first + 1)))
    passed = -log(1.0 - share)
    if kind <= _PARETO:
        if kind == _EXPONENTIAL:
            value = first * passed
        elif kind == _WEIBULL:
            value = second * exp(min(log(passed) / first, 600.0))
        else:
            value = second * exp(min(passed / first, 600.0))
        return int(min(floor(value + 0.5), 2147483647.0))
    low = high = -1
    while True:
        probe = min(2 * low + 2, 2147483647) if high < 0 else (low + high) >> 1
        if probe == low:
            return high
        border = probe + 0.5
        offset = 0.0
        if kind == _GAMMA:
            shape, point = first, border / second
        else:  # a normal deviate's square, halved, has a gamma distribution
            offset = ((log(border) if kind == _LOGNORMAL else border) - first) / second
            shape, point = 0.5, offset * offset
        scale = exp(shape * log(point) - point - third) if point > 0.0 else 0.0
        if point < shape + 1.0:
            term = total = 1.0 / shape
            count = shape
            while term > total * 1e-16:
                count += 1.0
                term *= point / count
                total += term
            below = scale * total
        else:
            count, odd = 0.0, point + 1.0 - shape
            total = ratio = 1.0 / odd
            term, change = 1e300, 0.0
            while abs(change - 1.0) > 1e-15:
                count += 1.0
                factor = count * (shape - count)
                odd += 2.0
                ratio = 1.0 / (factor * ratio + odd)
                term = odd + factor / term
                change = ratio * term
                total *= change
            below = 1.0 - scale * total
        if kind != _GAMMA:
            below = 0.5 + 0.5 * below if offset > 0.0 else 0.5 - 0.5 * below
        if below > share or probe == 2147483647:
            high = probe
        else:
            low = probe


class Distribution(Weighted):
    """A distribution of whole numbers, and the choice that stands for it in a search.

    The alternatives that may be drawn are those of the choice, and behind them 0, 1, 2, ...

    >>> rs.uniform(1, 3)
    uniform(1, 3)
    """

    name: str
    parameters: tuple[float, ...]
    numbers: Numbers
    cut: str
    """Which values stand for all in a search; nothing if they are all."""

    def __new__(cls, name: str, parameters: tuple[float, ...]) -> Self:
        """Raise ValueError for parameters that do not fit."""
        numbers = _numbers(name, parameters)
        data = tuple(sorted(map(int, parameters))) if numbers.kind == EMPIRICAL else ()
        found, tried = _choice_of(data, numbers)
        total = sum(found.values())
        made = super().__new__(cls, found, [each / total for each in found.values()])
        made.name, made.parameters, made.numbers = name, data or parameters, numbers
        ends = made.at(0), made.at((1 << FRACTION_BITS) - 1)
        made.cut = tried if ends != (min(found), max(found)) else ""
        return made

    @property
    def data(self) -> tuple[int, ...]:
        """The values of an empirical distribution, sorted; of others none."""
        is_data = self.numbers.kind == EMPIRICAL
        return tuple(map(int, self.parameters)) if is_data else ()

    def at(self, fraction: int) -> int:
        """Give the value at a random number of FRACTION_BITS bits."""
        return _at(self.data, self.numbers, fraction)

    def place(self, fraction: int) -> int:
        """Give the place of that value among the alternatives."""
        return len(self) + self.at(fraction)

    def __getitem__(self, place: SupportsIndex | slice) -> Any:
        if isinstance(place, int) and place >= len(self):
            return place - len(self)
        return super().__getitem__(place)

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{each:.12g}' for each in self.parameters)})"

    __str__ = __repr__

    def __reduce__(self) -> tuple[Callable[..., Distribution], tuple[Any, ...]]:
        return distribution, (self.name, *self.parameters)


def _at(data: tuple[int, ...], numbers: Numbers, fraction: int) -> int:
    return data[(fraction >> 22) * len(data) >> 31] if data else whole(*numbers, fraction)


def _first_above(value: int, at: Callable[[int], int], end: int) -> int:
    """Give the first fraction whose value is larger; `end` if there is none.

    `bisect` counts no further than a machine word, which has 32 bits in a browser.
    """
    low, high = 0, end
    while low < high:
        middle = (low + high) // 2
        if at(middle) > value:
            high = middle
        else:
            low = middle + 1
    return low


def _choice_of(data: tuple[int, ...], numbers: Numbers) -> tuple[dict[int, float], str]:
    """Give the values that stand for a distribution, their weights, and which ones they are."""

    def at(fraction: int) -> int:
        return _at(data, numbers, fraction)

    if data and len(set(data)) <= MOST_VALUES:
        return dict(Counter(data)), ""
    end = 1 << FRACTION_BITS
    first, last = at(end // 100), at(end - end // 100)
    if not data and last - first < MOST_VALUES:
        limits = [_first_above(each, at, end) for each in range(first - 1, last + 1)]
        shares = [(after - before) / end for before, after in pairwise(limits)]
        values = range(first, last + 1)
        return dict(zip(values, shares, strict=True)), "the values between 1 and 99 %"
    *before, last_one = (f"{100 * each:g}" for each in QUANTILES)
    text = f"its {', '.join(before)} and {last_one} % quantiles"
    return dict(Counter(at(int(end * each)) for each in QUANTILES)), text


PARAMETERS: dict[str, tuple[str, ...]] = {
    "exponential": ("mean",),
    "weibull": ("shape", "scale"),
    "pareto": ("shape", "least"),
    "uniform": ("low", "high"),
    "normal": ("mean", "deviation"),
    "lognormal": ("mean", "deviation"),
    "gamma": ("shape", "scale"),
    "empirical": (),
}
"""The distributions, by the order of their kinds, and what their parameters are called."""


def _numbers(name: str, given: tuple[float, ...]) -> Numbers:
    """Check the parameters of a distribution. Raises ValueError, naming it."""
    kind, wanted = list(PARAMETERS).index(name), PARAMETERS[name]
    if kind == EMPIRICAL:
        if not given:
            raise ValueError("empirical: give at least one value")
        wanted = ("value",) * len(given)
    elif len(given) != len(wanted):
        raise ValueError(f"{name}: give {' and '.join(wanted)}, not {len(given)} numbers")
    for word, value in zip(wanted, given, strict=True):
        if kind in (_UNIFORM, EMPIRICAL):
            if not 0 <= value <= MOST or value != floor(value):
                raise ValueError(f"{name}: {word} must be a whole number, 0 or more, not {value}")
        elif not (isfinite(value) and value > 0):
            raise ValueError(f"{name}: {word} must be above 0, not {value}")
        elif not LEAST_PARAMETER <= value <= MOST:  # computing with it would overflow
            raise ValueError(
                f"{name}: {word} must be from {LEAST_PARAMETER} to {MOST}, not {value}"
            )
    if kind == EMPIRICAL:
        return Numbers(kind, len(given))
    first, second = float(given[0]), float(given[-1])
    if kind == _UNIFORM and first > second:
        raise ValueError(f"uniform: low is {given[0]}, above high, {given[1]}")
    if kind == _LOGNORMAL:
        variance = log1p((second / first) ** 2)
        first, second = log(first) - variance / 2, sqrt(variance)
    if kind in (_NORMAL, _LOGNORMAL):
        second *= sqrt(2)  # for the square of a deviate, halved
    return Numbers(kind, first, second, lgamma(first if kind == _GAMMA else 0.5))


@lru_cache(maxsize=1 << 10)
def distribution(name: str, *parameters: float) -> Distribution:
    """Make a distribution by its name. Raises ValueError for parameters that do not fit."""
    return Distribution(name, parameters)


def values_tried(drawn: Iterable[Distribution]) -> tuple[str, ...]:
    """Say which values stood for distributions of which a search did not try all."""
    return tuple(
        f"Of {each}, {each.cut} were tried: {', '.join(map(str, sorted(each)))}."
        for each in dict.fromkeys(drawn)
        if each.cut
    )


def exponential(mean: float) -> Distribution:
    """Give the exponential distribution of this mean, in time units.

    >>> rs.exponential(800)
    exponential(800)
    """
    return distribution("exponential", mean)


def uniform(low: int, high: int) -> Distribution:
    """Give whole numbers from `low` to `high`, all equally likely.

    >>> tuple(rs.uniform(1, 3))
    (1, 2, 3)
    """
    return distribution("uniform", low, high)


def normal(mean: float, deviation: float) -> Distribution:
    """Give the normal distribution of this mean and standard deviation, cut off at 0.

    >>> rs.normal(mean=100, deviation=20)
    normal(100, 20)
    """
    return distribution("normal", mean, deviation)


def lognormal(mean: float, deviation: float) -> Distribution:
    """Give the lognormal distribution whose values have this mean and standard deviation.

    >>> rs.lognormal(mean=100, deviation=50)
    lognormal(100, 50)
    """
    return distribution("lognormal", mean, deviation)


def weibull(shape: float, scale: float) -> Distribution:
    """Give the Weibull distribution; `shape` 1 is exponential with the mean `scale`.

    >>> rs.weibull(shape=1.5, scale=100)
    weibull(1.5, 100)
    """
    return distribution("weibull", shape, scale)


def gamma(shape: float, scale: float) -> Distribution:
    """Give the gamma distribution, of the mean `shape * scale`; a whole `shape` is Erlang.

    >>> rs.gamma(shape=3, scale=20)
    gamma(3, 20)
    """
    return distribution("gamma", shape, scale)


def pareto(shape: float, least: float) -> Distribution:
    """Give the Pareto distribution of values from `least` on; the mean is finite for shape > 1.

    >>> rs.pareto(shape=3, least=20)
    pareto(3, 20)
    """
    return distribution("pareto", shape, least)


def empirical(*values: int) -> Distribution:
    """Give the distribution of measured values, each as likely as it is often there.

    >>> rs.empirical(4, 9, 4).shares
    (0.666..., 0.333...)
    """
    return distribution("empirical", *values)


DISTRIBUTIONS: tuple[Callable[..., Distribution], ...] = (
    *(exponential, weibull, pareto, uniform, normal, lognormal, gamma, empirical),
)
"""The functions that make distributions."""

"""Probabilities of an event from independent runs: intervals, and when to stop.

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
from dataclasses import dataclass
from itertools import count


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

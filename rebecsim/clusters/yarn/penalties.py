"""Memory elasticity: how much longer a task runs in less memory than would be ideal for it.

A model gives a duration from the ideal memory and the given memory (MB) and the duration in ideal
memory (ms). All are computed in double precision in the order in which they are written, and cut
off to whole milliseconds: that is what the figures of DSS come from."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from rebecsim.errors import UserError

SAWTOOTH_SPILLS: tuple[float, ...] = (
    0.0,
    1.90996,
    1.89957,
    1.76883,
    1.67965,
    1.6,
    1.37922,
    1.329,
    1.19913,
    1.16883,
    0.899567,
    0.98961,
    0.959307,
    0.909957,
    0.979221,
    0.899567,
    0.959307,
    0.849351,
    0.899567,
    0.949784,
    0.8,
    0.839827,
    0.879654,
    0.919481,
    0.959307,
    1.0,
    0.779221,
    0.809524,
    0.839827,
    0.869264,
    0.899567,
    0.92987,
    0.959307,
    0.98961,
    0.679654,
    0.699567,
    0.719481,
    0.739394,
    0.759307,
    0.779221,
    0.8,
    0.819913,
    0.839827,
    0.85974,
    0.879654,
    0.899567,
    0.919481,
    0.939394,
    0.959307,
    0.979221,
    0.499567,
    0.509957,
    0.519481,
    0.52987,
    0.539394,
    0.549784,
    0.559307,
    0.569697,
    0.579221,
    0.58961,
    0.6,
    0.609524,
    0.619913,
    0.629437,
    0.639827,
    0.649351,
    0.65974,
    0.669264,
    0.679654,
    0.689177,
    0.699567,
    0.709957,
    0.719481,
    0.72987,
    0.739394,
    0.749784,
    0.759307,
    0.769697,
    0.779221,
    0.78961,
    0.8,
    0.809524,
    0.819913,
    0.829437,
    0.839827,
    0.849351,
    0.85974,
    0.869264,
    0.879654,
    0.889177,
    0.899567,
    0.909957,
    0.919481,
    0.92987,
    0.939394,
    0.949784,
    0.959307,
    0.969697,
    0.979221,
    0.98961,
    1.0,
)

_SPARK_STEPS: tuple[tuple[float, int], ...] = (
    (0.0, 8),
    (1.30336, 8),
    (1.19489, 9),
    (1.12963, 8),
    (1.07407, 8),
    (1.07231, 9),
    (0.992946, 8),
    (0.991184, 8),
    (1.00133, 9),
    (0.867726, 8),
    (0.91226, 8),
    (1.0, 9),
)
"""Factors, and for how many percents on each holds."""

SPARK_WORD_COUNT = tuple(factor for factor, percents in _SPARK_STEPS for _ in range(percents))


@dataclass(frozen=True, slots=True)
class Penalty(ABC):
    """A model of elasticity, with the bump that it has as a parameter where it has one."""

    bump: float = 1.0

    name: ClassVar[str]
    """What traces and commands call it."""

    has_bump: ClassVar[bool] = False
    """Whether its parameter has a meaning."""

    @abstractmethod
    def duration(self, ideal: int, given: int, duration: int, error: float = 0.0) -> int:
        """Give how long a task runs in the memory given; `error` is added to the bump."""


class NoPenalty(Penalty):
    """Less memory costs nothing."""

    name = "NULL"

    def duration(self, ideal: int, given: int, duration: int, error: float = 0.0) -> int:
        """Give the duration unchanged."""
        return duration


class LinearPenalty(Penalty):
    """Half the memory, twice the time."""

    name = "POWER1"

    def duration(self, ideal: int, given: int, duration: int, error: float = 0.0) -> int:
        """Give the duration by the ratio of the memories."""
        return int(ideal / given * duration)


class Quadratic(Penalty):
    """Half the memory, four times the time."""

    name = "POWER2"

    def duration(self, ideal: int, given: int, duration: int, error: float = 0.0) -> int:
        """Give the duration by the square of the ratio of the memories."""
        ratio = ideal / given
        return int(ratio * ratio * duration)


class SquareRoot(Penalty):
    """A quarter of the memory, twice the time."""

    name = "SQUAREROOT"

    def duration(self, ideal: int, given: int, duration: int, error: float = 0.0) -> int:
        """Give the duration by the square root of the ratio of the memories."""
        return int(math.sqrt(ideal / given) * duration)


class StepPenalty(Penalty):
    """Any other memory than the ideal one costs the same: the bump is the factor."""

    name = "STEP"
    has_bump = True

    def duration(self, ideal: int, given: int, duration: int, error: float = 0.0) -> int:
        """Give the duration times the bump."""
        return duration if given == ideal else int((self.bump + error) * duration)


class _Tabulated(Penalty):
    """The factor is measured, by the percent of the ideal memory; the bump is its largest."""

    has_bump = True
    table: ClassVar[tuple[float, ...]]

    def duration(self, ideal: int, given: int, duration: int, error: float = 0.0) -> int:
        """Give the duration and what the table adds. Raises UserError beyond its end."""
        if given == ideal:
            return duration
        percent = 100 * given // ideal
        if percent >= len(self.table):
            raise UserError(
                f"the penalty {self.name} is not known for {percent} % of the ideal memory: "
                f"{given} MB of {ideal} MB"
            )
        return int(self.table[percent] * (duration * (self.bump - 1 + error)) + duration)


class Sawtooth(_Tabulated):
    """A reducer that spills to disk: each spill more reads and writes what is over."""

    name = "SAWTOOTH"
    table = SAWTOOTH_SPILLS


class SparkWordCount(_Tabulated):
    """A word count of Spark, as measured."""

    name = "SPARKWC"
    table = SPARK_WORD_COUNT


PENALTIES: Mapping[str, type[Penalty]] = {
    each.name: each
    for each in (
        NoPenalty,
        LinearPenalty,
        Quadratic,
        SquareRoot,
        StepPenalty,
        Sawtooth,
        SparkWordCount,
    )
}
"""The models by name."""


def penalty_named(name: str, bump: float) -> Penalty:
    """Give the model of a name, in any case, with its bump. Raises UserError for other names."""
    found = PENALTIES.get(name.upper())
    if found is None:
        raise UserError(f"there is no penalty {name!r}; there are {', '.join(PENALTIES)}")
    return found(bump)

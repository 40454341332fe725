"""Memory elasticity: how much longer a task runs in less memory than would be ideal for it.

A model gives a duration from the ideal memory and the given memory (MB) and the duration in ideal
memory (ms). All are computed in double precision in the order in which they are written, and cut
off to whole milliseconds: that is what the figures of DSS come from.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from rebecsim.clusters.yarn.elasticity.penalty_tables import SAWTOOTH_SPILLS, SPARK_WORD_COUNT
from rebecsim.errors import UserError


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

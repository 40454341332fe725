"""Probabilities of rare events, by splitting, with intervals from independent repetitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rebecsim.errors import UserError
from rebecsim.exploration.orders.quantities import Quantity
from rebecsim.exploration.orders.splitting import Levels, RandomWalks
from rebecsim.studies.statistics.estimates import student_estimate


@dataclass(frozen=True)
class Effort:
    """How much is run: so many times, with so many runs on each level."""

    repetitions: int = 30
    runs: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        if self.repetitions < 2 or self.runs < 1:
            raise UserError("an interval needs two repetitions or more, and runs in each of them")


@dataclass(frozen=True)
class RareChance:
    """How likely something rare is.

    Attributes:
        quantity: what was asked.
        levels: where runs were split.
        each: what every repetition came to.
        effort: how much was run.
        value: the probability.
        low, high: the ends of its interval, which is Student's: it relies on many repetitions.
        level: the probability that the interval covers the truth, nearly.
    """

    quantity: Quantity
    levels: Levels
    each: tuple[float, ...]
    effort: Effort
    value: float
    low: float
    high: float
    level: float

    @property
    def runs(self) -> int:
        """The most runs that were begun: those of all repetitions and levels."""
        return self.effort.repetitions * self.effort.runs * (len(self.levels.thresholds) + 1)

    @property
    def was_seen(self) -> bool:
        """Whether any run came to the event; else there is no interval."""
        return self.value > 0

    @property
    def heading(self) -> str:
        """What was done, for people."""
        values = ", ".join(f"{each:g}" for each in self.levels.thresholds)
        return (
            f"split where {self.levels.expression} comes to {values}: "
            f"{self.effort.repetitions} times, {self.effort.runs:,} runs on each level"
        )

    def to_json(self) -> dict[str, Any]:
        """Give plain values."""
        return {
            "kind": self.quantity.kind,
            "expression": self.quantity.text,
            "split": self.levels.expression,
            "at": list(self.levels.thresholds),
            "repetitions": self.effort.repetitions,
            "runs_per_level": self.effort.runs,
            "seed": self.effort.seed,
            "level": self.level,
            "probability": self.value,
            "low": self.low if self.was_seen else None,
            "high": self.high if self.was_seen else None,
            "each": list(self.each),
        }


def rare_chance(
    walks: RandomWalks, quantity: Quantity, levels: Levels, effort: Effort, level: float = 0.95
) -> RareChance:
    """Estimate a probability by splitting. Raises UserError where time stands still."""
    each = [walks.estimate(effort.runs, effort.seed, place) for place in range(effort.repetitions)]
    error = float(np.std(each, ddof=1)) / len(each) ** 0.5
    found = student_estimate(float(np.mean(each)), error, len(each) - 1, level, (0.0, 1.0))
    low, high = found.low, found.high
    assert low is not None, "there are two repetitions at least"
    assert high is not None, "for the same reason"
    return RareChance(quantity, levels, tuple(each), effort, found.value, low, high, level)

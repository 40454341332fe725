"""Probabilities of rare events, by splitting, with intervals from independent repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rebecsim.actors import ChoiceLaw
from rebecsim.clusters.model.variants import ModelText, open_text
from rebecsim.errors import UserError
from rebecsim.exploration.orders import Levels, Quantity, SplitRuns
from rebecsim.studies.estimates import student_estimate

if TYPE_CHECKING:
    from rebecsim.studies.executors import Executor


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


@dataclass(frozen=True)
class RareQuestion:
    """What may happen in a run of a model, and how near to it runs are.

    Attributes:
        source: the model.
        quantity: of the kind `reached` or `goes wrong`.
        levels: where runs are split.
        until: the time up to which messages are served.
        law: how choices are drawn.
        deadlines: whether a missed deadline ends a run.
    """

    source: ModelText
    quantity: Quantity
    levels: Levels
    until: int
    law: ChoiceLaw = "fair"
    deadlines: bool = True


def repetitions(question: RareQuestion, effort: Effort, executor: Executor) -> list[float]:
    """Have all repetitions done; what each comes to does not depend on who does it.

    Raises UserError or RebecaError for what does not fit the model, or where time stands still.
    """
    return list(executor.map(partial(_repetition, question, effort), range(effort.repetitions)))


def _repetition(question: RareQuestion, effort: Effort, place: int) -> float:
    return walks_of(question).estimate(effort.runs, effort.seed, place)


@lru_cache(maxsize=1)
def walks_of(question: RareQuestion) -> SplitRuns:
    """Give runs of a model; what is known of its states is kept for the next repetition.

    Raises UserError or RebecaError for what does not fit.
    """
    opened = open_text(question.source)
    return SplitRuns(
        opened.model,
        question.quantity,
        question.levels,
        question.until,
        checked=opened.checked,
        law=question.law,
        deadlines=question.deadlines,
    )


def rare_chance(
    each: Sequence[float], quantity: Quantity, levels: Levels, effort: Effort, level: float = 0.95
) -> RareChance:
    """Give a probability with its interval from what all repetitions came to."""
    error = float(np.std(each, ddof=1)) / len(each) ** 0.5
    found = student_estimate(float(np.mean(each)), error, len(each) - 1, level, (0.0, 1.0))
    low, high = found.low, found.high
    assert low is not None, "there are two repetitions at least"
    assert high is not None, "for the same reason"
    return RareChance(quantity, levels, tuple(each), effort, found.value, low, high, level)

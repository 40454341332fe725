"""Models of the errors of users' estimates.

Each model draws factors: the estimate of a task is its duration times its factor. An error f is
that factor less one: more than 0 where users say too much, never less than or equal to -1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.stages.job import SECOND, StageTask


class EstimateErrors(ABC):
    """A model of errors."""

    @abstractmethod
    def factors(
        self, durations: NDArray[np.float64], draws: np.random.Generator
    ) -> NDArray[np.float64]:
        """Draw the factors of the tasks of one job, of which the durations are known (s)."""


@dataclass(frozen=True, slots=True)
class ConstantErrors(EstimateErrors):
    """All users are wrong by the same: estimates are (1 + f) times the durations.

    Lim, PhD thesis, Carleton University, section 5.7.1, equation 5.1.

    Attributes:
        error: f.
    """

    error: float

    def factors(
        self, durations: NDArray[np.float64], draws: np.random.Generator
    ) -> NDArray[np.float64]:
        """Give the same for all tasks."""
        return np.full(len(durations), 1 + self.error)


@dataclass(frozen=True, slots=True)
class FeitelsonErrors(EstimateErrors):
    """A tenth of the tasks runs a little longer than estimated, all others shorter.

    Feitelson's model as in Lim, PhD thesis, algorithm 5.4: with probability 0.1 the estimate is
    0.99 times the duration; otherwise it is 10 times the duration of a task that is shorter than a
    threshold, and the duration divided by a number that is as likely from 0 to 1 for the others.

    Attributes:
        threshold: of durations (s).
        most: the greatest factor; the quotient has none otherwise, and no mean.
    """

    threshold: float = 20.0
    most: float = 100.0

    def factors(
        self, durations: NDArray[np.float64], draws: np.random.Generator
    ) -> NDArray[np.float64]:
        """Draw for each task by itself."""
        below = draws.random(len(durations)) < _FEITELSON_BELOW
        quotients = 1 / (1 - draws.random(len(durations)))  # of a divisor that is never 0
        longer = np.where(durations < self.threshold, _FEITELSON_SHORT, quotients)
        return np.where(below, _FEITELSON_FACTOR, np.minimum(longer, self.most))


_FEITELSON_BELOW, _FEITELSON_FACTOR, _FEITELSON_SHORT = 0.1, 0.99, 10.0


@dataclass(frozen=True, slots=True)
class VariableErrors(EstimateErrors):
    """Each job has an error of its own: most are estimated to run longer than they do.

    Lim, PhD thesis, algorithm 6.1.

    Attributes:
        over_probability: of a job that is estimated to run longer.
        over: between what its error is drawn then.
        under: between what it is drawn otherwise.
    """

    over_probability: float = 0.98
    over: tuple[float, float] = (0.0, 2.0)
    under: tuple[float, float] = (-0.9, -0.1)

    def factors(
        self, durations: NDArray[np.float64], draws: np.random.Generator
    ) -> NDArray[np.float64]:
        """Draw one factor for all tasks."""
        bounds = self.over if draws.random() < self.over_probability else self.under
        return np.full(len(durations), 1 + draws.uniform(*bounds))


def with_estimates(
    tasks: tuple[StageTask, ...], errors: EstimateErrors | None, draws: np.random.Generator
) -> tuple[StageTask, ...]:
    """Give tasks with what users say of them: whole ms, at least 1.

    Dummies take no time, and everybody knows. Without errors the tasks are as before.
    """
    if errors is None:
        return tasks
    real = [task for task in tasks if not task.is_dummy]
    durations = np.array([task.duration for task in real], np.float64)
    said = np.maximum(np.rint(durations * errors.factors(durations / SECOND, draws)), 1)
    found = {
        task.number: replace(task, estimated=each)
        for task, each in zip(real, said.astype(np.int64).tolist(), strict=True)
    }
    return tuple(found.get(task.number, task) for task in tasks)

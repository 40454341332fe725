"""Random numbers of a run: a stream for each job, or one stream as in DSS."""

from __future__ import annotations

import math
from random import Random
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from rebecsim.clusters.yarn.configuration import YarnConfiguration

_OVERESTIMATES, _ERRORS, _DURATIONS = 23482374928374, 24381092348021, 129831982379


class Draws(Protocol):
    """Gives generators of random numbers: for what, and for which job."""

    def overestimate(self, job: int) -> Random:
        """For the factor by which a job asks for more memory than is ideal."""

    def errors(self, job: int) -> Random:
        """For the errors of its memory, and of the bump of its penalty."""

    def durations(self, job: int, elastic: bool) -> Random:
        """For the errors of the durations of its elastic containers, or of its others."""


class SeededDraws:
    """Children of a seed, which depend on it, the job and the purpose, and on nothing else.

    So a job has the same errors whatever the scheduler, and in the order of its own containers.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def overestimate(self, job: int) -> Random:
        """Give a generator of its own."""
        return self._child(0, job)

    def errors(self, job: int) -> Random:
        """Give a generator of its own."""
        return self._child(1, job)

    def durations(self, job: int, elastic: bool) -> Random:
        """Give a generator of its own."""
        return self._child(3 if elastic else 2, job)

    def _child(self, purpose: int, job: int) -> Random:
        sequence = np.random.SeedSequence(self._seed, spawn_key=(purpose, job))
        return Random(int.from_bytes(sequence.generate_state(4).tobytes(), "little"))


class DrawsOfDss:
    """Generators with fixed seeds: one for all jobs, but for durations each job has its own."""

    def __init__(self) -> None:
        self._overestimates = Random(_OVERESTIMATES)
        self._errors = Random(_ERRORS)

    def overestimate(self, job: int) -> Random:
        """Give the same for all, in the order of the trace."""
        return self._overestimates

    def errors(self, job: int) -> Random:
        """Give the same for all, in the order of their starts."""
        return self._errors

    def durations(self, job: int, elastic: bool) -> Random:
        """Give one with the same seed for each."""
        return Random(_DURATIONS)


def draws_of(configuration: YarnConfiguration) -> Draws:
    """Give the generators of a run."""
    return DrawsOfDss() if configuration.quirks.fixed_draws else SeededDraws(configuration.seed)


def whole_between(draws: Random, low: int, high: int) -> int:
    """Draw a whole number from `low` to `high` as Python 2 does."""
    return low + math.floor(draws.random() * (high - low + 1))

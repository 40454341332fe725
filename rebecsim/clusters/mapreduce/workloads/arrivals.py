"""Times of submission: at fixed intervals, at random, in bursts, or all at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

SECOND = 1_000_000
"""Microseconds."""

ArrivalLaw = Literal["fixed", "poisson", "bursts", "at_once", "after"]


@dataclass(frozen=True, slots=True)
class Arrivals:
    """When some jobs come.

    Attributes:
        law: `fixed`, with the same gap between every two; `poisson`, with gaps that are
            exponential, independent, and so long on average; `bursts`, `burst` jobs at a time,
            with exponential gaps between these; `at_once`; `after`, each when the job before it of
            the same user has ended.
        gap: between two jobs, or two bursts; after the end of the job before it (seconds).
        burst: how many jobs come together.
        first: when the first one comes, or would if there were no chance (seconds).
    """

    law: ArrivalLaw = "fixed"
    gap: float = 1.0
    burst: int = 10
    first: float = 0.0

    @property
    def is_random(self) -> bool:
        """Whether anything is drawn."""
        return self.law in ("poisson", "bursts") and self.gap > 0

    def times(self, jobs: int, draws: np.random.Generator) -> list[int]:
        """Give when so many jobs come, in order (microseconds); after: how long after others."""
        first = 0.0 if self.law == "after" else self.first
        seconds = first + self._offsets(jobs, draws)
        return [round(each * SECOND) for each in seconds.tolist()]

    def _offsets(self, jobs: int, draws: np.random.Generator) -> NDArray[np.float64]:
        numbers = np.arange(jobs)
        match self.law:
            case "at_once":
                return np.zeros(jobs)
            case "fixed":
                return np.asarray(numbers * self.gap)
            case "after":
                return np.full(jobs, self.gap)
            case "poisson":
                return np.asarray(np.cumsum(draws.exponential(self.gap, jobs)))
            case "bursts":
                bursts = -(-jobs // self.burst)
                times = np.cumsum(draws.exponential(self.gap, bursts))
                return np.asarray(times[numbers // self.burst])

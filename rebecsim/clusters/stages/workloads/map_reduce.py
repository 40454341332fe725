"""Synthetic MapReduce jobs: maps, a barrier, and reduces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rebecsim.clusters.kit.fair_shares import Claim, fair_shares
from rebecsim.clusters.stages.job import SECOND, StageTask, TaskKind


def map_reduce_tasks(maps: list[int], reduces: list[int]) -> tuple[StageTask, ...]:
    """Make the tasks of a job of the durations of its maps and reduces (ms).

    The barrier is a dummy, so that there are as many edges as tasks.
    """
    first = [
        StageTask(place, each, (), TaskKind.MAP, 1, f"map {place}")
        for place, each in enumerate(maps)
    ]
    if not reduces:
        return tuple(first)
    gate = len(first)
    barrier = StageTask(gate, 0, tuple(range(gate)), phase=1, name="barrier")
    second = [
        StageTask(gate + 1 + place, each, (gate,), TaskKind.REDUCE, 2, f"reduce {place}")
        for place, each in enumerate(reduces)
    ]
    return (*first, barrier, *second)


@dataclass(frozen=True, slots=True)
class SyntheticMapReduce:
    """Jobs of Lim's generic workload; with smaller bounds of the workload for Hadoop.

    Numbers are drawn as integers that are as likely from 1 to a bound. A reduce takes three times
    the sum of the maps, divided by the number of reduces, rounded up, and some seconds of its own.

    Attributes:
        maps: the most of a job; reduces are at most as many as its maps.
        longest_map: the longest a map takes (s).
        reduce_extra: the most that a reduce takes beyond its share (s).
    """

    maps: int = 100
    longest_map: int = 50
    reduce_extra: int = 10

    def expected_tasks(self, jobs: int) -> int:
        """Return the mean number of tasks that so many jobs have, their barriers among them."""
        maps = (1 + self.maps) / 2
        return round(jobs * (maps + (1 + maps) / 2 + 1))

    def tasks(self, draws: np.random.Generator) -> tuple[StageTask, ...]:
        """Draw the tasks of a job."""
        count = int(draws.integers(1, self.maps, endpoint=True))
        reduces = int(draws.integers(1, count, endpoint=True))
        maps = draws.integers(1, self.longest_map, count, endpoint=True)
        share = -(-3 * int(maps.sum()) // reduces)
        extra = draws.integers(1, self.reduce_extra, reduces, endpoint=True)
        return map_reduce_tasks(
            [each * SECOND for each in maps.tolist()],
            [(share + each) * SECOND for each in extra.tolist()],
        )


FACEBOOK_TYPES = (
    *((1, 0, 380), (2, 0, 160), (10, 3, 140), (50, 0, 80), (100, 0, 60), (200, 50, 60)),
    *((400, 0, 40), (800, 180, 40), (2400, 360, 20), (4800, 0, 20)),
)
"""Of a trace of October 2009: maps, reduces, and how many of 1,000 jobs are so."""

_FACEBOOK_MAP = 9.9511, 1.6764
_FACEBOOK_REDUCE = 12.375, 1.6262
"""Mean and variance of the logarithm of durations (ms)."""


class FacebookMapReduce:
    """Jobs like those at Facebook (Verma et al. 2012): ten types, log-normal durations.

    All types are as likely until there are no more of one in a thousand jobs; then the next
    thousand begins.
    """

    def __init__(self) -> None:
        self._left: list[int] = []

    def expected_tasks(self, jobs: int) -> int:
        """Return about how many tasks so many jobs have together, their barriers among them."""
        thousands, rest = divmod(jobs, 1_000)
        drawn = fair_shares(rest, [Claim(most=count) for *_, count in FACEBOOK_TYPES])
        return sum(
            (thousands * count + drawn[place]) * (maps + reduces + (reduces > 0))
            for place, (maps, reduces, count) in enumerate(FACEBOOK_TYPES)
        )

    def tasks(self, draws: np.random.Generator) -> tuple[StageTask, ...]:
        """Draw the tasks of a job."""
        maps, reduces = self.next_type(draws)
        return map_reduce_tasks(
            _log_normal(draws, *_FACEBOOK_MAP, maps),
            _log_normal(draws, *_FACEBOOK_REDUCE, reduces),
        )

    def next_type(self, draws: np.random.Generator) -> tuple[int, int]:
        """Draw how many maps and reduces the next job has."""
        if not any(self._left):
            self._left = [count for _, _, count in FACEBOOK_TYPES]
        there = [place for place, count in enumerate(self._left) if count]
        chosen = there[int(draws.integers(len(there)))]
        self._left[chosen] -= 1
        return FACEBOOK_TYPES[chosen][:2]


_WORD_COUNT_MAPS = (8, 16, 32)
_WORD_COUNT_REDUCES = 9
_WORD_COUNT_MAP = 63.5
_WORD_COUNT_REDUCE = 3.0
_WORD_COUNT_SPREAD = 0.1


class WordCount:
    """Jobs that count words of 512 MB, 1 GB or 2 GB, a map for each 64 MB, and nine reduces.

    How long tasks take has not been published. A map takes 63.5 s, so that ten map slots are as
    busy as was measured (79 to 95 % at 1/150 to 1/125 jobs per second), a reduce 3 s for each map,
    both 10 % more or less.
    """

    def expected_tasks(self, jobs: int) -> int:
        """Return the mean number of tasks that so many jobs have, their barriers among them."""
        maps = sum(_WORD_COUNT_MAPS) / len(_WORD_COUNT_MAPS)
        return round(jobs * (maps + _WORD_COUNT_REDUCES + 1))

    def tasks(self, draws: np.random.Generator) -> tuple[StageTask, ...]:
        """Draw the tasks of a job."""
        maps = _WORD_COUNT_MAPS[int(draws.integers(len(_WORD_COUNT_MAPS)))]
        times = (_WORD_COUNT_MAP, maps), (_WORD_COUNT_REDUCE * maps, _WORD_COUNT_REDUCES)
        spread = 1 - _WORD_COUNT_SPREAD, 1 + _WORD_COUNT_SPREAD
        drawn = [
            [round(mean * SECOND * each) for each in draws.uniform(*spread, count).tolist()]
            for mean, count in times
        ]
        return map_reduce_tasks(*drawn)


def _log_normal(draws: np.random.Generator, mean: float, variance: float, count: int) -> list[int]:
    times = draws.lognormal(mean, float(np.sqrt(variance)), count)
    return [max(1, round(each)) for each in times.tolist()]

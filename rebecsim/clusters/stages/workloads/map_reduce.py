"""Synthetic MapReduce jobs: maps, a barrier, and reduces that share what the maps have done.

Numbers are drawn as integers that are as likely from 1 to a bound. A reduce takes three times the
sum of the maps, divided by the number of reduces, rounded up, and some seconds more of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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

    Attributes:
        maps: the most of a job; reduces are at most as many as its maps.
        longest_map: the longest a map takes (s).
        reduce_extra: the most that a reduce takes beyond its share (s).
    """

    maps: int = 100
    longest_map: int = 50
    reduce_extra: int = 10

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

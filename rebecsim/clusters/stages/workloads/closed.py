"""Closed problems: all jobs arrive at the beginning, and some may only start later.

The five batch workloads of Lim (PhD thesis, Carleton University, Table 3.3). Times are seconds;
numbers are drawn as integers that are as likely from 1 to a bound. A deadline is the earliest
start and the sum of all tasks, as many times as drawn between 1 and a multiplier.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rebecsim.clusters.stages.estimates.models import EstimateErrors, with_estimates
from rebecsim.clusters.stages.job import SECOND, StageJob, StageTask
from rebecsim.clusters.stages.resources import StageResource, typed_alike
from rebecsim.clusters.stages.workloads.map_reduce import map_reduce_tasks
from rebecsim.clusters.stages.workloads.stream import JobDraws, SampleTime, with_deadline


@dataclass(frozen=True, slots=True)
class ClosedWorkload:
    """A batch of MapReduce jobs, and what they run on.

    Attributes:
        count: how many jobs there are.
        latest: the latest that one can start; drawn for each.
        multiplier: the largest.
        maps: of a job; the most where they are drawn.
        reduces: of a job; None: drawn, up to as many as its maps.
        longest_map: the longest a map takes.
        longest_reduce: the longest a reduce takes; None: reduces share the sum of the
            job's maps, rounded up.
        resources: how many there are.
        slots: for maps, and as many for reduces, of each.
        draws_maps: whether the number of maps is drawn.
        starts: when each job can start, if that is not drawn.
    """

    count: int
    latest: int
    multiplier: float
    maps: int
    reduces: int | None
    longest_map: int
    longest_reduce: int | None
    resources: int
    slots: int = 2
    draws_maps: bool = False
    starts: tuple[int, ...] = ()

    def on(self) -> tuple[StageResource, ...]:
        """Give what the jobs run on."""
        return typed_alike(self.resources, self.slots, self.slots)

    def jobs(self, draws: JobDraws, errors: EstimateErrors | None = None) -> tuple[StageJob, ...]:
        """Draw the jobs; with errors, deadlines are by what users say of tasks."""
        starts = self._starts(draws.starts)
        multipliers = draws.deadlines.uniform(1, self.multiplier, len(starts)).tolist()
        tasks = [self._tasks(draws.tasks, errors, draws.estimates) for _ in starts]
        return tuple(
            self._due(number, start, multipliers[number], tasks[number])
            for number, start in enumerate(starts)
        )

    def _starts(self, draws: np.random.Generator) -> list[int]:
        drawn = draws.integers(1, self.latest, self.count, endpoint=True).tolist()
        return list(self.starts or drawn)

    def _tasks(
        self,
        draws: np.random.Generator,
        errors: EstimateErrors | None,
        of_estimates: np.random.Generator,
    ) -> tuple[StageTask, ...]:
        count = _to(draws, self.maps) if self.draws_maps else self.maps
        maps = draws.integers(1, self.longest_map, count, endpoint=True).tolist()
        reduces = _to(draws, count) if self.reduces is None else self.reduces
        if self.longest_reduce is None:
            times = [-(-sum(maps) // reduces)] * reduces
        else:
            times = draws.integers(1, self.longest_reduce, reduces, endpoint=True).tolist()
        in_ms = [[SECOND * each for each in seconds] for seconds in (maps, times)]
        return with_estimates(map_reduce_tasks(*in_ms), errors, of_estimates)

    def _due(
        self, number: int, start: int, multiplier: float, tasks: tuple[StageTask, ...]
    ) -> StageJob:
        begin = SECOND * start
        bare = StageJob(number, 0, begin, begin, tasks, "map_reduce")
        return with_deadline(bare, self.on(), multiplier, SampleTime.SEQUENTIAL)


def _to(draws: np.random.Generator, most: int) -> int:
    return int(draws.integers(1, most, endpoint=True))


CLOSED_WORKLOADS = {
    "small_1": ClosedWorkload(5, 50, 5, 10, 3, 15, 50, 10),
    "small_2": ClosedWorkload(5, 50, 2, 15, None, 15, 75, 25, draws_maps=True),
    "medium": ClosedWorkload(10, 50, 2, 10, 5, 25, 75, 15),
    "large_1": ClosedWorkload(2, 500, 2, 100, 30, 15, 50, 25, slots=4, starts=(0, 500)),
    "large_2": ClosedWorkload(50, 1500, 2, 100, None, 10, None, 50, draws_maps=True),
}
"""By name, in the order of the table."""

"""A job during the mapping: its budget, and the places of its tasks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, chain
from typing import TYPE_CHECKING

import numpy as np

from rebecsim.clusters.stages.job import StageJob
from rebecsim.clusters.stages.managers.wfbb.budget import Budget
from rebecsim.clusters.stages.timelines import NOWHERE, Timelines

if TYPE_CHECKING:
    from rebecsim.clusters.stages.managers.wfbb.mapping_loops import Tasks
    from rebecsim.clusters.stages.timeline_loops import Places


class MappedJob:
    """A job and where its tasks are.

    Attributes:
        laxity: what is left until the deadline on free resources (ms).
        normalised: that, for each unit of the time that the job takes there.
        sequence: the tasks in the order in which they are placed: the longest first.
        first: when the first task starts (ms); `NOWHERE`: it has no place.
        last: when the last task ends (ms); `NOWHERE`: it has no place.
        last_start: when the last task starts (ms); `NOWHERE`: it has no place.
        decision: the number of the decision that came to this job last.
        tasks: for the loops that place them; None before the first decision.
        places: where tasks are, for these loops.
        saved: where they were when that decision came to it.
        movable: the tasks that had not started then, in their sequence.
    """

    places: Places
    saved: Places

    def __init__(self, job: StageJob, budget: Budget, sample_time: int) -> None:
        self.job = job
        self.number = job.number
        self.deadline = job.deadline
        self.laxity = job.deadline - job.start - sample_time
        self.normalised = self.laxity / sample_time
        self.budget = budget
        expected, ranks = job.expected, budget.ranks
        self.sequence = sorted(
            range(len(expected)), key=lambda task: (-expected[task], ranks[task], task)
        )
        self.first = self.last = self.last_start = NOWHERE
        self.decision = 0
        self.tasks: Tasks | None = None
        self.movable = np.array(self.sequence, np.int64)

    def touch(self, decision: int, now: int, timelines: Timelines) -> None:
        """See, when a decision first comes to this job, where its tasks are, and which started."""
        if self.decision == decision:
            return
        self.decision = decision
        if self.tasks is None:
            self._lay_out(timelines)
            return
        places = self.places
        self.saved = type(places)(*(each.copy() for each in places))
        starts = places.starts
        stays = (starts >= 0) & (starts <= now) & (self.tasks.durations > 0)
        self.movable = self.movable[~stays[self.movable]]

    def settle(self) -> None:
        """Take down when it starts and ends, after its tasks have been placed."""
        starts, ends, _ = self.places
        self.first, self.last_start = int(starts.min()), int(starts.max())
        self.last = int(ends.max())

    def settle_dummies(self) -> None:
        """Let dummies end with the last task that they wait for."""
        starts, ends, _ = self.places
        for number in self.job.order:
            task = self.job.tasks[number]
            if task.is_dummy:
                latest = max((int(ends[each]) for each in task.parents), default=self.job.start)
                starts[number] = ends[number] = latest

    def moved(self) -> Iterator[tuple[int, int, int, int]]:
        """Give each task that is not where it was before the decision: its number, and where."""
        now, before = self.places, self.saved
        other = (now.starts != before.starts) | (now.lines != before.lines)
        other &= now.lines != NOWHERE
        tasks = self.movable[other[self.movable]]
        columns = tasks, now.lines[tasks], now.starts[tasks], now.ends[tasks]
        return zip(*(each.tolist() for each in columns), strict=True)

    def _lay_out(self, timelines: Timelines) -> None:
        from rebecsim.clusters.stages.managers.wfbb.mapping_loops import Tasks

        job = self.job
        pools = [timelines.pools[task.kind] for task in job.tasks]
        parents = [task.parents for task in job.tasks]
        columns = (
            job.expected,
            self.budget.sub_deadlines,
            [first for first, _ in pools],
            [last for _, last in pools],
            list(chain.from_iterable(parents)),
            list(accumulate(map(len, parents), initial=0)),
        )
        self.tasks = Tasks(*(np.array(each, np.int64) for each in columns))
        self.places = timelines.loops.Places(
            *(np.full(len(pools), NOWHERE, np.int64) for _ in range(3))
        )
        self.saved = self.places._replace(
            starts=self.places.starts.copy(),
            ends=self.places.ends.copy(),
            lines=self.places.lines.copy(),
        )


def by_deadline(each: MappedJob) -> tuple[float, ...]:
    """Order jobs by deadlines, then by laxity."""
    return each.deadline, each.laxity, each.number


def by_laxity(each: MappedJob) -> tuple[float, ...]:
    """Order jobs by laxity for each unit of sample time, then by deadlines and arrivals."""
    return each.normalised, each.deadline, each.job.arrival, each.number

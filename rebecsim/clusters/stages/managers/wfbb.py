"""WFBB-RM: workflows get budgets of their laxity, and are mapped by them, one job at a time.

Lim, PhD thesis, Carleton University, chapter 7. What the thesis leaves open is decided here:

- A task is placed on the first resource that has a slot at the best time; as early as it can, on
  that whose slot has been free for the least time before, as chapter 4 does it for MRCP-RM: what is
  reserved far ahead cuts resources up, and long gaps are left to the tasks that need them.
- With TSP2 a task for which there is no place before its sub-deadline gets the earliest one.
- A parent gets until the latest sub-deadline of all parents of a task only if no other task waits
  for it. Otherwise CyberShake's seismograms would end so late that peak values hardly ever fit
  before the deadline, which is not what has been published. Which of two tasks that take as long
  is placed first is said by sub-deadlines without this exception.
- Jobs are compared by their laxity on free resources, also where true laxity is divided: as
  published, it then makes no difference for tasks that begin as early as they can.
- The phases of a job are those of all its tasks, dummies included.
- Nothing is placed before the time of the decision.
- A job is remapped with another if some of its tasks have not started, and it starts or ends
  between the earliest start and the deadline of the other; of such jobs those count as late already
  that are planned to end after their deadlines.
- What a remapping within a remapping leaves behind when it fails is not looked at: the outermost
  one puts everything back.
- A decision tries at most `MOST_ATTEMPTS` remappings, those within others included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rebecsim.actors import StatePart
from rebecsim.clusters.stages.job import StageJob, TaskKey
from rebecsim.clusters.stages.laxity import (
    NOWHERE,
    Budget,
    BudgetRule,
    Timelines,
    budget_of,
    compiled_loops,
    planned_run,
    sample_run,
)
from rebecsim.clusters.stages.managers.manager import StageManager
from rebecsim.clusters.stages.resources import Assignment, StageResource, smallest_job

if TYPE_CHECKING:
    from rebecsim.clusters.stages.loops import Places, Tasks


class MappedJob(StatePart):
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
        from rebecsim.clusters.stages.loops import Places, Tasks

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
        self.places = Places(*(np.full(len(pools), NOWHERE, np.int64) for _ in range(3)))
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


_Sorting = Callable[[MappedJob], tuple[float, ...]]

_NEVER = 2**62

MOST_ATTEMPTS = 1000
"""Remappings that a decision tries, at most; then the job is mapped late."""


@dataclass(frozen=True, slots=True)
class _Remapping:
    """Jobs that are mapped anew: those to be in time, the next one last, and those late already."""

    left: list[MappedJob]
    late: list[MappedJob]


class JobMapper(StatePart):
    """Knows where tasks are to run, and finds places for those of a job.

    Attributes:
        timelines: the slots that are taken.
        touched: jobs whose tasks may have been moved by the last decision, by number.
    """

    def __init__(self, resources: Iterable[StageResource]) -> None:
        self._all = tuple(resources)
        self.timelines = Timelines(self._all)
        self.touched: dict[int, MappedJob] = {}
        self._now = 0
        self._decision = 0
        self._mapped: dict[int, MappedJob] = {}
        self._attempts: dict[tuple[int, ...], bool] = {}  # of a decision
        self._late_as_possible = False

    def map_job(self, job: MappedJob, now: int, *, late_as_possible: bool) -> bool:
        """Place a job, and others anew if it would be late; give whether it will be in time.

        With `late_as_possible` its tasks end just before their sub-deadlines where they can,
        otherwise as early as they can. Those of jobs that are mapped anew always do that, and so do
        those of a job that cannot be in time.
        """
        self._now = now
        self._decision += 1
        if self._decision % 16 == 0:
            self._forget_past()
        self.touched = {}
        self._attempts = {}
        self._late_as_possible = late_as_possible
        if self._place(job, job.deadline):
            return True
        self._late_as_possible = False
        mapped = dict(self._mapped)
        for sorting in (by_deadline, by_laxity):
            self._take_out(job)
            if self._remap(job, sorting):
                return True
            self._put_back(mapped)
        self._place(job, _NEVER)
        return False

    def corrected(
        self,
        now: int,
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> None:
        """Take over where tasks are that have run, or are to run, other than it has mapped them."""
        self.timelines = Timelines(self._all)
        for each in self._mapped.values():
            places = each.places
            for times in (places.starts, places.ends):  # where nothing else is said, it has ended
                times[times > now] = now
            for task in each.job.real_tasks:
                key = TaskKey(each.number, task.number)
                at = running.get(key) or scheduled.get(key)
                if at is not None:
                    line = self.timelines.line_of(task.kind, at.resource)
                    places.starts[task.number], places.ends[task.number] = at.start, at.end
                    places.lines[task.number] = line
                    self.timelines.add(task.kind, at.resource, at.start, at.end)
            each.settle_dummies()
            each.settle()

    def _remap(self, job: MappedJob, sorting: _Sorting) -> bool:
        """Map a job and those around it anew, in an order. If one of them would then be late, map
        those around it anew too, and so on. Give whether all are in time that can be.
        """
        remappings = [self._remapping(job, sorting)]
        while remappings:
            current = remappings[-1]
            if current is None:
                return False
            if current.left:
                each = current.left.pop()
                if not self._place(each, each.deadline):
                    self._take_out(each)
                    remappings.append(self._remapping(each, sorting))
            else:
                for each in current.late:
                    self._place(each, _NEVER)
                remappings.pop()
        return True

    def _remapping(self, job: MappedJob, sorting: _Sorting) -> _Remapping | None:
        """Take a job and those around it from their places; None: that has been tried."""
        jobs = sorted([*self._around(job), job], key=sorting)
        attempt = tuple(each.number for each in jobs)
        if attempt in self._attempts or len(self._attempts) == MOST_ATTEMPTS:
            return None
        self._attempts[attempt] = True
        late = [each for each in jobs if each.last > each.deadline and each is not job]
        for each in jobs:
            self._take_out(each)
        return _Remapping([each for each in reversed(jobs) if each not in late], late)

    def _place(self, job: MappedJob, deadline: int) -> bool:
        """Place the tasks of a job; stop at the first that would end after a deadline."""
        self._touch(job)
        assert job.tasks is not None
        self.timelines.require_room(len(job.movable))
        base = max(self._now, job.job.start)
        in_time = compiled_loops().place(
            *(self.timelines.lines, job.tasks, job.places, job.movable.copy()),
            *(base, deadline, self._late_as_possible, np.zeros(1, np.int64)),
        )
        if in_time:
            job.settle()
            self._mapped[job.number] = job
        return bool(in_time)

    def _around(self, job: MappedJob) -> Iterable[MappedJob]:
        """Give the mapped jobs that can be moved, and are there while the job may run.

        Algorithm 7.8 names those that start or end then. Others, that begin before and end after
        it, are in its way as well, and more so the later tasks are placed.
        """
        first, last = job.job.start, job.deadline
        for each in self._mapped.values():
            if each.first <= last and each.last >= first:
                touched = each.decision == self._decision
                if each.last_start > self._now or (touched and len(each.movable)):
                    yield each

    def _touch(self, job: MappedJob) -> None:
        job.touch(self._decision, self._now, self.timelines)
        self.touched[job.number] = job

    def _take_out(self, job: MappedJob) -> None:
        """Take all tasks that have not started from their places."""
        self._touch(job)
        self._mapped.pop(job.number, None)
        self.timelines.require_room(len(job.movable))
        compiled_loops().take_out(self.timelines.lines, job.places, job.movable)

    def _put_back(self, mapped: dict[int, MappedJob]) -> None:
        """Undo all changes of this decision, and settle the jobs that were mapped before."""
        for each in self.touched.values():
            self._take_out(each)
        for each in self.touched.values():
            self.timelines.require_room(len(each.movable))
            compiled_loops().put_back(self.timelines.lines, each.places, each.saved, each.movable)
        self._mapped = dict(mapped)
        for number in self.touched.keys() & mapped.keys():
            mapped[number].settle()

    def _forget_past(self) -> None:
        self.timelines.forget(self._now)
        for number in [each.number for each in self._mapped.values() if each.last <= self._now]:
            del self._mapped[number]


class WorkflowBudgets(StageManager):
    """Divides the laxity of each job between its tasks, maps it, and remaps others if it is late.

    Attributes:
        rule: how laxity is divided.
        true_laxity: laxity is what is left beside all that is planned (TL); otherwise what would be
            left on free resources (SL).
        late_as_possible: tasks end just before their sub-deadlines (TSP2); otherwise they begin as
            early as they can (TSP1).

    With `by_letter` sub-deadlines are those of algorithm 7.3 as it is printed.
    """

    one_job_at_a_time: ClassVar[bool] = True
    rule: ClassVar[BudgetRule] = BudgetRule.PROPORTIONAL
    true_laxity: ClassVar[bool] = False
    late_as_possible: ClassVar[bool] = False

    def __init__(self, resources: Sequence[StageResource], *, by_letter: bool = False) -> None:
        super().__init__(resources)
        self._by_letter = by_letter
        self._mapper = JobMapper(resources)
        # Compiled loops are loaded here, so that this is no time of a decision.
        self._map(smallest_job(resources), 0)
        self._mapper = JobMapper(resources)
        self._resources = self._mapper.timelines.resources

    def plan(
        self,
        now: int,
        arrived: Sequence[StageJob],
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> Sequence[Assignment]:
        """Map the job that has arrived."""
        (job,) = arrived
        self._map(job, now)
        return [
            Assignment(TaskKey(each.number, task), self._resources[line], start, end)
            for each in self._mapper.touched.values()
            for task, line, start, end in each.moved()
        ]

    def _map(self, job: StageJob, now: int) -> None:
        alone = sample_run(job, self.resources)
        sample = planned_run(job, self._mapper.timelines, now) if self.true_laxity else alone
        budget = budget_of(job, sample, self.rule, by_letter=self._by_letter)
        mapped = MappedJob(job, budget, alone.duration)
        self._mapper.map_job(mapped, now, late_as_possible=self.late_as_possible)

    def corrected(
        self,
        now: int,
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> None:
        """Map the next job beside what really runs."""
        self._mapper.corrected(now, running, scheduled)

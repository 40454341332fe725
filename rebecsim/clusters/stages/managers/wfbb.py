"""WFBB-RM: divides each workflow's laxity into budgets, then maps workflows one at a time.

Lim, PhD thesis, Carleton University, chapter 7. Where the thesis leaves details open:

- A task takes the first resource with a slot at the best time. For the earliest start, ties go to
  the slot that was free for the shortest time, as in chapter 4 for MRCP-RM: far reservations
  fragment resources, and this keeps long gaps for long tasks.
- With TSP2, a task without a place before its sub-deadline gets the earliest place.
- A parent gets the latest sub-deadline of all parents of a task only if it has no other child.
  Otherwise CyberShake's seismograms would end so late that peak values hardly ever meet the
  deadline, unlike the published results. Ties between equally long tasks go by sub-deadlines
  without this exception.
- Jobs are compared by their laxity on free resources even if true laxity is divided. So, as
  published, it makes no difference for tasks that start as early as they can.
- The phases of a job include those of dummies.
- No task is placed before the time of the decision.
- A job is remapped together with another if some of its tasks have not started and it overlaps
  the other's time from earliest start to deadline. Such jobs count as late if their planned ends
  are after their deadlines.
- A failed nested remapping cleans up nothing: the outermost one restores all jobs.
- A decision tries at most `MOST_ATTEMPTS` remappings, nested ones included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rebecsim.actors import StatePart
from rebecsim.clusters.stages.job import StageJob, TaskKey
from rebecsim.clusters.stages.laxity import (
    UNPLACED,
    Budget,
    BudgetRule,
    Timelines,
    budget_of,
    compiled_loops,
    planned_run,
    sample_run,
)
from rebecsim.clusters.stages.managers.manager import StageManager
from rebecsim.clusters.stages.resources import Assignment, StageResource, warm_up_job

if TYPE_CHECKING:
    from rebecsim.clusters.stages.loops import Places, Tasks


class MappedJob(StatePart):
    """A job and the places of its tasks. Times of an unplaced job are `UNPLACED`.

    Attributes:
        laxity: laxity on free resources (ms).
        normalised: laxity divided by the sample time.
        sequence: tasks in the order in which they are placed, the longest first.
        first: start of the first task (ms).
        last: end of the last task (ms).
        last_start: start of the last task (ms).
        decision: number of the last decision that considered this job.
        tasks: its tasks as arrays; None before the first decision.
        places: places of its tasks as arrays.
        saved: places before that decision.
        movable: tasks that had not started then, in their sequence.
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
        self.first = self.last = self.last_start = UNPLACED
        self.decision = 0
        self.tasks: Tasks | None = None
        self.movable = np.array(self.sequence, np.int64)

    def prepare(self, decision: int, now: int, timelines: Timelines) -> None:
        """Save the places of this job when a decision first considers it."""
        if self.decision == decision:
            return
        self.decision = decision
        if self.tasks is None:
            self._build_arrays(timelines)
            return
        places = self.places
        self.saved = type(places)(*(each.copy() for each in places))
        starts = places.starts
        stays = (starts >= 0) & (starts <= now) & (self.tasks.durations > 0)
        self.movable = self.movable[~stays[self.movable]]

    def record_span(self) -> None:
        """Set the first and last times, after its tasks have been placed."""
        starts, ends, _ = self.places
        self.first, self.last_start = int(starts.min()), int(starts.max())
        self.last = int(ends.max())

    def place_dummies(self) -> None:
        """Place dummies at the ends of their last parents."""
        starts, ends, _ = self.places
        for number in self.job.order:
            task = self.job.tasks[number]
            if task.is_dummy:
                latest = max((int(ends[each]) for each in task.parents), default=self.job.start)
                starts[number] = ends[number] = latest

    def moved(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield the tasks that the decision has moved: number, profile, start and end."""
        now, before = self.places, self.saved
        other = (now.starts != before.starts) | (now.profiles != before.profiles)
        other &= now.profiles != UNPLACED
        tasks = self.movable[other[self.movable]]
        columns = tasks, now.profiles[tasks], now.starts[tasks], now.ends[tasks]
        return zip(*(each.tolist() for each in columns), strict=True)

    def _build_arrays(self, timelines: Timelines) -> None:
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
        self.places = Places(*(np.full(len(pools), UNPLACED, np.int64) for _ in range(3)))
        self.saved = self.places._replace(
            starts=self.places.starts.copy(),
            ends=self.places.ends.copy(),
            profiles=self.places.profiles.copy(),
        )


def by_deadline(each: MappedJob) -> tuple[float, ...]:
    """Sort key: deadline, then laxity."""
    return each.deadline, each.laxity, each.number


def by_laxity(each: MappedJob) -> tuple[float, ...]:
    """Sort key: normalised laxity, then deadline and arrival."""
    return each.normalised, each.deadline, each.job.arrival, each.number


_SortKey = Callable[[MappedJob], tuple[float, ...]]

_NEVER = 2**62

MOST_ATTEMPTS = 1000
"""Most remappings that a decision tries before it maps the job late."""


@dataclass(frozen=True, slots=True)
class _Remapping:
    """Jobs to remap: those that must be in time, the next one last, and those already late."""

    left: list[MappedJob]
    late: list[MappedJob]


class JobMapper(StatePart):
    """Maps the tasks of jobs to resources and times.

    Attributes:
        timelines: usage of all slots.
        changed_jobs: jobs whose tasks the last decision may have moved, by number.
    """

    def __init__(self, resources: Iterable[StageResource]) -> None:
        self._all = tuple(resources)
        self.timelines = Timelines(self._all)
        self.changed_jobs: dict[int, MappedJob] = {}
        self._now = 0
        self._decision = 0
        self._mapped: dict[int, MappedJob] = {}
        self._attempts: dict[tuple[int, ...], bool] = {}  # of a decision
        self._late_as_possible = False

    def map_job(self, job: MappedJob, now: int, *, late_as_possible: bool) -> bool:
        """Map a job, and remap others if it would be late; return whether it will be in time.

        With `late_as_possible` its tasks end just before their sub-deadlines if they can.
        Otherwise, and for remapped or late jobs, tasks run as early as they can.
        """
        self._now = now
        self._decision += 1
        if self._decision % 16 == 0:
            self._forget_past()
        self.changed_jobs = {}
        self._attempts = {}
        self._late_as_possible = late_as_possible
        if self._place(job, job.deadline):
            return True
        self._late_as_possible = False
        mapped = dict(self._mapped)
        for sorting in (by_deadline, by_laxity):
            self._unplace(job)
            if self._remap(job, sorting):
                return True
            self._restore(mapped)
        self._place(job, _NEVER)
        return False

    def corrected(
        self,
        now: int,
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> None:
        """Adopt the real places of tasks that deviate from the mapping."""
        self.timelines = Timelines(self._all)
        for each in self._mapped.values():
            places = each.places
            for times in (places.starts, places.ends):  # where nothing else is said, it has ended
                times[times > now] = now
            for task in each.job.real_tasks:
                key = TaskKey(each.number, task.number)
                at = running.get(key) or scheduled.get(key)
                if at is not None:
                    profile = self.timelines.profile_of(task.kind, at.resource)
                    places.starts[task.number], places.ends[task.number] = at.start, at.end
                    places.profiles[task.number] = profile
                    self.timelines.add(task.kind, at.resource, at.start, at.end)
            each.place_dummies()
            each.record_span()

    def _remap(self, job: MappedJob, sorting: _SortKey) -> bool:
        """Remap a job and the jobs that overlap it, in an order.

        If one of them would then be late, remap the jobs that overlap that one, and so on. Returns
        whether every job meets its deadline, except those already late.
        """
        remappings = [self._remapping(job, sorting)]
        while remappings:
            current = remappings[-1]
            if current is None:
                return False
            if current.left:
                each = current.left.pop()
                if not self._place(each, each.deadline):
                    self._unplace(each)
                    remappings.append(self._remapping(each, sorting))
            else:
                for each in current.late:
                    self._place(each, _NEVER)
                remappings.pop()
        return True

    def _remapping(self, job: MappedJob, sorting: _SortKey) -> _Remapping | None:
        """Unplace a job and the jobs that overlap it; None if that was tried before."""
        jobs = sorted([*self._overlapping_jobs(job), job], key=sorting)
        attempt = tuple(each.number for each in jobs)
        if attempt in self._attempts or len(self._attempts) == MOST_ATTEMPTS:
            return None
        self._attempts[attempt] = True
        late = [each for each in jobs if each.last > each.deadline and each is not job]
        for each in jobs:
            self._unplace(each)
        return _Remapping([each for each in reversed(jobs) if each not in late], late)

    def _place(self, job: MappedJob, deadline: int) -> bool:
        """Place the tasks of a job; return False at the first that would miss the deadline."""
        self._prepare(job)
        assert job.tasks is not None
        self.timelines.require_room(len(job.movable))
        base = max(self._now, job.job.start)
        in_time = compiled_loops().place(
            *(self.timelines.profiles, job.tasks, job.places, job.movable.copy()),
            *(base, deadline, self._late_as_possible, np.zeros(1, np.int64)),
        )
        if in_time:
            job.record_span()
            self._mapped[job.number] = job
        return bool(in_time)

    def _overlapping_jobs(self, job: MappedJob) -> Iterable[MappedJob]:
        """Return the movable mapped jobs that overlap the time in which a job may run.

        Algorithm 7.8 names those that start or end in that time. Jobs that span all of it also
        compete for slots, the more so the later tasks are placed.
        """
        first, last = job.job.start, job.deadline
        for each in self._mapped.values():
            if each.first <= last and each.last >= first:
                changed_jobs = each.decision == self._decision
                if each.last_start > self._now or (changed_jobs and len(each.movable)):
                    yield each

    def _prepare(self, job: MappedJob) -> None:
        job.prepare(self._decision, self._now, self.timelines)
        self.changed_jobs[job.number] = job

    def _unplace(self, job: MappedJob) -> None:
        """Unplace all tasks that have not started."""
        self._prepare(job)
        self._mapped.pop(job.number, None)
        self.timelines.require_room(len(job.movable))
        compiled_loops().remove_tasks(self.timelines.profiles, job.places, job.movable)

    def _restore(self, mapped: dict[int, MappedJob]) -> None:
        """Undo all changes of this decision."""
        for each in self.changed_jobs.values():
            self._unplace(each)
        for each in self.changed_jobs.values():
            self.timelines.require_room(len(each.movable))
            compiled_loops().restore_tasks(
                self.timelines.profiles, each.places, each.saved, each.movable
            )
        self._mapped = dict(mapped)
        for number in self.changed_jobs.keys() & mapped.keys():
            mapped[number].record_span()

    def _forget_past(self) -> None:
        self.timelines.forget(self._now)
        for number in [each.number for each in self._mapped.values() if each.last <= self._now]:
            del self._mapped[number]


class WorkflowBudgets(StageManager):
    """Divides the laxity of each job between its tasks, maps it, and remaps others if it is late.

    Attributes:
        rule: how laxity is divided.
        true_laxity: compute laxity beside all planned tasks (TL), not on free resources (SL).
        late_as_possible: tasks end just before their sub-deadlines (TSP2), instead of starting as
            early as they can (TSP1).

    With `by_letter`, sub-deadlines follow algorithm 7.3 as printed.
    """

    one_job_at_a_time: ClassVar[bool] = True
    rule: ClassVar[BudgetRule] = BudgetRule.PROPORTIONAL
    true_laxity: ClassVar[bool] = False
    late_as_possible: ClassVar[bool] = False

    def __init__(self, resources: Sequence[StageResource], *, by_letter: bool = False) -> None:
        super().__init__(resources)
        self._by_letter = by_letter
        self._mapper = JobMapper(resources)
        # Load compiled loops now, so that this does not count as time of a decision.
        self._map(warm_up_job(resources), 0)
        self._mapper = JobMapper(resources)
        self._resources = self._mapper.timelines.resources

    def plan(
        self,
        now: int,
        arrived: Sequence[StageJob],
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> Sequence[Assignment]:
        """Map the arrived job."""
        (job,) = arrived
        self._map(job, now)
        return [
            Assignment(TaskKey(each.number, task), self._resources[profile], start, end)
            for each in self._mapper.changed_jobs.values()
            for task, profile, start, end in each.moved()
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
        """Map the next job beside the tasks that really run."""
        self._mapper.corrected(now, running, scheduled)

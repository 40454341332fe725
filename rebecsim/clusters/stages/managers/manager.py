"""The interface of resource managers, and prescheduling error handling (PSEH) for any of them.

PSEH corrects users' estimates by their mean error so far (Lim, PhD thesis, Carleton University,
section 6.1). When a task ends, its error is its estimate less its time, divided by its time
(equation 6.1). The mean error over all users and jobs is kept for maps and for reduces; both begin
at 0. Before a task is placed, its estimate is divided by 1 plus that mean (equation 6.2). Deadlines
do not change.

The thesis leaves open when planned tasks are corrected again. Here it happens whenever they are
placed anew: at every decision under managers that replan all tasks, once under others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rebecsim.actors import StatePart
from rebecsim.clusters.stages.job import StageJob, StageTask, TaskKey, TaskKind
from rebecsim.clusters.stages.resources import Assignment, StageResource


class StageManager(StatePart, ABC):
    """Plans where and when tasks run.

    It decides when jobs have arrived, one decision after the other. It may move tasks that have not
    started, to the time of the decision or later. It is part of the state of its rebec, so it must
    keep plain data or `StatePart`s.

    Attributes:
        one_job_at_a_time: each decision plans only the waiting job with the earliest deadline, not
            all waiting jobs.
        decides_at_ends: it also decides when tasks have ended, and may leave tasks without a place
            until then.
        pulls_forward: its tasks start earlier than planned if others end earlier than expected.
        replans: it also decides when a task has ended earlier or later than expected.
        limits_reached: number of decisions that reached a time limit.
        searched: work of solvers so far, in a unit that is the same on every machine: CP-SAT's
            deterministic seconds, or millions of variables of an integer programme.
    """

    one_job_at_a_time: ClassVar[bool] = False
    decides_at_ends: ClassVar[bool] = False
    pulls_forward: ClassVar[bool] = True

    def __init__(self, resources: Sequence[StageResource]) -> None:
        self.resources = resources
        self.limits_reached = 0
        self.searched = 0.0

    @abstractmethod
    def plan(
        self,
        now: int,
        arrived: Sequence[StageJob],
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> Sequence[Assignment]:
        """Decide: return new and changed assignments.

        All other tasks stay as in `scheduled`. Every real task of the arrived jobs needs a place,
        unless a later decision gives it one (`decides_at_ends`, `wakes_at`).
        """

    @property
    def replans(self) -> bool:
        """Whether it also decides when a task has ended earlier or later than expected."""
        return False

    def adjusted(self, job: StageJob) -> StageJob:
        """Return a job with the estimates to plan with, perhaps corrected.

        `plan` gets arrived jobs in this form. It may be called again for the same job.
        """
        return job

    def expected(self, job: StageJob, task: int) -> int:
        """Return the expected time that a task was last placed with (ms)."""
        return job.expected[task]

    def corrected(
        self,
        now: int,
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> None:
        """Learn, before a decision, that tasks run or are planned differently than it decided."""

    def wakes_at(self, now: int) -> int | None:
        """Return when to decide next even without an event (ms), after now, or None."""
        return None

    def ended(self, job: StageJob, assignment: Assignment) -> None:
        """Learn that a task has ended, as it ran."""


class MeanErrors(StatePart):
    """Mean error of users' estimates, for each kind of task."""

    def __init__(self) -> None:
        self._sums = dict.fromkeys(TaskKind, 0.0)
        self._counts = dict.fromkeys(TaskKind, 0)

    def add(self, task: StageTask, time: int) -> None:
        """Add a task that ran for `time` ms, more than 0."""
        self._sums[task.kind] += (task.expected - time) / time
        self._counts[task.kind] += 1

    def of(self, kind: TaskKind) -> float:
        """Return the mean error of a kind, 0 if no task has ended."""
        return self._sums[kind] / max(self._counts[kind], 1)

    def corrected(self, task: StageTask) -> int:
        """Return the corrected estimate of a task (whole ms, at least 1; 0 for a dummy)."""
        if task.is_dummy:
            return 0
        return max(round(task.expected / (1 + self.of(task.kind))), 1)


class PreschedulingErrorHandling(StageManager):
    """Mix-in for managers that plan by corrected estimates; it comes first among base classes.

    Attributes:
        errors: mean errors of the tasks that have ended.
    """

    def __init__(self, resources: Sequence[StageResource], **options: Any) -> None:
        super().__init__(resources, **options)
        self.errors = MeanErrors()
        self._original: dict[int, StageJob] = {}
        self._told: dict[int, StageJob] = {}
        self._left: dict[int, int] = {}

    def adjusted(self, job: StageJob) -> StageJob:
        """Correct the estimates of a job."""
        number = job.number
        original = self._original.setdefault(number, job)
        self._left.setdefault(number, len(original.real_tasks))
        found = original.with_estimates([self.errors.corrected(task) for task in original.tasks])
        self._told[number] = found
        return found

    def expected(self, job: StageJob, task: int) -> int:
        """Return the estimate from the last correction of the job."""
        return self._told.get(job.number, job).expected[task]

    def ended(self, job: StageJob, assignment: Assignment) -> None:
        """Learn the error of an estimate; drop a finished job."""
        number, task = assignment.key
        self.errors.add(job.tasks[task], assignment.end - assignment.start)
        super().ended(self._told.get(number, job), assignment)
        self._left[number] -= 1
        if self._left[number] == 0:
            del self._left[number], self._original[number], self._told[number]


def with_error_handling(manager: type[StageManager]) -> type[StageManager]:
    """Make a manager class that plans by corrected estimates."""
    values = {"__doc__": f"{manager.__name__} by corrected estimates."}
    return type(f"PSEH_{manager.__name__}", (PreschedulingErrorHandling, manager), values)

"""The interface of resource managers, and corrected estimates for any of them (PSEH).

Prescheduling error handling plans by what users say, corrected by how wrong they were.
Lim, PhD thesis, Carleton University, section 6.1. When a task ends, its error is its estimate
less its time, divided by its time (equation 6.1). The mean of all errors so far, of all users and
jobs, is kept for maps and for reduces; both begin at 0. Before a task is placed, its estimate is
divided by 1 and that mean (equation 6.2). Deadlines stay.

When tasks are corrected again that have a place already is not said there. Here it is whenever they
are placed anew: at every decision under managers that plan everything anew, once under others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rebecsim.actors import StatePart
from rebecsim.clusters.stages.job import StageJob, StageTask, TaskKey, TaskKind
from rebecsim.clusters.stages.resources import Assignment, StageResource


class StageManager(StatePart, ABC):
    """Gives tasks a resource and a time.

    It is asked when jobs have arrived, one decision after the other. It may move every task that
    has not started, and none that has. A task may start at the time of the decision, not earlier.
    It is part of the state of the rebec that asks it: what it keeps is plain data or `StatePart`s.

    Attributes:
        one_job_at_a_time: each decision is about one job, the one with the earliest deadline of
            those that wait; otherwise about all that wait.
        decides_at_ends: it is also asked when tasks have ended: it need not plan ahead, and may
            leave tasks without a place until then.
        pulls_forward: its tasks begin earlier than planned where others end earlier than expected.
        replans: it is also asked when a task has ended earlier or later than expected.
        limits_reached: decisions that ran into a limit of time and used the best that was found.
        searched: how much solvers have worked so far, in a unit that is the same on every machine:
            CP-SAT's deterministic seconds, or millions of variables of an integer programme.
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
        """Decide: give the assignments that are new or other than before.

        All else stays as it is in `scheduled`. Every task of the jobs that have arrived gets a
        place, but for dummies, and those that are to be decided about later (`decides_at_ends`,
        `wakes_at`).
        """

    @property
    def replans(self) -> bool:
        """Whether it wants to be asked when a task has ended earlier or later than expected."""
        return False

    def adjusted(self, job: StageJob) -> StageJob:
        """Give a job as it is to be planned now: it may be expected to run longer than users say.

        Jobs that have arrived are given to `plan` so; the same job may be asked for again.
        """
        return job

    def expected(self, job: StageJob, task: int) -> int:
        """Give how long a task is expected to run that was placed last (ms)."""
        return job.expected[task]

    def corrected(
        self,
        now: int,
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> None:
        """Take note before a decision that tasks run, or have places, other than it has planned."""

    def wakes_at(self, now: int) -> int | None:
        """Give when it wants to be asked next even if nothing happens, later than now (ms)."""
        return None

    def ended(self, job: StageJob, assignment: Assignment) -> None:
        """Take note that a task has ended, as it ran."""


class MeanErrors(StatePart):
    """How wrong users were on average, for each kind of tasks."""

    def __init__(self) -> None:
        self._sums = dict.fromkeys(TaskKind, 0.0)
        self._counts = dict.fromkeys(TaskKind, 0)

    def add(self, task: StageTask, time: int) -> None:
        """Take note of a task that has run for so long (ms), more than 0."""
        self._sums[task.kind] += (task.expected - time) / time
        self._counts[task.kind] += 1

    def of(self, kind: TaskKind) -> float:
        """Give the mean error of a kind; 0 where none has ended."""
        return self._sums[kind] / max(self._counts[kind], 1)

    def corrected(self, task: StageTask) -> int:
        """Give how long a task is expected to run (whole ms, at least 1; 0 for a dummy)."""
        if task.is_dummy:
            return 0
        return max(round(task.expected / (1 + self.of(task.kind))), 1)


class PreschedulingErrorHandling(StageManager):
    """What a manager inherits from, before its own class, to plan by corrected estimates.

    Attributes:
        errors: of the tasks that have ended.
    """

    def __init__(self, resources: Sequence[StageResource], **options: Any) -> None:
        super().__init__(resources, **options)
        self.errors = MeanErrors()
        self._original: dict[int, StageJob] = {}
        self._told: dict[int, StageJob] = {}
        self._left: dict[int, int] = {}

    def adjusted(self, job: StageJob) -> StageJob:
        """Correct what users have said of a job."""
        number = job.number
        original = self._original.setdefault(number, job)
        self._left.setdefault(number, len(original.real_tasks))
        found = original.expecting([self.errors.corrected(task) for task in original.tasks])
        self._told[number] = found
        return found

    def expected(self, job: StageJob, task: int) -> int:
        """Give how long a task was expected to run when its job was corrected last."""
        return self._told.get(job.number, job).expected[task]

    def ended(self, job: StageJob, assignment: Assignment) -> None:
        """Learn how wrong its user was; forget a job that has ended."""
        number, task = assignment.key
        self.errors.add(job.tasks[task], assignment.end - assignment.start)
        super().ended(self._told.get(number, job), assignment)
        self._left[number] -= 1
        if self._left[number] == 0:
            del self._left[number], self._original[number], self._told[number]


def handling_errors(manager: type[StageManager]) -> type[StageManager]:
    """Give a manager that does the same by corrected estimates."""
    values = {"__doc__": f"{manager.__name__} by corrected estimates."}
    return type(f"PSEH_{manager.__name__}", (PreschedulingErrorHandling, manager), values)

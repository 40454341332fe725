"""The interface of resource managers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from rebecsim.clusters.stages.job import StageJob, TaskKey
from rebecsim.clusters.stages.resources import StageResource
from rebecsim.clusters.stages.schedule import Assignment


class StageManager(ABC):
    """Gives tasks a resource and a time.

    It is asked when jobs have arrived, one decision after the other. It may move every task that
    has not started, and none that has. A task may start at the time of the decision, not earlier.

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

    def corrected(  # noqa: B027
        self,
        now: int,
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> None:
        """Take note before a decision that tasks run, or have places, other than it has planned."""

    def wakes_at(self, now: int) -> int | None:
        """Give when it wants to be asked next even if nothing happens, later than now (ms)."""
        return None

    def ended(self, job: StageJob, assignment: Assignment) -> None:  # noqa: B027
        """Take note that a task has ended, as it ran."""

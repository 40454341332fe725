"""WFBB-RM in its eight configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rebecsim.clusters.stages.job import StageJob, TaskKey
from rebecsim.clusters.stages.laxity import planned_run, sample_run
from rebecsim.clusters.stages.managers.manager import StageManager
from rebecsim.clusters.stages.managers.wfbb.budget import BudgetRule, budget_of
from rebecsim.clusters.stages.managers.wfbb.mapped_job import MappedJob
from rebecsim.clusters.stages.managers.wfbb.mapping import JobMapper
from rebecsim.clusters.stages.resources import StageResource, smallest_job
from rebecsim.clusters.stages.schedule import Assignment


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

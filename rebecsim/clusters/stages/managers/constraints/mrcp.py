"""MRCP-RM: the fewest late jobs by constraint programming."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rebecsim.clusters.stages.managers.constraints.matching import matched
from rebecsim.clusters.stages.managers.constraints.placing import PlacedTasks
from rebecsim.clusters.stages.managers.constraints.problem import PlanningProblem
from rebecsim.clusters.stages.managers.constraints.search import fewest_late
from rebecsim.clusters.stages.managers.constraints.searching import SearchingManager
from rebecsim.clusters.stages.managers.constraints.solver import (
    Found,
    SolverSettings,
    cp_model,
)
from rebecsim.clusters.stages.resources import StageResource


class ConstraintManager(SearchingManager):
    """Searches by CP-SAT.

    Attributes:
        matches_later: it is searched when tasks start on all resources together, and said
            afterwards who runs them (POpt1); otherwise both are searched at once.
    """

    matches_later: ClassVar[bool] = True

    def __init__(
        self, resources: Sequence[StageResource], settings: SolverSettings | None = None
    ) -> None:
        super().__init__(resources, settings)
        cp_model()  # here, as it is not there or takes its time

    def search(self, problem: PlanningProblem, known: PlacedTasks | None) -> Found:
        """Search from what is known, which stays where there is too much to search."""
        if known is not None and problem.tasks > self.settings.most_tasks:
            return Found(known.in_time, limited=True)
        if self.matches_later:
            return fewest_late(problem, known, self.settings)
        placed = () if known is None else matched(problem, known.starts)
        who = {each.key: each.resource for each in placed}
        return fewest_late(problem, known, self.settings, who)

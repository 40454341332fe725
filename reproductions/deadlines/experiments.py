"""The published experiments on MRCP-RM, HCP-RM and closed problems, to be run and shown."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import RenderableType

from rebecsim.studies.plan import Plan
from rebecsim.studies.running import PlannedRun
from reproductions.deadlines.report import deadlines_markdown, deadlines_view
from reproductions.deadlines.running import (
    DeadlineExtent,
    FoundDeadlines,
    deadline_plans,
    found_in,
)
from reproductions.framework import Experiments


class DeadlineExperiments(Experiments[FoundDeadlines]):
    """Experiments by name, each with the managers that are compared in it."""

    def __init__(self, extent: DeadlineExtent) -> None:
        self.extent = extent
        self.by_name = deadline_plans(extent)

    def plans(self) -> Mapping[str, Plan]:
        """Lay out all experiments."""
        return {plan.scenario.name: plan for plan in self.by_name.values()}

    def found(
        self, runs: Mapping[str, PlannedRun], orders: Mapping[tuple[str, str], PlannedRun]
    ) -> FoundDeadlines:
        """Compute what each manager has come to."""
        return found_in({name: runs[plan.scenario.name] for name, plan in self.by_name.items()})

    def view(self, found: FoundDeadlines) -> RenderableType:
        """Show all parts, and how many cells are within the bounds."""
        return deadlines_view(found, self.extent)

    def page(self, found: FoundDeadlines) -> str:
        """Write all parts."""
        return deadlines_markdown(found, self.extent)

"""The published experiments on WFBB-RM, to be run and shown."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import RenderableType

from rebecsim.studies.plan import Plan
from rebecsim.studies.running import PlannedRun
from reproductions.framework import Experiments
from reproductions.workflows.report import workflows_markdown, workflows_view
from reproductions.workflows.running import (
    FoundTable,
    WorkflowExtent,
    compared,
    planned,
    scenario_of,
)


class WorkflowExperiments(Experiments[list[FoundTable]]):
    """Tables of late jobs and turnarounds, a run for each row."""

    def __init__(self, extent: WorkflowExtent) -> None:
        self.extent = extent
        self.tables = [
            (table, [planned(scenario_of(table, row.point, extent.runs)) for row in table.rows])
            for table in extent.chosen
        ]

    def plans(self) -> Mapping[str, Plan]:
        """Lay out the runs of all rows; tables share some."""
        return {plan.scenario.name: plan for _, rows in self.tables for plan in rows}

    def found(
        self, runs: Mapping[str, PlannedRun], orders: Mapping[tuple[str, str], PlannedRun]
    ) -> list[FoundTable]:
        """Put our figures beside those of each table."""
        return [
            compared(table, [runs[plan.scenario.name] for plan in rows])
            for table, rows in self.tables
        ]

    def view(self, found: list[FoundTable]) -> RenderableType:
        """Show all tables, and what else the thesis says."""
        return workflows_view(found, self.extent)

    def page(self, found: list[FoundTable]) -> str:
        """Write the tables and what holds."""
        return workflows_markdown(found, self.extent)

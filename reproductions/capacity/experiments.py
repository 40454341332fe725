"""The published experiments on Hadoop's Capacity Scheduler, to be run and shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.console import RenderableType

from rebecsim.clusters.mapreduce.scenario import MapReduceScenario
from rebecsim.clusters.mapreduce.study import STUDY
from rebecsim.studies.plan import Plan, plan_study
from rebecsim.studies.running import PlannedRun
from reproductions.capacity.found import Found
from reproductions.capacity.published import REAL, SENSITIVITY, SIMULATED, STRAGGLERS
from reproductions.capacity.report import reproduction_markdown, reproduction_view
from reproductions.capacity.running import CapacityExtent, found_in
from reproductions.capacity.scenarios import (
    experiment_scenarios,
    small_scenarios,
    validation_scenarios,
)
from reproductions.framework import Experiments


class CapacityExperiments(Experiments[Found]):
    """The large experiments, the small ones, and those beside a real cluster."""

    def __init__(self, extent: CapacityExtent) -> None:
        self.extent = extent
        runs = extent.runs
        is_validated = extent.has(REAL, SIMULATED, STRAGGLERS)
        self.groups = (
            _plans(experiment_scenarios(runs, extent.experiments)),
            _plans(small_scenarios(runs) if extent.has(SENSITIVITY) else ()),
            _plans(validation_scenarios(runs) if is_validated else ()),
        )

    def plans(self) -> Mapping[str, Plan]:
        """Lay out all experiments."""
        return {name: plan for group in self.groups for name, plan in group.items()}

    def found(
        self, runs: Mapping[str, PlannedRun], orders: Mapping[tuple[str, str], PlannedRun]
    ) -> Found:
        """Compute the figures of all."""
        large, small, validation = ([runs[name] for name in group] for group in self.groups)
        return found_in(large, small, validation)

    def view(self, found: Found) -> RenderableType:
        """Show all tables, and at the end what of the thesis holds."""
        return reproduction_view(found, self.extent)

    def page(self, found: Found) -> str:
        """Write the tables and what holds."""
        return reproduction_markdown(found, self.extent)


def _plans(scenarios: Iterable[MapReduceScenario]) -> dict[str, Plan]:
    return {each.name: plan_study(STUDY, each) for each in scenarios}

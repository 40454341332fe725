"""From the results of a comparison to the input of its report."""

from __future__ import annotations

from collections.abc import Sequence

from rebecsim.experiments import CellMoments, Results, Scenario
from rebecsim.report.report_input import ReportInput

__all__ = ["report_input"]


def report_input(
    scenario: Scenario, results: Results, moments: Sequence[CellMoments]
) -> ReportInput:
    """Put together what a report shows: the figures, the scenario, and what computed them."""
    return ReportInput(
        title=scenario.heading,
        description=scenario.description,
        scenario=scenario.model_dump(mode="json"),
        seed=scenario.seed,
        choice_law=scenario.choice_law,
        versions=results.record()["versions"],
        moments=moments,
    )

"""From the results of a comparison to the input of its report."""

from __future__ import annotations

from collections.abc import Mapping

from rebecsim.experiments import Plan, Results
from rebecsim.experiments.energy import Hardware
from rebecsim.experiments.paired_results import paired_moments
from rebecsim.experiments.traced import utilisation_over_time
from rebecsim.metrics.natjam import NATJAM_CHART_METRICS, NATJAM_MISS_BREAKDOWN
from rebecsim.report.report_input import ReportInput

__all__ = ["report_input"]


def report_input(
    plan: Plan, results: Results, orders: Mapping[str, tuple[Plan, Results]] | None = None
) -> ReportInput:
    """Put together what a report shows: the figures, the scenario, and what computed them.

    `orders` are the same cells run in other message orders. Raises ResultsError for results that
    are incomplete or damaged.
    """
    scenario, metrics = plan.scenario, plan.metrics
    moments = results.moments(plan)
    by_order = {
        order: other_results.moments(other_plan)
        for order, (other_plan, other_results) in (orders or {}).items()
    }
    evicts = scenario.eviction is not None
    counters = sorted({name for metric in metrics for name in metric.counters})
    record = results.record()
    return ReportInput(
        title=scenario.heading,
        description=scenario.description,
        scenario=scenario.model_dump(mode="json", exclude_none=True),
        seed=scenario.seed,
        choice_law=scenario.choice_law,
        versions=record["versions"],
        engines=tuple(record["engines"]),
        moments=moments,
        metrics=metrics,
        charted=NATJAM_CHART_METRICS if evicts else (),
        breakdown=NATJAM_MISS_BREAKDOWN if evicts else (),
        pairs=paired_moments(results, plan, counters),
        orders={scenario.order: moments, **by_order} if by_order else {},
        hardware=Hardware(scenario.ticks, scenario.speeds, scenario.power)
        if scenario.measures_busy_time
        else None,
        utilisation=utilisation_over_time(plan, results),
    )

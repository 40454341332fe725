"""From the results of a comparison to the input of its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rebecsim.experiments import Plan, Results, Scenario
from rebecsim.experiments.energy import Hardware
from rebecsim.experiments.moments import CellMoments
from rebecsim.experiments.paired_results import paired_moments
from rebecsim.experiments.sequential import precision_of
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
    evicts = scenario.eviction is not None
    counters = sorted({name for metric in metrics for name in metric.counters})
    others = (orders or {}).items()
    by_order = {order: run.moments(other_plan) for order, (other_plan, run) in others}
    pairs = paired_moments(results, plan, counters)
    order_pairs = {order: paired_moments(run, each, counters) for order, (each, run) in others}
    record = results.record()
    return ReportInput(
        title=scenario.heading,
        description=scenario.description,
        scenario=_settings(scenario, moments),
        seed=scenario.seed,
        choice_law=scenario.choice_law,
        versions=record["versions"],
        engines=tuple(record["engines"]),
        moments=moments,
        metrics=metrics,
        charted=NATJAM_CHART_METRICS if evicts else (),
        breakdown=NATJAM_MISS_BREAKDOWN if evicts else (),
        pairs=pairs,
        order=scenario.order,
        orders={scenario.order: moments, **by_order} if by_order else {},
        order_pairs={scenario.order: pairs, **order_pairs} if by_order else {},
        precision=precision_of(plan),
        has_chance=plan.has_chance,
        hardware=Hardware(scenario.ticks, scenario.speeds, scenario.power)
        if scenario.measures_busy_time
        else None,
        utilisation=utilisation_over_time(plan, results),
    )


def _settings(scenario: Scenario, moments: Sequence[CellMoments]) -> dict[str, Any]:
    """The configuration, with the replications that were run where a precision decided on them."""
    settings: dict[str, Any] = scenario.model_dump(mode="json", exclude_none=True)
    if scenario.precision is not None:
        done = min(each.replications for each in moments)
        settings["replications"] = f"{done} (at most {scenario.replications})"
    return settings

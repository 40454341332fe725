"""Comparisons: scenario files, plans, the runner, results and their statistics.

`load_scenario` reads a `Scenario` (`ScenarioError` says what is wrong with one),
`builtin_scenarios` lists those that come with the package. `plan_scenario` lays out its cells as a
`Plan`, `run_plan` simulates them into `Results` (`ResultsError` says what is wrong with a
directory), `run_plans` those of several plans together, each a `PlannedRun`. `CellMoments` of a
`Cell` are what statistics are computed from: `summarise` gives a `Summary` with an `Estimate` for
every figure. `paired_moments` are of the runs of several policies with the same random numbers
(`PairedMoments`): `pairwise_differences` compares every two policies in them (`PairDifference`).
`order_envelopes` puts message orders side by side (`OrderEnvelope`). `next_replications` says how
many more runs a `Precision` needs (`parse_precision` reads one). `PUBLISHED` holds the figures of
the thesis.

Of workload scenarios, `load_workload_scenario` reads a `WorkloadScenario`, `plan_workload` lays out
its schedules as a `WorkloadPlan`, `run_workload_plan` computes them into `WorkloadResults`, and
`schedule_difference` compares two of them job by job (`ScheduleDifference`).

They are loaded when they are asked for: a comparison of models needs nothing of workload scenarios.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebecsim.lazy_names import names_of

if TYPE_CHECKING:
    from rebecsim.experiments.differences import PairDifference, pairwise_differences
    from rebecsim.experiments.moments import Cell, CellMoments
    from rebecsim.experiments.order_sensitivity import OrderEnvelope, order_envelopes
    from rebecsim.experiments.pair_moments import PairedMoments
    from rebecsim.experiments.paired_results import paired_moments
    from rebecsim.experiments.plan import COUNTERS, Plan, PlannedCell, plan_scenario
    from rebecsim.experiments.precision import Precision, next_replications, parse_precision
    from rebecsim.experiments.results import Results, ResultsError
    from rebecsim.experiments.runner import PlannedRun, run_plan, run_plans
    from rebecsim.experiments.scenario import (
        Scenario,
        ScenarioError,
        builtin_scenarios,
        load_scenario,
    )
    from rebecsim.experiments.statistics import Estimate
    from rebecsim.experiments.summary import Summary, summarise
    from rebecsim.experiments.worker_pool import available_workers
    from rebecsim.experiments.workload_diff import ScheduleDifference, schedule_difference
    from rebecsim.experiments.workload_plan import WorkloadPlan, plan_workload
    from rebecsim.experiments.workload_results import WorkloadResults
    from rebecsim.experiments.workload_runner import run_workload_plan
    from rebecsim.experiments.workload_scenario import WorkloadScenario, load_workload_scenario

__all__ = [
    "COUNTERS",
    "Cell",
    "CellMoments",
    "Estimate",
    "OrderEnvelope",
    "PairDifference",
    "PairedMoments",
    "Plan",
    "PlannedCell",
    "PlannedRun",
    "Precision",
    "Results",
    "ResultsError",
    "Scenario",
    "ScenarioError",
    "ScheduleDifference",
    "Summary",
    "WorkloadPlan",
    "WorkloadResults",
    "WorkloadScenario",
    "available_workers",
    "builtin_scenarios",
    "load_scenario",
    "load_workload_scenario",
    "next_replications",
    "order_envelopes",
    "paired_moments",
    "pairwise_differences",
    "parse_precision",
    "plan_scenario",
    "plan_workload",
    "run_plan",
    "run_plans",
    "run_workload_plan",
    "schedule_difference",
    "summarise",
]

_MODULES = {
    "COUNTERS": "plan",
    "Cell": "moments",
    "CellMoments": "moments",
    "Estimate": "statistics",
    "OrderEnvelope": "order_sensitivity",
    "PairDifference": "differences",
    "PairedMoments": "pair_moments",
    "Plan": "plan",
    "PlannedCell": "plan",
    "PlannedRun": "runner",
    "Precision": "precision",
    "Results": "results",
    "ResultsError": "results",
    "Scenario": "scenario",
    "ScenarioError": "scenario",
    "ScheduleDifference": "workload_diff",
    "Summary": "summary",
    "WorkloadPlan": "workload_plan",
    "WorkloadResults": "workload_results",
    "WorkloadScenario": "workload_scenario",
    "available_workers": "worker_pool",
    "builtin_scenarios": "scenario",
    "load_scenario": "scenario",
    "load_workload_scenario": "workload_scenario",
    "next_replications": "precision",
    "order_envelopes": "order_sensitivity",
    "paired_moments": "paired_results",
    "pairwise_differences": "differences",
    "parse_precision": "precision",
    "plan_scenario": "plan",
    "plan_workload": "workload_plan",
    "run_plan": "runner",
    "run_plans": "runner",
    "run_workload_plan": "workload_runner",
    "schedule_difference": "workload_diff",
    "summarise": "summary",
}

__getattr__ = names_of(__name__, _MODULES)

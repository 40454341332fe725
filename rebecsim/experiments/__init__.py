"""Comparisons: scenario files, plans, the runner, results and their statistics.

`load_scenario` reads a `Scenario` (`ScenarioError` says what is wrong with one),
`builtin_scenarios` lists those that come with the package. `plan_scenario` lays out its cells as a
`Plan`, `run_plan` simulates them into `Results` (`ResultsError` says what is wrong with a
directory). `CellMoments` of a `Cell` are what statistics are computed from: `summarise` gives a
`Summary` with an `Estimate` for every figure. `paired_moments` are of the runs of several policies
with the same random numbers (`PairedMoments`): `pairwise_differences` compares every two policies
in them (`PairDifference`). `order_envelopes` puts message orders side by side (`OrderEnvelope`).
`next_replications` says how many more runs a `Precision` needs (`parse_precision` reads one).
`PUBLISHED` holds the figures of the thesis.

Of workload scenarios, `load_workload_scenario` reads a `WorkloadScenario`, `plan_workload` lays out
its schedules as a `WorkloadPlan`, `run_workload_plan` computes them into `WorkloadResults`, and
`schedule_difference` compares two of them job by job (`ScheduleDifference`).
"""

from rebecsim.experiments.differences import PairDifference, pairwise_differences
from rebecsim.experiments.moments import Cell, CellMoments
from rebecsim.experiments.order_sensitivity import OrderEnvelope, order_envelopes
from rebecsim.experiments.paired_moments import PairedMoments
from rebecsim.experiments.paired_results import paired_moments
from rebecsim.experiments.plan import COUNTERS, Plan, PlannedCell, plan_scenario
from rebecsim.experiments.precision import Precision, next_replications, parse_precision
from rebecsim.experiments.results import Results, ResultsError
from rebecsim.experiments.runner import available_workers, run_plan
from rebecsim.experiments.scenario import (
    Scenario,
    ScenarioError,
    builtin_scenarios,
    load_scenario,
)
from rebecsim.experiments.statistics import Estimate
from rebecsim.experiments.summary import Summary, summarise
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
    "run_workload_plan",
    "schedule_difference",
    "summarise",
]

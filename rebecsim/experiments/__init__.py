"""Comparisons: scenario files, plans, the runner, results and their statistics.

`load_scenario` reads a `Scenario` (`ScenarioError` says what is wrong with one),
`builtin_scenarios` lists those that come with the package. `plan_scenario` lays out its cells as a
`Plan`, `run_plan` simulates them into `Results` (`ResultsError` says what is wrong with a
directory). `CellMoments` of a `Cell` are what statistics are computed from: `summarise` gives a
`Summary` with an `Estimate` for every figure. `PUBLISHED` holds the figures of the thesis.
"""

from rebecsim.experiments.moments import Cell, CellMoments
from rebecsim.experiments.plan import COUNTERS, Plan, PlannedCell, plan_scenario
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

__all__ = [
    "COUNTERS",
    "Cell",
    "CellMoments",
    "Estimate",
    "Plan",
    "PlannedCell",
    "Results",
    "ResultsError",
    "Scenario",
    "ScenarioError",
    "Summary",
    "available_workers",
    "builtin_scenarios",
    "load_scenario",
    "plan_scenario",
    "run_plan",
    "summarise",
]

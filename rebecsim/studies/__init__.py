"""Studies: the one pipeline from scenarios of any kind to results and statistics.

A kind is a subclass of `Study`, whose scenarios are a subclass of `StudyScenario`
(`ScenarioError` says what is wrong with one). It lays out the `PlannedCell`s of a `Plan`, each with
the coordinates of its `Cell`, and gives `Rows` of replications of them. `run_plan` runs a plan into
`Results` (`ResultsError` says what is wrong with a directory), `run_plans` several together, each a
`PlannedRun`, on an `Executor`.

`CellMoments` of a cell are what statistics are computed from: `summarise` gives a `Summary` with an
`Estimate` for every figure. `paired_moments` are of the runs of several policies with the same
random numbers (`PairedMoments`): `pairwise_differences` compares every two policies in them
(`PairDifference`). `order_envelopes` puts message orders side by side (`OrderEnvelope`).
`next_replications` says how many more runs a `Precision` needs (`parse_precision` reads one).

They are loaded when they are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebecsim.lazy_names import names_of

if TYPE_CHECKING:
    from rebecsim.studies.cell import Cell, Condition
    from rebecsim.studies.differences import PairDifference, pairwise_differences
    from rebecsim.studies.executors import Executor, available_workers
    from rebecsim.studies.moments import CellMoments
    from rebecsim.studies.order_sensitivity import OrderEnvelope, order_envelopes
    from rebecsim.studies.pair_moments import PairedMoments
    from rebecsim.studies.paired_results import paired_moments
    from rebecsim.studies.plan import Plan
    from rebecsim.studies.precision import Precision, next_replications, parse_precision
    from rebecsim.studies.results import Results
    from rebecsim.studies.results_error import ResultsError
    from rebecsim.studies.rows import Rows
    from rebecsim.studies.runner import PlannedRun, run_plan, run_plans
    from rebecsim.studies.scenario import StudyScenario
    from rebecsim.studies.scenario_errors import ScenarioError
    from rebecsim.studies.sections import Section
    from rebecsim.studies.statistics import Estimate
    from rebecsim.studies.study import Axis, PlannedCell, Study, condition_key
    from rebecsim.studies.summary import Summary, summarise

_MODULES = {
    "Axis": "study",
    "Cell": "cell",
    "CellMoments": "moments",
    "Condition": "cell",
    "Estimate": "statistics",
    "Executor": "executors",
    "OrderEnvelope": "order_sensitivity",
    "PairDifference": "differences",
    "PairedMoments": "pair_moments",
    "Plan": "plan",
    "PlannedCell": "study",
    "PlannedRun": "runner",
    "Precision": "precision",
    "Results": "results",
    "ResultsError": "results_error",
    "Rows": "rows",
    "ScenarioError": "scenario_errors",
    "Section": "sections",
    "Study": "study",
    "StudyScenario": "scenario",
    "Summary": "summary",
    "available_workers": "executors",
    "condition_key": "study",
    "next_replications": "precision",
    "order_envelopes": "order_sensitivity",
    "paired_moments": "paired_results",
    "pairwise_differences": "differences",
    "parse_precision": "precision",
    "run_plan": "runner",
    "run_plans": "runner",
    "summarise": "summary",
}

__all__ = [
    "Axis",
    "Cell",
    "CellMoments",
    "Condition",
    "Estimate",
    "Executor",
    "OrderEnvelope",
    "PairDifference",
    "PairedMoments",
    "Plan",
    "PlannedCell",
    "PlannedRun",
    "Precision",
    "Results",
    "ResultsError",
    "Rows",
    "ScenarioError",
    "Section",
    "Study",
    "StudyScenario",
    "Summary",
    "available_workers",
    "condition_key",
    "next_replications",
    "order_envelopes",
    "paired_moments",
    "pairwise_differences",
    "parse_precision",
    "run_plan",
    "run_plans",
    "summarise",
]

__getattr__, __dir__ = names_of(__name__, _MODULES)

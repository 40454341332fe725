from .cell import Cell as Cell, Condition as Condition
from .plan import Plan as Plan
from .rows import Rows as Rows
from .running.executors import Executor as Executor, available_workers as available_workers
from .running.runner import PlannedRun as PlannedRun, run_plans as run_plans
from .scenarios.scenario import StudyScenario as StudyScenario
from .scenarios.scenario_errors import ScenarioError as ScenarioError
from .sections import Section as Section
from .statistics.differences import (
    PairDifference as PairDifference,
    pairwise_differences as pairwise_differences,
)
from .statistics.estimates import Estimate as Estimate
from .statistics.moments import CellMoments as CellMoments
from .statistics.order_sensitivity import (
    OrderEnvelope as OrderEnvelope,
    order_envelopes as order_envelopes,
)
from .statistics.pair_moments import PairedMoments as PairedMoments
from .statistics.precision import (
    Precision as Precision,
    next_replications as next_replications,
    parse_precision as parse_precision,
)
from .statistics.summary import Summary as Summary, summarise as summarise
from .storage.paired_results import paired_moments as paired_moments
from .storage.results import Results as Results
from .storage.results_error import ResultsError as ResultsError
from .study import (
    Axis as Axis,
    PlannedCell as PlannedCell,
    Study as Study,
    condition_key as condition_key,
)

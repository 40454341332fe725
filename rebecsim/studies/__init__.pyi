from .cell import Cell as Cell, Condition as Condition
from .differences import (
    PairDifference as PairDifference,
    pairwise_differences as pairwise_differences,
)
from .executors import Executor as Executor, available_workers as available_workers
from .moments import CellMoments as CellMoments
from .order_sensitivity import OrderEnvelope as OrderEnvelope, order_envelopes as order_envelopes
from .pair_moments import PairedMoments as PairedMoments
from .paired_results import paired_moments as paired_moments
from .plan import Plan as Plan
from .precision import (
    Precision as Precision,
    next_replications as next_replications,
    parse_precision as parse_precision,
)
from .results import Results as Results
from .results_error import ResultsError as ResultsError
from .rows import Rows as Rows
from .runner import PlannedRun as PlannedRun, run_plans as run_plans
from .scenario import StudyScenario as StudyScenario
from .scenario_errors import ScenarioError as ScenarioError
from .sections import Section as Section
from .statistics import Estimate as Estimate
from .study import (
    Axis as Axis,
    PlannedCell as PlannedCell,
    Study as Study,
    condition_key as condition_key,
)
from .summary import Summary as Summary, summarise as summarise

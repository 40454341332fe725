from .cells import Cell as Cell, Condition as Condition, Rows as Rows, Section as Section
from .differences import (
    PairDifference as PairDifference,
    pairwise_differences as pairwise_differences,
)
from .estimates import Estimate as Estimate
from .executors import Executor as Executor, available_workers as available_workers
from .moments import CellMoments as CellMoments, PairedMoments as PairedMoments
from .plan import Plan as Plan
from .precision import (
    Precision as Precision,
    next_replications as next_replications,
    parse_precision as parse_precision,
)
from .record import ResultsError as ResultsError
from .results import Results as Results, paired_moments as paired_moments
from .running import PlannedRun as PlannedRun, run_plans as run_plans
from .scenario import StudyScenario as StudyScenario
from .scenario_files import ScenarioError as ScenarioError
from .study import (
    Axis as Axis,
    PlannedCell as PlannedCell,
    Study as Study,
    condition_key as condition_key,
)
from .summary import (
    OrderEnvelope as OrderEnvelope,
    Summary as Summary,
    order_envelopes as order_envelopes,
    summarise as summarise,
)

from .batch import (
    BatchMetrics as BatchMetrics,
    FairnessMetrics as FairnessMetrics,
    Spread as Spread,
    batch_metrics as batch_metrics,
    batch_metrics_by as batch_metrics_by,
    bounded_slowdown as bounded_slowdown,
    fairness_metrics as fairness_metrics,
    response as response,
    slowdown as slowdown,
)
from .expected_end import (
    END_ALGORITHMS as END_ALGORITHMS,
    Demand as Demand,
    EndRules as EndRules,
    expected_end_times as expected_end_times,
    expected_ends as expected_ends,
)
from .metric import Metric as Metric, Weights as Weights
from .overdue import (
    OverdueMap as OverdueMap,
    overdue_map as overdue_map,
    window_edges as window_edges,
)
from .step_functions import StepFunction as StepFunction, count_over_time as count_over_time
from .users import UserMetrics as UserMetrics, tardiness as tardiness, user_metrics as user_metrics

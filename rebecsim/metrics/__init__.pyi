from .batch import (
    BatchMetrics as BatchMetrics,
    FairnessMetrics as FairnessMetrics,
    Spread as Spread,
    StepFunction as StepFunction,
    batch_metrics as batch_metrics,
    batch_metrics_by as batch_metrics_by,
    bounded_slowdown as bounded_slowdown,
    count_over_time as count_over_time,
    fairness_metrics as fairness_metrics,
    response as response,
    slowdown as slowdown,
)
from .expected_end import (
    Demand as Demand,
    EndRules as EndRules,
    expected_end_times as expected_end_times,
    expected_ends as expected_ends,
)
from .metric import Metric as Metric, Weights as Weights
from .users import (
    OverdueMap as OverdueMap,
    UserMetrics as UserMetrics,
    overdue_map as overdue_map,
    tardiness as tardiness,
    user_metrics as user_metrics,
    window_edges as window_edges,
)

"""Figures of merit: of models, as data over their counters; of batch schedules, over their jobs.

Of models: a `Metric` is a mean of counters per run, or a ratio of two pooled sums; `Weights` are a
linear combination of counters.

Of batch schedules: `batch_metrics` gives `BatchMetrics`, each a `Spread` over jobs, of a schedule,
`batch_metrics_by` those of each user or queue; `response`, `slowdown` and `bounded_slowdown` are
those of each job. `expected_ends` (from plain arrays, `expected_end_times` by some `Demand`s) say
when users may expect jobs to end, `tardiness` how much later they did; `user_metrics` gives
`UserMetrics`, violated jobs (VEET) and weighted tardiness. `overdue_map` gives an `OverdueMap` of
overdue jobs by user and time, in the windows of `window_edges`; `count_over_time` a `StepFunction`,
usage, queue length and the like.
"""

from rebecsim.metrics.batch import (
    BatchMetrics,
    Spread,
    batch_metrics,
    batch_metrics_by,
    bounded_slowdown,
    response,
    slowdown,
)
from rebecsim.metrics.expected_end import Demand, expected_end_times, expected_ends
from rebecsim.metrics.metric import Metric, Weights
from rebecsim.metrics.overdue import OverdueMap, overdue_map, window_edges
from rebecsim.metrics.step_functions import StepFunction, count_over_time
from rebecsim.metrics.users import UserMetrics, tardiness, user_metrics

__all__ = [
    "BatchMetrics",
    "Demand",
    "Metric",
    "OverdueMap",
    "Spread",
    "StepFunction",
    "UserMetrics",
    "Weights",
    "batch_metrics",
    "batch_metrics_by",
    "bounded_slowdown",
    "count_over_time",
    "expected_end_times",
    "expected_ends",
    "overdue_map",
    "response",
    "slowdown",
    "tardiness",
    "user_metrics",
    "window_edges",
]

"""Figures of merit: of models, as data over their counters; of batch schedules, over their jobs.

Of models:

* `Metric`: a mean of counters per run, or a ratio of two pooled sums.
* `Weights`: a linear combination of counters, as a mapping from counter to weight.

Of batch schedules:

* `batch_metrics`: wait, response, slowdown, makespan, utilisation of a schedule.
* `batch_metrics_by`: the same of each user or queue.
* `BatchMetrics`: these figures.
* `Spread`: mean, median and percentiles over jobs.
* `response`: the response time of each job.
* `slowdown`: the slowdown of each job.
* `bounded_slowdown`: the slowdown of each job, with a bound of 10 s.
* `expected_ends`: expected end times (EET) of the jobs of a schedule.
* `expected_end_times`: the same from plain arrays, for any resources.
* `Demand`: what jobs take of a resource, and a user's share of it.
* `tardiness`: how much later than expected each job ended.
* `user_metrics`: violated jobs (VEET) and weighted tardiness of each user.
* `UserMetrics`: these figures.
* `overdue_map`: overdue jobs by user and time, with the usage of the machine.
* `OverdueMap`: this map.
* `window_edges`: windows of time for it.
* `count_over_time`: usage, queue length and the like, as a function of time.
* `StepFunction`: such a function.
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

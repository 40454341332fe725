"""Figures of merit, defined as data over the counters of a model.

* `Metric`: a mean of counters per run, or a ratio of two pooled sums.
* `Weights`: a linear combination of counters, as a mapping from counter to weight.
* `DEADLINE_MISSES`: jobs that missed their deadline, per run.
* `JOB_REQUEST_SUCCESS`: completions among completions and all deadline misses.
* `AM_JOB_SUCCESS`: completions among the jobs that an AppMaster ran.
* `DISPATCH_METRICS`: these three, as the columns of a dispatch table.
"""

from rebecsim.metrics.deadlines import (
    AM_JOB_SUCCESS,
    DEADLINE_MISSES,
    DISPATCH_METRICS,
    JOB_REQUEST_SUCCESS,
)
from rebecsim.metrics.metric import Metric, Weights

__all__ = [
    "AM_JOB_SUCCESS",
    "DEADLINE_MISSES",
    "DISPATCH_METRICS",
    "JOB_REQUEST_SUCCESS",
    "Metric",
    "Weights",
]

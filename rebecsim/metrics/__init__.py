"""Figures of merit: of models, as data over their counters; of batch schedules, over their jobs.

Of models: a `Metric` is a mean of counters per run, or a ratio of two pooled sums; `Weights` are a
linear combination of counters.

Of batch schedules: `batch_metrics` gives `BatchMetrics`, each a `Spread` over jobs, of a schedule,
`batch_metrics_by` those of each user or queue; `response`, `slowdown` and `bounded_slowdown` are
those of each job, `fairness_metrics` gives `FairnessMetrics` by fair starts. `expected_ends` (from
plain arrays, `expected_end_times` by some `Demand`s) say when users may expect jobs to end, by some
`EndRules`, `tardiness` how much later they did; `user_metrics` gives `UserMetrics`, violated jobs
(VEET) and weighted tardiness. `overdue_map` gives an `OverdueMap` of overdue jobs by user and time,
in the windows of `window_edges`; `count_over_time` a `StepFunction`, usage, queue length and the
like.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

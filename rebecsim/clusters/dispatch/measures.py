"""Deadline metrics of a dispatching ResourceManager.

A job misses its deadline either in the ResourceManager's queue (`queue_misses`) or while an
AppMaster runs it (`update_misses`, learnt from the AppMaster's update); otherwise it completes
(`completions`). Definitions: Leifsson, thesis, Reykjavik University, 2015,
chapter 4, tables 4.2 to 4.13, where the rates are ratios of sums pooled over all runs.
"""

from __future__ import annotations

from rebecsim.metrics.metric import Metric

__all__ = ["AM_JOB_SUCCESS", "DEADLINE_MISSES", "DISPATCH_METRICS", "JOB_REQUEST_SUCCESS"]

_LEFT_OUT = (
    "Jobs dropped because the queue was full, and jobs still waiting or running when a run ends, "
    "are in neither number."
)

DEADLINE_MISSES = Metric(
    name="deadline_misses",
    title="Deadline misses",
    unit="jobs per run",
    better="lower",
    numerator={"queue_misses": 1, "update_misses": 1},
    note=(
        "Jobs whose deadline passed in the queue or on an AppMaster, mean per run. Dropped and "
        "unfinished jobs are not counted, so a policy that lets the queue overflow can look good."
    ),
    advantage="{better} misses {amount} fewer deadlines than {worse} per run",
)

JOB_REQUEST_SUCCESS = Metric(
    name="job_request_success",
    title="Job request success",
    unit="decided jobs",
    better="higher",
    numerator={"completions": 1},
    denominator={"completions": 1, "queue_misses": 1, "update_misses": 1},
    note=f"Completions divided by completions plus all deadline misses. {_LEFT_OUT}",
    advantage="{better} completes {amount} more of its decided jobs than {worse}",
)

AM_JOB_SUCCESS = Metric(
    name="am_job_success",
    title="AM job success",
    unit="jobs run by an AppMaster",
    better="higher",
    numerator={"completions": 1},
    denominator={"completions": 1, "update_misses": 1},
    note=(
        "Completions divided by completions plus misses on AppMasters: how many of the jobs that "
        f"got an AppMaster were worth it. Misses in the queue do not count. {_LEFT_OUT}"
    ),
    advantage="{better} completes {amount} more of the jobs its AppMasters run than {worse}",
)

DISPATCH_METRICS: tuple[Metric, ...] = (DEADLINE_MISSES, JOB_REQUEST_SUCCESS, AM_JOB_SUCCESS)
"""The three figures of the dispatch tables, in the order of their columns."""

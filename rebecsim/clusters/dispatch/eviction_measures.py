"""Deadline metrics of a cluster that evicts running jobs.

A job misses its deadline in the incoming queue (`*_queue_misses`), on an AppMaster
(`*_job_misses`) or after an eviction, when it waits in the checkpoint queue
(`checkpoint_queue_misses`) or is lost because that queue is full (`checkpoint_overflow`); otherwise
it completes. Definitions: Leifsson, Reykjavik University, 2015, chapter 4, tables 4.17 and 4.19,
where the rates are ratios of sums pooled over all runs. The charts there divide by more jobs than
the tables do, so there are two rates of request success.
"""

from __future__ import annotations

from rebecsim.clusters.dispatch.measures import deadline_metrics, fate
from rebecsim.metrics.metric import Metric, Weights

_COMPLETIONS: Weights = {"production_completions": 1, "research_completions": 1}
_QUEUE_MISSES: Weights = {"production_queue_misses": 1, "research_queue_misses": 1}
_RUN_MISSES: Weights = {
    "production_job_misses": 1,
    "research_job_misses": 1,
    "checkpoint_queue_misses": 1,
    "checkpoint_overflow": 1,
}

NATJAM_METRICS = deadline_metrics(
    _COMPLETIONS,
    _QUEUE_MISSES,
    _RUN_MISSES,
    "Jobs whose deadline passed in the queue, on an AppMaster or after an eviction, and evicted "
    "jobs lost because the checkpoint queue was full",
    "of jobs that an AppMaster has run, evicted ones included",
)
"""The three figures of the eviction tables, in the order of their columns."""

NATJAM_DEADLINE_MISSES, NATJAM_JOB_REQUEST_SUCCESS, NATJAM_AM_JOB_SUCCESS = NATJAM_METRICS

NATJAM_SUCCESS_OF_ALL_REQUESTS = Metric(
    name="success_of_all_requests",
    title="Success of all requests",
    unit="jobs decided or dropped",
    better="higher",
    numerator=_COMPLETIONS,
    denominator={**_COMPLETIONS, **_QUEUE_MISSES, **_RUN_MISSES, "drops": 1},
    note=(
        "Completions divided by completions plus all deadline misses plus jobs dropped because "
        "the queue was full: the request success of the published charts, not of the tables. Jobs "
        "still waiting or running when a run ends are in neither number."
    ),
)

CHECKPOINTS = Metric(
    name="checkpoints",
    title="Checkpoints",
    unit="checkpoints per run",
    better="lower",
    numerator={"checkpoints": 1},
    note=(
        "Evictions whose job was kept, mean per run; a job evicted twice counts twice. Evicted "
        "jobs lost because the checkpoint queue was full are deadline misses and not in it."
    ),
)

NATJAM_CHART_METRICS: tuple[Metric, ...] = (
    NATJAM_DEADLINE_MISSES,
    NATJAM_JOB_REQUEST_SUCCESS,
    NATJAM_SUCCESS_OF_ALL_REQUESTS,
    NATJAM_AM_JOB_SUCCESS,
    CHECKPOINTS,
)
"""The figures of the published eviction charts, by cluster size."""


NATJAM_MISS_BREAKDOWN: tuple[Metric, ...] = (
    fate(
        "production_queue_misses",
        "Queue, production",
        "Jobs of high priority whose deadline passed before they ran",
    ),
    fate(
        "research_queue_misses",
        "Queue, research",
        "Jobs of low priority whose deadline passed before they ran",
    ),
    fate(
        "production_job_misses",
        "AppMaster, production",
        "Jobs of high priority whose deadline passed while an AppMaster ran them",
    ),
    fate(
        "research_job_misses",
        "AppMaster, research",
        "Jobs of low priority whose deadline passed while an AppMaster ran them",
    ),
    fate(
        "checkpoint_queue_misses",
        "Checkpoint queue, research",
        "Evicted jobs whose deadline passed before they ran again; only research jobs are evicted",
    ),
    fate(
        "checkpoint_overflow",
        "Lost on eviction, research",
        "Evicted jobs lost because the checkpoint queue was full; only research jobs are evicted",
    ),
)
"""The deadline misses by place and priority; they add up to `NATJAM_DEADLINE_MISSES`."""

NATJAM_FATES: tuple[Metric, ...] = (
    *NATJAM_MISS_BREAKDOWN,
    fate(
        "production_completions",
        "Completed, production",
        "Jobs of high priority done in time",
        better="higher",
    ),
    fate(
        "research_completions",
        "Completed, research",
        "Jobs of low priority done in time",
        better="higher",
    ),
    fate(
        "production_drops", "Dropped, production", "Jobs of high priority that found the queue full"
    ),
    fate(
        "research_drops",
        "Dropped, research",
        "Jobs of low priority that found the queue full",
        counted={"drops": 1, "production_drops": -1},
    ),
)
"""What becomes of jobs, by place and priority."""

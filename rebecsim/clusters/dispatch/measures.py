"""Deadline metrics of a dispatching ResourceManager, and of one that evicts running jobs.

A job misses its deadline either in the ResourceManager's queue (`queue_misses`) or while an
AppMaster runs it (`update_misses`, learnt from the AppMaster's update); otherwise it completes
(`completions`). Definitions: Leifsson, thesis, Reykjavik University, 2015,
chapter 4, tables 4.2 to 4.13, where the rates are ratios of sums pooled over all runs.

In a cluster that evicts, a job misses its deadline in the incoming queue (`*_queue_misses`), on an
AppMaster (`*_job_misses`) or after an eviction, when it waits in the checkpoint queue
(`checkpoint_queue_misses`) or is lost because that queue is full (`checkpoint_overflow`); otherwise
it completes. Definitions: Leifsson, Reykjavik University, 2015, chapter 4, tables 4.17 and 4.19,
where the rates are ratios of sums pooled over all runs. The charts there divide by more jobs than
the tables do, so there are two rates of request success.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from rebecsim.metrics.metric import Metric, Weights

_LEFT_OUT = (
    "Jobs dropped because the queue was full, and jobs still waiting or running when a run ends, "
    "are in neither number."
)


def fate(
    counter: str,
    title: str,
    note: str,
    better: Literal["lower", "higher"] = "lower",
    counted: Weights | None = None,
) -> Metric:
    """Return the mean number of jobs per run of a counter, or of the `counted` ones together."""
    return Metric(
        name=counter,
        title=title,
        unit="jobs per run",
        better=better,
        numerator=counted or {counter: 1},
        note=f"{note}, mean per run.",
    )


def _by_priority(
    counter: str, title: str, note: str, better: Literal["lower", "higher"] = "lower"
) -> Iterator[Metric]:
    """Yield a fate of the jobs of high and of low priority; `high_COUNTER` counts the former."""
    high = {f"high_{counter}": 1}
    low = {counter: 1, f"high_{counter}": -1}
    for priority, counted in (("high", high), ("low", low)):
        yield fate(
            f"{priority}_{counter}",
            f"{title}, {priority} priority",
            note.replace("Jobs", f"Jobs of {priority} priority", 1),
            better,
            counted,
        )


def deadline_metrics(
    completions: Weights, queue: Weights, app_masters: Weights, missed: str, run: str
) -> tuple[Metric, Metric, Metric]:
    """Give the three figures of a published table, in the order of its columns.

    `completions`, and misses in the `queue` and on `app_masters`, are counters. `missed` says
    which jobs miss their deadlines, and `run` which misses are those of jobs that were run.
    """
    misses = Metric(
        name="deadline_misses",
        title="Deadline misses",
        unit="jobs per run",
        better="lower",
        numerator={**queue, **app_masters},
        note=(
            f"{missed}, mean per run. Dropped and unfinished jobs are not counted, so a policy "
            "that lets the queue overflow can look good."
        ),
        advantage="{better} misses {amount} fewer deadlines than {worse} per run",
        best="misses the fewest deadlines",
    )
    request_success = Metric(
        name="job_request_success",
        title="Job request success",
        unit="decided jobs",
        better="higher",
        numerator=completions,
        denominator={**completions, **queue, **app_masters},
        note=f"Completions divided by completions plus all deadline misses. {_LEFT_OUT}",
        advantage="{better} completes {amount} more of its decided jobs than {worse}",
    )
    job_success = Metric(
        name="am_job_success",
        title="AM job success",
        unit="jobs run by an AppMaster",
        better="higher",
        numerator=completions,
        denominator={**completions, **app_masters},
        note=(
            f"Completions divided by completions plus misses {run}. Misses in the queue do not "
            f"count. {_LEFT_OUT}"
        ),
        advantage="{better} completes {amount} more of the jobs its AppMasters run than {worse}",
    )
    return misses, request_success, job_success


DISPATCH_METRICS = deadline_metrics(
    {"completions": 1},
    {"queue_misses": 1},
    {"update_misses": 1},
    "Jobs whose deadline passed in the queue or on an AppMaster",
    "on AppMasters: how many of the jobs that got an AppMaster were worth it",
)
"""The three figures of the dispatch tables, in the order of their columns."""

DEADLINE_MISSES, JOB_REQUEST_SUCCESS, AM_JOB_SUCCESS = DISPATCH_METRICS

_FATES: tuple[tuple[str, str, str, Literal["lower", "higher"]], ...] = (
    ("queue_misses", "Missed, queue", "Jobs whose deadline passed before they ran", "lower"),
    ("update_misses", "Missed, AppMaster", "Jobs whose deadline passed while they ran", "lower"),
    ("completions", "Completed", "Jobs done in time", "higher"),
    ("drops", "Dropped", "Jobs that found the queue full", "lower"),
)

DISPATCH_FATES: tuple[Metric, ...] = tuple(fate(*each) for each in _FATES)
"""What becomes of jobs, by place."""

FATES_BY_PRIORITY: tuple[Metric, ...] = tuple(
    metric for each in _FATES for metric in _by_priority(*each)
)
"""What becomes of jobs, by place and priority, where priorities are counted."""


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

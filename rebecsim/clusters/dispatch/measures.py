"""Deadline metrics of a dispatching ResourceManager.

A job misses its deadline either in the ResourceManager's queue (`queue_misses`) or while an
AppMaster runs it (`update_misses`, learnt from the AppMaster's update); otherwise it completes
(`completions`). Definitions: Leifsson, thesis, Reykjavik University, 2015,
chapter 4, tables 4.2 to 4.13, where the rates are ratios of sums pooled over all runs.
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

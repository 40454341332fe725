"""Workloads and schedules as tables for the terminal, and who waits longer in which schedule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rebecsim.metrics.batch import BatchMetrics, FairnessMetrics
from rebecsim.metrics.users import UserMetrics
from rebecsim.report.numbers import DASH
from rebecsim.report.tables import distribution_table, duration_text, text_table
from rebecsim.studies.sections import TextTable
from rebecsim.workloads.cleaning import skipped_lines
from rebecsim.workloads.logs import labels_of
from rebecsim.workloads.summary import WorkloadSummary

if TYPE_CHECKING:
    from rebecsim.report.groups import GroupAnswer
    from rebecsim.workloads.logs import Schedule

_HOUR = 3600

T = TypeVar("T")
FigureRows = tuple[tuple[str, Callable[[T], str]], ...]
"""Figures: what they are called, and how they are written."""


def workload_view(name: str, summary: WorkloadSummary) -> Group:
    """Show what a workload is like: facts first, then where run times, sizes, ... lie."""
    facts = Table(show_header=False, box=None, pad_edge=False)
    for key, value in _facts(summary):
        facts.add_row(Text(key), Text(value))
    parts: list[RenderableType] = [Text(name, style="bold"), facts]
    parts += [Text(line, style="yellow") for line in skipped_lines(summary.skipped)]
    return Group(*parts, Text(), distribution_table(summary.distributions))


def _facts(summary: WorkloadSummary) -> list[tuple[str, str]]:
    span = summary.span
    named = (
        ("users", summary.users),
        ("groups", summary.groups),
        ("queues", summary.queues),
        ("executables", summary.executables),
    )
    facts = [
        ("jobs", f"{summary.jobs:,}"),
        ("machine", f"{summary.capacity:,} processors"),
        ("submitted over", f"{duration_text(span)} ({span:,} s)"),
        ("offered load", f"{summary.offered_load:.3f}"),
        ("work", f"{summary.work / _HOUR:,.0f} processor hours"),
        ("serial jobs", f"{100 * summary.serial:.1f} %"),
        ("powers of two", f"{100 * summary.power_of_two:.1f} %, serial jobs not counted"),
        *((name, f"{count:,}" if count else "not in the log") for name, count in named),
        ("requested times", _estimated(summary.estimated)),
    ]
    if summary.half_of_work:
        facts.append(("half of the work", f"of {summary.half_of_work:,} of the users"))
    if summary.estimated:
        facts.append(("ran over request", f"{100 * summary.overrun:.1f} % of those"))
    return facts


def _estimated(share: float) -> str:
    return f"of {100 * share:.1f} % of the jobs" if share else "not in the log"


def batch_table(rows: Sequence[tuple[str, BatchMetrics]]) -> Table:
    """One column per schedule, one row per classical metric; times in seconds."""
    return _compared(rows, _BATCH_ROWS)


def fairness_table(rows: Sequence[tuple[str, FairnessMetrics]]) -> Table:
    """One column per schedule, one row per figure by fair starts; times in seconds."""
    return _compared(rows, _FAIRNESS_ROWS)


def group_table(kind: str, groups: Mapping[int, BatchMetrics], labels: Mapping[int, str]) -> Table:
    """One row per user or queue of one schedule, under their labels; times in seconds."""
    rows = (
        [labels[number], *(show(each) for _, show in _COLUMNS)] for number, each in groups.items()
    )
    return figures_table((kind, *(title for title, _ in _COLUMNS)), rows)


def figures_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table of figures only."""
    table = Table()
    for heading in headings:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*row)
    return table


def user_quartile_table(rows: Sequence[tuple[str, UserMetrics]]) -> Table:
    """One column per schedule: VEET and weighted tardiness over the users, as box plots have them.

    Weighted tardiness is in processor hours.
    """
    return _compared(rows, _USER_ROWS)


def _compared(columns: Sequence[tuple[str, T]], rows: FigureRows[T]) -> Table:
    """One column per schedule, one row per figure."""
    headings = ("", *(name for name, _ in columns))
    shown = tuple((title, tuple(show(each) for _, each in columns)) for title, show in rows)
    return text_table(TextTable("", headings, shown))


def _veet(percent: int) -> Callable[[UserMetrics], str]:
    return lambda each: f"{np.percentile(each.veet, percent):.1f} %"


def _tardiness(percent: int) -> Callable[[UserMetrics], str]:
    return lambda each: f"{np.percentile(each.weighted_tardiness / _HOUR, percent):,.1f}"


_QUARTILES = (("lower quartile", 25), ("median", 50), ("upper quartile", 75), ("most", 100))

_BATCH_ROWS: FigureRows[BatchMetrics] = (
    ("jobs", lambda each: f"{each.jobs:,}"),
    ("wait: mean", lambda each: f"{each.wait.mean:,.2f}"),
    ("wait: median", lambda each: f"{each.wait.median:,.0f}"),
    ("wait: 95 %", lambda each: f"{each.wait.percentile_95:,.0f}"),
    ("wait: most", lambda each: f"{each.wait.most:,.0f}"),
    ("response: mean", lambda each: f"{each.response.mean:,.2f}"),
    ("slowdown: mean", lambda each: f"{each.slowdown.mean:,.3f}"),
    ("bounded slowdown: mean", lambda each: f"{each.bounded_slowdown.mean:,.3f}"),
    ("bounded slowdown: median", lambda each: f"{each.bounded_slowdown.median:,.3f}"),
    ("response weighted by area (AWRT)", lambda each: f"{each.awrt:,.2f}"),
    ("slowdown weighted by area (AWSD)", lambda each: f"{each.awsd:,.3f}"),
    ("makespan", lambda each: f"{each.makespan:,}"),
    ("utilisation", lambda each: f"{100 * each.utilisation:.2f} %"),
)


_FAIRNESS_ROWS: FigureRows[FairnessMetrics] = (
    ("jobs that started later than fair", lambda each: f"{100 * each.late:.2f} %"),
    ("unfairness: mean", lambda each: f"{each.unfairness.mean:,.2f}"),
    ("unfairness: most", lambda each: f"{each.unfairness.most:,.0f}"),
    ("fair slowdown: mean", lambda each: f"{each.fair_slowdown.mean:,.3f}"),
)

_COLUMNS: FigureRows[BatchMetrics] = (
    ("Jobs", lambda each: f"{each.jobs:,}"),
    ("Mean wait", lambda each: f"{each.wait.mean:,.0f}"),
    ("Median wait", lambda each: f"{each.wait.median:,.0f}"),
    ("Mean response", lambda each: f"{each.response.mean:,.0f}"),
    ("Bounded slowdown", lambda each: f"{each.bounded_slowdown.mean:,.2f}"),
    ("AWRT", lambda each: f"{each.awrt:,.0f}"),
    ("Utilisation", lambda each: f"{100 * each.utilisation:.2f} %"),
)

_USER_ROWS: FigureRows[UserMetrics] = (
    ("users", lambda each: f"{len(each.user):,}"),
    ("jobs that ended later than expected", lambda each: f"{each.violated.sum():,}"),
    *((f"VEET of users: {title}", _veet(percent)) for title, percent in _QUARTILES),
    ("users with VEET 100 %", lambda each: f"{(each.violated == each.jobs).sum():,}"),
    *((f"WT of users: {title}", _tardiness(percent)) for title, percent in _QUARTILES),
    ("WT of users: sum", lambda each: f"{each.weighted_tardiness.sum() / _HOUR:,.1f}"),
)


def user_table(each: UserMetrics, labels: Mapping[int, str]) -> Table:
    """One row per user of one schedule, under their labels; WT in processor hours."""
    columns = (each.user, each.jobs, each.violated, each.veet, each.weighted_tardiness)
    rows = (
        (
            *(labels[user], f"{jobs:,}", f"{violated:,}", f"{veet:.1f} %"),
            f"{tardy / _HOUR:,.1f}" if tardy else DASH,
        )
        for user, jobs, violated, veet, tardy in zip(*(c.tolist() for c in columns), strict=True)
    )
    return figures_table(("User", "Jobs", "Violated", "VEET", "WT (h)"), rows)


def answer_of_schedules(schedules: Mapping[str, Schedule], exact: bool) -> GroupAnswer:
    """Compare schedules of the same jobs; the first is what the others are compared with."""
    from rebecsim.report.groups import GroupAnswer, JobTimes, grouping

    workload = next(iter(schedules.values())).workload
    columns = []
    for noun in ("queue", "user"):
        labels = labels_of(workload, noun)
        columns.append([labels[number] for number in getattr(workload, noun).tolist()])
    noun, groups = grouping(*columns)
    jobs = np.array([f"job {number}" for number in workload.job.tolist()], dtype=str)
    return GroupAnswer(
        {
            name: JobTimes(jobs, groups, each.wait / 1.0, (each.wait + each.duration) / 1.0)
            for name, each in schedules.items()
        },
        noun,
        exact,
    )

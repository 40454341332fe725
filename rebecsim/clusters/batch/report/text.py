"""Workloads and schedules as tables, who waits longer in which schedule, charts of a workload."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from rebecsim.metrics.metric import BatchMetrics, FairnessMetrics
from rebecsim.metrics.users import UserMetrics
from rebecsim.report.figures import (
    BLUE,
    GREY,
    ORANGE,
    duration_ticks,
    new_figure,
    plain_axes,
    time_axis,
    write_figure,
)
from rebecsim.report.numbers import DASH
from rebecsim.report.tables import distribution_table, duration_text, text_table
from rebecsim.studies.cells import TextTable
from rebecsim.workloads.cleaning import skipped_lines
from rebecsim.workloads.logs import labels_of
from rebecsim.workloads.summary import WorkloadSummary, local_clock
from rebecsim.workloads.workload import Workload, offered_load

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    table = Table(*(Column(each, justify="right") for each in headings))
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


_WEEK, _DAY = 7 * 86_400, 86_400
_MOST_BARS = 80


def write_workload_chart(workload: Workload, path: Path, heading: str) -> None:
    """Write the picture as PNG or SVG; see `figures.write_figure`."""
    write_figure(path, lambda: workload_figure(workload, heading))


def workload_figure(workload: Workload, heading: str) -> Figure:
    """Draw distributions of run times, sizes, arrivals, load, users and estimates."""
    figure = new_figure(12.5, 7.2, heading)
    panels = figure.subplots(2, 3).flat
    _run_times(next(panels), workload)
    _sizes(next(panels), workload)
    _hours(next(panels), workload)
    _load(next(panels), workload)
    _users(next(panels), workload)
    _estimates(next(panels), workload)
    return figure


def _run_times(axes: Axes, workload: Workload) -> None:
    requested = workload.requested_time[workload.requested_time > 0]
    plain_axes(axes, "Run times", "", "Jobs at most as long (%)")
    _cumulative(axes, workload.run, "run time", BLUE, "-")
    if len(requested):
        _cumulative(axes, requested, "requested time", ORANGE, "--")
        axes.legend(frameon=False, fontsize=8, loc="lower right")
    duration_ticks(axes, float(max(workload.run.max(), requested.max(initial=1))))
    axes.set_ylim(0, 100)


def _cumulative(axes: Axes, values: NDArray[Any], label: str, colour: str, line: str) -> None:
    found, counts = np.unique(values, return_counts=True)
    places = np.concatenate((found[:1], found))
    shares = np.concatenate(([0.0], 100 * np.cumsum(counts) / len(values)))
    axes.step(places, shares, where="post", label=label, color=colour, linestyle=line)


def _sizes(axes: Axes, workload: Workload) -> None:
    # Classes 1, 2, 3 to 4, 5 to 8, ...: by the exponent of the next power of two.
    exponent = np.frexp(workload.processors - 0.5)[1]
    classes = np.arange(exponent.max() + 1)
    jobs = np.bincount(exponent, minlength=len(classes))
    work = np.bincount(exponent, weights=workload.area, minlength=len(classes))
    plain_axes(axes, "Sizes", "Processors", "Share (%)")
    for shift, values, label, colour in ((-0.2, jobs, "jobs", BLUE), (0.2, work, "work", ORANGE)):
        axes.bar(classes + shift, 100 * values / values.sum(), 0.4, label=label, color=colour)
    names = ["1", "2"] + [f"{2 ** (k - 1) + 1}-{2**k}" for k in range(2, len(classes))]
    names = names[: len(classes)]
    names[-1] = _last_class(len(classes) - 1, int(workload.processors.max()))
    axes.set_xticks(classes, names, fontsize=8)
    if len(names) > 7:
        axes.tick_params(axis="x", labelrotation=45)
    axes.margins(x=0.08, y=0.2)
    axes.legend(frameon=False, fontsize=8, ncols=2, loc="upper right")


def _last_class(exponent: int, largest: int) -> str:
    first = 2 ** (exponent - 1) + 1 if exponent else 1
    return str(largest) if largest <= first else f"{first}-{largest}"


def _hours(axes: Axes, workload: Workload) -> None:
    clock, known = local_clock(workload)
    hours = np.bincount(clock % _DAY // _HOUR, minlength=24)
    x_label = "Hour of the day" if known else "Hour, from the log's beginning"
    plain_axes(axes, "Arrivals over the day", x_label, "Jobs (%)")
    axes.bar(np.arange(24) + 0.5, 100 * hours / hours.sum(), 0.9, color=BLUE)
    axes.set_xlim(0, 24)
    axes.set_xticks(range(0, 25, 3))


def _load(axes: Axes, workload: Workload) -> None:
    submit = workload.submit - workload.submit[0]
    span = int(submit[-1]) + 1
    count = _windows(span)
    work = np.bincount(submit * count // span, weights=workload.area, minlength=count)
    unit, unit_name = time_axis(span)
    mean = offered_load(workload)
    title = f"Offered load over time, mean {mean:.2f}" if np.isfinite(mean) else "Offered load"
    plain_axes(axes, title, f"Time ({unit_name})", "Load")
    edges = np.linspace(0, span, count + 1) / unit
    axes.stairs(work / (workload.capacity * span / count), edges, fill=True, color=BLUE)
    axes.axhline(1, color=GREY, linewidth=0.8)
    if np.isfinite(mean):
        axes.axhline(mean, color=ORANGE, linestyle="--")
    axes.set_xlim(0, edges[-1])


def _windows(span: int) -> int:
    """Into how many windows a time is cut: of about an hour, a day or a week; not too many."""
    for width in (_HOUR, _DAY, _WEEK):
        if span <= _MOST_BARS * width:
            return max(span // width, 1)
    return _MOST_BARS


def _users(axes: Axes, workload: Workload) -> None:
    plain_axes(axes, "Users", "Users, the most active first", "Share of all (%)")
    known = workload.user >= 0
    if not known.any():
        _say(axes, "the log does not name users")
        return
    _, owner = np.unique(workload.user[known], return_inverse=True)
    for weights, label, colour, line in (
        (np.ones(len(owner)), "jobs", BLUE, "-"),
        (workload.area[known], "work", ORANGE, "--"),
    ):
        shares = np.sort(np.bincount(owner, weights=weights))[::-1]
        total = 100 * np.cumsum(shares) / shares.sum()
        marker = "o" if len(shares) < 3 else None
        axes.plot(
            np.arange(1, len(shares) + 1),
            total,
            label=label,
            color=colour,
            linestyle=line,
            marker=marker,
        )
    axes.set_xlim(1, max(len(shares), 2))
    axes.set_ylim(0, 101)
    axes.legend(frameon=False, fontsize=8, loc="lower right")


def _estimates(axes: Axes, workload: Workload) -> None:
    known = workload.requested_time > 0
    plain_axes(axes, "Estimates", "Run time of requested time (%)", "Jobs (%)")
    if not known.any():
        _say(axes, "the log has no requested times")
        return
    used = 100 * workload.run[known] / workload.requested_time[known]
    counts, edges = np.histogram(np.minimum(used, 104.9), bins=np.arange(0, 106, 5))
    axes.bar(edges[:-1] + 2.5, 100 * counts / known.sum(), 4.5, color=BLUE)
    axes.set_xlim(0, 105)
    axes.set_xticks([0, 20, 40, 60, 80, 102.5], ["0", "20", "40", "60", "80", "\u2265100"])


def _say(axes: Axes, text: str) -> None:
    axes.text(0.5, 0.5, text, ha="center", va="center", color=GREY, transform=axes.transAxes)
    axes.set_xticks([])
    axes.set_yticks([])

"""Workloads and schedules as tables for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rebecsim.metrics.batch import BatchMetrics
from rebecsim.metrics.users import UserMetrics
from rebecsim.report.numbers import DASH
from rebecsim.workloads.cleaning import skipped_lines
from rebecsim.workloads.summary import Distribution, WorkloadSummary

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def duration_text(seconds: float) -> str:
    """Write a duration with its two largest units: `35s`, `2h 43m`, `340d 5h`."""
    whole = round(seconds)
    if whole >= _DAY:
        return f"{whole // _DAY}d {whole % _DAY // _HOUR}h"
    if whole >= _HOUR:
        return f"{whole // _HOUR}h {whole % _HOUR // _MINUTE}m"
    if whole >= _MINUTE:
        return f"{whole // _MINUTE}m {whole % _MINUTE}s"
    return f"{seconds:.1f}s" if seconds != whole else f"{whole}s"


def workload_view(name: str, summary: WorkloadSummary) -> Group:
    """Show what a workload is like: facts first, then where run times, sizes, ... lie."""
    facts = Table(show_header=False, box=None, pad_edge=False)
    for key, value in _facts(summary):
        facts.add_row(Text(key), Text(value))
    parts: list[RenderableType] = [Text(name, style="bold"), facts]
    parts += [Text(line, style="yellow") for line in skipped_lines(summary.skipped)]
    return Group(*parts, Text(), _distributions(summary.distributions))


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


def _distributions(distributions: Sequence[Distribution]) -> Table:
    table = Table()
    table.add_column("")
    for heading in ("mean", "least", "25 %", "median", "75 %", "95 %", "most"):
        table.add_column(heading, justify="right")
    for each in distributions:
        values = (
            each.mean,
            each.least,
            each.lower_quartile,
            each.median,
            each.upper_quartile,
            each.percentile_95,
            each.most,
        )
        shown = [duration_text(v) if each.unit == "s" else _number(v) for v in values]
        unit = f" ({each.unit})" if each.unit not in ("", "s") else ""
        table.add_row(each.name + unit, *shown)
    return table


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) or value >= 1000 else f"{value:,.1f}"


def batch_table(rows: Sequence[tuple[str, BatchMetrics]]) -> Table:
    """One column per schedule, one row per classical metric; times in seconds."""
    table = _compared([name for name, _ in rows])
    for title, show in _BATCH_ROWS:
        table.add_row(title, *(show(each) for _, each in rows))
    return table


def group_table(kind: str, groups: Mapping[int, BatchMetrics]) -> Table:
    """One row per user or queue of one schedule; times in seconds."""
    table = Table()
    titles = (
        kind,
        "Jobs",
        "Mean wait",
        "Median wait",
        "Mean response",
        "Bounded slowdown",
        "AWRT",
        "Utilisation",
    )
    for title in titles:
        table.add_column(title, justify="right")
    for number, each in groups.items():
        table.add_row(
            str(number),
            f"{each.jobs:,}",
            f"{each.wait.mean:,.0f}",
            f"{each.wait.median:,.0f}",
            f"{each.response.mean:,.0f}",
            f"{each.bounded_slowdown.mean:,.2f}",
            f"{each.awrt:,.0f}",
            f"{100 * each.utilisation:.2f} %",
        )
    return table


def user_quartile_table(rows: Sequence[tuple[str, UserMetrics]]) -> Table:
    """One column per schedule: VEET and weighted tardiness over the users, as box plots have them.

    Weighted tardiness is in processor hours.
    """
    table = _compared([name for name, _ in rows])
    table.add_row("users", *(f"{len(each.user):,}" for _, each in rows))
    violated = (f"{int(each.violated.sum()):,}" for _, each in rows)
    table.add_row("jobs that ended later than expected", *violated)
    for title, percent in _QUARTILES:
        shares = (float(np.percentile(each.veet, percent)) for _, each in rows)
        table.add_row(f"VEET of users: {title}", *(f"{share:.1f} %" for share in shares))
    whole = (int((each.violated == each.jobs).sum()) for _, each in rows)
    table.add_row("users with VEET 100 %", *(f"{count:,}" for count in whole))
    for title, percent in _QUARTILES:
        hours = (np.percentile(each.weighted_tardiness / _HOUR, percent) for _, each in rows)
        table.add_row(f"WT of users: {title}", *(f"{value:,.1f}" for value in hours))
    sums = (float(each.weighted_tardiness.sum()) / _HOUR for _, each in rows)
    table.add_row("WT of users: sum", *(f"{value:,.1f}" for value in sums))
    return table


_QUARTILES = (("lower quartile", 25), ("median", 50), ("upper quartile", 75), ("most", 100))

_BATCH_ROWS: tuple[tuple[str, Callable[[BatchMetrics], str]], ...] = (
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


def _compared(names: Sequence[str]) -> Table:
    table = Table()
    table.add_column("")
    for name in names:
        table.add_column(Text(name), justify="right")
    return table


def user_table(each: UserMetrics) -> Table:
    """One row per user of one schedule; weighted tardiness in processor hours."""
    table = Table()
    for title in ("User", "Jobs", "Violated", "VEET", "WT (h)"):
        table.add_column(title, justify="right")
    columns = (each.user, each.jobs, each.violated, each.veet, each.weighted_tardiness)
    for user, jobs, violated, veet, tardy in zip(*(c.tolist() for c in columns), strict=True):
        shown = f"{tardy / _HOUR:,.1f}" if tardy else DASH
        table.add_row(str(user), f"{jobs:,}", f"{violated:,}", f"{veet:.1f} %", shown)
    return table

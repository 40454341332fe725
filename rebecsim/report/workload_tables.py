"""Workload scenarios in the terminal: the table of policies, and what differs between schedules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rebecsim.experiments.statistics import Estimate
from rebecsim.experiments.workload_diff import ScheduleDifference
from rebecsim.experiments.workload_metrics import ScheduleMetric
from rebecsim.experiments.workload_summary import Variant, WorkloadSummary
from rebecsim.report.numbers import level_text
from rebecsim.report.workload_text import duration_text

__all__ = [
    "FigureTable",
    "difference_summary",
    "difference_table",
    "estimate_text",
    "figure_tables",
    "heading_of",
    "summary_notes",
    "variant_text",
    "workload_table",
]

_SHOWN_USERS = 12


def workload_table(summary: WorkloadSummary) -> Group:
    """The tables of each variant: a row for each metric, a column for each policy."""
    found = figure_tables(summary)
    tables = [_terminal_table(each, with_title=len(found) > 1) for each in found]
    return Group(*tables, *map(Text, summary_notes(summary)))


@dataclass(frozen=True, slots=True)
class FigureTable:
    """Figures of one variant as text.

    Attributes:
        title: which variant, and what is shown of it.
        policies: headings of the columns.
        rows: heading of a metric, and for each policy the figure and whether it stands out.
    """

    title: str
    policies: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, bool], ...]], ...]


def figure_tables(summary: WorkloadSummary) -> list[FigureTable]:
    """Give the tables of a summary: the figures of each variant, then changes where known."""
    tables = []
    for variant in summary.variants:
        tables.append(_figures(summary, variant))
        if summary.replications[variant] > 1 and len(summary.policies) > 1:
            tables.append(_changes(summary, variant))
    return tables


def _figures(summary: WorkloadSummary, variant: Variant) -> FigureTable:
    rows = []
    for column, metric in enumerate(summary.metrics):
        best = summary.best(variant, column)
        cells = [
            (estimate_text(metric, summary.estimates[policy, variant][column]), policy in best)
            for policy in summary.policies
        ]
        rows.append((heading_of(metric), tuple(cells)))
    return FigureTable(variant_text(summary, variant), summary.policies, tuple(rows))


def _changes(summary: WorkloadSummary, variant: Variant) -> FigureTable:
    others = tuple(policy for policy in summary.policies if policy != summary.baseline)
    rows = []
    for column, metric in enumerate(summary.metrics):
        estimates = [summary.changes[policy, variant][column] for policy in others]
        cells = [(estimate_text(metric, each, "+"), _is_shown(each)) for each in estimates]
        rows.append((heading_of(metric), tuple(cells)))
    title = f"{variant_text(summary, variant)}: change against {summary.baseline}"
    return FigureTable(title, others, tuple(rows))


def _is_shown(change: Estimate) -> bool:
    """Whether the interval of a change leaves out zero."""
    half = change.half_width
    return half is not None and abs(change.value) > half


def _terminal_table(each: FigureTable, with_title: bool) -> Table:
    table = Table(title=Text(each.title) if with_title else None)
    table.add_column("")
    for policy in each.policies:
        table.add_column(Text(policy), justify="right")
    for heading, cells in each.rows:
        table.add_row(
            Text(heading), *(Text(text + ("*" if marked else " ")) for text, marked in cells)
        )
    return table


def summary_notes(summary: WorkloadSummary) -> list[str]:
    """What to know to read the table."""
    notes = ["* the best of the policies in this figure, as shown."]
    counts = set(summary.replications.values())
    if counts != {1}:
        level = next(iter(summary.estimates.values()))[0].level
        shown = " or ".join(map(str, sorted(counts)))
        notes.append(f"Means over {shown} replications, with {level_text(level)} intervals.")
        notes.append(
            f"Changes against {summary.baseline}: * the interval leaves out zero. Replications are "
            "paired, as all policies see the same jobs."
        )
    return notes


def heading_of(metric: ScheduleMetric) -> str:
    """Title with the unit in brackets."""
    return f"{metric.title} ({metric.unit})" if metric.unit else metric.title


def estimate_text(metric: ScheduleMetric, estimate: Estimate, sign: Literal["", "+"] = "") -> str:
    """Value and half-width of its interval, if there is one; with its sign if asked for."""
    shown = f"{estimate.value:{sign},.{metric.decimals}f}".replace("-", "\u2212")
    if estimate.half_width is None:
        return shown
    return f"{shown} \u00b1 {estimate.half_width:,.{metric.decimals}f}"


def variant_text(summary: WorkloadSummary, variant: Variant) -> str:
    """Say which variant it is: load factor and estimates."""
    factor, estimates = variant
    believed = {
        "requested": "estimates as requested",
        "exact": "exact estimates",
    }.get(estimates) or f"estimates with an error of up to {estimates.removeprefix('error ')}"
    return f"Load factor {factor:g}, {believed}"


def difference_table(difference: ScheduleDifference) -> Group:
    """How jobs and users fare in the second schedule, as seen from the first."""
    change, jobs = difference.change, len(difference.job)
    lines = [
        f"{difference.second} instead of {difference.first}: of {jobs:,} jobs "
        f"{difference.earlier:,} wait for less time, {difference.later:,} for more, "
        f"{jobs - difference.earlier - difference.later:,} for as long",
        f"change of the wait: mean {_signed(float(change.mean()))}, "
        f"from {_signed(float(change.min()))} to {_signed(float(change.max()))}",
    ]
    for name, count in (
        (difference.first, difference.only_first),
        (difference.second, difference.only_second),
    ):
        if count:
            lines.append(f"{count:,} jobs only in {name}")
    return Group(*map(Text, lines), _users(difference))


def _users(difference: ScheduleDifference) -> RenderableType:
    each = difference.users
    values = each.wait * each.jobs if each.weighted_tardiness is None else each.weighted_tardiness
    order = np.argsort(-np.abs(values), kind="stable")[:_SHOWN_USERS]
    order = order[values[order] != 0]
    if not len(order):
        return Text("Nothing changes for any user.")
    table = Table()
    titles = ["User", "Jobs", "Wait less", "Wait more", "Mean wait"]
    for title in (*titles, *(["WT (h)"] if each.weighted_tardiness is not None else [])):
        table.add_column(title, justify="right")
    for row in order.tolist():
        cells = [
            str(each.user[row]),
            f"{each.jobs[row]:,}",
            f"{each.earlier[row]:,}",
            f"{each.later[row]:,}",
            _signed(float(each.wait[row])),
        ]
        if each.weighted_tardiness is not None:
            cells.append(f"{each.weighted_tardiness[row]:+,.1f}")
        table.add_row(*cells)
    hidden = len(each.user) - len(order)
    if hidden:
        return Group(table, Text(f"For the other {hidden} less changes, or nothing."))
    return table


def _signed(seconds: float) -> str:
    if seconds == 0:
        return "0s"
    return ("+" if seconds > 0 else "\u2212") + duration_text(abs(seconds))


def difference_summary(differences: Sequence[ScheduleDifference]) -> list[str]:
    """One line for each policy other than the baseline."""
    return [
        f"{each.second} instead of {each.first}: {each.earlier:,} jobs wait for less time, "
        f"{each.later:,} for more, mean wait {_signed(float(each.change.mean()))}"
        for each in differences
    ]

"""Estimates as text: the same digits, signs and units in every table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rebecsim.metrics import Metric
from rebecsim.studies.cells import Compared
from rebecsim.studies.estimates import Estimate
from rebecsim.studies.summary import Summary

DASH = "–"  # noqa: RUF001, what a reader expects for "no value"

MOST_COLUMNS = 5
"""Measures that have columns of a table of policies; more have rows."""

_MOST_EXTRA_DECIMALS = 2


def display_scale(metric: Metric) -> int:
    """Give the factor of a value in tables: 100 for shares, which are shown in percent."""
    return 100 if metric.is_share else 1


def decimals_for(metric: Metric, estimates: Sequence[Estimate]) -> int:
    """Digits after the point for a column, so that its intervals show at least one digit.

    Two for means and one for percentages, and up to two more when an interval is that narrow. One
    number for the whole column keeps it comparable at a glance.
    """
    if metric.decimals is not None:
        return metric.decimals
    base = 1 if metric.is_share else 2
    scale = display_scale(metric)
    widths = [scale * e.half_width for e in estimates if e.half_width]
    needed = max((math.ceil(-math.log10(2 * width)) for width in widths), default=base)
    return min(max(base, needed), base + _MOST_EXTRA_DECIMALS)


def format_value(metric: Metric, value: float, decimals: int) -> str:
    """A value with its percent sign where there is one; a dash when it is undefined."""
    if math.isnan(value):
        return DASH
    unit = " %" if metric.is_share else ""
    return f"{display_scale(metric) * value:,.{decimals}f}{unit}"


def format_estimate(metric: Metric, estimate: Estimate, decimals: int) -> str:
    """Value and half-width, as in "25.96 ± 0.27" or "70.4 % ± 0.3"; the value alone without one."""
    value = format_value(metric, estimate.value, decimals)
    if estimate.half_width is None:
        return value
    half_width = display_scale(metric) * estimate.half_width
    shown = f"{half_width:,.{decimals}f}"
    if half_width > 0 and float(shown.replace(",", "")) == 0:
        shown = f"<{10.0**-decimals:.{decimals}f}"
    return f"{value} ± {shown}"


def format_estimates(metric: Metric, estimates: Sequence[Estimate]) -> list[str]:
    """Values with half-widths, all with the same number of digits."""
    decimals = decimals_for(metric, estimates)
    return [format_estimate(metric, each, decimals) for each in estimates]


@dataclass(frozen=True, slots=True)
class ShownFigure:
    """A figure of a policy as text, and whether it is the best."""

    text: str
    is_best: bool


def shown_figures(summary: Summary) -> list[list[ShownFigure]]:
    """For each metric the figures of all policies."""
    figures = []
    for column, metric in enumerate(summary.metrics):
        texts = format_estimates(metric, [row.estimates[column] for row in summary.rows])
        best = best_rows(summary, column)
        pairs = zip(texts, summary.policies, strict=True)
        figures.append([ShownFigure(text, policy in best) for text, policy in pairs])
    return figures


@dataclass(frozen=True, slots=True)
class FigureTable:
    """The figures of policies: a row for each policy, or a column if there are many measures.

    Attributes:
        corner: what the rows are.
        headings: of the columns of figures, each with a unit, which may be empty.
        rows: their names and figures.
    """

    corner: str
    headings: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, tuple[ShownFigure, ...]], ...]


def figure_table(summary: Summary, compared: Compared) -> FigureTable:
    """Lay out the figures of all policies."""
    figures, metrics = list(map(tuple, shown_figures(summary))), summary.metrics
    if len(metrics) > MOST_COLUMNS:
        headings = tuple((policy, "") for policy in summary.policies)
        rows = tuple(zip(map(column_heading, metrics), figures, strict=True))
        return FigureTable("Figure", headings, rows)
    headings = tuple((metric.title, _unit(metric)) for metric in metrics)
    of_policies = tuple(zip(summary.policies, zip(*figures, strict=True), strict=True))
    return FigureTable(compared.one.capitalize(), headings, of_policies)


def _unit(metric: Metric) -> str:
    of = "% of " if metric.is_share else ""
    better = "" if metric.better == "neither" else f"{metric.better} is better"
    return ", ".join(filter(None, (f"{of}{metric.unit}", better)))


def best_rows(summary: Summary, column: int) -> frozenset[str]:
    """Policies with the best value of a metric; several when their shown values are equal.

    No policy is best when no two can be told apart, or no value is better than another; nor
    a policy that has not earned it.
    """
    metric = summary.metrics[column]
    if metric.better == "neither":
        return frozenset()
    estimates = {row.policy: row.estimates[column] for row in summary.rows}
    decimals = decimals_for(metric, list(estimates.values()))
    shown = {p: round(display_scale(metric) * e.value, decimals) for p, e in estimates.items()}
    defined = [value for value in shown.values() if not math.isnan(value)]
    if len(set(defined)) < 2:
        return frozenset()
    best = min(defined) if metric.better == "lower" else max(defined)
    unearned = {row.policy for row in summary.rows if row.unearned}
    return frozenset(p for p, value in shown.items() if value == best and p not in unearned)


def column_heading(metric: Metric) -> str:
    """Title with the unit in brackets, if it has one."""
    unit = "%" if metric.is_share else metric.unit
    return f"{metric.title} ({unit})" if unit else metric.title


def level_text(level: float) -> str:
    """A confidence level as readers write it: "95 %"."""
    return f"{100 * level:g} %"

"""Estimates as text, alike in every table; results as comma-separated values, with all digits."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rebecsim.files import write_atomically
from rebecsim.metrics import Metric
from rebecsim.studies.cells import Coded, Column, Compared, Condition
from rebecsim.studies.differences import PairDifference
from rebecsim.studies.estimates import Estimate
from rebecsim.studies.study import Axis
from rebecsim.studies.summary import OrderEnvelope, Summary

if TYPE_CHECKING:
    from rebecsim.report.comparison import ReportInput

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


ESTIMATE_FIELDS = ("", "_standard_error", "_low", "_high", "_degrees_of_freedom")
"""What follows the name of a figure in the columns of its estimate."""


def table_csv(comparisons: Mapping[Condition, ReportInput]) -> str:
    """One line per policy, pooled over what is not compared separately.

    Columns: the coordinates compared separately, `policy`, `replications`, and for each metric
    its name, `_standard_error`, `_low`, `_high` and `_degrees_of_freedom`. Shares are fractions of
    1. What is undefined is empty.
    """
    first = next(iter(comparisons.values())).summary
    header = [*_apart(comparisons), "policy", "replications", *_estimate_columns(first)]
    rows = (
        [*_values(condition), r.policy, str(r.replications), *estimate_fields(r.estimates)]
        for condition, each in comparisons.items()
        for r in each.summary.rows
    )
    return text_of(header, rows)


def by_axis_csv(by_axis: Mapping[Condition, Summary], axis: Axis) -> str:
    """One line per condition, policy and place of the axis; columns as in `table_csv`."""
    first = next(iter(by_axis.values()))
    header = [*_apart(by_axis), "policy", axis.coordinate, "replications"]
    rows = (
        [
            *(*_values(condition), p.policy, str(p.at), str(p.replications)),
            *estimate_fields(p.estimates),
        ]
        for condition, summary in by_axis.items()
        for p in summary.points
    )
    header += _estimate_columns(first)
    return text_of(header, rows)


def pairs_csv(comparisons: Mapping[Condition, ReportInput]) -> str | None:
    """One line per metric and pair of policies; None when nothing was compared.

    Columns: the coordinates compared separately, `metric`, `first`, `second`, `replications`
    (per cell), `difference` (first minus second) with `_standard_error`, `_low`, `_high` and
    `_degrees_of_freedom`, `p_value`, `holm_p_value`, `shown` ("yes" or "no"), `better`,
    `detectable` (the difference that these runs would show with 80 % power) and
    `replications_needed` (to show one as large as observed).
    What is undefined, and the last two where the difference is shown, is empty.
    """
    header = [
        *_apart(comparisons),
        *("metric", "first", "second", "replications"),
        *("difference" + field for field in ESTIMATE_FIELDS),
        *("p_value", "holm_p_value", "shown", "better", "detectable", "replications_needed"),
    ]
    rows = [
        [
            *_values(condition),
            *(pair.metric.name, pair.first, pair.second, str(pair.runs)),
            *estimate_fields([pair.estimate]),
            *(_number(pair.p_value), _number(pair.adjusted_p_value)),
            *("yes" if pair.is_shown else "no", pair.better or ""),
            *_power_fields(pair),
        ]
        for condition, each in comparisons.items()
        for pair in each.differences
    ]
    return text_of(header, rows) if rows else None


def orders_csv(comparisons: Mapping[Condition, ReportInput]) -> str:
    """One line per metric and policy, and condition that is compared separately.

    Columns: the coordinates compared separately, `metric`, `policy`, `lowest`, `lowest_order`,
    `highest`, `highest_order`, then for each message order its figure (under its name),
    `_standard_error`, `_low`, `_high` and `_degrees_of_freedom`.
    """
    envelopes = [
        (condition, found) for condition, each in comparisons.items() for found in each.envelopes
    ]
    orders = list(envelopes[0][1].by_order) if envelopes else []
    header = [
        *_apart(comparisons),
        *("metric", "policy", "lowest", "lowest_order", "highest", "highest_order"),
        *(order + field for order in orders for field in ESTIMATE_FIELDS),
    ]
    rows = (
        [
            *_values(condition),
            *(each.metric.name, each.policy),
            *_extreme(each, each.lowest),
            *_extreme(each, each.highest),
            *estimate_fields([each.by_order[order] for order in orders]),
        ]
        for condition, each in envelopes
    )
    return text_of(header, rows)


def _power_fields(pair: PairDifference) -> tuple[str, str]:
    if pair.power is None:
        return "", ""
    return _number(pair.power.detectable), _number(pair.power.runs_needed)


def _extreme(envelope: OrderEnvelope, order: str | None) -> tuple[str, str]:
    return ("", "") if order is None else (_number(envelope.by_order[order].value), order)


def _estimate_columns(summary: Summary) -> list[str]:
    return [metric.name + field for metric in summary.metrics for field in ESTIMATE_FIELDS]


def estimate_fields(estimates: Sequence[Estimate]) -> list[str]:
    """Give estimates as fields: those of `ESTIMATE_FIELDS` for each."""
    return [
        _number(number)
        for e in estimates
        for number in (e.value, e.standard_error, e.low, e.high, e.degrees_of_freedom)
    ]


def _number(number: float | None) -> str:
    return "" if number is None or math.isnan(number) else repr(number)


def _apart(conditions: Iterable[Condition]) -> list[str]:
    return [name for name, _ in next(iter(conditions)).coordinates]


def _values(condition: Condition) -> list[str]:
    return [str(value) for _, value in condition.coordinates]


def text_of(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Give a table as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()


def write_stacked(
    heading: str, runs: Mapping[str, Mapping[str, Mapping[str, Column]]], folder: Path
) -> None:
    """Write the tables of some runs, each a CSV file with the name of the run in the first column.

    `heading` is that of this column; of each run there are columns by table. The folder is made
    if it is not there. Raises OSError when that, or a file, cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for table, columns in next(iter(runs.values())).items():
        rows = (
            [name, *row]
            for name, tables in runs.items()
            for row in zip(*map(_plain, tables[table].values()), strict=True)
        )
        write_atomically(folder / f"{table}.csv", text_of([heading, *columns], rows).encode())


def _plain(column: Column) -> list[object]:
    if isinstance(column, Coded):
        return [column.words[code] for code in column.codes]
    found: list[object] = np.asarray(column, dtype=object).tolist()
    return ["" if each is None else each for each in found]

"""Published figures beside ours: how far apart, measured in standard errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rebecsim.experiments.moments import CellMoments
from rebecsim.experiments.statistics import Estimate, estimate, standard_error_for
from rebecsim.metrics import Metric
from rebecsim.report.numbers import DASH, display_scale, format_estimate, format_value

__all__ = ["CONSPICUOUS", "ReproductionRow", "reproduce_figure", "reproduction_table"]

CONSPICUOUS = 3.0
"""A difference of more standard errors than this calls for an explanation."""

_PRINTED_DECIMALS = 2


@dataclass(frozen=True, slots=True)
class ReproductionRow:
    """One published figure and ours.

    Attributes:
        table: number of the published table, as in "4.3".
        scenario: its name.
        policy: the row.
        metric: the column.
        published: the figure, as a fraction of 1 for a share.
        ours: under the choice law of the original tool.
        difference_in_standard_errors: (ours - published) over the standard error of that
            difference; None when ours has no standard error or the figure is undefined.
        fair: the same under the fair choice law, or None when it was not computed.
        remark: why the two differ, where they do.
    """

    table: str
    scenario: str
    policy: str
    metric: Metric
    published: float
    ours: Estimate
    difference_in_standard_errors: float | None
    fair: Estimate | None = None
    remark: str = ""

    @property
    def is_conspicuous(self) -> bool:
        """Whether the difference is too large to be put down to chance."""
        difference = self.difference_in_standard_errors
        return difference is not None and abs(difference) > CONSPICUOUS


def reproduce_figure(
    *,
    table: str,
    scenario: str,
    policy: str,
    metric: Metric,
    printed: float,
    moments: Sequence[CellMoments],
    fair_moments: Sequence[CellMoments] = (),
    published_runs: int = 100,
    remark: str = "",
    level: float = 0.95,
) -> ReproductionRow:
    """Compare a published figure with our runs of the same scenario.

    The difference is (ours - published) / sqrt(se_ours^2 + se_published^2). Nothing is published
    on the spread of the original's runs, so se_published is the spread of ours scaled to the
    published number of runs, plus the variance u^2 / 12 of a figure rounded to units of u = 0.01
    (without it, a figure that hardly varies between runs would differ by its rounding alone).

    Args:
        table: number of the published table.
        scenario: its name.
        policy: the row.
        metric: the column.
        printed: the figure as printed with two decimals: 25.96, or 70.37 for 70.37 %.
        moments: of our cells of this policy, under the choice law of the original.
        fair_moments: the same under the fair law; empty when it was not run.
        published_runs: runs per cell behind the published figure.
        remark: why the two differ, where they do.
        level: confidence level of our intervals.

    Raises:
        ValueError: when there is no cell, or a cell without runs.
    """
    scale = display_scale(metric)
    published = printed / scale
    ours = estimate(metric, moments, level)
    rounding = 10.0**-_PRINTED_DECIMALS / scale / math.sqrt(12)
    sampling = standard_error_for(metric, moments, published_runs)
    difference = None
    if ours.standard_error is not None and sampling is not None:
        error = math.hypot(ours.standard_error, sampling, rounding)
        difference = (ours.value - published) / error
    return ReproductionRow(
        table=table,
        scenario=scenario,
        policy=policy,
        metric=metric,
        published=published,
        ours=ours,
        difference_in_standard_errors=difference,
        fair=estimate(metric, fair_moments, level) if fair_moments else None,
        remark=remark,
    )


def reproduction_table(rows: Sequence[ReproductionRow], title: str | None = None) -> Group:
    """Published figures beside ours for the terminal, a block for each published table.

    A conspicuous difference is bold and carries an exclamation mark; remarks stand below. The
    column for the fair law appears when some row has one.
    """
    parts: list[RenderableType] = [] if title is None else [Text(title, style="bold"), Text()]
    for (number, scenario), block in groupby(rows, key=lambda row: (row.table, row.scenario)):
        figures = list(block)
        parts += [Text(f"Table {number} ({scenario})", style="bold"), _block(figures)]
        remarks = dict.fromkeys(row.remark for row in figures if row.remark)
        parts += [*(Text(f"! {remark}") for remark in remarks), Text()]
    parts.append(
        Text(
            "Ours: with the half-width of the 95 % interval. Difference: ours less published, in "
            f"standard errors of that difference; ! marks more than {CONSPICUOUS:g}.",
            style="dim",
        )
    )
    return Group(*parts)


def _block(rows: Sequence[ReproductionRow]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("Policy")
    table.add_column("Figure")
    has_fair = any(row.fair is not None for row in rows)
    for name in ("Published", "Ours", "Diff.", *(["Fair law"] if has_fair else [])):
        table.add_column(name, justify="right", no_wrap=True)
    for position, row in enumerate(rows):
        repeated = position > 0 and rows[position - 1].policy == row.policy
        cells = [
            Text("" if repeated else row.policy),
            Text(row.metric.title),
            Text(format_value(row.metric, row.published, _PRINTED_DECIMALS)),
            Text(_shown(row.metric, row.ours)),
            _difference(row),
        ]
        if has_fair:
            cells.append(Text(DASH if row.fair is None else _shown(row.metric, row.fair)))
        table.add_row(*cells)
    return table


def _shown(metric: Metric, value: Estimate) -> str:
    return format_estimate(metric, value, _PRINTED_DECIMALS)


def _difference(row: ReproductionRow) -> Text:
    difference = row.difference_in_standard_errors
    if difference is None:
        return Text(f"{DASH}  ")
    mark = "!" if row.is_conspicuous else " "
    return Text(f"{difference:+.1f} {mark}", style="bold" if row.is_conspicuous else "")

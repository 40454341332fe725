"""Published figures beside ours: how far apart, measured in standard errors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rebecsim.metrics import Metric
from rebecsim.report.numbers import DASH, display_scale, format_estimate, format_value
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.statistics import Estimate, estimate, standard_error_for

__all__ = [
    "CONSPICUOUS",
    "PRINTED_DECIMALS",
    "ReproductionRow",
    "is_conspicuous",
    "reproduce_figure",
    "reproduction_table",
]

CONSPICUOUS = 3.0
"""A difference of more standard errors than this calls for an explanation."""

PRINTED_DECIMALS = 2
"""Digits after the point of a published figure."""


@dataclass(frozen=True, slots=True)
class ReproductionRow:
    """One published figure and ours.

    Attributes:
        table: number of the published table, as in "4.3".
        scenario: its name.
        policy: the row.
        metric: the column.
        published: the figure, as a fraction of 1 for a share.
        published_error: its standard error with that of its rounding; None when ours has none.
        ours: under the choice law of the original tool.
        difference_in_standard_errors: (ours - published) over the standard error of that
            difference; None when ours has no standard error or the figure is undefined.
        remeasured: what the original tools give when run again, or None when that is not known.
        difference_from_remeasured: the same for (ours - remeasured).
        fair: the same under the fair choice law, or None when it was not computed.
        corrected: under the fair law without a mistake of the original, where it has one.
        by_order: message order -> figure under the law of the original, for other orders than the
            random one of `ours`.
        remark: why the two differ, where they do.
    """

    table: str
    scenario: str
    policy: str
    metric: Metric
    published: float
    published_error: float | None
    ours: Estimate
    difference_in_standard_errors: float | None
    remeasured: float | None = None
    difference_from_remeasured: float | None = None
    fair: Estimate | None = None
    corrected: Estimate | None = None
    by_order: Mapping[str, Estimate] = field(default_factory=dict)
    remark: str = ""

    @property
    def is_conspicuous(self) -> bool:
        """Whether ours differs from the published figure by too much to be chance."""
        return is_conspicuous(self.difference_in_standard_errors)

    @property
    def calls_for_a_remark(self) -> bool:
        """Whether ours differs too much from the published or from the re-measured figure."""
        return self.is_conspicuous or is_conspicuous(self.difference_from_remeasured)


def is_conspicuous(difference: float | None) -> bool:
    """Whether a difference in standard errors is too large to be put down to chance."""
    return difference is not None and abs(difference) > CONSPICUOUS


def reproduce_figure(
    *,
    table: str,
    scenario: str,
    policy: str,
    metric: Metric,
    printed: float,
    moments: Sequence[CellMoments],
    published_runs: int = 100,
    remeasured: float | None = None,
    remeasured_runs: int = 500,
    fair_moments: Sequence[CellMoments] = (),
    corrected_moments: Sequence[CellMoments] = (),
    order_moments: Mapping[str, Sequence[CellMoments]] | None = None,
    remark: str = "",
    level: float = 0.95,
) -> ReproductionRow:
    """Compare a published figure with our runs of the same scenario.

    The difference is (ours - published) / sqrt(se_ours^2 + se_published^2). Nothing is published
    on the spread of the original's runs, so se_published is the spread of ours scaled to the
    published number of runs, plus the variance u^2 / 12 of a figure rounded to units of u = 0.01
    (without it, a figure that hardly varies between runs would differ by its rounding alone). The
    same holds for the figure that the original tools give when run again.

    Args:
        table: number of the published table.
        scenario: its name.
        policy: the row.
        metric: the column.
        printed: the figure as printed with two decimals: 25.96, or 70.37 for 70.37 %.
        moments: of our cells of this policy, under the choice law of the original.
        published_runs: runs per cell behind the published figure.
        remeasured: what the original tools give when run again, written like `printed`.
        remeasured_runs: runs per cell behind that.
        fair_moments: of the same cells under the fair law; empty when it was not run.
        corrected_moments: the same without the original's mistake; empty when it was not run.
        order_moments: message order -> of the same cells under the law of the original.
        remark: why the two differ, where they do.
        level: confidence level of our intervals.

    Raises:
        ValueError: when there is no cell, or a cell without runs.
    """
    scale = display_scale(metric)
    ours = estimate(metric, moments, level)
    published_error = _printed_error(metric, moments, published_runs)
    again = None if remeasured is None else remeasured / scale
    return ReproductionRow(
        table=table,
        scenario=scenario,
        policy=policy,
        metric=metric,
        published=printed / scale,
        published_error=published_error,
        ours=ours,
        difference_in_standard_errors=_standardised(ours, printed / scale, published_error),
        remeasured=again,
        difference_from_remeasured=_standardised(
            ours, again, _printed_error(metric, moments, remeasured_runs)
        ),
        fair=estimate(metric, fair_moments, level) if fair_moments else None,
        corrected=estimate(metric, corrected_moments, level) if corrected_moments else None,
        by_order={o: estimate(metric, cells, level) for o, cells in (order_moments or {}).items()},
        remark=remark,
    )


def _printed_error(metric: Metric, moments: Sequence[CellMoments], runs: int) -> float | None:
    """Standard error of a figure from so many runs that was printed with two decimals."""
    sampling = standard_error_for(metric, moments, runs)
    if sampling is None:
        return None
    unit = 10.0**-PRINTED_DECIMALS / display_scale(metric)
    return math.hypot(sampling, unit / math.sqrt(12))


def _standardised(ours: Estimate, other: float | None, error: float | None) -> float | None:
    if other is None or error is None or ours.standard_error is None:
        return None
    return (ours.value - other) / math.hypot(ours.standard_error, error)


def reproduction_table(rows: Sequence[ReproductionRow], title: str | None = None) -> Group:
    """Published figures beside ours for the terminal, a block for each published table.

    A conspicuous difference is bold and carries an exclamation mark; its remark stands below. The
    column for the fair law appears when some row has one.
    """
    parts: list[RenderableType] = [] if title is None else [Text(title, style="bold"), Text()]
    for (number, scenario), block in groupby(rows, key=lambda row: (row.table, row.scenario)):
        figures = list(block)
        parts += [Text(f"Table {number} ({scenario})", style="bold"), _block(figures)]
        remarks = dict.fromkeys(r.remark for r in figures if r.is_conspicuous and r.remark)
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
            Text(format_value(row.metric, row.published, PRINTED_DECIMALS)),
            Text(_shown(row.metric, row.ours)),
            _difference(row),
        ]
        if has_fair:
            cells.append(Text(DASH if row.fair is None else _shown(row.metric, row.fair)))
        table.add_row(*cells)
    return table


def _shown(metric: Metric, value: Estimate) -> str:
    return format_estimate(metric, value, PRINTED_DECIMALS)


def _difference(row: ReproductionRow) -> Text:
    difference = row.difference_in_standard_errors
    if difference is None:
        return Text(f"{DASH}  ")
    mark = "!" if row.is_conspicuous else " "
    return Text(f"{difference:+z.1f} {mark}", style="bold" if row.is_conspicuous else "")

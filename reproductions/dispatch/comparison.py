"""Published figures beside ours: how far apart, measured in standard errors.

The published ones, and figures of the original tools run again, stand in `published.toml`, which
says where they come from and what they mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rebecsim.clusters.dispatch.measures import DISPATCH_METRICS, NATJAM_METRICS
from rebecsim.clusters.dispatch.scenario import Scenario
from rebecsim.errors import UserError
from rebecsim.metrics import Metric
from rebecsim.report.numbers import DASH, display_scale, format_estimate, format_value
from rebecsim.studies.estimates import Estimate, estimate
from rebecsim.studies.moments import CellMoments
from reproductions.framework import (
    MOST_ERRORS,
    Column,
    errors_apart,
    is_conspicuous,
    numbers,
    read_beside,
    standard_error_for,
    text_table,
)

PUBLISHED_RUNS = 100
"""Runs per cluster size behind a published figure."""

MEASURED_RUNS = 500
"""Runs per cluster size behind a measured figure."""

FIGURES = ("deadline_misses", "job_request_success", "am_job_success")
"""The columns of a table, by the names of their metrics."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One policy in one table: figures by the names of their metrics, shares in percent.

    Attributes:
        policy: its name.
        published: as printed, with two decimals.
        measured: what the original tools give when run again.
        unmet: published figures that these do not give either.
    """

    policy: str
    published: Mapping[str, float]
    measured: Mapping[str, float]
    unmet: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """One table of results and the built-in scenario with its parameters.

    Attributes:
        scenario: name of the built-in scenario.
        number: that of the table in the thesis.
        rows: one for each policy.
        kind: what policies choose: the job that runs next, or the one that is put aside.
        remark: why the figures that a row names as `unmet` differ; empty where there is none.
    """

    scenario: str
    number: str
    rows: tuple[PublishedRow, ...]
    kind: Literal["dispatch", "eviction"] = "dispatch"
    remark: str = ""

    def row(self, policy: str) -> PublishedRow:
        """Return the row of a policy. Raises KeyError when the table has none."""
        return {row.policy: row for row in self.rows}[policy]


def _table(entry: Mapping[str, Any], remark: str) -> PublishedTable:
    unmet = entry.get("unmet", {})
    rows = (
        PublishedRow(
            policy,
            dict(zip(FIGURES, figures, strict=True)),
            dict(zip(FIGURES, entry["measured"][policy], strict=True)),
            tuple(unmet.get(policy, ())),
        )
        for policy, figures in entry["published"].items()
    )
    kind = entry.get("kind", "dispatch")
    return PublishedTable(
        entry["scenario"], entry["number"], tuple(rows), kind, remark if unmet else ""
    )


def _read() -> tuple[PublishedTable, ...]:
    content = read_beside(__file__)
    return tuple(_table(entry, content["remark"]) for entry in content["tables"])


PUBLISHED_TABLES = _read()
"""The published tables of results in the order of the thesis."""


def tables_of(scenario: str | None = None) -> tuple[PublishedTable, ...]:
    """Return the published tables of a built-in scenario; all of them when none is named.

    Raises UserError when nothing is published for a scenario of that name.
    """
    tables = tuple(table for table in PUBLISHED_TABLES if scenario in (None, table.scenario))
    if not tables:
        known = ", ".join(table.scenario for table in PUBLISHED_TABLES)
        raise UserError(f"{scenario}: no published scenario of that name; published are {known}")
    return tables


def reproduction_scenarios(scenario: Scenario, corrected: bool = False) -> dict[str, Scenario]:
    """Return what to run for a published scenario: "rmc" as the original, "fair" the fair law.

    All are run with the original's mistakes, so that "fair" differs by the law alone; with
    `corrected` there is a third scenario without them, under the fair law, where they matter: the
    same jobs for all policies, or eviction that loses nothing.
    """
    eviction = scenario.eviction
    if eviction is None:
        original = scenario.replace(workload="as-published")
        without = scenario.replace(workload="same")
        corrected = corrected and original.has_unequal_jobs
    else:
        original, without = (
            scenario.replace(eviction=eviction.model_copy(update={"as_published": mistaken}))
            for mistaken in (True, False)
        )
    found = {law: original.replace(choice_law=law) for law in ("rmc", "fair")}
    if corrected:
        found["corrected"] = without.replace(choice_law="fair")
    return found


PRINTED_DECIMALS = 2
"""Digits after the point of a published figure."""

_METRICS = {"dispatch": DISPATCH_METRICS, "eviction": NATJAM_METRICS}


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A published table and the cells of our runs of its scenario.

    Attributes:
        table: as published.
        ours: under the choice law of the original, with its mistakes.
        fair: under the fair law, otherwise the same.
        corrected: under the fair law without the original's mistake; empty when it has none or
            this was not run.
        orders: message order -> like `ours` in that order; empty when not run.
    """

    table: PublishedTable
    ours: Sequence[CellMoments]
    fair: Sequence[CellMoments]
    corrected: Sequence[CellMoments] = ()
    orders: Mapping[str, Sequence[CellMoments]] = field(default_factory=dict)


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
        remeasured: what the original tools give when run again.
        ours: under the choice law of the original tool.
        fair: the same under the fair choice law.
        difference_in_standard_errors: (ours - published) over the standard error of that
            difference; None when ours has no standard error or the figure is undefined.
        difference_from_remeasured: the same for (ours - remeasured).
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
    remeasured: float
    ours: Estimate
    fair: Estimate
    difference_in_standard_errors: float | None = None
    difference_from_remeasured: float | None = None
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


def reproduction_rows(reproduction: Reproduction) -> list[ReproductionRow]:
    """Compare every figure of a published table with our runs of its scenario.

    The difference is (ours - published) / sqrt(se_ours^2 + se_published^2). Nothing is published
    on the spread of the original's runs, so se_published is the spread of ours scaled to the
    published number of runs, plus the variance u^2 / 12 of a figure rounded to units of u = 0.01
    (without it, a figure that hardly varies between runs would differ by its rounding alone). The
    same holds for the figure that the original tools give when run again.

    Raises ValueError when there is no cell of a policy, or a cell without runs.
    """
    table = reproduction.table
    return [
        _compared(reproduction, row, metric)
        for row in table.rows
        for metric in _METRICS[table.kind]
    ]


def _compared(reproduction: Reproduction, row: PublishedRow, metric: Metric) -> ReproductionRow:
    def of_policy(cells: Sequence[CellMoments]) -> list[CellMoments]:
        return [each for each in cells if each.cell.policy == row.policy]

    def estimated(cells: Sequence[CellMoments]) -> Estimate:
        return estimate(metric, of_policy(cells))

    table, scale, moments = reproduction.table, display_scale(metric), of_policy(reproduction.ours)
    ours = estimate(metric, moments)
    published, remeasured = row.published[metric.name] / scale, row.measured[metric.name] / scale
    published_error = _printed_error(metric, moments, PUBLISHED_RUNS)
    remeasured_error = _printed_error(metric, moments, MEASURED_RUNS)
    return ReproductionRow(
        table=table.number,
        scenario=table.scenario,
        policy=row.policy,
        metric=metric,
        published=published,
        published_error=published_error,
        remeasured=remeasured,
        ours=ours,
        fair=estimated(reproduction.fair),
        difference_in_standard_errors=_standardised(ours, published, published_error),
        difference_from_remeasured=_standardised(ours, remeasured, remeasured_error),
        corrected=estimated(reproduction.corrected) if reproduction.corrected else None,
        by_order={order: estimated(cells) for order, cells in reproduction.orders.items()},
        remark=table.remark if metric.name in row.unmet else "",
    )


def _printed_error(metric: Metric, moments: Sequence[CellMoments], runs: int) -> float | None:
    """Standard error of a figure from so many runs that was printed with two decimals."""
    sampling = standard_error_for(metric, moments, runs)
    if sampling is None:
        return None
    unit = 10.0**-PRINTED_DECIMALS / display_scale(metric)
    return math.hypot(sampling, unit / math.sqrt(12))


def _standardised(ours: Estimate, other: float, error: float | None) -> float | None:
    if error is None or ours.standard_error is None:
        return None
    return errors_apart(ours.value - other, ours.standard_error, error)


def reproduction_table(rows: Sequence[ReproductionRow], title: str | None = None) -> Group:
    """Published figures beside ours for the terminal, a block for each published table.

    A conspicuous difference is bold and carries an exclamation mark; its remark stands below.
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
            f"standard errors of that difference; ! marks more than {MOST_ERRORS:g}.",
            style="dim",
        )
    )
    return Group(*parts)


def _block(rows: Sequence[ReproductionRow]) -> Table:
    columns = [Column("Policy"), Column("Figure")]
    columns += numbers(("Published", "Ours", "Diff.", "Fair law"))
    lines = [
        (
            "" if place and rows[place - 1].policy == row.policy else row.policy,
            row.metric.title,
            format_value(row.metric, row.published, PRINTED_DECIMALS),
            _shown(row.metric, row.ours),
            _difference(row),
            _shown(row.metric, row.fair),
        )
        for place, row in enumerate(rows)
    ]
    return text_table(columns, lines, gap=2)


def _shown(metric: Metric, value: Estimate) -> str:
    return format_estimate(metric, value, PRINTED_DECIMALS)


def _difference(row: ReproductionRow) -> Text:
    difference = row.difference_in_standard_errors
    if difference is None:
        return Text(f"{DASH}  ")
    mark = "!" if row.is_conspicuous else " "
    return Text(f"{difference:+z.1f} {mark}", style="bold" if row.is_conspicuous else "")

"""The page on published figures and ours, as Markdown, with the best policies of each scenario."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from rebecsim.metrics import Metric
from rebecsim.report.numbers import DASH, format_estimate, format_value
from rebecsim.studies.cells import grouped
from rebecsim.studies.estimates import Estimate
from reproductions.dispatch.comparison import (
    PRINTED_DECIMALS,
    Reproduction,
    ReproductionRow,
    reproduction_rows,
)
from reproductions.framework import MOST_ERRORS, is_conspicuous, markdown_table, written_page

Agreement = Literal["yes", "partly", "no"]


@dataclass(frozen=True, slots=True)
class BestPolicies:
    """Which policies are best in one scenario by one figure.

    Several are when their figures cannot be told apart from the best one.
    """

    table: str
    scenario: str
    metric: Metric
    published: tuple[str, ...]
    ours: tuple[str, ...]
    fair: tuple[str, ...]

    @property
    def agreement(self) -> Agreement:
        """Whether published and ours name the same policies, some in common, or none."""
        if self.published == self.ours:
            return "yes"
        return "partly" if set(self.published) & set(self.ours) else "no"


@dataclass(frozen=True, slots=True)
class MeanFigures:
    """A figure of one policy, averaged over the scenarios."""

    policy: str
    metric: Metric
    published: float
    remeasured: float
    ours: float
    fair: float


def best_policies(rows: Sequence[ReproductionRow]) -> list[BestPolicies]:
    """Name the best policies by scenario and figure.

    A policy counts as best when it is at most `MOST_ERRORS` standard errors of the difference
    behind the best figure. The two errors are added as if the policies were run independently,
    which is cautious, since they share random numbers.
    """
    groups = grouped(rows, lambda row: (row.table, row.scenario, row.metric))
    return [
        BestPolicies(
            *(table, scenario, metric),
            published=_best(metric, {r.policy: (r.published, r.published_error) for r in figures}),
            ours=_best(metric, {r.policy: _figure(r.ours) for r in figures}),
            fair=_best(metric, {r.policy: _figure(r.fair) for r in figures}),
        )
        for (table, scenario, metric), figures in groups.items()
    ]


def mean_figures(rows: Sequence[ReproductionRow]) -> list[MeanFigures]:
    """Average each figure of each policy over the scenarios, all with the same weight."""
    groups = grouped(rows, lambda row: (row.policy, row.metric))
    return [
        MeanFigures(
            policy,
            metric,
            published=fmean(row.published for row in figures),
            remeasured=fmean(row.remeasured for row in figures),
            ours=fmean(row.ours.value for row in figures),
            fair=fmean(row.fair.value for row in figures),
        )
        for (policy, metric), figures in groups.items()
    ]


def _figure(estimate: Estimate) -> tuple[float, float | None]:
    """A value and its standard error."""
    return estimate.value, estimate.standard_error


def _best(metric: Metric, figures: Mapping[str, tuple[float, float | None]]) -> tuple[str, ...]:
    """Policies that are not told apart from the best one, in the order of the table."""
    sign = 1 if metric.better == "higher" else -1
    defined = {policy: each for policy, each in figures.items() if not math.isnan(each[0])}
    if not defined:
        return ()
    best, best_error = max(defined.values(), key=lambda each: sign * each[0])
    return tuple(
        policy
        for policy, (value, error) in defined.items()
        if abs(best - value) <= MOST_ERRORS * math.hypot(error or 0.0, best_error or 0.0)
    )


NO_REASON_KNOWN = (
    "No reason is known. Of so many comparisons a few exceed the limit by chance: one in 370, if "
    "errors are normal. Other seeds show whether it stays."
)
"""The remark on a conspicuous difference that the published tables have none for."""

_SUMMARISED_IN = {"dispatch": ("4.14", 12), "eviction": ("4.20", 5)}
"""The table of the thesis that is about all tables of a kind, and how many of the means of the
published figures are printed there."""

_OTHER_JOBS = (
    "The original gives jobs of high priority their length under PRIORITY alone, so PRIORITY is "
    'compared with policies that saw other jobs (`workload = "as-published"`). In the column '
    "Corrected all policies have the same jobs: how far PRIORITY is ahead or behind there is what "
    "the policy does, and the rest is what the jobs do."
)


@dataclass(frozen=True, slots=True)
class PageSettings:
    """How the runs behind a page were made.

    Attributes:
        command: the command that makes the page.
        replications: runs per cell in random order.
        order_replications: runs per cell in each other order.
        seeds: of the scenarios, usually one.
        versions: package -> version.
    """

    command: str
    replications: int
    order_replications: int
    seeds: tuple[int, ...]
    versions: Mapping[str, str]


def reproduction_page(reproductions: Sequence[Reproduction], settings: PageSettings) -> str:
    """Write the page: settings, a section for each table, a summary of the tables of each kind.

    The text depends on the arguments alone: no dates, no times.
    """
    rows = [reproduction_rows(each) for each in reproductions]
    parts = [
        *_introduction([row for table in rows for row in table]),
        "## How this page was made",
        _settings(settings),
    ]
    for table_rows in rows:
        parts += _table_section(table_rows)
    for kind in _SUMMARISED_IN:
        pairs = zip(reproductions, rows, strict=True)
        same = [table_rows for each, table_rows in pairs if each.table.kind == kind]
        if len(same) > 1:
            parts += _summary_section(kind, [row for table in same for row in table])
    return written_page(settings.command, "Published figures and ours", parts)


def _introduction(rows: Sequence[ReproductionRow]) -> list[str]:
    published = [r.difference_in_standard_errors for r in rows]
    again = [r.difference_from_remeasured for r in rows]
    return [
        "The figures of chapter 4 of Leifsson, thesis, Reykjavik University, 2015, beside those of "
        "the built-in scenarios. "
        f"Of {len(published)} published figures {sum(map(is_conspicuous, published))} differ from "
        f"ours by more than {MOST_ERRORS:g} standard errors; of the {len(again)} figures that the "
        f"original tools give when run again, {sum(map(is_conspicuous, again))} do.",
        "| Column | Meaning |\n| --- | --- |\n"
        "| Published | The figure of the thesis, from 100 runs for each cluster size. |\n"
        "| Re-measured | What the original tools give when run again, from 500 runs for each "
        "cluster size. |\n"
        "| Ours | Under the original's law of choice, `rmc`, messages of one time unit in random "
        "order, with the original's mistakes: priorities decide lengths under PRIORITY alone "
        "(`workload`), and the eviction models are `as_published`. With the half-width of the "
        "95 % interval, as everywhere below. |\n"
        "| Less published, less re-measured | Ours less that figure, in standard errors of the "
        "difference: of our runs and of theirs, whose spread is taken to be that of ours, and of "
        f"rounding to two decimals. More than {MOST_ERRORS:g} is bold and has a remark. |\n"
        "| Fair law | Ours, when the alternatives of a choice are equally likely. It is another "
        "workload, so it is not expected to meet the published figure. |\n"
        "| Corrected | Under the fair law, without the original's mistakes: the same jobs for all "
        "policies, and eviction that loses neither jobs nor AppMasters. |\n"
        "| updates-first, ticks-first, fifo | Ours under the original's law, when messages of one "
        "time unit are served in that order: how much of a figure is the race between messages. |",
        "Where the text of the thesis and the models of its Appendix B differ, the models are "
        "followed. Of equal deadlines, EDF, MDF and PRIORITY take the job in the lowest slot; the "
        "text says the one nearest the back of the queue.",
    ]


def _settings(settings: PageSettings) -> str:
    entries = [
        ("Command", f"`{settings.command}`"),
        ("Runs per cell in random order", f"{settings.replications}"),
        ("Runs per cell in each other order", f"{settings.order_replications}"),
        ("Seed", ", ".join(map(str, settings.seeds))),
        *((f"Version of {name}", version) for name, version in settings.versions.items()),
    ]
    note = (
        "All other settings are those of the scenario files. A cell is one policy on one cluster "
        "size; a figure pools the cluster sizes of its scenario. The same command gives the same "
        "page."
    )
    return f"{markdown_table(('Setting', 'Value'), entries)}\n\n{note}"


def _table_section(rows: Sequence[ReproductionRow]) -> list[str]:
    first = rows[0]
    remarks = list(dict.fromkeys(_remark(row) for row in rows if row.calls_for_a_remark))
    has_corrected = any(row.corrected is not None for row in rows)
    orders = list(first.by_order)
    head = (
        *("Policy", "Figure", "Published", "Re-measured", "Ours"),
        *("Less published", "Less re-measured", "Fair law"),
        *(["Corrected"] if has_corrected else []),
        *orders,
        "Remark",
    )
    lines = [
        (
            row.policy,
            row.metric.title,
            _plain(row.metric, row.published),
            _plain(row.metric, row.remeasured),
            _estimate(row.metric, row.ours),
            _difference(row.difference_in_standard_errors),
            _difference(row.difference_from_remeasured),
            _estimate(row.metric, row.fair),
            *([_estimate(row.metric, row.corrected)] if has_corrected else []),
            *(_estimate(row.metric, row.by_order[order]) for order in orders),
            f"({remarks.index(_remark(row)) + 1})" if row.calls_for_a_remark else "",
        )
        for row in rows
    ]
    notes = [f"({number}) {remark}" for number, remark in enumerate(remarks, start=1)]
    return [
        f"## Table {first.table} ({first.scenario})",
        markdown_table(head, lines),
        *([_OTHER_JOBS] if has_corrected and "PRIORITY" in {row.policy for row in rows} else []),
        *_equal_columns(rows),
        *notes,
    ]


def _equal_columns(rows: Sequence[ReproductionRow]) -> list[str]:
    """Say which variants are the same, digit by digit: their runs share random numbers."""
    notes = []
    if all(row.fair == row.ours for row in rows):
        notes.append(
            "Both laws give the same here: all jobs arrive with a given length, so nothing is left "
            "to choose."
        )
    if all(row.corrected is not None and row.corrected == row.fair for row in rows):
        notes.append("The mistakes of the original have no effect here.")
    return notes


def _remark(row: ReproductionRow) -> str:
    """Why a figure differs. A known reason is one for the published figure only."""
    if is_conspicuous(row.difference_from_remeasured):
        return NO_REASON_KNOWN
    return row.remark or NO_REASON_KNOWN


def _summary_section(kind: str, rows: Sequence[ReproductionRow]) -> list[str]:
    best = [
        (
            f"{each.table} ({each.scenario})",
            each.metric.title,
            _names(each.published),
            _names(each.ours),
            each.agreement,
            _names(each.fair),
        )
        for each in best_policies(rows)
    ]
    means = [
        (
            each.policy,
            each.metric.title,
            _plain(each.metric, each.published),
            _plain(each.metric, each.remeasured),
            _plain(each.metric, each.ours),
            _plain(each.metric, each.fair),
        )
        for each in mean_figures(rows)
    ]
    number, printed = _SUMMARISED_IN[kind]
    return [
        f"## Summary of the {kind} tables",
        f"Derived from the figures above. Table {number} of the thesis has the means of the "
        f"published figures: {printed} of the {len(means)} below are the ones printed there.",
        "The best policies of each scenario. Several are named where they are at most "
        f"{MOST_ERRORS:g} standard errors behind the best figure. Published and ours agree when "
        "they name the same policies, and partly when they share one.",
        markdown_table(("Table", "Figure", "Published", "Ours", "Agree", "Fair law"), best),
        _verdict(best_policies(rows)),
        "Means over the scenarios, each with the same weight:",
        markdown_table(("Policy", "Figure", "Published", "Re-measured", "Ours", "Fair law"), means),
    ]


def _verdict(best: Sequence[BestPolicies]) -> str:
    count = {word: sum(each.agreement == word for each in best) for word in ("yes", "partly", "no")}
    return (
        f"Of {len(best)} comparisons {count['yes']} agree, {count['partly']} partly, "
        f"{count['no']} not."
    )


def _names(policies: Iterable[str]) -> str:
    return ", ".join(policies)


def _plain(metric: Metric, value: float) -> str:
    return format_value(metric, value, PRINTED_DECIMALS)


def _estimate(metric: Metric, value: Estimate | None) -> str:
    return DASH if value is None else format_estimate(metric, value, PRINTED_DECIMALS)


def _difference(value: float | None) -> str:
    if value is None:
        return DASH
    shown = f"{value:+z.1f}"  # no "-0.0"
    return f"**{shown}**" if is_conspicuous(value) else shown

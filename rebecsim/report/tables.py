"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rebecsim.experiments.differences import PairDifference
from rebecsim.experiments.order_sensitivity import OrderEnvelope
from rebecsim.experiments.summary import Summary
from rebecsim.report.hardware import HARDWARE_NOTES, HardwareOverview, overview
from rebecsim.report.notes import abnormal_notes, reading_notes
from rebecsim.report.numbers import best_rows, decimals_for, format_estimate
from rebecsim.report.orders import (
    ORDER_NOTES,
    OrderTable,
    no_orders_note,
    order_sentences,
    order_tables,
)
from rebecsim.report.pairs import by_metric, pair_notes, pair_sentence, power_sentence
from rebecsim.report.precision import precision_notes
from rebecsim.report.report_input import ReportInput

__all__ = [
    "breakdown_table",
    "hardware_view",
    "order_table",
    "order_view",
    "pairs_view",
    "policy_table",
    "report_view",
    "summary_view",
]


def policy_table(summary: Summary, title: str | None = None) -> Table:
    """One row per policy with every metric and its interval.

    The best value of a column is bold and carries an asterisk, so that it stands out without
    colour too.
    """
    # Titles and names are text, not markup: "[bold]" in a title is to be shown as it is written.
    table = Table(title=None if title is None else Text(title, style="table.title"))
    table.add_column("Policy")
    for metric in summary.metrics:
        table.add_column(Text(metric.title), justify="right")
    columns = range(len(summary.metrics))
    decimals = [
        decimals_for(metric, [row.estimates[c] for row in summary.rows])
        for c, metric in enumerate(summary.metrics)
    ]
    best = [best_rows(summary, c) for c in columns]
    for row in summary.rows:
        cells = [Text(row.policy)]
        for c in columns:
            text = format_estimate(summary.metrics[c], row.estimates[c], decimals[c])
            is_best = row.policy in best[c]
            # Both marks have one width, so the digits of a column stay in line.
            cells.append(Text(f"{text} {'*' if is_best else ' '}", style="bold" if is_best else ""))
        table.add_row(*cells)
    return table


def summary_view(summary: Summary, title: str | None = None, has_chance: bool = True) -> Group:
    """The table of policies with the notes that a reader needs, ready for `console.print`."""
    warnings = [Text(f"Warning: {note}", style="yellow") for note in abnormal_notes(summary)]
    return Group(
        policy_table(summary, title), *_notes(reading_notes(summary, has_chance)), *warnings
    )


def pairs_view(differences: Sequence[PairDifference]) -> Group:
    """A sentence for each pair of policies, under the name of each metric, with notes."""
    lines: list[RenderableType] = []
    for metric, pairs in by_metric(differences):
        lines.append(Text(f"Differences: {metric.title}", style="bold"))
        for pair in pairs:
            lines.append(_hanging(Text(pair_sentence(pair)), 2))
            if power := power_sentence(pair):
                lines.append(_hanging(Text(power, style="dim"), 4))
    return Group(*lines, *_notes(pair_notes(differences)))


def order_table(order: OrderTable) -> Table:
    """For each policy the figure in random order, the lowest and the highest."""
    table = Table(title=Text(f"{order.metric.title} by order of messages", style="table.title"))
    table.add_column("Policy")
    for heading in ("Random order", "Lowest (order)", "Highest (order)"):
        table.add_column(heading, justify="right")
    for row in order.rows:
        table.add_row(*map(Text, (row.policy, row.reference, row.lowest, row.highest)))
    return table


def order_view(
    envelopes: Sequence[OrderEnvelope], differences: Mapping[str, Sequence[PairDifference]]
) -> Group:
    """The figures by message order with sentences on what order and policy do; empty for none."""
    if not envelopes:
        return Group()
    sentences = [Text(sentence) for sentence in order_sentences(envelopes, differences)]
    return Group(*map(order_table, order_tables(envelopes)), *sentences, *_notes(ORDER_NOTES))


def breakdown_table(parts: Summary, title: str) -> Table:
    """One row per part of a figure, one column per policy."""
    table = Table(title=Text(title, style="table.title"))
    table.add_column("")
    for row in parts.rows:
        table.add_column(Text(row.policy), justify="right")
    for c, metric in enumerate(parts.metrics):
        estimates = [row.estimates[c] for row in parts.rows]
        decimals = decimals_for(metric, estimates)
        cells = [format_estimate(metric, estimate, decimals) for estimate in estimates]
        table.add_row(*map(Text, (metric.title, *cells)))
    return table


def hardware_view(shown: HardwareOverview) -> Group:
    """One row per policy: energy and utilisation of the largest cluster, and of which parts."""
    table = Table(title=Text(shown.title, style="table.title"))
    table.add_column("Policy")
    for heading in shown.headings:
        table.add_column(heading, justify="right")
    for policy, values in shown.rows:
        table.add_row(*map(Text, (policy, *values)))
    return Group(table, *_notes(HARDWARE_NOTES[:1]))


def report_view(report: ReportInput) -> Group:
    """What a report says in figures, for the terminal; raises as `summarise` does.

    Differences and message orders are shown for the most important metric; all are in the page.
    """
    first = report.metrics[0]
    parts: list[RenderableType] = [summary_view(report.summary, report.title, report.has_chance)]
    if report.precision is not None:
        parts += map(Text, precision_notes(report.precision, report.reached))
    if breakdown := report.parts:
        parts += ["", breakdown_table(breakdown, "Where deadlines were missed (jobs per run)")]
    if differences := [each for each in report.differences if each.metric == first]:
        parts += ["", pairs_view(differences)]
    if envelopes := [each for each in report.envelopes if each.metric == first]:
        parts += ["", order_view(envelopes, report.order_differences)]
    elif note := no_orders_note(report.order):
        parts += ["", *_notes([note])]
    if used := report.hardware_figures:
        parts += ["", hardware_view(overview(used))]
    return Group(*parts)


def _notes(notes: Sequence[str]) -> list[Text]:
    return [Text(note, style="dim") for note in notes]


def _hanging(text: Text, indent: int) -> Padding:
    return Padding(text, (0, 0, 0, indent), expand=False)

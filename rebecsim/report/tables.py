"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rebecsim.report.notes import abnormal_notes, reading_notes
from rebecsim.report.numbers import (
    MOST_COLUMNS,
    best_rows,
    column_heading,
    decimals_for,
    format_estimate,
)
from rebecsim.report.orders import (
    OrderTable,
    no_orders_note,
    order_notes,
    order_sentences,
    order_tables,
)
from rebecsim.report.pairs import by_metric, pair_notes, pair_sentence, power_sentence
from rebecsim.report.precision import precision_notes
from rebecsim.report.report_input import ReportInput
from rebecsim.studies.cell import POLICIES, Compared
from rebecsim.studies.differences import PairDifference
from rebecsim.studies.order_sensitivity import OrderEnvelope
from rebecsim.studies.sections import TextTable
from rebecsim.studies.summary import Summary

__all__ = [
    "order_table",
    "order_view",
    "pairs_view",
    "policy_table",
    "report_view",
    "summary_view",
    "text_table",
]


def policy_table(
    summary: Summary, title: str | None = None, compared: Compared = POLICIES
) -> Table:
    """One row per policy with every metric and its interval; many metrics have rows themselves.

    The best value of a metric is bold and carries an asterisk, so that it stands out without
    colour too.
    """
    # Titles and names are text, not markup: "[bold]" in a title is to be shown as it is written.
    table = Table(title=None if title is None else Text(title, style="table.title"))
    figures = [_figures(summary, column) for column in range(len(summary.metrics))]
    if len(summary.metrics) > MOST_COLUMNS:
        headings, rows = list(summary.policies), figures
        names = [column_heading(metric) for metric in summary.metrics]
    else:
        headings, rows = [metric.title for metric in summary.metrics], _transposed(figures)
        names = list(summary.policies)
    table.add_column(compared.one.capitalize() if names == list(summary.policies) else "")
    for heading in headings:
        table.add_column(Text(heading), justify="right")
    for name, row in zip(names, rows, strict=True):
        table.add_row(Text(name), *row)
    return table


def _figures(summary: Summary, column: int) -> list[Text]:
    """A metric of all policies."""
    metric = summary.metrics[column]
    decimals = decimals_for(metric, [row.estimates[column] for row in summary.rows])
    best = best_rows(summary, column)
    texts = []
    for row in summary.rows:
        text = format_estimate(metric, row.estimates[column], decimals)
        is_best = row.policy in best
        # Both marks have one width, so the digits of a column stay in line.
        texts.append(Text(f"{text} {'*' if is_best else ' '}", style="bold" if is_best else ""))
    return texts


def _transposed(figures: Sequence[Sequence[Text]]) -> list[list[Text]]:
    return [list(row) for row in zip(*figures, strict=True)]


def summary_view(
    summary: Summary,
    title: str | None = None,
    has_chance: bool = True,
    compared: Compared = POLICIES,
) -> Group:
    """The table of policies with the notes that a reader needs, ready for `console.print`."""
    warnings = [Text(f"Warning: {note}", style="yellow") for note in abnormal_notes(summary)]
    return Group(
        policy_table(summary, title, compared),
        *_notes(reading_notes(summary, has_chance)),
        *warnings,
    )


def pairs_view(differences: Sequence[PairDifference], compared: Compared = POLICIES) -> Group:
    """A sentence for each pair of policies, under the name of each metric, with notes."""
    lines: list[RenderableType] = []
    for metric, pairs in by_metric(differences):
        lines.append(Text(f"Differences: {metric.title}", style="bold"))
        for pair in pairs:
            lines.append(_hanging(Text(pair_sentence(pair)), 2))
            if power := power_sentence(pair):
                lines.append(_hanging(Text(power, style="dim"), 4))
    return Group(*lines, *_notes(pair_notes(differences, compared)))


def order_table(order: OrderTable, compared: Compared = POLICIES) -> Table:
    """For each policy the figure in random order, the lowest and the highest."""
    table = Table(title=Text(f"{order.metric.title} by order of messages", style="table.title"))
    table.add_column(compared.one.capitalize())
    for heading in ("Random order", "Lowest (order)", "Highest (order)"):
        table.add_column(heading, justify="right")
    for row in order.rows:
        table.add_row(*map(Text, (row.policy, row.reference, row.lowest, row.highest)))
    return table


def order_view(
    envelopes: Sequence[OrderEnvelope],
    differences: Mapping[str, Sequence[PairDifference]],
    compared: Compared = POLICIES,
    notes: Sequence[str] = (),
) -> Group:
    """The figures by message order with sentences on what order and policy do; empty for none."""
    if not envelopes:
        return Group()
    tables = [order_table(each, compared) for each in order_tables(envelopes)]
    sentences = map(Text, order_sentences(envelopes, differences, compared))
    return Group(*tables, *sentences, *_notes([*notes, *order_notes(envelopes, compared)]))


def text_table(shown: TextTable) -> Table:
    """A table of texts; all but the first column are figures."""
    table = Table(title=Text(shown.title, style="table.title"))
    table.add_column(Text(shown.headings[0]))
    for heading in shown.headings[1:]:
        table.add_column(Text(heading), justify="right")
    for heading, values in shown.rows:
        table.add_row(*map(Text, (heading, *values)))
    return table


def report_view(report: ReportInput) -> Group:
    """What a report says in figures, for the terminal; raises as `summarise` does.

    Differences and message orders are shown for the most important metric; all are in the page.
    """
    first = report.metrics[0]
    parts: list[RenderableType] = []
    for condition, each in report.comparisons.items():
        title = ": ".join(filter(None, (report.title, str(condition))))
        parts += [*([""] if parts else []), _summary_of(each, title)]
        if each.precision is not None:
            parts += map(Text, precision_notes(each.precision, each.reached, each.compared))
        if differences := [pair for pair in each.differences if pair.metric == first]:
            parts += ["", pairs_view(differences, report.compared)]
    if envelopes := [each for each in report.envelopes if each.metric == first]:
        others, compared = report.order_differences, report.compared
        parts += ["", order_view(envelopes, others, compared, report.order_notes)]
    elif report.order and (note := no_orders_note(report.order)):
        parts += ["", *_notes([note])]
    for section in report.sections:
        if section.terminal is not None:
            parts += ["", section.terminal]
    return Group(*parts)


def _summary_of(report: ReportInput, title: str) -> Group:
    return summary_view(report.summary, title, report.has_chance, report.compared)


def _notes(notes: Sequence[str]) -> list[Text]:
    return [Text(note, style="dim") for note in notes]


def _hanging(text: Text, indent: int) -> Padding:
    return Padding(text, (0, 0, 0, indent), expand=False)

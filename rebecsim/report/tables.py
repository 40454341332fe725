"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rebecsim.report.answer import answer_notes, answer_table, answer_text
from rebecsim.report.notes import abnormal_notes, reading_notes
from rebecsim.report.numbers import (
    MOST_COLUMNS,
    ShownFigure,
    column_heading,
    shown_figures,
)
from rebecsim.report.orders import (
    extreme_tables,
    no_orders_note,
    order_notes,
    order_sentences,
)
from rebecsim.report.pairs import by_metric, pair_notes, pair_sentence, power_sentence
from rebecsim.report.precision import precision_notes
from rebecsim.report.report_input import ReportInput
from rebecsim.studies.cell import EVERYWHERE, POLICIES, Compared, Condition
from rebecsim.studies.sections import TextTable
from rebecsim.studies.statistics.differences import PairDifference
from rebecsim.studies.statistics.order_sensitivity import OrderEnvelope
from rebecsim.studies.statistics.summary import Summary

_BORDERS = 3  # a column's line and the blanks beside it


def policy_table(
    summary: Summary, title: str | None = None, compared: Compared = POLICIES
) -> RenderableType:
    """One row per policy with every metric and its interval; many metrics have rows themselves.

    Then policies that do not fit beside each other stand in a table below, with their whole names.
    The best value of a metric is bold and carries an asterisk, so that it stands out without
    colour too.
    """
    # Titles and names are text, not markup: "[bold]" in a title is to be shown as it is written.
    heading = None if title is None else Text(title, style="table.title")
    figures = [[_marked(shown) for shown in row] for row in shown_figures(summary)]
    columns = list(zip(*figures, strict=True))
    if len(summary.metrics) > MOST_COLUMNS:
        names = tuple(map(column_heading, summary.metrics))
        return _WideTable(heading, names, tuple(zip(summary.policies, columns, strict=True)))
    table = Table(title=heading)
    table.add_column(compared.one.capitalize())
    for metric in summary.metrics:
        table.add_column(Text(metric.title), justify="right")
    for name, row in zip(summary.policies, columns, strict=True):
        table.add_row(Text(name), *row)
    return table


@dataclass(frozen=True)
class _WideTable:
    """A table whose columns, each with a name, are divided into blocks that fit the window."""

    title: Text | None
    rows: tuple[str, ...]
    columns: tuple[tuple[str, tuple[Text, ...]], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Give the blocks, one below the other."""
        heading = max(len(word) for row in self.rows for word in row.split())
        block: list[tuple[str, tuple[Text, ...]]] = []
        title, used = self.title, heading + _BORDERS
        for name, texts in self.columns:
            width = max([len(name), *map(len, texts)]) + _BORDERS
            if block and used + width + 1 > options.max_width:
                yield self._block(block, title)
                block, title, used = [], None, heading + _BORDERS
            block.append((name, texts))
            used += width
        yield self._block(block, title)

    def _block(self, columns: Sequence[tuple[str, tuple[Text, ...]]], title: Text | None) -> Table:
        table = Table(title=title)
        table.add_column()
        for name, _ in columns:
            table.add_column(Text(name), justify="right", no_wrap=True)
        for place, row in enumerate(self.rows):
            table.add_row(Text(row), *(texts[place] for _, texts in columns))
        return table


def _marked(shown: ShownFigure) -> Text:
    # Both marks have one width, so the digits of a column stay in line.
    return Text(
        f"{shown.text} {'*' if shown.is_best else ' '}", style="bold" if shown.is_best else ""
    )


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


def order_view(
    envelopes: Sequence[OrderEnvelope],
    differences: Mapping[str, Sequence[PairDifference]],
    compared: Compared = POLICIES,
    condition: Condition = EVERYWHERE,
) -> Group:
    """The figures by message order with sentences on what order and policy do; empty for none."""
    tables = map(text_table, extreme_tables(envelopes, compared, condition))
    sentences = map(Text, order_sentences(envelopes, differences, compared, condition))
    return Group(*tables, *sentences)


def text_table(shown: TextTable) -> Table:
    """A table of texts; all but the first column are figures."""
    table = Table(title=Text(shown.title, style="table.title") if shown.title else None)
    table.add_column(Text(shown.headings[0]), overflow="fold")
    for heading in shown.headings[1:]:
        table.add_column(Text(heading), justify="right", overflow="fold")
    for heading, values in shown.rows:
        table.add_row(*map(Text, (heading, *values)))
    return table


def report_view(report: ReportInput) -> Group:
    """What a report says in figures, for the terminal; raises as `summarise` does.

    The answer comes first, and who leads under each condition where that differs.
    Differences and message orders are shown for the most important metric; all are in the page.
    """
    first, answer = report.metrics[0], report.answer
    parts: list[RenderableType] = [Text(answer_text(report))]
    if answer.varies:
        parts += ["", text_table(answer_table(answer, report.axis))]
    parts += _notes(answer_notes(answer, report.compared))
    for condition, each in report.comparisons.items():
        title = ": ".join(filter(None, (report.title, str(condition))))
        parts += ["", _summary_of(each, title)]
        parts += map(Text, precision_notes(each.reached, each.compared))
        if differences := [pair for pair in each.differences if pair.metric == first]:
            parts += ["", pairs_view(differences, report.compared)]
    if report.orders:
        for condition, each in report.comparisons.items():
            envelopes = [found for found in each.envelopes if found.metric == first]
            view = order_view(envelopes, each.order_differences, report.compared, condition)
            parts += ["", view]
        parts += _notes([*report.order_notes, *order_notes([first], report.compared)])
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

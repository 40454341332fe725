"""Tables of a comparison for the terminal, cut to what fits a screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from rebecsim.report.answer import (
    abnormal_notes,
    answer_notes,
    answer_table,
    answer_text,
    precision_notes,
    reading_notes,
)
from rebecsim.report.differences import (
    by_metric,
    extreme_tables,
    no_orders_note,
    order_notes,
    order_sentences,
    pair_notes,
    pair_sentence,
    power_sentence,
)
from rebecsim.report.numbers import (
    MOST_COLUMNS,
    ShownFigure,
    column_heading,
    shown_figures,
)
from rebecsim.studies.cells import POLICIES, Compared, TextTable
from rebecsim.studies.differences import PairDifference
from rebecsim.studies.summary import Summary

if TYPE_CHECKING:
    from rebecsim.report.comparison import ReportInput
    from rebecsim.workloads.summary import Distribution

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
        right = (Column(Text(name), justify="right", no_wrap=True) for name, _ in columns)
        table = Table("", *right, title=title)
        for place, row in enumerate(self.rows):
            table.add_row(Text(row), *(texts[place] for _, texts in columns))
        return table


def _marked(shown: ShownFigure) -> Text:
    # Both marks have one width, so the digits of a column stay in line.
    return Text(
        f"{shown.text} {'*' if shown.is_best else ' '}", style="bold" if shown.is_best else ""
    )


def _pair_lines(differences: Sequence[PairDifference], where: str) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for metric, pairs in by_metric(differences):
        heading = ": ".join(filter(None, ("Differences", metric.title, where)))
        lines.append(Text(heading, style="bold"))
        for pair in pairs:
            lines.append(_hanging(Text(pair_sentence(pair)), 2))
            if power := power_sentence(pair):
                lines.append(_hanging(Text(power, style="dim"), 4))
    return lines


def text_table(shown: TextTable) -> Table:
    """A table of texts; all but the first column are figures."""
    table = Table(title=Text(shown.title, style="table.title") if shown.title else None)
    table.add_column(Text(shown.headings[0]), overflow="fold")
    for heading in shown.headings[1:]:
        table.add_column(Text(heading), justify="right", overflow="fold")
    for heading, values in shown.rows:
        table.add_row(*map(Text, (heading, *values)))
    return table


def report_view(report: ReportInput, explain: bool = False) -> RenderableType:
    """Give the figures of a report for the terminal; raises as `summarise` does.

    The answer comes first, and who leads under each condition where that differs. As much of the
    rest follows as fits on a screen; with `explain` all of it, and how it was computed.
    Differences and message orders are shown for the most important metric; all are in the page.
    """
    first, answer = report.metrics[0], report.answer
    table = [text_table(answer_table(answer, report.axis))] if answer.varies else []
    leading = report.leading
    if leading is not None and not leading.leads_terminal:
        leading = None
    answers = Text(answer_text(report)) if leading is None else leading.terminal
    parts = [
        _Part(0, [answers]),
        *(
            _Part(1, [view], name=name)
            for name, view in ({} if leading is None else leading.further).items()
        ),
        _Part(1, table, answer_notes(answer, report.compared)),
    ]
    compared = report.comparisons if leading is None or explain else {}
    for number, (condition, each) in enumerate(compared.items()):
        title = ": ".join(filter(None, (report.title, str(condition))))
        parts.append(_summary_part(each, title, 5 if number else 2))
        if reached := precision_notes(each.reached, each.compared):
            parts.append(_Part(1, list(map(Text, reached))))
        if differences := [pair for pair in each.differences if pair.metric == first]:
            notes = pair_notes(differences, each.compared)
            to_best = _pair_lines(_of_the_best(differences, each.summary), str(condition))
            all_pairs = _pair_lines(differences, str(condition))
            parts.append(_Part(6 if number else 3, all_pairs, notes, to_best))
    if report.orders:
        parts += _order_parts(report)
    elif report.order and (note := no_orders_note(report.order)):
        parts.append(_Part(9, [], [note]))
    for section in report.sections:
        if section.terminal is not None and section is not leading:
            parts.append(_Part(2, [section.terminal]))
    if explain:
        return Group(*_spaced(parts))
    return _Brief(tuple(each for each in parts if each.views))


@dataclass(frozen=True)
class _Part:
    """A part of the output: its content, its rank (0 comes first), its method, and its name.

    A part with a name is named where it does not fit.
    """

    rank: int
    views: Sequence[RenderableType]
    notes: Sequence[str] = ()
    most: Sequence[RenderableType] = ()  # the most important of `views`; empty: all
    name: str = ""

    @property
    def brief(self) -> RenderableType:
        """The part without what explains it."""
        return Group(*(self.most or self.views))


def _order_parts(report: ReportInput) -> Iterator[_Part]:
    """Say how the order of messages changes the first figure, for each comparison."""
    first, compared = report.metrics[0], report.compared
    for condition, each in report.comparisons.items():
        if found := [envelope for envelope in each.envelopes if envelope.metric == first]:
            differences = each.order_differences
            sentences = order_sentences(found, differences, compared, condition)
            yield _Part(4, list(map(Text, sentences)))
            yield _Part(8, list(map(text_table, extreme_tables(found, compared, condition))))
    yield _Part(9, [], [*report.order_notes, *order_notes([first], compared)])


def _of_the_best(differences: Sequence[PairDifference], summary: Summary) -> list[PairDifference]:
    """Give the differences to the policies that have the best figure; all if there are few."""
    if len(differences) <= _MOST_PAIRS:
        return list(differences)
    marked = zip(summary.policies, shown_figures(summary)[0], strict=True)
    best = {policy for policy, shown in marked if shown.is_best}
    return [pair for pair in differences if best.intersection((pair.first, pair.second))]


def _spaced(parts: Sequence[_Part]) -> list[RenderableType]:
    views: list[RenderableType] = []
    for each in parts:
        views += ["", *each.views, *_notes(each.notes)]
    return views[1:]


_MOST_PAIRS = 3
_MOST_NAMED = 2
MOST_LINES = 36
"""Lines of an answer that is not asked to explain itself; the places of files follow."""


@dataclass(frozen=True)
class _Brief:
    """The parts that fit on a screen, the most important ones first."""

    parts: tuple[_Part, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Give the parts in their order, and say what is left out."""
        left, chosen = MOST_LINES, set()
        for part in sorted(self.parts, key=lambda each: each.rank):
            height = len(console.render_lines(part.brief, options)) + 1
            if height <= left or part.rank == 0:
                chosen.add(id(part))
                left -= height
        shown = [each for each in self.parts if id(each) in chosen]
        for number, each in enumerate(shown):
            if number:
                yield ""
            yield each.brief
        is_whole = len(shown) == len(self.parts)
        more = "How this was computed" if is_whole else "More figures, and how all were computed"
        if named := [each.name for each in self.parts if each.name and id(each) not in chosen]:
            most = f"{len(named)} more conditions" if len(named) > _MOST_NAMED else ", ".join(named)
            more = f"{most[0].upper()}{most[1:]}, {more[0].lower()}{more[1:]}"
        yield Text(f"{more}: --explain, or the report.", style="dim")


def _summary_part(report: ReportInput, title: str, rank: int) -> _Part:
    table = policy_table(report.summary, title, report.compared)
    warnings = [Text(f"Warning: {n}", style="yellow") for n in abnormal_notes(report.summary)]
    return _Part(rank, [table, *warnings], reading_notes(report.summary, report.has_chance))


def _notes(notes: Sequence[str]) -> list[Text]:
    return [Text(note, style="dim") for note in notes]


def _hanging(text: Text, indent: int) -> Padding:
    return Padding(text, (0, 0, 0, indent), expand=False)


_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def duration_text(seconds: float) -> str:
    """Write a duration with its two largest units: `35s`, `2h 43m`, `340d 5h`."""
    whole = round(seconds)
    if whole >= _DAY:
        return f"{whole // _DAY}d {whole % _DAY // _HOUR}h"
    if whole >= _HOUR:
        return f"{whole // _HOUR}h {whole % _HOUR // _MINUTE}m"
    if whole >= _MINUTE:
        return f"{whole // _MINUTE}m {whole % _MINUTE}s"
    return f"{round(seconds, 1):g}s"


def distribution_table(distributions: Sequence[Distribution]) -> Table:
    """One row per column of a workload: its mean, and where its values lie."""
    headings = ("", "mean", "least", "25 %", "median", "75 %", "95 %", "most")
    rows = []
    for each in distributions:
        name, unit, _, *values = astuple(each)
        shown = [duration_text(v) if unit == "s" else _number(v) for v in values]
        rows.append((name + (f" ({unit})" if unit not in ("", "s") else ""), tuple(shown)))
    return text_table(TextTable("", headings, tuple(rows)))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) or value >= 1000 else f"{value:,.1f}"

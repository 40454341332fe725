"""The report as one HTML page that needs no network."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from rebecsim.metrics import Metric
from rebecsim.report.answer import answer_notes, answer_table, answer_text
from rebecsim.report.charts.interactive import CONFIG, DARK_COLOURS, plotly_figure
from rebecsim.report.charts.series import ChartData
from rebecsim.report.notes import abnormal_notes, interval_notes, rare_notes, reading_notes
from rebecsim.report.numbers import (
    MOST_COLUMNS,
    ShownFigure,
    column_heading,
    format_estimates,
    level_text,
    shown_figures,
)
from rebecsim.report.orders import (
    no_orders_note,
    order_notes,
    order_sentences,
    order_tables,
)
from rebecsim.report.pairs import (
    by_metric,
    method_notes,
    pair_notes,
    pair_sentence,
    power_sentence,
)
from rebecsim.report.precision import precision_notes
from rebecsim.report.report_input import ReportInput
from rebecsim.report.templates import page_template
from rebecsim.studies.cell import Compared, Condition
from rebecsim.studies.sections import TextTable
from rebecsim.studies.statistics.differences import PairDifference
from rebecsim.studies.statistics.summary import Summary

_CHOICE_LAWS = {
    "fair": "all alternatives of a choice ?(...) are equally likely",
    "rmc": (
        "the law of RMC's generated trace simulator: of k alternatives the last one has "
        "probability 2/(k + 1), every other one 1/(k + 1)"
    ),
}


@dataclass(frozen=True, slots=True)
class _Results:
    """The table of policies: a row for each, or a column where there are many measures."""

    corner: str
    headings: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, Sequence[ShownFigure]], ...]


@dataclass(frozen=True, slots=True)
class _Figure:
    data: ChartData
    description: str
    plotly: str
    still: str


@dataclass(frozen=True, slots=True)
class _Comparison:
    """What is said of policies under one condition."""

    title: str
    results: _Results
    notes: tuple[str, ...]
    pairs: list[tuple[Metric, list[PairDifference]]]
    pair_notes: tuple[str, ...]


def render_html(
    report: ReportInput,
    charts: Sequence[ChartData],
    stills: Sequence[bytes],
    pictures: Mapping[str, bytes],
) -> str:
    """Render the page.

    plotly.js is part of the page, once, if there are charts for it. A content security policy
    forbids the page every connection, so opening a report never tells anyone. Without JavaScript,
    and in print, SVG pictures take the place of the interactive charts.

    Args:
        report: what to report; all its text is escaped.
        charts: one per metric along the axis.
        stills: the same charts as SVG files.
        pictures: those of the sections by their names, as SVG files.
    """
    comparisons = report.comparisons
    first = next(iter(comparisons.values()))
    leading = report.leading
    others = [each for each in report.sections if each.is_shown and each is not leading]
    first_shown = others if leading is None else [leading]
    pictured = next((picture for each in first_shown for picture in each.pictures), None)
    return page_template("report.html.j2").render(
        report=report,
        axis=report.axis,
        answer=answer_text(report),
        answer_tables=[answer_table(report.answer, report.axis)] if report.answer.varies else [],
        facts=_facts(report),
        paragraphs=[p.strip() for p in report.description.split("\n\n") if p.strip()],
        level=level_text(report.level),
        comparisons=[_comparison(condition, each) for condition, each in comparisons.items()],
        metrics=report.metrics,
        pair_sentence=pair_sentence,
        power_sentence=power_sentence,
        leading=leading,
        sections=others,
        hero=None if charts else pictured,
        sources={name: _svg_address(content) for name, content in pictures.items()},
        axis_tables=list(_axis_tables(report)),
        axis_notes=_axis_notes(report),
        figures=[_figure(c, s) for c, s in zip(charts, stills, strict=True)],
        plotly_config=script_json(CONFIG),
        dark_colours=script_json(DARK_COLOURS),
        plotly_js=_plotly() if charts else "",
        scenario_rows=list(scenario_rows(report.scenario)),
        choice_law=report.choice_law and choice_law_text(report.choice_law),
        abnormal_notes=[
            note for each in comparisons.values() for note in abnormal_notes(each.summary)
        ],
        interval_notes=interval_notes(first.summary)
        + answer_notes(report.answer, report.compared)
        + method_notes(first.differences, report.compared),
        order_tables=[
            table
            for condition, each in comparisons.items()
            for table in order_tables(each.envelopes, report.compared, condition)
        ],
        order_sentences=[
            sentence
            for condition, each in comparisons.items()
            for sentence in order_sentences(
                each.envelopes, each.order_differences, report.compared, condition
            )
        ],
        order_notes=[*report.order_notes, *order_notes(report.metrics, report.compared)],
        no_orders_note=report.order and no_orders_note(report.order),
    )


def _plotly() -> str:
    # Imported here: a report in the terminal does not need it.
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def _comparison(condition: Condition, report: ReportInput) -> _Comparison:
    summary, differences = report.summary, report.differences
    notes = precision_notes(report.reached, report.compared)
    notes += reading_notes(summary, report.has_chance)
    return _Comparison(
        title=str(condition),
        results=_results(summary, report.compared),
        notes=tuple(notes),
        pairs=by_metric(differences),
        pair_notes=tuple(pair_notes(differences, report.compared)),
    )


def _facts(report: ReportInput) -> tuple[str, ...]:
    """How much there is: policies, places of the axis, conditions, runs."""
    first = next(iter(report.comparisons.values())).summary
    counts = [(len(first.policies), *report.compared)]
    if report.axis is not None:
        by = report.axis.name.replace("_", " ")
        counts.append((len(next(iter(report.by_axis.values())).places), by, f"{by}s"))
    if not report.apart and any(each.coordinates for each in first.workloads):
        counts.append((len(first.workloads), "workload", "workloads"))
    facts = [f"{count} {one if count == 1 else many}" for count, one, many in counts]
    return (*facts, f"{sum(each.replications for each in report.moments):,} runs in all")


def choice_law_text(law: str) -> str:
    """The name of a choice law with what it says, when it is a known one."""
    return f"{law}: {_CHOICE_LAWS[law]}" if law in _CHOICE_LAWS else law


def scenario_rows(scenario: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """A configuration as (setting, value) rows in the order of its keys.

    Nested tables are flattened ("High priority: length"); of a list of tables with a `label` the
    labels are shown. Title and description are left out, they head the page.
    """
    for key, value in scenario.items():
        if not prefix and key in {"title", "description"}:
            continue
        words = key.replace("_", " ")
        name = f"{prefix}: {words}" if prefix else words[:1].upper() + words[1:]
        if isinstance(value, Mapping) and value:
            yield from scenario_rows(value, name)
        elif isinstance(value, list | tuple):
            yield name, "; ".join(_plain(item) for item in value) or "none"
        else:
            yield name, _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        if isinstance(value.get("label"), str):
            return str(value["label"])
        return ", ".join(f"{key.replace('_', ' ')} {_plain(v)}" for key, v in value.items())
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(_plain(item) for item in value)
    return str(value)


def _results(summary: Summary, compared: Compared) -> _Results:
    """The figures of all policies, a row for each policy, or for each measure if there are many."""
    figures, metrics = shown_figures(summary), summary.metrics
    if len(metrics) > MOST_COLUMNS:
        headings = tuple((policy, "") for policy in summary.policies)
        rows = tuple(zip(map(column_heading, metrics), figures, strict=True))
        return _Results("Figure", headings, rows)
    headings = tuple((metric.title, _unit(metric)) for metric in metrics)
    of_policies = zip(summary.policies, zip(*figures, strict=True), strict=True)
    return _Results(compared.one.capitalize(), headings, tuple(of_policies))


def _unit(metric: Metric) -> str:
    of = "% of " if metric.is_share else ""
    better = "" if metric.better == "neither" else f"{metric.better} is better"
    return ", ".join(filter(None, (f"{of}{metric.unit}", better)))


def _axis_tables(report: ReportInput) -> Iterator[TextTable]:
    """Tables of each measure under each condition: a row per policy, a column per place."""
    for condition, summary in report.by_axis.items():
        headings = (report.compared.one.capitalize(), *(f"{place:g}" for place in summary.places))
        for c, metric in enumerate(summary.metrics):
            texts = iter(format_estimates(metric, [p.estimates[c] for p in summary.points]))
            rows = tuple(
                (policy, tuple(islice(texts, len(summary.points_of(policy)))))
                for policy in summary.policies
            )
            yield TextTable(metric.title, headings, rows).under(condition)


def _axis_notes(report: ReportInput) -> list[str]:
    """Notes on figures of few runs, a line for each of them once."""
    if not report.has_chance:
        return []
    notes: dict[str, None] = {}
    for condition, summary in report.by_axis.items():
        where = f", {condition}" if condition.coordinates else ""
        points = [(f"{p.policy} with {p.at:g}{where}", p.estimates) for p in summary.points]
        notes |= dict.fromkeys(rare_notes(summary.metrics, points))
    return list(notes)


def _figure(chart: ChartData, still: bytes) -> _Figure:
    ends = "; ".join(
        f"{line.policy} from {line.labels[0]} to {line.labels[-1]}" for line in chart.series
    )
    return _Figure(
        data=chart,
        description=(
            f"{chart.title} against {chart.axis.name.replace('_', ' ')}, {chart.places[0]:g} to "
            f"{chart.places[-1]:g} {chart.axis.unit}: {ends}. All values are in the tables."
        ),
        plotly=script_json(plotly_figure(chart)),
        still=_svg_address(still),
    )


def _svg_address(picture: bytes) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(picture).decode("ascii")


def script_json(value: Any) -> str:
    """JSON that may stand inside a script element: no text in it can end the element."""
    text = json.dumps(value, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

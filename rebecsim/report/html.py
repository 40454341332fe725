"""The report as one HTML page that needs no network."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rebecsim.experiments.differences import PairDifference
from rebecsim.experiments.summary import Summary
from rebecsim.report.hardware import HARDWARE_NOTES, app_master_table, size_tables
from rebecsim.report.interactive import CONFIG, plotly_figure
from rebecsim.report.notes import abnormal_notes, interval_notes, rare_notes, reading_notes
from rebecsim.report.numbers import best_rows, decimals_for, format_estimate, level_text
from rebecsim.report.orders import (
    ORDER_NOTES,
    no_orders_note,
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
from rebecsim.report.series import ChartData
from rebecsim.report.templates import page_template
from rebecsim.report.utilisation import UtilisationChart

__all__ = ["choice_law_text", "render_html", "scenario_rows", "script_json"]

_CHOICE_LAWS = {
    "fair": "all alternatives of a choice ?(...) are equally likely",
    "rmc": (
        "the law of RMC's generated trace simulator: of k alternatives the last one has "
        "probability 2/(k + 1), every other one 1/(k + 1)"
    ),
}


@dataclass(frozen=True, slots=True)
class _Value:
    text: str
    is_best: bool = False


@dataclass(frozen=True, slots=True)
class _Row:
    heading: str
    values: tuple[_Value, ...]


@dataclass(frozen=True, slots=True)
class _SizeTable:
    """One metric by cluster size: a row per policy, a column per size."""

    title: str
    rows: tuple[_Row, ...]


@dataclass(frozen=True, slots=True)
class _Pair:
    sentence: str
    power: str | None
    is_shown: bool


@dataclass(frozen=True, slots=True)
class _PairList:
    """One metric: a sentence for every two policies."""

    title: str
    pairs: tuple[_Pair, ...]


@dataclass(frozen=True, slots=True)
class _Figure:
    data: ChartData
    description: str
    plotly: str
    still: str


@dataclass(frozen=True, slots=True)
class _Picture:
    """A chart that is a picture on the screen too."""

    data: UtilisationChart
    source: str


def render_html(
    report: ReportInput,
    summary: Summary,
    by_size: Summary,
    charts: Sequence[ChartData],
    stills: Sequence[bytes],
    over_time: Sequence[tuple[UtilisationChart, bytes]] = (),
) -> str:
    """Render the page.

    plotly.js is part of the page, once. A content security policy forbids it every connection, so
    opening a report never tells anyone. Without JavaScript, and in print, SVG pictures take the
    place of the interactive charts.

    Args:
        report: what to report; all its text is escaped.
        summary: its results.
        by_size: what is shown by cluster size.
        charts: one per metric of `by_size`.
        stills: the same charts as SVG files.
        over_time: utilisation over time with its SVG file, one per policy that was traced.
    """
    # Imported here: a report in the terminal does not need it.
    from plotly.offline import get_plotlyjs

    template = page_template("report.html.j2")
    differences, envelopes, parts = report.differences, report.envelopes, report.parts
    used = report.hardware_figures
    return template.render(
        report=report,
        paragraphs=[p.strip() for p in report.description.split("\n\n") if p.strip()],
        summary=summary,
        level=level_text(summary.level),
        policy_rows=_policy_rows(summary),
        size_tables=[_size_table(by_size, column) for column in range(len(by_size.metrics))],
        size_notes=rare_notes(
            by_size.metrics,
            [(f"{p.policy} with {p.app_masters}", p.estimates) for p in by_size.points],
        ),
        parts=parts,
        part_rows=_policy_rows(parts) if parts else [],
        figures=[_figure(c, s) for c, s in zip(charts, stills, strict=True)],
        plotly_config=script_json(CONFIG),
        plotly_js=get_plotlyjs(),
        scenario_rows=list(scenario_rows(report.scenario)),
        choice_law=choice_law_text(report.choice_law),
        reading_notes=reading_notes(summary, report.has_chance),
        abnormal_notes=abnormal_notes(summary),
        interval_notes=interval_notes(summary) + method_notes(differences),
        pair_lists=_pair_lists(differences),
        pair_notes=pair_notes(differences),
        order_tables=order_tables(envelopes),
        order_sentences=order_sentences(envelopes, report.order_differences),
        order_notes=ORDER_NOTES,
        no_orders_note=no_orders_note(report.order),
        precision_notes=precision_notes(report.precision, report.reached)
        if report.precision
        else (),
        hardware_sizes=size_tables(used) if used else (),
        app_masters=app_master_table(used, report.hardware) if used and report.hardware else None,
        hardware_notes=HARDWARE_NOTES
        if any(each.cluster.energy for each in used)
        else HARDWARE_NOTES[:1],
        utilisation=[_Picture(chart, _svg_address(still)) for chart, still in over_time],
    )


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


def _policy_rows(summary: Summary) -> list[_Row]:
    columns = range(len(summary.metrics))
    best = [best_rows(summary, column) for column in columns]
    decimals = [
        decimals_for(summary.metrics[c], [row.estimates[c] for row in summary.rows])
        for c in columns
    ]
    return [
        _Row(
            row.policy,
            tuple(
                _Value(
                    format_estimate(summary.metrics[c], row.estimates[c], decimals[c]),
                    row.policy in best[c],
                )
                for c in columns
            ),
        )
        for row in summary.rows
    ]


def _size_table(summary: Summary, column: int) -> _SizeTable:
    metric = summary.metrics[column]
    decimals = decimals_for(metric, [point.estimates[column] for point in summary.points])
    rows = tuple(
        _Row(
            policy,
            tuple(
                _Value(format_estimate(metric, point.estimates[column], decimals))
                for point in summary.points_of(policy)
            ),
        )
        for policy in summary.policies
    )
    return _SizeTable(metric.title, rows)


def _pair_lists(differences: Sequence[PairDifference]) -> list[_PairList]:
    return [
        _PairList(
            metric.title,
            tuple(_Pair(pair_sentence(p), power_sentence(p), p.is_shown) for p in pairs),
        )
        for metric, pairs in by_metric(differences)
    ]


def _figure(chart: ChartData, still: bytes) -> _Figure:
    ends = "; ".join(
        f"{line.policy} from {line.labels[0]} to {line.labels[-1]}" for line in chart.series
    )
    return _Figure(
        data=chart,
        description=(
            f"{chart.title} against cluster size, {chart.sizes[0]} to {chart.sizes[-1]} "
            f"AppMasters: {ends}. All values are in the tables by cluster size."
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

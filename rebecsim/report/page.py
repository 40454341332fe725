"""Write a report to a directory: its page, its CSV files and its charts."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rebecsim.files import REPORT, LimitError, inside, read_json, write_atomically
from rebecsim.metrics import Metric
from rebecsim.report.answer import (
    abnormal_notes,
    answer_notes,
    answer_table,
    answer_text,
    interval_notes,
    precision_notes,
    rare_notes,
    reading_notes,
)
from rebecsim.report.comparison import ReportInput
from rebecsim.report.differences import (
    by_metric,
    method_notes,
    no_orders_note,
    order_notes,
    order_sentences,
    order_tables,
    pair_notes,
    pair_sentence,
    power_sentence,
)
from rebecsim.report.figures import FORMS, HEADING, render_figure
from rebecsim.report.line_charts import (
    CONFIG,
    DARK_COLOURS,
    ChartData,
    chart_figure,
    charts_along,
    plotly_figure,
)
from rebecsim.report.numbers import (
    DASH,
    FigureTable,
    by_axis_csv,
    figure_table,
    format_estimates,
    level_text,
    orders_csv,
    pairs_csv,
    table_csv,
)
from rebecsim.studies.cells import Condition, Picture, TextTable
from rebecsim.studies.differences import PairDifference
from rebecsim.studies.executors import Executor, ThisProcess
from rebecsim.studies.run_directory import LISTED, require_reportable

if TYPE_CHECKING:
    from jinja2 import Template
    from matplotlib.figure import Figure


def page_template(name: str) -> Template:
    """Load a template of this package; everything that it shows is escaped."""
    # Imported here: a report in the terminal does not need it.
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rebecsim.report", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


_CHOICE_LAWS = {
    "fair": "all alternatives of a choice ?(...) are equally likely",
    "rmc": (
        "the law of RMC's generated trace simulator: of k alternatives the last one has "
        "probability 2/(k + 1), every other one 1/(k + 1)"
    ),
}


@dataclass(frozen=True, slots=True)
class _Figure:
    data: ChartData
    description: str
    plotly: str
    still: str


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The part of the page about one condition."""

    title: str
    results: FigureTable
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
        is_figure=is_figure,
        pair_sentence=pair_sentence,
        power_sentence=power_sentence,
        leading=leading,
        sections=others,
        hero=None if charts and leading is None else pictured,
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


def is_figure(text: str) -> bool:
    """Whether a text of a table is a number, a share or a dash, which stand at the right."""
    return text.lstrip("-+<")[:1].isdigit() or text in ("", DASH)


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
        results=figure_table(summary, report.compared),
        notes=tuple(notes),
        pairs=by_metric(differences),
        pair_notes=tuple(pair_notes(differences, report.compared)),
    )


def _facts(report: ReportInput) -> tuple[str, ...]:
    """Say how much was run: policies, places of the axis, conditions, runs."""
    first = next(iter(report.comparisons.values())).summary
    counts = [(len(first.policies), *report.compared)]
    if report.axis is not None:
        by = report.axis.name.replace("_", " ")
        counts.append((len(next(iter(report.by_axis.values())).places), by, f"{by}s"))
    if not report.separate and any(each.coordinates for each in first.workloads):
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
    return _Figure(
        data=chart,
        description=(
            f"{chart.title} against {chart.axis.name.replace('_', ' ')}, {chart.places[0]:g} to "
            f"{chart.places[-1]:g} {chart.axis.unit}: {chart.ends}. All values are in the tables."
        ),
        plotly=script_json(plotly_figure(chart)),
        still=_svg_address(still),
    )


def _svg_address(picture: bytes) -> str:
    """Give the address of a picture in the page, which says itself what the picture asks."""
    picture = picture.replace(_STYLE, _STYLE + f"#{HEADING}{{display:none}}".encode(), 1)
    return "data:image/svg+xml;base64," + base64.b64encode(picture).decode("ascii")


def script_json(value: Any) -> str:
    """JSON that may stand inside a script element: no text in it can end the element."""
    text = json.dumps(value, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


_CHART_DOTS_PER_INCH = 200
_HEADING_WIDTH = 80  # characters
_STYLE = b'<style type="text/css">'


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """Where the files of a report are.

    Attributes:
        html: the page.
        data: CSV files.
        charts: PNG and SVG of every chart and picture.
    """

    html: Path
    data: tuple[Path, ...]
    charts: tuple[Path, ...]


def write_report(
    report: ReportInput, out_dir: Path, executor: Executor | None = None
) -> WrittenReport:
    """Write `report.html`, `table.csv`, further CSV files and `charts/NAME.{svg,png}`.

    There is `by_AXIS.csv` where there is an axis, `pairs.csv` where policies were compared run by
    run, `orders.csv` where the cells were run in several message orders, and what the sections of
    the kind bring. A file that an earlier report left and this one has not is removed.

    Everything is rendered before the first file is written, and each file appears under its name
    only when it is complete.

    Args:
        report: what to report.
        out_dir: directory for the files; made when it does not exist.
        executor: draws the pictures while this thread does the rest; None: this thread draws.

    Raises:
        OSError: when the directory cannot be made or written, or a file in it is a symbolic link.
        ResultsError: when the directory holds other files, and neither a run nor a report.
        ValueError: when the results are incomplete (see `summarise`, `pairwise_differences` and
            `order_envelopes`).
    """
    require_reportable(out_dir)
    charts = charts_along(report)
    pictures = [picture for section in report.sections for picture in section.pictures]
    drawn = (executor or ThisProcess()).map(
        partial(_rendered, report.title), [*(partial(_chart, chart) for chart in charts), *pictures]
    )
    texts = _texts(report)
    names = [*(chart.name for chart in charts), *(picture.name for picture in pictures)]
    contents = dict(zip(names, drawn, strict=True))
    stills = {name: forms[".svg"] for name, forms in contents.items()}
    page = render_html(report, charts, [stills[chart.name] for chart in charts], stills)
    files = {
        f"charts/{name}{form}": content
        for name, forms in contents.items()
        for form, content in forms.items()
    }
    files |= {name: text.encode() for name, text in texts.items()}
    files["report.html"] = page.encode()
    places = {inside(out_dir, name): content for name, content in files.items()}
    listed = inside(out_dir, LISTED)
    inside(out_dir, "charts").mkdir(parents=True, exist_ok=True)
    for place, content in places.items():
        write_atomically(place, content)
    _remove_left(out_dir, listed, files)
    return WrittenReport(
        html=out_dir / "report.html",
        data=tuple(out_dir / name for name in texts),
        charts=tuple(out_dir / f"charts/{name}{form}" for name in names for form in FORMS),
    )


def report_pictures(report: ReportInput) -> list[Picture]:
    """Give all that is drawn: the charts along the axis, then what the sections bring."""
    charts = [_chart(chart) for chart in charts_along(report)]
    return [*charts, *(picture for section in report.sections for picture in section.pictures)]


def _texts(report: ReportInput) -> dict[str, str]:
    comparisons = report.comparisons
    texts: dict[str, str | None] = {"table.csv": table_csv(comparisons)}
    if report.axis is not None:
        texts[f"by_{report.axis.name}.csv"] = by_axis_csv(report.by_axis, report.axis)
    texts["pairs.csv"] = pairs_csv(comparisons)
    texts["orders.csv"] = orders_csv(comparisons) if report.orders else None
    for section in report.sections:
        texts |= section.files
    return {name: text for name, text in texts.items() if text is not None}


def _chart(chart: ChartData) -> Picture:
    return Picture(
        chart.name, chart.question, "", partial(chart_figure, chart), _CHART_DOTS_PER_INCH
    )


def _rendered(title: str, what: Picture | partial[Picture]) -> dict[str, bytes]:
    picture = what() if isinstance(what, partial) else what
    return render_figure(partial(_headed, picture, title), dots_per_inch=picture.dots_per_inch)


def _headed(picture: Picture, title: str) -> Figure:
    """Draw a picture; what it asks takes the place of a heading that says only what was run."""
    figure = picture.draw()
    heading = figure.get_suptitle().replace("\n", " ")
    asks = any(axes.title.get_gid() == HEADING for axes in figure.axes)
    if picture.title and not asks and (not heading or heading.startswith((title, picture.title))):
        rest = heading.removeprefix(title).removeprefix(picture.title)
        asked = "\n".join(wrap(f"{picture.title}{rest}", _HEADING_WIDTH))
        figure.suptitle(asked, fontsize=12, parse_math=False).set_gid(HEADING)
    return figure


def _remove_left(out_dir: Path, listed: Path, files: Mapping[str, bytes]) -> None:
    """Remove the files of an earlier report that this one did not write; list the present ones."""
    before: object = []
    with suppress(FileNotFoundError, ValueError, LimitError):
        before = read_json(listed, limit=REPORT, plain=True)
    known = {path.relative_to(out_dir).as_posix() for path in (out_dir / "charts").glob("*.???")}
    known |= {path.name for path in out_dir.glob("*.csv")}
    for name in known - files.keys():  # so that nothing else is ever removed
        if isinstance(before, list) and name in before:
            (out_dir / name).unlink(missing_ok=True)
    write_atomically(listed, json.dumps(sorted(files)).encode())

"""Write a report to a directory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rebecsim.files import inside, write_atomically
from rebecsim.limits import REPORT, LimitError, read_json
from rebecsim.report.charts.figures import FORMS, render_figure
from rebecsim.report.charts.printed import chart_figure
from rebecsim.report.charts.series import ChartData, charts_along
from rebecsim.report.csv import by_axis_csv, orders_csv, pairs_csv, table_csv
from rebecsim.report.html import render_html
from rebecsim.report.report_input import ReportInput
from rebecsim.studies.running.executors import Executor, ThisProcess
from rebecsim.studies.sections import Picture
from rebecsim.studies.storage.run_directory import LISTED, require_reportable

_CHART_DOTS_PER_INCH = 200


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
    charts = _charts(report)
    pictures = [picture for section in report.sections for picture in section.pictures]
    drawn = (executor or ThisProcess()).map(
        _rendered, [*(partial(_chart, chart, report.title) for chart in charts), *pictures]
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
    charts = [_chart(chart, report.title) for chart in _charts(report)]
    return [*charts, *(picture for section in report.sections for picture in section.pictures)]


def _charts(report: ReportInput) -> list[ChartData]:
    return charts_along(report.by_axis, report.axis)


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


def _chart(chart: ChartData, heading: str) -> Picture:
    return Picture(
        chart.name, chart.question, "", partial(chart_figure, chart, heading), _CHART_DOTS_PER_INCH
    )


def _rendered(what: Picture | partial[Picture]) -> dict[str, bytes]:
    picture = what() if isinstance(what, partial) else what
    return render_figure(picture.draw, dots_per_inch=picture.dots_per_inch)


def _remove_left(out_dir: Path, listed: Path, files: Mapping[str, bytes]) -> None:
    """Remove what an earlier report has written and this one has not; list what there is now."""
    before: object = []
    with suppress(FileNotFoundError, ValueError, LimitError):
        before = read_json(listed, limit=REPORT, plain=True)
    known = {path.relative_to(out_dir).as_posix() for path in (out_dir / "charts").glob("*.???")}
    known |= {path.name for path in out_dir.glob("*.csv")}
    for name in known - files.keys():  # so that nothing else is ever removed
        if isinstance(before, list) and name in before:
            (out_dir / name).unlink(missing_ok=True)
    write_atomically(listed, json.dumps(sorted(files)).encode())

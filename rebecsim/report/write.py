"""Writing a report to a directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rebecsim.experiments.files import write_atomically
from rebecsim.report.charts import render_chart
from rebecsim.report.csv import by_cluster_size_csv, table_csv
from rebecsim.report.html import render_html
from rebecsim.report.report_input import ReportInput
from rebecsim.report.series import chart_data

__all__ = ["WrittenReport", "write_report"]


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """Where the files of a report are.

    Attributes:
        html: the page.
        table: CSV, one line per policy.
        by_cluster_size: CSV, one line per policy and cluster size.
        charts: PNG and SVG of every metric.
    """

    html: Path
    table: Path
    by_cluster_size: Path
    charts: tuple[Path, ...]


def write_report(report: ReportInput, out_dir: Path) -> WrittenReport:
    """Write `report.html`, `table.csv`, `by_cluster_size.csv` and `charts/METRIC.{png,svg}`.

    Everything is rendered before the first file is written, and each file appears under its name
    only when it is complete.

    Args:
        report: what to report.
        out_dir: directory for the files; made when it does not exist.

    Raises:
        OSError: when the directory cannot be made or written.
        ValueError: when the results are incomplete (see `summarise`).
    """
    summary = report.summary()
    charts = [chart_data(summary, column) for column in range(len(summary.metrics))]
    stills = [render_chart(chart, report.title, "svg") for chart in charts]
    pictures: dict[str, bytes] = {}
    for chart, still in zip(charts, stills, strict=True):
        pictures[f"charts/{chart.name}.png"] = render_chart(chart, report.title, "png")
        pictures[f"charts/{chart.name}.svg"] = still
    texts = {
        "table.csv": table_csv(summary),
        "by_cluster_size.csv": by_cluster_size_csv(summary),
        "report.html": render_html(report, summary, charts, stills),
    }
    (out_dir / "charts").mkdir(parents=True, exist_ok=True)
    for name, content in pictures.items():
        write_atomically(out_dir / name, content)
    for name, text in texts.items():
        write_atomically(out_dir / name, text.encode("utf-8"))
    return WrittenReport(
        html=out_dir / "report.html",
        table=out_dir / "table.csv",
        by_cluster_size=out_dir / "by_cluster_size.csv",
        charts=tuple(out_dir / name for name in pictures),
    )

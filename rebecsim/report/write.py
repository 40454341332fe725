"""Writing a report to a directory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Protocol

from rebecsim.files import write_atomically
from rebecsim.report.charts import Form, render_chart
from rebecsim.report.csv import by_cluster_size_csv, energy_csv, orders_csv, pairs_csv, table_csv
from rebecsim.report.html import render_html
from rebecsim.report.report_input import ReportInput
from rebecsim.report.series import chart_data
from rebecsim.report.utilisation import render_utilisation, utilisation_charts

__all__ = ["WrittenReport", "write_report"]


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """Where the files of a report are.

    Attributes:
        html: the page.
        table: CSV, one line per policy.
        by_cluster_size: CSV, one line per policy and cluster size.
        charts: PNG and SVG of every metric, and of utilisation over time where it is known.
        pairs: CSV, one line per metric and pair of policies; None when none were compared.
        orders: CSV, one line per metric and policy; None without runs in other message orders.
        breakdown: CSV, one line per policy; None when nothing is broken down.
        energy: CSV, a line for each cell and each of its AppMasters; None where busy times were
            not counted.
    """

    html: Path
    table: Path
    by_cluster_size: Path
    charts: tuple[Path, ...]
    pairs: Path | None = None
    orders: Path | None = None
    breakdown: Path | None = None
    energy: Path | None = None

    @property
    def data(self) -> tuple[Path, ...]:
        """The CSV files that were written."""
        always = (self.table, self.by_cluster_size)
        extra = (self.breakdown, self.pairs, self.orders, self.energy)
        return (*always, *(file for file in extra if file is not None))


def write_report(
    report: ReportInput, out_dir: Path, executor: Executor | None = None
) -> WrittenReport:
    """Write `report.html`, `table.csv`, `by_cluster_size.csv` and `charts/METRIC.{png,svg}`.

    `pairs.csv` is added where policies were compared run by run, `orders.csv` where the cells were
    run in several message orders, `breakdown.csv` where there is a breakdown, `energy.csv` where
    busy times were counted and `charts/utilisation_POLICY.{png,svg}` where messages were kept; one
    that an earlier report left is removed otherwise.

    Everything is rendered before the first file is written, and each file appears under its name
    only when it is complete.

    Args:
        report: what to report.
        out_dir: directory for the files; made when it does not exist.
        executor: who draws the charts while this thread does the rest; None: nobody else.

    Raises:
        OSError: when the directory cannot be made or written.
        ValueError: when the results are incomplete (see `summarise`, `pairwise_differences` and
            `order_envelopes`).
    """
    apply = map if executor is None else executor.map
    by_size = report.by_size
    charts = [chart_data(by_size, column) for column in range(len(by_size.metrics))]
    drawn = apply(render_chart, charts, repeat(report.title))
    utilised = utilisation_charts(report.utilisation, report.hardware)
    over_time_drawn = apply(render_utilisation, utilised, repeat(report.title))
    summary, parts = report.summary, report.parts
    differences, envelopes = report.differences, report.envelopes
    used = report.hardware_by_workload
    texts = {"table.csv": table_csv(summary), "by_cluster_size.csv": by_cluster_size_csv(by_size)}
    pictures, stills = _pictures(charts, drawn)
    more, utilised_stills = _pictures(utilised, over_time_drawn)
    pictures |= more
    over_time = list(zip(utilised, utilised_stills, strict=True))
    texts["report.html"] = render_html(report, summary, by_size, charts, stills, over_time)
    extra = {
        "pairs.csv": pairs_csv(differences) if differences else None,
        "orders.csv": orders_csv(envelopes) if envelopes else None,
        "breakdown.csv": table_csv(parts) if parts else None,
        "energy.csv": energy_csv(used) if used else None,
    }
    (out_dir / "charts").mkdir(parents=True, exist_ok=True)
    for left in list((out_dir / "charts").glob("utilisation_*.*")):
        if left.relative_to(out_dir).as_posix() not in pictures:
            left.unlink(missing_ok=True)
    for name, content in pictures.items():
        write_atomically(out_dir / name, content)
    for name, text in texts.items():
        write_atomically(out_dir / name, text.encode("utf-8"))
    for name, found in extra.items():
        if found is None:
            (out_dir / name).unlink(missing_ok=True)
        else:
            write_atomically(out_dir / name, found.encode("utf-8"))
    return WrittenReport(
        html=out_dir / "report.html",
        table=out_dir / "table.csv",
        by_cluster_size=out_dir / "by_cluster_size.csv",
        charts=tuple(out_dir / name for name in pictures),
        pairs=out_dir / "pairs.csv" if differences else None,
        orders=out_dir / "orders.csv" if envelopes else None,
        breakdown=out_dir / "breakdown.csv" if parts else None,
        energy=out_dir / "energy.csv" if used else None,
    )


class _Named(Protocol):
    @property
    def name(self) -> str: ...


def _pictures(
    charts: Sequence[_Named], drawn: Iterable[Mapping[Form, bytes]]
) -> tuple[dict[str, bytes], list[bytes]]:
    """Give the files of charts by name, and those for the page."""
    contents = list(zip(charts, drawn, strict=True))
    files = {
        f"charts/{chart.name}.{form}": content
        for chart, forms in contents
        for form, content in forms.items()
    }
    return files, [forms["svg"] for _, forms in contents]

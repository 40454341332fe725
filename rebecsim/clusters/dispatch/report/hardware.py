"""Hardware in reports: utilisation and energy in tables and charts, and over time as heat maps."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rebecsim.clusters.dispatch.configuration import cycled
from rebecsim.clusters.dispatch.energy import (
    Hardware,
    HardwareFigures,
    ServedMessage,
    utilisation,
    windows,
)
from rebecsim.metrics import Metric
from rebecsim.report.figures import new_figure
from rebecsim.report.line_charts import ChartData, chart_data
from rebecsim.report.numbers import format_estimates
from rebecsim.studies.cells import Condition, TextTable, grouped
from rebecsim.studies.estimates import Estimate
from rebecsim.studies.parts import part_rows
from rebecsim.studies.plan import Plan
from rebecsim.studies.record import ResultsError
from rebecsim.studies.results import Results
from rebecsim.studies.simulated import TRACE_COLUMNS, TRACES
from rebecsim.studies.study import Axis, PlannedCell
from rebecsim.studies.summary import Point, Summary, SummaryRow
from rebecsim.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_JOB_MESSAGES = ("runJob", "update")


@dataclass(frozen=True, slots=True, eq=False)
class UtilisationOverTime:
    """How busy each AppMaster was in each time unit under one policy.

    Attributes:
        policy: its name.
        shares: share of runs in which an AppMaster was busy, mean over workloads; shape
            (app_masters, ticks).
        replications: number of runs.
    """

    policy: str
    shares: NDArray[np.float64]
    replications: int


def utilisation_over_time(plan: Plan, results: Results) -> tuple[UtilisationOverTime, ...]:
    """Read the traces of the largest clusters: one entry for each policy that was traced whole.

    Empty for eviction scenarios, whose AppMasters work unit by unit, and where no traces were kept.

    Raises ResultsError for traces that are damaged.
    """
    if plan.scenario.eviction is not None:
        return ()
    largest = max(int(cell.cell["app_masters"]) for cell in plan.cells)
    shown = [cell for cell in plan.cells if cell.cell["app_masters"] == largest]
    by_policy = grouped(shown, lambda each: each.cell.policy)
    return tuple(
        _over_time(policy, cells, plan.scenario.ticks, results)
        for policy, cells in by_policy.items()
        if all(results.table(TRACES, cell).exists() for cell in cells)
    )


def _over_time(
    policy: str, cells: list[PlannedCell], ticks: int, results: Results
) -> UtilisationOverTime:
    shares = [_utilisation_of(cell, ticks, results) for cell in cells]
    replications = sum(part_rows(results.part(cell)) for cell in cells)
    return UtilisationOverTime(policy, np.mean(shares, axis=0), replications)


def _utilisation_of(cell: PlannedCell, ticks: int, results: Results) -> NDArray[np.float64]:
    advice = "`rebecsim compare` with --resume --trace computes it again"
    if damage := results.damage(cell, {TRACES: TRACE_COLUMNS}):
        raise ResultsError(f"{damage}; {advice}")
    path = results.table(TRACES, cell)
    try:
        return utilisation(traced_runs(path), int(cell.cell["app_masters"]), ticks)
    except (OSError, pa.ArrowException, ValueError, KeyError) as error:
        raise ResultsError(f"part {path} is damaged: {error}; {advice}") from error


def traced_runs(path: Path) -> Iterator[Iterator[ServedMessage]]:
    """Give the messages about jobs of each run of a trace file, which must be taken in turn.

    One row group is held at a time; a run may go on in the next one. Raises OSError or
    pa.ArrowException when the file cannot be read.
    """
    for _, run in groupby(_messages(path), key=attrgetter("replication")):
        yield run


def _messages(path: Path) -> Iterator[ServedMessage]:
    with pq.ParquetFile(path) as parquet:
        for group in range(parquet.num_row_groups):
            table = parquet.read_row_group(group, columns=["step", *ServedMessage._fields])
            # The first message stays, so that a run without a job is a run too.
            kept = pc.or_(
                pc.equal(table["step"], 0),
                pc.is_in(table["server"], pa.array(_JOB_MESSAGES)),
            )
            columns = [table.filter(kept)[name].to_pylist() for name in ServedMessage._fields]
            yield from map(ServedMessage._make, zip(*columns, strict=True))


HARDWARE_NOTES = (
    "Utilisation is the time in which an AppMaster has a job, as a share of the run; that of a "
    "cluster is the mean over its AppMasters. Time spent on a job that misses its deadline counts.",
    "Energy is that of all AppMasters until the end of a run: each draws its busy watts while it "
    "has a job and its idle watts otherwise. A policy that does less work needs less energy, so "
    "read it together with the jobs completed.",
)
"""How to read the figures; the second one only where energy is known."""

_UTILISATION = Metric(
    name="utilisation",
    title="Utilisation",
    unit="time",
    better="higher",
    numerator={"busy": 1},
    denominator={"busy": 1, "idle": 1},
)
"""How a utilisation is written: as the share that it is."""

_PREFIXES = ("J", "kJ", "MJ", "GJ", "TJ", "PJ", "EJ")

Row = tuple[str, tuple[str, ...]]
"""Heading and values."""


def energy_scale(estimates: Sequence[Estimate]) -> tuple[str, float]:
    """The unit in which the largest of some energies is between 1 and 1000, and its joules."""
    largest = max((abs(each.value) for each in estimates), default=0.0)
    step = 0
    while step + 1 < len(_PREFIXES) and largest >= 1000 ** (step + 1):
        step += 1
    return _PREFIXES[step], 1000.0**step


def size_tables(figures: Sequence[HardwareFigures]) -> tuple[TextTable, ...]:
    """Energy, where it is known, and utilisation of the cluster by cluster size."""
    sizes = dict.fromkeys(str(each.app_masters) for each in figures)
    headings = ("Policy", *sizes)
    utilisations = _shares([each.cluster.utilisation for each in figures])
    tables = [
        TextTable(
            "Utilisation of the cluster by number of AppMasters",
            headings,
            _by_policy(figures, utilisations),
        )
    ]
    energies = [each.cluster.energy for each in figures if each.cluster.energy]
    if energies:
        unit, texts = _joules(energies)
        title = f"Energy by number of AppMasters ({unit} per run)"
        tables.insert(0, TextTable(title, headings, _by_policy(figures, texts)))
    return tuple(tables)


def energy_charts(
    by_condition: Mapping[Condition, Sequence[HardwareFigures]], level: float, axis: Axis
) -> list[ChartData]:
    """Energy of the cluster along the cluster size, a chart for each condition.

    All have one unit. None where the power draw is not given.
    """
    together = [each for figures in by_condition.values() for each in figures]
    unit, scale = energy_scale([each.cluster.energy for each in together if each.cluster.energy])
    metric = _energy_metric(unit)
    summaries = {
        condition: Summary((metric,), level, _rows(points), points, ())
        for condition, figures in by_condition.items()
        if (points := _points(figures, scale))
    }
    return [
        chart_data(summary, 0, axis, condition, place)
        for place, (condition, summary) in enumerate(summaries.items(), start=1)
    ]


def _points(figures: Sequence[HardwareFigures], scale: float) -> tuple[Point, ...]:
    return tuple(
        Point(each.policy, each.app_masters, each.replications, (_scaled(energy, scale),))
        for each in figures
        if (energy := each.cluster.energy)
    )


def _rows(points: Sequence[Point]) -> tuple[SummaryRow, ...]:
    """Name the policies; a chart shows nothing that is pooled over cluster sizes."""
    return tuple(SummaryRow(each, 0, (), {}) for each in dict.fromkeys(p.policy for p in points))


def app_master_table(figures: Sequence[HardwareFigures], hardware: Hardware) -> TextTable:
    """Utilisation of each AppMaster of the largest cluster, with what it is made of.

    A row per AppMaster; its speed, its watts where they are given, and a column per policy.
    """
    largest = _largest(figures)
    size = largest[0].app_masters
    columns = [("Speed", [f"{speed:g}" for speed in cycled(hardware.speeds or (1.0,), size)])]
    if hardware.power.is_given:
        for heading, watts in (("Idle", hardware.power.idle), ("Busy", hardware.power.busy)):
            columns.append((heading, [f"{each:g} W" for each in cycled(watts, size)]))
    texts = _shares([usage.utilisation for each in largest for usage in each.each])
    for place, each in enumerate(largest):
        columns.append((each.policy, texts[place * size : (place + 1) * size]))
    return TextTable(
        f"Utilisation of each AppMaster, cluster of {size}",
        ("AppMaster", *(heading for heading, _ in columns)),
        tuple(
            (f"am{place + 1}", tuple(values[place] for _, values in columns))
            for place in range(size)
        ),
    )


def overview(figures: Sequence[HardwareFigures]) -> TextTable:
    """The largest cluster in a row per policy: energy, utilisation, and its extremes."""
    largest = _largest(figures)
    energies = [each.cluster.energy for each in largest if each.cluster.energy]
    columns = []
    if energies:
        unit, texts = _joules(energies)
        columns.append((f"Energy ({unit} per run)", texts))
    columns.append(("Utilisation", _shares([each.cluster.utilisation for each in largest])))
    if largest[0].app_masters > 1:
        columns.append(("Least used", [_extreme(each, -1) for each in largest]))
        columns.append(("Most used", [_extreme(each, 1) for each in largest]))
    return TextTable(
        f"Hardware, cluster of {largest[0].app_masters}",
        ("Policy", *(heading for heading, _ in columns)),
        tuple(
            (each.policy, tuple(values[row] for _, values in columns))
            for row, each in enumerate(largest)
        ),
    )


def _largest(figures: Sequence[HardwareFigures]) -> list[HardwareFigures]:
    size = max(each.app_masters for each in figures)
    return [each for each in figures if each.app_masters == size]


def _extreme(figures: HardwareFigures, sign: int) -> str:
    """The AppMaster with the most (sign 1) or the least (-1) utilisation; of equals the first."""
    values = [sign * usage.utilisation.value for usage in figures.each]
    place = values.index(max(values))
    return f"am{place + 1} {100 * abs(values[place]):.1f} %"


def _by_policy(figures: Sequence[HardwareFigures], texts: Sequence[str]) -> tuple[Row, ...]:
    """Rows per policy with a value per size; `figures` go by policy, sizes ascending."""
    rows: dict[str, list[str]] = {}
    for each, text in zip(figures, texts, strict=True):
        rows.setdefault(each.policy, []).append(text)
    return tuple((policy, tuple(values)) for policy, values in rows.items())


def _shares(estimates: Sequence[Estimate]) -> list[str]:
    return format_estimates(_UTILISATION, estimates)


def _joules(estimates: Sequence[Estimate]) -> tuple[str, list[str]]:
    """The unit and the energies in it."""
    unit, scale = energy_scale(estimates)
    scaled = [_scaled(each, scale) for each in estimates]
    return unit, format_estimates(_energy_metric(unit), scaled)


def _energy_metric(unit: str) -> Metric:
    return Metric("energy", "Energy", f"{unit} per run", "lower", {"joules": 1})


def _scaled(estimate: Estimate, scale: float) -> Estimate:
    """Give an estimate in another unit."""

    def shown(part: float | None) -> float | None:
        return None if part is None else part / scale

    return replace(
        estimate,
        value=estimate.value / scale,
        standard_error=shown(estimate.standard_error),
        low=shown(estimate.low),
        high=shown(estimate.high),
    )


_MOST_WINDOWS = 50
_WIDTH_INCHES = 6.4
_NAMED_APP_MASTERS = 24
_WRAP_TITLE = 62


@dataclass(frozen=True, slots=True, eq=False)
class UtilisationChart:
    """What one picture shows.

    Attributes:
        name: for file names.
        policy: its name.
        rows: names of the AppMasters, am1 first.
        edges: ends of the windows in time units, ascending, one more than windows.
        percent: mean utilisation in each window, shape (app_masters, windows).
        caption: how many runs, how long the windows.
    """

    name: str
    policy: str
    rows: tuple[str, ...]
    edges: NDArray[np.int64]
    percent: NDArray[np.float64]
    caption: str

    @property
    def description(self) -> str:
        """The picture in words."""
        means = self.percent @ np.diff(self.edges) / self.edges[-1]
        listed = "; ".join(
            f"{row} {mean:.1f} %" for row, mean in zip(self.rows, means, strict=True)
        )
        return (
            f"Utilisation of each AppMaster over time under {self.policy}, "
            f"time units 0 to {self.edges[-1]}. Means: {listed}. {self.caption}"
        )


def window_width(ticks: int) -> int:
    """The shortest of 1, 2, 5, 10, 20, ... time units that cuts a run into at most 50 windows."""
    scale = 1
    while True:
        for first_digit in (1, 2, 5):
            if ticks <= first_digit * scale * _MOST_WINDOWS:
                return first_digit * scale
        scale *= 10


def utilisation_charts(
    over_time: Sequence[UtilisationOverTime], hardware: Hardware | None
) -> list[UtilisationChart]:
    """One chart per policy. Speeds are shown where they are not all the same."""
    charts = []
    for each in over_time:
        app_masters, ticks = each.shares.shape
        width = window_width(ticks)
        runs = "1 run" if each.replications == 1 else f"Mean of {each.replications} runs"
        units = counted(width, "time unit")
        charts.append(
            UtilisationChart(
                name=f"utilisation_{each.policy.lower()}",
                policy=each.policy,
                rows=_row_names(app_masters, hardware.speeds if hardware else ()),
                edges=np.append(np.arange(0, ticks, width), ticks),
                percent=100 * windows(each.shares, width),
                caption=f"{runs}, in windows of {units}.",
            )
        )
    return charts


def _row_names(app_masters: int, speeds: tuple[float, ...]) -> tuple[str, ...]:
    names = [f"am{number}" for number in range(1, app_masters + 1)]
    if len(set(speeds)) > 1:
        cycle = cycled(speeds, app_masters)
        names = [f"{name} (speed {speed:g})" for name, speed in zip(names, cycle, strict=True)]
    return tuple(names)


def utilisation_figure(chart: UtilisationChart, heading: str) -> Figure:
    """Draw a chart; `heading` is shown above it as it is (no mathematics)."""
    height = 1.9 + 0.32 * min(max(len(chart.rows), 3), _NAMED_APP_MASTERS)
    figure = new_figure(_WIDTH_INCHES, height)
    axes = figure.add_subplot()
    mesh = axes.pcolormesh(
        chart.edges,
        np.arange(len(chart.rows) + 1) + 0.5,
        chart.percent,
        # Readable with every colour vision deficiency and in grey; busy is dark.
        cmap="cividis_r",
        vmin=0,
        vmax=100,
        rasterized=True,  # one picture within the SVG: no pale seams between the cells
    )
    bar = figure.colorbar(mesh, ax=axes, pad=0.02)
    bar.set_label("Utilisation (%)")
    bar.outline.set_visible(False)
    _dress_axes(axes, chart)
    title = textwrap.wrap(heading, _WRAP_TITLE)
    axes.set_title("\n".join([*title, f"{chart.policy}: utilisation over time"]), parse_math=False)
    figure.supxlabel(chart.caption, fontsize=8.5)
    return figure


def _dress_axes(axes: Axes, chart: UtilisationChart) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlabel("Time (time units)")
    axes.set_xlim(0, chart.edges[-1])
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.invert_yaxis()  # am1 on top
    if len(chart.rows) <= _NAMED_APP_MASTERS:
        axes.set_yticks(range(1, len(chart.rows) + 1), chart.rows)
    else:
        axes.set_ylabel("AppMaster")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)

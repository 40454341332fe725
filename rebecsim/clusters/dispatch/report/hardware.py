"""Utilisation and energy as tables of text, the same in the terminal and in the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rebecsim.clusters.dispatch.energy import Hardware, HardwareFigures
from rebecsim.clusters.dispatch.hardware import cycled
from rebecsim.metrics import Metric
from rebecsim.report.line_charts import ChartData, chart_data
from rebecsim.report.numbers import format_estimates
from rebecsim.studies.cell import Condition
from rebecsim.studies.sections import TextTable
from rebecsim.studies.statistics.estimates import Estimate
from rebecsim.studies.statistics.summary import Point, Summary, SummaryRow
from rebecsim.studies.study import Axis

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

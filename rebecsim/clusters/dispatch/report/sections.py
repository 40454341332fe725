"""Sections of reports for dispatch clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from rich.console import Group
from rich.text import Text

from rebecsim.clusters.dispatch.energy import (
    Hardware,
    HardwareFigures,
    by_policy_and_size,
    by_workload,
)
from rebecsim.clusters.dispatch.measures import DISPATCH_FATES, FATES_BY_PRIORITY, NATJAM_FATES
from rebecsim.clusters.dispatch.report.exact import exact_sections
from rebecsim.clusters.dispatch.report.hardware import (
    HARDWARE_NOTES,
    UtilisationOverTime,
    app_master_table,
    energy_charts,
    overview,
    size_tables,
    utilisation_charts,
    utilisation_figure,
    utilisation_over_time,
)
from rebecsim.clusters.dispatch.scenario import Scenario
from rebecsim.metrics import Metric
from rebecsim.report.comparison import ReportInput
from rebecsim.report.line_charts import ChartData, chart_figure
from rebecsim.report.numbers import (
    ESTIMATE_FIELDS,
    estimate_fields,
    format_estimates,
    level_text,
    table_csv,
    text_of,
)
from rebecsim.report.tables import text_table
from rebecsim.studies.cells import Condition, Picture, Section, TextTable
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results
from rebecsim.studies.study import Axis
from rebecsim.studies.summary import Summary, by_coordinates, summarise

_DOTS_PER_INCH = 200


def dispatch_sections(
    plan: Plan, results: Results, moments: Sequence[CellMoments]
) -> tuple[Section, ...]:
    """All orders, where they were reckoned; what became of jobs; hardware if measured."""
    scenario, hardware = plan.scenario, None
    if scenario.measures_busy_time:
        hardware = Hardware(scenario.ticks, scenario.speeds, scenario.power, scenario.level)
    over_time = utilisation_over_time(plan, results)
    return (
        *exact_sections(plan, results, moments),
        *_breakdown(plan, moments),
        *hardware_sections(
            scenario.heading,
            moments,
            hardware,
            over_time,
            plan.study.axis(scenario),
            plan.comparison.separate,
        ),
    )


def _breakdown(plan: Plan, moments: Sequence[CellMoments]) -> Iterator[Section]:
    evicts = plan.scenario.eviction is not None
    by_priority = evicts or plan.scenario.counts_priorities
    metrics, level = _fates(plan.scenario), plan.scenario.level
    by_condition = by_coordinates(moments, plan.comparison.separate)
    parts = {
        condition: summarise(cells, metrics, level) for condition, cells in by_condition.items()
    }
    long = f"What became of the jobs, jobs per run, with {level_text(level)} intervals"
    yield Section(
        name="breakdown",
        title="Breakdown",
        tables=_parts_tables(long, parts),
        notes=tuple(f"{metric.title}: {metric.note}" for metric in metrics),
        files={"breakdown.csv": _summary_csv(plan, by_condition, metrics)} if by_priority else {},
        terminal=Group(
            *map(text_table, _parts_tables("What became of the jobs (jobs per run)", parts))
        )
        if evicts
        else None,
    )


def _fates(scenario: Scenario) -> tuple[Metric, ...]:
    if scenario.eviction is not None:
        return NATJAM_FATES
    return FATES_BY_PRIORITY if scenario.counts_priorities else DISPATCH_FATES


def _parts_tables(title: str, parts: Mapping[Condition, Summary]) -> tuple[TextTable, ...]:
    return tuple(_parts_table(title, each).under(condition) for condition, each in parts.items())


def _parts_table(title: str, parts: Summary) -> TextTable:
    """One row per part of a figure, one column per policy."""
    rows = []
    for c, metric in enumerate(parts.metrics):
        values = format_estimates(metric, [row.estimates[c] for row in parts.rows])
        rows.append((metric.title, tuple(values)))
    return TextTable(title, ("", *parts.policies), tuple(rows))


def _summary_csv(
    plan: Plan,
    by_condition: Mapping[Condition, Sequence[CellMoments]],
    metrics: tuple[Metric, ...],
) -> str:
    seed, level = plan.scenario.seed, plan.scenario.level
    return table_csv(
        {
            condition: ReportInput("", "", {}, seed, {}, cells, metrics, level=level)
            for condition, cells in by_condition.items()
        }
    )


def hardware_sections(
    heading: str,
    moments: Sequence[CellMoments],
    hardware: Hardware | None,
    over_time: Sequence[UtilisationOverTime],
    axis: Axis | None,
    told_apart: Sequence[str] = (),
) -> Iterator[Section]:
    """Show utilisation and energy where busy times were counted, pictures where there are traces.

    `heading` is that of pictures. Energy is drawn along the `axis`; it and all tables are shown for
    each combination of the values of the coordinates `told_apart`.
    """
    over_time_pictures = tuple(
        Picture(
            chart.name,
            "",
            chart.description,
            partial(utilisation_figure, chart, heading),
            _DOTS_PER_INCH,
            is_wide=False,
        )
        for chart in utilisation_charts(over_time, hardware)
    )
    if hardware is None:
        if over_time_pictures:
            yield Section("hardware", "Hardware", pictures=over_time_pictures)
        return
    by_condition = {
        condition: by_policy_and_size(cells, hardware)
        for condition, cells in by_coordinates(moments, told_apart).items()
    }
    charts = energy_charts(by_condition, hardware.level, axis) if axis else []
    has_energy = any(each.cluster.energy for used in by_condition.values() for each in used)
    notes = (Text(note, style="dim") for note in HARDWARE_NOTES[:1])
    yield Section(
        name="hardware",
        title="Hardware",
        tables=tuple(
            table.under(condition)
            for condition, used in by_condition.items()
            for table in (*size_tables(used), app_master_table(used, hardware))
        ),
        pictures=(
            *(_energy_picture(chart) for chart in charts),
            *over_time_pictures,
        ),
        notes=HARDWARE_NOTES if has_energy else HARDWARE_NOTES[:1],
        files={"energy.csv": energy_csv(by_workload(moments, hardware))},
        terminal=Group(
            *(text_table(overview(used).under(each)) for each, used in by_condition.items()),
            *notes,
        ),
    )


def _energy_picture(chart: ChartData) -> Picture:
    return Picture(
        chart.name,
        chart.title,
        " ".join(chart.caption),
        partial(chart_figure, chart),
        _DOTS_PER_INCH,
        is_wide=False,
    )


def energy_csv(figures: Sequence[HardwareFigures]) -> str:
    """One line for each cell's cluster as a whole, then one for each of its AppMasters.

    Columns: `policy`, `arrivals`, `lengths`, `app_masters`, `app_master` ("am1", ...; empty for the
    cluster), `replications`, then `utilisation` (a fraction of 1; of the cluster, the mean over its
    AppMasters) and `energy` (joules per run; empty when the power draw is not given), each with
    `_standard_error`, `_low`, `_high` and `_degrees_of_freedom`.
    """
    header = [
        *("policy", "arrivals", "lengths", "app_masters", "app_master", "replications"),
        *(name + field for name in ("utilisation", "energy") for field in ESTIMATE_FIELDS),
    ]
    rows = (
        [
            *(cell.policy, arrivals, lengths, str(cell.app_masters)),
            *(f"am{place}" if place else "", str(cell.replications)),
            *estimate_fields([usage.utilisation]),
            *(estimate_fields([usage.energy]) if usage.energy else [""] * len(ESTIMATE_FIELDS)),
        ]
        for cell in figures
        for arrivals, lengths in cell.workloads
        for place, usage in enumerate((cell.cluster, *cell.each))
    )
    return text_of(header, rows)

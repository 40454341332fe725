"""Sections of a report that compare the values of a swept key, along the axis of a comparison.

All values of a swept key see the same random numbers, so that its values are compared run by run,
as policies are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from rich.console import Group
from rich.text import Text

from rebecsim.metrics import Metric
from rebecsim.report.line_charts import chart_data, chart_figure
from rebecsim.report.numbers import (
    ESTIMATE_FIELDS,
    by_axis_csv,
    column_heading,
    estimate_fields,
    format_estimates,
    level_text,
    text_of,
)
from rebecsim.report.tables import text_table
from rebecsim.studies.cells import Cell, Condition, Picture, Section, TextTable, Value, grouped
from rebecsim.studies.differences import difference
from rebecsim.studies.estimates import Estimate
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results, paired_moments
from rebecsim.studies.study import Axis, PlannedCell
from rebecsim.studies.summary import as_lines, summarise
from rebecsim.studies.sweeps import coordinate, label_of

MOST_LINES = 7
"""Lines that a picture shows; more could not be told apart."""


def along_pictures(
    moments: Sequence[CellMoments],
    metrics: Sequence[Metric],
    axis: Axis,
    level: float,
    end: str = "along",
) -> tuple[Picture, ...]:
    """Draw every figure over an axis, a line for each policy; their names have an `end`.

    Bands are intervals of a confidence `level`, in (0, 1).
    """
    lines = tuple(dict.fromkeys(each.cell.policy for each in moments))[:MOST_LINES]
    shown = [each for each in moments if each.cell.policy in lines]
    summary = summarise(shown, metrics, level, axis=axis.coordinate)
    charts = [chart_data(summary, column, axis) for column in range(len(metrics))]
    return tuple(
        Picture(
            f"{chart.name}_{end}",
            chart.question,
            "",  # it stands in the chart
            partial(chart_figure, chart),
            is_wide=False,
        )
        for chart in charts
    )


def along_sections(
    plan: Plan, results: Results, moments: Sequence[CellMoments]
) -> Iterator[Section]:
    """Show what changes with each key that is swept; charts of those that no others show.

    Where a swept key takes the place of what charts of the kind go by, these have a section too.
    """
    for axis in plan.swept.axes:
        tables = tuple(_difference_tables(plan, results, axis))
        files = {f"differences_by_{axis.name}.csv": _csv(plan, results, axis)}
        pictures: tuple[Picture, ...] = ()
        if axis != plan.axis:
            pictures, table = _charts(plan, moments, axis)
            files[f"by_{axis.name}.csv"] = table
        notes = (_note(plan),) if tables else ()
        yield Section(
            name=f"along_{axis.name}",
            title=f"Along {axis.by}",
            tables=tables,
            pictures=pictures,
            notes=notes,
            files=files,
            terminal=Group(*map(text_table, tables), *(Text(each, style="dim") for each in notes)),
        )
    own = plan.study.axis(plan.scenario)
    if own is not None and own != plan.axis:
        pictures, table = _charts(plan, moments, own)
        yield Section(
            name=f"along_{own.name}",
            title=f"Along {own.by}",
            pictures=pictures,
            files={f"by_{own.name}.csv": table},
        )


def _charts(
    plan: Plan, moments: Sequence[CellMoments], axis: Axis
) -> tuple[tuple[Picture, ...], str]:
    """Draw figures over an axis, and give the same as CSV."""
    charted = plan.comparison.charted
    placed = as_lines([_placed(each, axis) for each in moments], _others(plan, axis))
    level = plan.scenario.level
    pictures = along_pictures(placed, charted, axis, level, f"by_{axis.name}")
    named = summarise(placed, charted, level, axis=axis.coordinate)
    return pictures, by_axis_csv({Condition(): named}, axis)


def _others(plan: Plan, axis: Axis) -> tuple[str, ...]:
    """Name the other coordinates with several values: each has its own lines."""
    return tuple(
        name
        for name in plan.separate
        if name != axis.coordinate
        and len({dict(each.cell.condition.coordinates).get(name) for each in plan.cells}) > 1
    )


def of_first_setting(plan: Plan, sections: Sequence[Section]) -> Iterator[Section]:
    """Say of sections which of the swept values they show."""
    changes, _ = plan.settings[0]
    note = f"At {label_of(changes)}, the first of the swept values."
    for each in sections:
        if each.is_shown:
            told = [line for part in each.answer for line in (part.about, *part.lines)]
            sentences = (*told, *each.sentences)
            notes = (*each.notes, note)
            each = replace(each, answer=(), sentences=sentences, notes=notes)
        yield each


def _note(plan: Plan) -> str:
    if not plan.has_chance:
        return "The runs have no randomness, so these differences are exact."
    return (
        "All values of a key have the same random numbers, so differences are those of the same "
        f"runs, each with its {level_text(plan.scenario.level)} interval for itself."
    )


def _placed(moments: CellMoments, axis: Axis) -> CellMoments:
    """Give words on an axis their places."""
    if not axis.words:
        return moments
    cell = moments.cell
    coordinates = tuple(
        (name, axis.words.index(str(value)) if name == axis.coordinate else value)
        for name, value in cell.condition.coordinates
    )
    return replace(moments, subject=Cell(cell.policy, Condition(coordinates)))


# --- differences ---------------------------------------------------------------------------------


def _values(plan: Plan, axis: Axis) -> list[Value]:
    names = plan.swept.coordinates
    key = next(key for key, name in names.items() if name == axis.coordinate)
    return [coordinate(value) for value in plan.scenario.swept[key]]


def _shown(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _differences(
    plan: Plan, results: Results, axis: Axis, metrics: Sequence[Metric]
) -> Iterator[tuple[str, list[list[Estimate]]]]:
    """Give, for each policy, by how much figures differ from those at the first value.

    With the name of the line come, for each metric, the differences at the other values, pooled
    over what is not swept. Lines whose values have different numbers of runs are left out.
    """
    first, *rest = _values(plan, axis)
    others = _others(plan, axis)
    counters = sorted({name for metric in metrics for name in metric.counters})
    size, level = len(plan.cells) // len(plan.settings), plan.scenario.level
    # What a kind says of a cell may differ by its value: its place in the setting does not.
    placed = [(each, Condition.of(place=number % size)) for number, each in enumerate(plan.cells)]
    for line, cells in grouped(placed, lambda each: _line(each[0], others)).items():
        if len({each.replications(plan.scenario.replications) for each, _ in cells}) > 1:
            continue
        compared = [
            replace(each, cell=Cell(_shown(each.cell[axis.coordinate]), place))
            for each, place in cells
        ]
        paired = paired_moments(results, compared, counters)
        yield (
            line,
            [
                [difference(each, paired, _shown(value), _shown(first), level) for value in rest]
                for each in metrics
            ],
        )


def _line(planned: PlannedCell, others: Sequence[str]) -> str:
    cell = planned.cell
    named = cell.condition.only(others)
    return f"{cell.policy}, {named}" if named.coordinates else cell.policy


def _difference_tables(plan: Plan, results: Results, axis: Axis) -> Iterator[TextTable]:
    """Show by how much the first figure differs from that at the first value: a row a policy."""
    metric = plan.metrics[0]
    first, *rest = map(_shown, _values(plan, axis))
    rows = tuple(
        (line, tuple(format_estimates(metric, found[0])))
        for line, found in _differences(plan, results, axis, [metric])
    )
    if rows:
        headings = (plan.study.compared.one.capitalize(), *rest)
        title = f"{column_heading(metric)} by {axis.by}: difference to {axis.by} {first}"
        yield TextTable(title, headings, rows)


def _csv(plan: Plan, results: Results, axis: Axis) -> str:
    """A line for each policy, figure and value: the difference to the first value."""
    first, *rest = map(_shown, _values(plan, axis))
    header = ["policy", "metric", axis.coordinate, "compared_with"]
    header += ["difference" + field for field in ESTIMATE_FIELDS]
    metrics = plan.metrics
    rows = [
        [line, metric.name, value, first, *estimate_fields([estimate])]
        for line, found in _differences(plan, results, axis, metrics)
        for metric, estimates in zip(metrics, found, strict=True)
        for value, estimate in zip(rest, estimates, strict=True)
    ]
    return text_of(header, rows)

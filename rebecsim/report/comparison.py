"""Run comparisons with a progress bar, and make the input of their reports.

All values of a swept key see the same random numbers, so that its values are compared run by run,
as policies are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from rich.console import Console, Group
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column
from rich.text import Text

from rebecsim.metrics import Metric
from rebecsim.report.line_charts import chart_data, chart_figure
from rebecsim.report.maps import map_sections
from rebecsim.report.numbers import (
    ESTIMATE_FIELDS,
    by_axis_csv,
    column_heading,
    estimate_fields,
    format_estimates,
    level_text,
    text_of,
)
from rebecsim.report.report_input import ReportInput
from rebecsim.report.tables import text_table
from rebecsim.studies.cells import Cell, Condition, Picture, Section, TextTable, Value, grouped
from rebecsim.studies.differences import difference
from rebecsim.studies.estimates import Estimate
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results, paired_moments
from rebecsim.studies.running import Bar, PlannedRun, StudyRunner, compare, stored_companions
from rebecsim.studies.study import Axis, PlannedCell, exact_orders_of
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


def compared(
    run: PlannedRun, runner: StudyRunner, with_others: bool, exact_states: int | None = None
) -> ReportInput:
    """Run a comparison, on request also in other message orders.

    With `exact_states`, the best case, worst case and mean over all orders are computed, too, from
    so many states of each cell. Raises as `run_plans`, and UserError where that is unsupported.
    """
    if run.plan.search:
        from rebecsim.report.searched import search

        search(run, runner)
        return report_input(run.plan, run.results)
    compare(run, runner, with_others)
    if exact_states is not None:
        exact_orders_of(run.plan.study).reckon(run.plan, run.results, runner.executor, exact_states)
    stored = stored_companions(run.plan, run.results) if with_others else None
    return report_input(run.plan, run.results, stored)


def report_of_finished(run: PlannedRun) -> tuple[int, ReportInput | None]:
    """Count the cells of a run that are finished, and report those that can be compared.

    These are the cells of the conditions under which all are finished; None if there are none.
    """
    plan, tables = run.plan, run.plan.tables(run.trace)
    finished = {cell for cell in plan.cells if run.results.replications(cell, tables)}
    open_ones = {cell.cell.condition for cell in plan.cells if cell not in finished}
    whole = tuple(cell for cell in plan.cells if cell.cell.condition not in open_ones)
    if not whole:
        return len(finished), None
    return len(finished), report_input(replace(plan, cells=whole), run.results)


def report_input(
    plan: Plan, results: Results, beside: Mapping[str, tuple[Plan, Results]] | None = None
) -> ReportInput:
    """Put together what a report shows: the figures, the scenario, and what computed them.

    `beside` are the same cells run in other message orders. Raises ResultsError for results that
    are incomplete or damaged.
    """
    study, scenario, metrics = plan.study, plan.scenario, plan.metrics
    moments = results.moments(plan)
    counters = sorted({name for metric in metrics for name in metric.counters})
    others = (beside or {}).items()
    orders = {name: run.moments(other) for name, (other, run) in others}
    pairs = paired_moments(results, plan.cells, counters)
    order_pairs = {name: paired_moments(run, o.cells, counters) for name, (o, run) in others}
    order = _unless_swept(scenario, "order")
    record = results.record()
    return ReportInput(
        title=scenario.heading,
        description=scenario.description,
        scenario=_settings(plan, moments),
        seed=scenario.seed,
        versions=record["versions"],
        moments=moments,
        metrics=metrics,
        choice_law=_unless_swept(scenario, "choice_law"),
        engines=tuple(record["engines"]),
        inputs=_inputs(record),
        charted=plan.comparison.charted,
        axis=None if plan.search else plan.axis,
        separate=() if plan.search else plan.separate,
        swept=() if plan.search else tuple(each.coordinate for each in plan.swept.axes),
        baseline=plan.comparison.baseline,
        level=scenario.level,
        pairs=pairs,
        order=order,
        orders={order: moments, **orders} if orders and order else {},
        order_pairs={order: pairs, **order_pairs} if orders and order else {},
        precisions=plan.precisions,
        normal_outcomes=study.normal_outcomes,
        earned_by=study.earned_by,
        sections=sections_of(plan, results, moments),
        compared=study.compared,
        order_notes=study.order_notes,
        caution=plan.caution,
    )


def _unless_swept(scenario: Any, key: str) -> Any:
    """Give the value of a key that some kinds have, where it is the same in all cells."""
    return None if key in scenario.swept else getattr(scenario, key, None)


def sections_of(plan: Plan, results: Results, moments: Sequence[CellMoments]) -> Sequence[Section]:
    """Give what the kind adds, at the first of the swept values, after what these change.

    Of a search, give what was found.
    """
    if plan.search:
        from rebecsim.report.searched import search_section

        return (search_section(plan, results),)
    _, first = plan.settings[0]
    found = plan.study.sections(first, results, moments[: len(first.cells)])
    if not plan.scenario.swept:
        return found
    swept = (*map_sections(plan, results, moments), *along_sections(plan, results, moments))
    return (*swept, *of_first_setting(plan, found))


def _settings(plan: Plan, moments: Sequence[CellMoments]) -> dict[str, Any]:
    """The configuration, with the replications that were run where a precision decided on them."""
    scenario = plan.scenario
    settings: dict[str, Any] = scenario.model_dump(
        mode="json", exclude_none=True, exclude=set(scenario.unlisted)
    )
    if not scenario.sweep:
        del settings["sweep"]
    if scenario.precision is not None:
        done = min(each.replications for each in moments)
        settings["replications"] = f"{done} (at most {scenario.replications})"
    return settings


def _inputs(record: Mapping[str, Any]) -> dict[str, str]:
    """The other inputs of results: files that the scenario names, and plug-ins."""
    ending = "_blake2b"
    files = {
        f"BLAKE2b checksum of the {name.removesuffix(ending)}": str(digest)
        for name, digest in record.items()
        if name.endswith(ending) and digest
    }
    plugins = {
        f"Plug-in {each['name']}, SHA-256": str(each["sha256"])
        for each in record.get("plugins", [])
    }
    return {**files, **plugins}


_BAR = 20  # characters: a window of 80 has room for a name beside it


@dataclass(frozen=True)
class _Shown:
    """A bar on a screen."""

    progress: Progress
    task: TaskID

    def start(self, total: int) -> None:
        self.progress.reset(self.task, total=total)

    def advance(self, finished: int) -> None:
        self.progress.advance(self.task, finished)


@contextmanager
def progress_bar(
    runs: Sequence[PlannedRun], console: Console, is_wanted: bool = True
) -> Iterator[Bar]:
    """Show a bar while the block works, and remove it afterwards.

    Nothing is shown if it is not wanted, or the console is a file or a pipe.
    """
    is_seen = is_wanted and (console.is_terminal or console.is_jupyter)
    columns = (
        TextColumn("{task.description}", table_column=Column(ratio=1, no_wrap=True)),
        BarColumn(_BAR),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TextColumn(runs[0].plan.study.counted),
        TimeElapsedColumn(),
    )
    # Rich 13 ends a line where a bar that is not shown was.
    shown_on = console if is_seen else Console(quiet=True)
    with Progress(
        *columns, console=shown_on, transient=True, disable=not is_seen, expand=True
    ) as progress:
        yield _Shown(progress, progress.add_task(_described(runs)))


def _described(runs: Sequence[PlannedRun]) -> str:
    """Say what is running: the scenario, and the laws and orders of its runs if it has such."""
    scenarios = [run.plan.scenario for run in runs]
    laws = "/".join(dict.fromkeys(filter(None, (getattr(s, "choice_law", "") for s in scenarios))))
    orders = ", ".join(dict.fromkeys(filter(None, (getattr(s, "order", "") for s in scenarios))))
    details = f" ({laws} law, {orders} order)" if laws and orders else ""
    return f"{scenarios[0].name}{details}"

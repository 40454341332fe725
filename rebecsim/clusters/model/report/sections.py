"""Sections of reports for models, and charts along a constant or an argument that was varied."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from rebecsim.clusters.model.report.charts import (
    PERCENTS,
    Curve,
    Percentile,
    Values,
    Waits,
    column_of,
    curve_band,
    curve_of,
    curves_figure,
    first_details,
    histogram_figure,
    percentile,
    waits_of,
)
from rebecsim.clusters.model.run import STAYS
from rebecsim.clusters.model.scenario import ModelScenario, Observe
from rebecsim.report.axis_sections import MOST_LINES, along_pictures
from rebecsim.report.numbers import text_of
from rebecsim.report.tables import text_table
from rebecsim.studies.cells import Cell, Picture, Section, TextTable
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results
from rebecsim.studies.study import Axis, PlannedCell
from rebecsim.studies.sweeps import Changes, combinations, label_of


def along_section(plan: Plan, moments: Sequence[CellMoments]) -> Iterator[Section]:
    """Draw every figure along the number with the most values; a line for all else that varies."""
    scenario: ModelScenario = plan.scenario
    varied = _axis(scenario)
    if varied is None:
        return
    placed = [
        replace(each, subject=_cell(changes, varied, scenario.model))
        for each, changes in zip(moments, combinations(scenario.varied), strict=True)
    ]
    axis = Axis("at", re.sub(r"\W", "_", varied), varied, varied)
    yield Section(
        name="along",
        title=f"Along {varied}",
        pictures=along_pictures(placed, plan.metrics, axis, scenario.level),
    )


def _axis(scenario: ModelScenario) -> str | None:
    """Choose what has the most values, all of them numbers; None where nothing has several."""
    numbers = {
        name: len(values)
        for name, values in scenario.varied.items()
        if len(values) > 1 and not any(isinstance(value, bool) for value in values)
    }
    return max(numbers, key=lambda name: numbers[name]) if numbers else None


def _cell(changes: Changes, varied: str, model: str) -> Cell:
    others = tuple(each for each in changes if each[0] != varied)
    place = dict(changes)[varied]
    return Cell.of(label_of(others) or Path(model).stem, at=place)


_MOST_TOLD = 5
"""Examples of runs that ended early."""

_CURVE_NOTE = (
    "The value at a time is that after all messages of the time, mean over runs, with the 95 % "
    "interval of each time for itself. A run that a violation ends is left out from then on; where "
    "no message is left, the value stays as it is."
)
_PERCENTILE_NOTE = (
    "A percentile is the smallest wait that so many percent of all messages do not exceed, with "
    "its 95 % interval, for which waits of one run may hang together."
)


def model_sections(
    plan: Plan, results: Results, moments: Sequence[CellMoments]
) -> tuple[Section, ...]:
    """Show how runs ended, figures along what was swept, waits, distributions and curves."""
    scenario: ModelScenario = plan.scenario
    tables = plan.tables()
    for cell in plan.cells:
        results.require(cell, tables)
    return (
        _endings(plan, results, moments),
        *along_section(plan, moments),
        *_waits(plan, results),
        *_distributions(plan, results, scenario),
        *_curves(plan, results, scenario),
    )


# --- how runs ended ------------------------------------------------------------------------------


def _endings(plan: Plan, results: Results, moments: Sequence[CellMoments]) -> Section:
    scenario: ModelScenario = plan.scenario
    endings = sorted({ending for each in moments for ending in each.outcomes})
    sentences = [*_all_alike(moments, endings), *_never_held(scenario, moments)]
    examples = list(_examples(plan, results))
    table = TextTable(
        "How runs ended",
        ("Variant", *endings),
        tuple(
            (each.cell.policy, tuple(str(each.outcomes.get(ending, 0)) for ending in endings))
            for each in moments
        ),
    )
    several = len(endings) > 1
    shown: list[RenderableType] = [text_table(table)] if several else []
    shown += map(Text, [*sentences, *examples])
    return Section(
        name="endings",
        title="How runs ended",
        sentences=(*sentences, *examples),
        tables=(table,) if several else (),
        terminal=Group(*shown),
    )


def _all_alike(moments: Sequence[CellMoments], endings: Sequence[str]) -> Iterator[str]:
    if len(endings) == 1:
        total = sum(each.replications for each in moments)
        runs = "The run" if total == 1 else f"All {total:,} runs"
        yield f"{runs} ended alike: {endings[0]}."


def _never_held(scenario: ModelScenario, moments: Sequence[CellMoments]) -> Iterator[str]:
    """Say how many runs have no first time, which no mean says."""
    for each in scenario.observe:
        if each.what == "first":
            for cell in moments:
                never = cell.sums[cell.counters.index(f"{each.column}_never")]
                if never:
                    yield (
                        f"{each.title or each.text} never held in {never} of {cell.replications} "
                        f"runs of {cell.cell.policy}."
                    )


def _examples(plan: Plan, results: Results) -> Iterator[str]:
    """Give the reasons of the first runs that ended early."""
    told = 0
    for cell in plan.cells:
        for ending, run, time, detail in first_details(results, cell):
            if told < _MOST_TOLD:
                yield f"{cell.cell.policy}: {ending} in run {run} at time {time}: {detail}."
            told += 1


# --- waits ---------------------------------------------------------------------------------------


def _waits(plan: Plan, results: Results) -> Iterator[Section]:
    for each in plan.scenario.observe:
        if each.what != "waits":
            continue
        read = {cell: waits_of(results, cell, each.column) for cell in plan.cells}
        table = TextTable(
            f"{each.title or f'Wait of {each.text}'} (time units)",
            ("Variant", "Messages", *(f"{percent} %" for percent in PERCENTS), "Longest"),
            tuple((cell.cell.policy, _row(results, cell, waits)) for cell, waits in read.items()),
        )
        yield Section(
            name=each.column,
            title=each.title or f"Wait of {each.text}",
            tables=(table,),
            pictures=(_wait_histogram(each, read),),
            notes=(_PERCENTILE_NOTE, *_first_ones(plan)),
            terminal=Group(text_table(table), Text(_PERCENTILE_NOTE, style="dim")),
        )


def _row(results: Results, cell: PlannedCell, waits: Waits) -> tuple[str, ...]:
    if not len(waits.wait):
        return ("0", *("" for _ in PERCENTS), "")
    runs = results.replications(cell)
    found = (_text(percentile(waits, runs, percent)) for percent in PERCENTS)
    return (f"{len(waits.wait):,}", *found, str(int(waits.wait.max())))


def _text(found: Percentile) -> str:
    if found.low is None or found.low == found.high:
        return str(found.value)
    return f"{found.value} ({found.low} to {found.high})"


def _wait_histogram(each: Observe, read: Mapping[PlannedCell, Waits]) -> Picture:
    samples = {
        cell.cell.policy: waits.wait.astype(float)
        for cell, waits in list(read.items())[:MOST_LINES]
    }
    title = each.title or f"Wait of {each.text}"
    return _histogram(f"{each.column}_waits", samples, title, "time units", "messages")


# --- distributions -------------------------------------------------------------------------------


def _distributions(plan: Plan, results: Results, scenario: ModelScenario) -> Iterator[Section]:
    pictures = []
    for each in scenario.observe:
        title = each.title or each.text
        if each.what == "value":
            samples = _samples(plan, results, each.column)
            title = f"{title} at the end"
            name = f"{each.column}_distribution"
            pictures.append(_histogram(name, samples, title, title, "runs"))
        elif each.what == "first":
            held = _samples(plan, results, f"{each.column}_held")
            times = _samples(plan, results, f"{each.column}_time")
            samples = {policy: times[policy][held[policy] > 0] for policy in times}
            name, shown = f"{each.column}_distribution", f"First time that {title}"
            pictures.append(_histogram(name, samples, shown, "time", "runs in which it held"))
    if pictures:
        yield Section(
            "distributions", "Distributions", pictures=tuple(pictures), notes=_first_ones(plan)
        )


def _samples(plan: Plan, results: Results, column: str) -> dict[str, Values]:
    return {cell.cell.policy: column_of(results, cell, column) for cell in plan.cells[:MOST_LINES]}


def _histogram(name: str, samples: Mapping[str, Any], title: str, x_label: str, of: str) -> Picture:
    return Picture(
        name,
        title,
        f"Each bar is a share of the {of} of a variant; all variants have the same axes.",
        partial(histogram_figure, samples, title, x_label, of),
        is_wide=False,
    )


def _first_ones(plan: Plan) -> tuple[str, ...]:
    if len(plan.cells) <= MOST_LINES:
        return ()
    return (f"Pictures show the first {MOST_LINES} of {len(plan.cells)} variants.",)


# --- curves --------------------------------------------------------------------------------------


def _curves(plan: Plan, results: Results, scenario: ModelScenario) -> Iterator[Section]:
    pictures, files = [], {}
    for each in scenario.observe:
        if not each.is_followed:
            continue
        curves = {
            cell.cell.policy: curve_of(results, cell, each.column, each.every, STAYS)
            for cell in plan.cells
        }
        shown, title = dict(list(curves.items())[:MOST_LINES]), each.title or each.text
        draw = partial(curves_figure, shown, title)
        name = f"{each.column}_over_time"
        pictures.append(Picture(name, f"{title} over time", _CURVE_NOTE, draw, is_wide=False))
        files[f"{name}.csv"] = _curves_csv(curves)
    if pictures:
        notes = _first_ones(plan)
        yield Section("curves", "Over time", pictures=tuple(pictures), notes=notes, files=files)


def _curves_csv(curves: Mapping[str, Curve]) -> str:
    """Write a line for each variant and time: how many runs, their mean and its interval."""
    rows = (
        [policy, str(time), str(runs), *(f"{value:.10g}" for value in values)]
        for policy, curve in curves.items()
        for time, runs, *values in zip(
            curve.time.tolist(),
            curve.runs.tolist(),
            *(part.tolist() for part in curve_band(curve)),
            strict=True,
        )
    )
    return text_of(["variant", "time", "runs", "mean", "low", "high"], rows)

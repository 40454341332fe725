"""Figures along what was swept: charts whose horizontal axis is a constant or an argument."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from rebecsim.clusters.model.report.charts import MOST_LINES
from rebecsim.clusters.model.scenario import ModelScenario
from rebecsim.clusters.model.variants import Changes, combinations, label_of
from rebecsim.report.charts.printed import chart_figure
from rebecsim.report.charts.series import chart_data
from rebecsim.studies.cell import Cell
from rebecsim.studies.plan import Plan
from rebecsim.studies.sections import Picture, Section
from rebecsim.studies.statistics.moments import CellMoments
from rebecsim.studies.statistics.summary import summarise
from rebecsim.studies.study import Axis


def along_section(plan: Plan, moments: Sequence[CellMoments]) -> Iterator[Section]:
    """Draw every figure along the number with the most values; a line for all else that varies."""
    scenario: ModelScenario = plan.scenario
    swept = _axis(scenario)
    if swept is None:
        return
    variants = list(combinations(scenario.sweep))
    placed = [
        replace(each, subject=_cell(changes, swept, scenario.model))
        for each, changes in zip(moments, variants, strict=True)
    ]
    lines = tuple(dict.fromkeys(each.cell.policy for each in placed))[:MOST_LINES]
    summary = summarise(
        [each for each in placed if each.cell.policy in lines], plan.metrics, axis="at"
    )
    axis = Axis("at", re.sub(r"\W", "_", swept), swept, swept)
    charts = [chart_data(summary, column, axis) for column in range(len(plan.metrics))]
    yield Section(
        name="along",
        title=f"Along {swept}",
        pictures=tuple(
            Picture(
                f"{chart.name}_along",
                f"{chart.title} by {swept}",
                " ".join(chart.caption),
                partial(chart_figure, chart, scenario.heading),
                is_wide=False,
            )
            for chart in charts
        ),
    )


def _axis(scenario: ModelScenario) -> str | None:
    """Choose what has the most values, all of them numbers; None where nothing has several."""
    numbers = {
        name: len(values)
        for name, values in scenario.sweep.items()
        if len(values) > 1 and not any(isinstance(value, bool) for value in values)
    }
    return max(numbers, key=lambda name: numbers[name]) if numbers else None


def _cell(changes: Changes, swept: str, model: str) -> Cell:
    others = tuple(each for each in changes if each[0] != swept)
    place = dict(changes)[swept]
    return Cell.of(label_of(others) or Path(model).stem, at=place)

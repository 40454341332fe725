"""Figures along what was varied: charts whose horizontal axis is a constant or an argument."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rebecsim.clusters.model.scenario import ModelScenario
from rebecsim.report.comparison import along_pictures
from rebecsim.studies.cells import Cell
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import Plan
from rebecsim.studies.sections import Section
from rebecsim.studies.study import Axis
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

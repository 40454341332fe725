"""Cells of a scenario with swept keys, whose values become coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from rebecsim.errors import UserError
from rebecsim.studies.cell import Cell, Condition
from rebecsim.studies.scenarios.scenario import Setting, find_swept, settings_of
from rebecsim.studies.scenarios.scenario_errors import field_name
from rebecsim.studies.scenarios.sweeps import (
    Sweep,
    column_names,
    coordinate,
    file_names,
    label_of,
    shown_value,
)
from rebecsim.studies.scenarios.toml_lines import FieldPath
from rebecsim.studies.study import Axis, Comparison, PlannedCell, Study, comparison_of

_LONGEST_NAME = 60
VIEW_COLUMNS = ("run", "cell", "policy", "finished", "replications", "replication", "bytes")
"""The columns that views of all kinds have."""


@dataclass(frozen=True)
class SweptStudy:
    """What a kind makes of a scenario, under every combination of the values of its sweep."""

    study: Study
    scenario: Any

    @cached_property
    def comparison(self) -> Comparison:
        """How cells are compared."""
        return comparison_of(self.study, self.scenario)

    @cached_property
    def coordinates(self) -> Mapping[str, str]:
        """The names of the coordinates of swept keys: key -> name. No view has two of a name."""
        study, scenario = self.study, self.scenario
        taken = {*VIEW_COLUMNS, *self.comparison.apart}
        if (axis := study.axis(scenario)) is not None:
            taken.add(axis.coordinate)
        for metric in self.comparison.kept:
            taken.update(metric.name + end for end in ("", "_low", "_high"))
        for columns in study.tables(scenario, trace=True).values():
            taken.update(columns)
        return column_names(list(scenario.swept), taken)

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """Every combination of the values that are swept."""
        return settings_of(self.scenario)

    @property
    def apart(self) -> tuple[str, ...]:
        """The coordinates whose values are compared apart."""
        return (*self.comparison.apart, *self.coordinates.values())

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """What figures can be drawn over: the swept keys that have several values."""
        return tuple(
            _axis(self.coordinates[name], values, key.unit)
            for name, key in find_swept(self.scenario).items()
            if len(values := self.scenario.swept[name]) > 1
        )

    @property
    def axis(self) -> Axis | None:
        """What charts go by: the swept numbers that are most, or else what the kind has."""
        numbers = [each for each in self.axes if not each.words]
        if not numbers:
            return self.study.axis(self.scenario)
        counts = {self.coordinates[key]: len(values) for key, values in self.scenario.swept.items()}
        return max(numbers, key=lambda each: counts[each.coordinate])

    def cells(self, folder: Path) -> Iterator[PlannedCell]:
        """Lay out the cells of all settings, one setting after the other.

        Random numbers are those of the scenario itself, so that all values see the same ones.
        Raises UserError where values change what is compared, or by which figures.
        """
        if not self.scenario.swept:
            yield from self.study.cells(self.scenario, folder)
            return
        rest = {
            key: each for key, each in self.scenario.sweep.items() if key not in self.scenario.swept
        }
        alone = self.scenario.model_copy(update={"sweep": Sweep(rest)})
        own = tuple(self.study.cells(alone, folder))
        names = file_names([each.changes for each in self.settings], _LONGEST_NAME, "setting")
        for setting, name in zip(self.settings, names, strict=True):
            cells = tuple(self.study.cells(setting.scenario, folder))
            where = tuple(
                (self.coordinates[key], coordinate(value)) for key, value in setting.changes
            )
            if [_compared(each) for each in cells] != [_compared(each) for each in own]:
                raise UserError(
                    f"sweep: {label_of(setting.changes)} changes what is compared, or which "
                    "figures there are; such a key cannot be swept"
                )
            for cell, base in zip(cells, own, strict=True):
                condition = Condition((*cell.cell.condition.coordinates, *where))
                found = Cell(cell.cell.policy, condition)
                yield replace(cell, cell=found, name=f"{cell.name}_{name}", key=base.key)

    def files(self) -> Mapping[FieldPath, str]:
        """Give the files that are named, those of all values too."""
        found = dict(self.study.files(self.scenario))
        for setting in self.settings:
            places = {key: self.scenario.swept[key].index(value) for key, value in setting.changes}
            for path, file in self.study.files(setting.scenario).items():
                key = field_name(path)
                if key in places and file != found.get(path):
                    found["sweep", key, places[key]] = file
        return found


def _compared(cell: PlannedCell) -> tuple[object, ...]:
    return cell.cell.policy, cell.columns, cell.cell.condition.names


def _axis(name: str, values: Sequence[Any], unit: str | None) -> Axis:
    words = name.strip("_").replace("_", " ")
    title = words[:1].upper() + words[1:]
    are_numbers = not any(isinstance(coordinate(each), str) for each in values)
    return Axis(
        coordinate=name,
        name=name,
        title=f"{title} ({unit})" if unit else title,
        by=words,
        unit=unit or "",
        words=() if are_numbers else tuple(map(shown_value, values)),
    )

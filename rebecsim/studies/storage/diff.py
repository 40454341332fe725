"""Differences of two runs: their settings, and the figures of every cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rebecsim.metrics import Metric
from rebecsim.studies.cell import Cell
from rebecsim.studies.statistics.estimates import Estimate, estimate
from rebecsim.studies.storage.parts import content_digest
from rebecsim.studies.storage.results_error import ResultsError
from rebecsim.studies.storage.store import StoredRun
from rebecsim.studies.study import PlannedCell

_FOLLOWING = frozenset(
    {"started", "format", "apart", "axis", "baseline", "measures", "columns", "tables", "cells"}
)
"""Entries of a record that are not settings."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting or version that two runs do not share; None where one does not have it."""

    name: str
    first: Any
    second: Any


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """A metric of one cell in two runs.

    Attributes:
        metric: which.
        first: in the first run.
        second: in the second run.
        shares_random_numbers: whether replication i drew the same numbers in both.
    """

    metric: Metric
    first: Estimate
    second: Estimate
    shares_random_numbers: bool

    @property
    def value(self) -> float:
        """Second minus first; NaN when either is undefined."""
        return self.second.value - self.first.value

    @property
    def standard_error(self) -> float | None:
        """Of the difference of two independent estimates: the root of the sum of both variances.

        Where runs share random numbers their estimates usually move together, and the error is
        then smaller than this. None when either estimate has none.
        """
        if self.first.standard_error is None or self.second.standard_error is None:
            return None
        return math.hypot(self.first.standard_error, self.second.standard_error)


@dataclass(frozen=True, slots=True)
class CellDifference:
    """One cell of two runs: whether their rows are identical, and a difference for every metric."""

    cell: Cell
    identical: bool
    differences: tuple[MetricDifference, ...]


@dataclass(frozen=True, slots=True)
class RunDifference:
    """Two runs.

    Attributes:
        first: name of the first.
        second: name of the second.
        settings: what differs between their scenarios and versions.
        cells: those that both have, in the order of the first.
        only_first: cells that only the first has.
        only_second: cells that only the second has.
    """

    first: str
    second: str
    settings: tuple[Setting, ...]
    cells: tuple[CellDifference, ...]
    only_first: tuple[Cell, ...]
    only_second: tuple[Cell, ...]


def compare_runs(
    first: StoredRun,
    second: StoredRun,
    metrics: Sequence[Metric] | None = None,
    level: float = 0.95,
) -> RunDifference:
    """Compare two complete runs cell by cell. Cells are the same by policy and condition.

    Raises ResultsError when a part of either is missing or damaged, or they have no measure in
    common.
    """
    shared = [each for each in first.contents.measures if each in second.contents.measures]
    if not shared:
        raise ResultsError(
            f"{first.name} and {second.name}: these runs are of different kinds, so they have no "
            "figure in common"
        )
    ours = dict(zip(_cells(first), first.results.moments(first.cells), strict=True))
    theirs = dict(zip(_cells(second), second.results.moments(second.cells), strict=True))
    places = {planned.cell: planned for planned in second.cells}
    cells = []
    for planned in first.cells:
        if planned.cell not in theirs:
            continue
        digests = (
            content_digest(first.results.part(planned)),
            content_digest(second.results.part(places[planned.cell])),
        )
        pair = ours[planned.cell], theirs[planned.cell]
        same_numbers = _numbers(first, planned) == _numbers(second, places[planned.cell])
        differences = []
        for metric in metrics or shared:
            one, other = (estimate(metric, [each], level) for each in pair)
            differences.append(MetricDifference(metric, one, other, same_numbers))
        cells.append(CellDifference(planned.cell, digests[0] == digests[1], tuple(differences)))
    return RunDifference(
        first=first.name,
        second=second.name,
        settings=_settings(first.record, second.record),
        cells=tuple(cells),
        only_first=tuple(cell for cell in ours if cell not in theirs),
        only_second=tuple(cell for cell in theirs if cell not in ours),
    )


def _numbers(run: StoredRun, cell: PlannedCell) -> object:
    """What the random numbers of a cell depend on."""
    return cell.key or run.scenario.get("seed")


def _cells(run: StoredRun) -> list[Cell]:
    return [planned.cell for planned in run.cells]


def _settings(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[Setting, ...]:
    """Everything that two runs do not share, except when they were started and what follows."""
    ours, theirs = (
        _flat({name: value for name, value in record.items() if name not in _FOLLOWING})
        for record in (first, second)
    )
    return tuple(
        Setting(name, ours.get(name), theirs.get(name))
        for name in dict.fromkeys([*ours, *theirs])
        if ours.get(name) != theirs.get(name)
    )


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    """Nested settings by dotted names: `scenario.arrivals.0.minimum`."""
    if isinstance(value, Mapping):
        entries = value.items()
    elif isinstance(value, list) and any(isinstance(entry, Mapping) for entry in value):
        entries = {str(place): entry for place, entry in enumerate(value)}.items()
    else:
        return {name: value}
    return {
        key: leaf
        for part, entry in entries
        for key, leaf in _flat(entry, f"{name}.{part}" if name else part).items()
    }

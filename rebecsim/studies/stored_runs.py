"""Find the runs below a directory, read their records, and compare two of them.

A run is a directory with `run.json` and `parts/`, as `Results` makes it, at any depth. Its name is
its path from the directory that was searched.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from rebecsim.metrics import Metric
from rebecsim.studies.cells import REPLICATION, Cell
from rebecsim.studies.estimates import Estimate, estimate
from rebecsim.studies.parts import ColumnsOfFile, content_digest, part_rows, schema_of
from rebecsim.studies.record import Contents, ResultsError, contents_of
from rebecsim.studies.results import Results
from rebecsim.studies.run_directory import RECORD
from rebecsim.studies.study import PlannedCell

_PRIVATE = frozenset({"parts", "traces", "checksums", "charts", "orders"})
"""Folders of a run, in which there are no other runs."""


@dataclass(frozen=True)
class StoredRun:
    """A run on disk, complete or not.

    Attributes:
        name: how the run is called: its path from where it was looked for.
        results: its directory.
        record: what `run.json` says.
        contents: what it says of the results.
        finished: the cells that have a part. Whether a part is damaged shows when it is read.
    """

    name: str
    results: Results
    record: dict[str, Any]
    contents: Contents
    finished: tuple[PlannedCell, ...]

    @property
    def kind(self) -> str:
        """The kind of its scenario."""
        return str(self.record["kind"])

    @property
    def scenario(self) -> dict[str, Any]:
        """What was run, as the record has it; its kind need not be installed."""
        return dict(self.record["scenario"])

    @property
    def cells(self) -> tuple[PlannedCell, ...]:
        """Its cells, those that are finished and those that are not."""
        return self.contents.cells

    @property
    def policies(self) -> tuple[str, ...]:
        """What is compared."""
        return tuple(dict.fromkeys(each.cell.policy for each in self.cells))

    @property
    def replications(self) -> int:
        """Of each cell: those of the scenario, or what it has where a precision decides on them."""
        if self.scenario.get("precision") is None:
            return int(self.scenario.get("replications", 1))
        return min(map(self.replications_of, self.finished), default=0)

    def replications_of(self, cell: PlannedCell) -> int:
        """How many replications a finished cell has; 0 when its part is damaged."""
        with suppress(OSError, pa.ArrowException):
            return part_rows(self.results.part(cell))
        return 0

    @property
    def size(self) -> int:
        """Bytes of all files of the run, its report included."""
        total = 0
        for folder, _, files in os.walk(self.results.directory):
            for name in files:
                with suppress(FileNotFoundError):  # a temporary file of a run that is going on
                    total += (Path(folder) / name).lstat().st_size
        return total


def find_runs(root: Path) -> Iterator[tuple[str, Path]]:
    """Find the runs in and below a directory: name and directory, in the order of names.

    Hidden folders are not searched, symbolic links not followed. A run in `root` itself is called
    as `root` is. Raises ResultsError when `root` is no directory.
    """
    if not root.is_dir():
        raise ResultsError(f"{root}: is not a directory; name one that holds runs")
    for folder, subfolders, files in os.walk(root):
        path = Path(folder)
        is_run = RECORD in files and "parts" in subfolders
        subfolders[:] = sorted(
            name
            for name in subfolders
            if not name.startswith(".") and not (is_run and name in _PRIVATE)
        )
        if is_run:
            relative = path.relative_to(root).as_posix()
            yield (root.resolve().name if relative == "." else relative), path


def stored_run(directory: Path, record: dict[str, Any], name: str | None = None) -> StoredRun:
    """Make a stored run of a directory and its record, which must be of the present format.

    Raises ResultsError when the record is damaged.
    """
    contents = contents_of(directory / RECORD, record)
    counters = {name for each in contents.measures for name in each.counters}
    columns = ColumnsOfFile(schema_of(contents.columns), frozenset({REPLICATION, *counters}))
    results = Results(directory, columns)
    finished = tuple(cell for cell in contents.cells if results.part(cell).exists())
    return StoredRun(name or str(directory), results, record, contents, finished)


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

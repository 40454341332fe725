"""The runs below a directory.

A run is a directory with `run.json` and `parts/`, as `Results` makes it, however deep it lies. Its
name is the path from the directory that was searched.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from rebecsim.experiments.parts import part_rows
from rebecsim.experiments.plan import Plan, PlannedCell, plan_scenario
from rebecsim.experiments.results import Results
from rebecsim.experiments.results_error import ResultsError
from rebecsim.experiments.scenario import Scenario
from rebecsim.experiments.workload_plan import ScheduleCell
from rebecsim.experiments.workload_results import WorkloadResults, is_workload_record
from rebecsim.experiments.workload_scenario import WorkloadScenario

__all__ = [
    "StoredRun",
    "StoredWorkloadRun",
    "find_runs",
    "open_any_run",
    "open_run",
    "open_workload_run",
]

_PRIVATE = frozenset({"parts", "traces", "checksums", "charts", "orders"})
"""Folders of a run, in which there are no other runs."""


@dataclass(frozen=True)
class StoredRun:
    """A run on disk, complete or not.

    Attributes:
        name: how the run is called: its path from where it was looked for.
        results: its directory.
        record: what `run.json` says.
        plan: its scenario and cells.
        finished: the cells that have a part. Whether a part is damaged shows when it is read.
    """

    name: str
    results: Results
    record: dict[str, Any]
    plan: Plan
    finished: tuple[PlannedCell, ...]

    @property
    def scenario(self) -> Scenario:
        """What was run."""
        return self.plan.scenario

    @property
    def cells(self) -> tuple[PlannedCell, ...]:
        """Its cells, those that are finished and those that are not."""
        return self.plan.cells

    @property
    def replications(self) -> int:
        """Of each cell: those of the scenario, or what it has where a precision decides on them."""
        if self.scenario.precision is None:
            return self.scenario.replications
        rows = []
        for cell in self.finished:
            with suppress(OSError, pa.ArrowException):  # a damaged part shows when it is read
                rows.append(part_rows(self.results.part(cell)))
        return min(rows, default=0)

    @property
    def size(self) -> int:
        """Bytes of all files of the run, its report included."""
        return _size_of(self.results.directory)


@dataclass(frozen=True)
class StoredWorkloadRun:
    """A run of a workload scenario on disk, complete or not.

    Attributes:
        name: how the run is called, as of a `StoredRun`.
        results: its directory.
        record: what `run.json` says.
        scenario: what was run.
        cells: its schedules.
        finished: those that have a part. Whether a part is damaged shows when it is read.
    """

    name: str
    results: WorkloadResults
    record: dict[str, Any]
    scenario: WorkloadScenario
    cells: tuple[ScheduleCell, ...]
    finished: tuple[ScheduleCell, ...]

    @property
    def replications(self) -> int:
        """Of each cell."""
        return self.scenario.replications

    @property
    def size(self) -> int:
        """Bytes of all files of the run, its report included."""
        return _size_of(self.results.directory)


def _size_of(directory: Path) -> int:
    total = 0
    for folder, _, files in os.walk(directory):
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
        raise ResultsError(f"{root}: is no directory; name one that holds runs")
    for folder, subfolders, files in os.walk(root):
        path = Path(folder)
        is_run = "run.json" in files and "parts" in subfolders
        subfolders[:] = sorted(
            name
            for name in subfolders
            if not name.startswith(".") and not (is_run and name in _PRIVATE)
        )
        if is_run:
            relative = path.relative_to(root).as_posix()
            yield (root.resolve().name if relative == "." else relative), path


def open_run(directory: Path, name: str | None = None) -> StoredRun:
    """Open a run to read it.

    Raises ResultsError when there is none, its record is damaged, or it is one of a workload
    scenario.
    """
    results = Results(directory)
    record = results.record()
    if is_workload_record(record):
        raise ResultsError(f"{directory}: holds a run of a workload scenario; give another one")
    plan = plan_scenario(results.scenario())
    finished = tuple(cell for cell in plan.cells if results.part(cell).exists())
    return StoredRun(name or str(directory), results, record, plan, finished)


def open_workload_run(directory: Path, name: str | None = None) -> StoredWorkloadRun:
    """Open a run of a workload scenario to read it. Raises ResultsError as `open_run`."""
    results = WorkloadResults(directory)
    record = results.record()
    cells = results.cells()
    finished = tuple(cell for cell in cells if results.part(cell).exists())
    scenario = results.scenario(record)
    return StoredWorkloadRun(name or str(directory), results, record, scenario, cells, finished)


def open_any_run(directory: Path, name: str | None = None) -> StoredRun | StoredWorkloadRun:
    """Open a run of either kind of scenario. Raises ResultsError as `open_run`."""
    if is_workload_record(Results(directory).record()):
        return open_workload_run(directory, name)
    return open_run(directory, name)

"""The runs below a directory: find them, and read their records.

A run is a directory with `run.json` and `parts/`, as `Results` makes it, at any depth. Its name is
its path from the directory that was searched.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from rebecsim.studies.rows import REPLICATION
from rebecsim.studies.storage.parts import ColumnsOfFile, part_rows, part_schema
from rebecsim.studies.storage.record import Contents, contents_of
from rebecsim.studies.storage.results import Results
from rebecsim.studies.storage.results_error import ResultsError
from rebecsim.studies.storage.run_directory import RECORD
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
        """What was run, as the record has it: whoever made it need not be there."""
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
    columns = ColumnsOfFile(part_schema(contents.columns), frozenset({REPLICATION, *counters}))
    results = Results(directory, columns)
    finished = tuple(cell for cell in contents.cells if results.part(cell).exists())
    return StoredRun(name or str(directory), results, record, contents, finished)

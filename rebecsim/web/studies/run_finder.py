"""Find the runs below the server's directory.

An address names a run by a hash of its place below that directory, so a request can reach only
runs that were found there. A run with a link in it is not opened."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from rebecsim.clusters.scenarios import open_run
from rebecsim.studies.record import ResultsError
from rebecsim.studies.run_directory import is_being_written
from rebecsim.studies.stored_runs import StoredRun, find_runs
from rebecsim.web.rendering import UnknownPlaceError

MOST_RUNS = 300

State = Literal["complete", "running", "stopped"]


@dataclass(frozen=True)
class ListedRun:
    """A run that was found. `id` stands in addresses."""

    id: str
    stored: StoredRun
    state: State

    @property
    def name(self) -> str:
        """Its name: its path below the directory."""
        return self.stored.name

    @property
    def directory(self) -> Path:
        """Its directory."""
        return self.stored.results.directory

    @property
    def title(self) -> str:
        """The heading of its scenario."""
        scenario = self.stored.scenario
        return str(scenario.get("title") or scenario.get("name") or self.name)

    @property
    def started(self) -> str:
        """When it was begun, UTC, to the minute; nothing where that is not known."""
        return str(self.stored.record.get("started") or "")[:16].replace("T", " ")


@dataclass(frozen=True)
class RunList:
    """The runs that were found, and the errors of those that cannot be opened."""

    runs: tuple[ListedRun, ...]
    complaints: tuple[str, ...]
    all_read: bool


class RunFinder:
    """The runs below `root`; without one there are none."""

    def __init__(self, root: Path | None) -> None:
        self.root = None if root is None else root.resolve()

    def look(self) -> RunList:
        """Give all runs as they are now, in the order of their names."""
        if self.root is None:
            return RunList((), (), True)
        runs: list[ListedRun] = []
        complaints: list[str] = []
        found = find_runs(self.root)
        for name, directory in islice(found, MOST_RUNS):
            try:
                runs.append(self._opened(name, directory))
            except ResultsError as error:
                complaints.append(self.without_root(str(error)))
        return RunList(tuple(runs), tuple(complaints), next(found, None) is None)

    def find(self, run: str) -> ListedRun:
        """Give a run by its id. Raises UnknownPlaceError, ResultsError."""
        for name, directory in self._places():
            if id_of(name) == run:
                return self._opened(name, directory)
        raise UnknownPlaceError("There is no run at this address. It was moved or removed.")

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Make errors in the block name files relative to the directory."""
        try:
            yield
        except ResultsError as error:
            raise ResultsError(self.without_root(str(error))) from error

    def without_root(self, text: str) -> str:
        """Make the names of files in a text relative to the directory."""
        return text if self.root is None else text.replace(f"{self.root}{os.sep}", "")

    def _places(self) -> Iterator[tuple[str, Path]]:
        return iter(()) if self.root is None else islice(find_runs(self.root), MOST_RUNS)

    def _opened(self, name: str, directory: Path) -> ListedRun:
        stored = open_run(directory, name)
        if is_being_written(directory):
            state: State = "running"
        else:
            state = "complete" if len(stored.finished) == len(stored.cells) else "stopped"
        return ListedRun(id_of(name), stored, state)


def id_of(name: str) -> str:
    """Give the id of a run, which stands in addresses."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:16]

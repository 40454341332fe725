"""Stored results: which there are, what SQL finds in them, and what differs between two of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rebecsim.clusters.kinds import find_kind
from rebecsim.clusters.kit.plugins import UnknownNameError
from rebecsim.clusters.scenarios import open_run
from rebecsim.errors import UserError
from rebecsim.interface.shown import Shown, grouped_parts
from rebecsim.studies.record import ResultsError
from rebecsim.studies.stored_runs import StoredRun, compare_runs, find_runs

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rebecsim.studies.query import QueryAnswer


@dataclass(frozen=True)
class StoredRuns(Shown):
    """The runs in a directory and below.

    Attributes:
        runs: those that can be read, of complete and of interrupted comparisons.
        damaged: why others cannot.

    >>> kept = rs.run("ticket_service.rebeca", runs=20, until=12, out="kept", progress=False)
    >>> len(rs.runs().runs)
    1
    """

    runs: tuple[StoredRun, ...]
    damaged: tuple[UserError, ...]

    @property
    def views(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """What SQL can ask: each view with what it holds, and its columns."""
        from rebecsim.studies.query import views

        return views(self.runs)

    def query(self, sql: str, warn: Callable[[str], None] = warnings.warn) -> QueryAnswer:
        """Answer SQL over the views; `warn` is told of runs with a damaged part, left out.

        Raises QueryError for a statement that is wrong, OSError.
        """
        from rebecsim.studies.query import query

        return query(sql, self.runs, warn)

    def __rich__(self) -> RenderableType:
        """Give a table of the runs."""
        from rebecsim.report.stored import runs_table

        return runs_table(self.runs)


def runs(root: str | Path = ".") -> StoredRuns:
    """Find all runs in a directory and below.

    Raises UserError if there are none that can be read.

    >>> kept = rs.run("ticket_service.rebeca", runs=20, until=12, out="kept", progress=False)
    >>> [(each.name, each.replications) for each in rs.runs().runs]
    [('kept', 20)]
    """
    found: list[StoredRun] = []
    damaged: list[UserError] = []
    for name, directory in find_runs(Path(root)):
        try:
            found.append(open_run(directory, name))
        except ResultsError as error:
            damaged.append(error)
    if not found:
        none = ResultsError(f"{root}: there are no runs; `rebecsim compare --out DIR` makes one")
        raise next(iter(damaged), none)
    return StoredRuns(tuple(found), tuple(damaged))


@dataclass(frozen=True)
class RunsCompared(Shown):
    """What differs between two stored runs: settings and figures, and what their kind adds.

    >>> kept = rs.run("ticket_service.rebeca", runs=20, until=12, out="kept", progress=False)
    >>> print(rs.diff("kept", "kept"))
    The settings are the same.
    ...
    """

    first: StoredRun
    second: StoredRun

    def parts(self) -> Iterator[RenderableType]:
        """Give what is printed, one after the other. Raises UserError for damaged files."""
        from rebecsim.report.stored import diff_view

        yield diff_view(compare_runs(self.first, self.second))
        if self.first.kind == self.second.kind:
            with suppress(UnknownNameError):  # its plug-in is not loaded
                for changes in find_kind(self.first.kind).changes:
                    yield from changes(self.first, self.second)

    def __rich__(self) -> RenderableType:
        """Give all parts."""
        return grouped_parts(self.parts())


def diff(first: str | Path, second: str | Path) -> RunsCompared:
    """Compare two stored runs: settings and figures. Raises UserError where there is no run.

    >>> kept = rs.run("ticket_service.rebeca", runs=20, until=12, out="kept", progress=False)
    >>> print(rs.diff("kept", "kept"))
    The settings are the same.
    1 cell in both runs: 1 identical.
    """
    return RunsCompared(open_run(Path(first)), open_run(Path(second)))

"""Two runs of batch scenarios, schedule by schedule."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from rebecsim.clusters.batch.difference import schedule_difference
from rebecsim.clusters.batch.report.tables import difference_table
from rebecsim.clusters.batch.schedules import read_schedules
from rebecsim.errors import UserError
from rebecsim.studies.storage.store import StoredRun
from rebecsim.studies.study import PlannedCell


def schedule_changes(first: StoredRun, second: StoredRun) -> Iterator[RenderableType]:
    """Show what changes for jobs and users in each schedule that both runs have.

    Raises UserError for schedules of different workloads, ResultsError for damaged files.
    """
    for cell, other in _comparable(first, second):
        pairs = zip(
            read_schedules(first.results, cell),
            read_schedules(second.results, other),
            strict=False,
        )
        for replication, (one, another) in enumerate(pairs):
            names = (
                f"{first.name}/{cell.name}, replication {replication}",
                f"{second.name}/{other.name}, replication {replication}",
            )
            try:
                difference = schedule_difference(one, another, names)
            except ValueError as error:
                raise UserError(f"{names[0]} and {names[1]}: {error}") from error
            yield difference_table(difference)


def _comparable(first: StoredRun, second: StoredRun) -> list[tuple[PlannedCell, PlannedCell]]:
    """Find the cells that stand for each other: of the same name, or the only ones."""
    others = {cell.name: cell for cell in second.cells}
    pairs = [(cell, others[cell.name]) for cell in first.cells if cell.name in others]
    if not pairs and len(first.cells) == len(second.cells) == 1:
        return [(first.cells[0], second.cells[0])]
    if not pairs:
        raise UserError(
            f"{first.name} and {second.name} have no schedule in common: no policy with the same "
            "load factor and estimates"
        )
    return pairs

"""What differs between schedules, in words and for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from rebecsim.clusters.batch.difference import ScheduleDifference, schedule_difference
from rebecsim.clusters.batch.report.text import figures_table
from rebecsim.clusters.batch.schedules import read_schedules
from rebecsim.errors import UserError
from rebecsim.report.tables import duration_text
from rebecsim.studies.storage.store import StoredRun
from rebecsim.studies.study import PlannedCell

_SHOWN_USERS = 12


def difference_table(difference: ScheduleDifference) -> Group:
    """How jobs and users fare in the second schedule, as seen from the first."""
    change, jobs = difference.change, len(difference.job)
    lines = [
        f"{difference.second} instead of {difference.first}: of {jobs:,} jobs "
        f"{difference.earlier:,} wait for less time, {difference.later:,} for more, "
        f"{jobs - difference.earlier - difference.later:,} for as long",
        f"change of the wait: mean {_signed(float(change.mean()))}, "
        f"from {_signed(float(change.min()))} to {_signed(float(change.max()))}",
    ]
    for name, count in (
        (difference.first, difference.only_first),
        (difference.second, difference.only_second),
    ):
        if count:
            lines.append(f"{count:,} jobs only in {name}")
    return Group(*map(Text, lines), _users(difference))


def _users(difference: ScheduleDifference) -> RenderableType:
    each = difference.users
    values = each.wait * each.jobs if each.weighted_tardiness is None else each.weighted_tardiness
    order = np.argsort(-np.abs(values), kind="stable")[:_SHOWN_USERS]
    order = order[values[order] != 0]
    if not len(order):
        return Text("Nothing changes for any user.")
    titles = ["User", "Jobs", "Wait less", "Wait more", "Mean wait"]
    columns = [
        [each.labels[row] for row in order],
        [f"{each.jobs[row]:,}" for row in order],
        [f"{each.earlier[row]:,}" for row in order],
        [f"{each.later[row]:,}" for row in order],
        [_signed(float(each.wait[row])) for row in order],
    ]
    if each.weighted_tardiness is not None:
        titles.append("WT (h)")
        columns.append([f"{each.weighted_tardiness[row]:+,.1f}" for row in order])
    table = figures_table(titles, zip(*columns, strict=True))
    hidden = len(each.user) - len(order)
    if hidden:
        return Group(table, Text(f"The other {hidden} users change less, or not at all."))
    return table


def _signed(seconds: float) -> str:
    if seconds == 0:
        return "0s"
    return ("+" if seconds > 0 else "\u2212") + duration_text(abs(seconds))


def difference_summary(differences: Sequence[ScheduleDifference]) -> list[str]:
    """One line for each policy other than the baseline."""
    return [
        f"{each.second} instead of {each.first}: {each.earlier:,} jobs wait for less time, "
        f"{each.later:,} for more, mean wait {_signed(float(each.change.mean()))}"
        for each in differences
    ]


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

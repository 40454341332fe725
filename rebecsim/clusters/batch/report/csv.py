"""Schedules as comma-separated values, with all digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rebecsim.clusters.batch.difference import ScheduleDifference
from rebecsim.metrics import UserMetrics
from rebecsim.report.csv import text_of
from rebecsim.studies.study import PlannedCell

_CELL = ("policy", "load_factor", "estimates", "replication")


def schedules_csv(
    metrics: Sequence[str], values: Mapping[tuple[PlannedCell, int], tuple[float, ...]]
) -> str:
    """One line per schedule: its coordinates, then each metric under its name, in its unit."""
    header = [*_CELL, *metrics]
    return text_of(header, ([*_cell(*which), *row] for which, row in values.items()))


def users_csv(
    users: Mapping[tuple[PlannedCell, int], UserMetrics], labels: Mapping[int, str]
) -> str:
    """One line per schedule and user: `jobs`, `violated`, `veet` (%), `weighted_tardiness` (s).

    Users are called by their `labels`.
    """
    header = [*_CELL, "user", "jobs", "violated", "veet", "weighted_tardiness"]
    rows = (
        [*_cell(*which), labels[user], *row]
        for which, each in users.items()
        for user, *row in zip(
            *(getattr(each, name).tolist() for name in header[len(_CELL) :]), strict=True
        )
    )
    return text_of(header, rows)


def changes_csv(differences: Sequence[ScheduleDifference]) -> str:
    """One line per user and policy other than the baseline.

    Columns: `baseline`, `policy`, `user`, `jobs`, `earlier` and `later` (jobs that wait for less or
    more time), `wait` (change of the mean wait, s), `weighted_tardiness` (change, processor hours;
    empty without shares).
    """
    header = ["baseline", "policy", "user", "jobs", "earlier", "later", "wait"]
    header.append("weighted_tardiness")
    rows = (
        [each.first, each.second, *row]
        for each in differences
        for row in zip(*_changes(each), strict=True)
    )
    return text_of(header, rows)


def _changes(difference: ScheduleDifference) -> list[list[object]]:
    each = difference.users
    columns = [each.jobs, each.earlier, each.later, each.wait]
    tardiness = each.weighted_tardiness
    last = [""] * len(each.user) if tardiness is None else tardiness.tolist()
    return [list(each.labels), *(column.tolist() for column in columns), last]


def _cell(planned: PlannedCell, replication: int) -> list[object]:
    cell = planned.cell
    return [cell.policy, cell["load_factor"], cell["estimates"], replication]

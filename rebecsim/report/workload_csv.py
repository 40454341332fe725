"""Results of workload scenarios as comma-separated values, with all digits."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from rebecsim.experiments.workload_diff import ScheduleDifference
from rebecsim.experiments.workload_metrics import ScheduleMetric
from rebecsim.experiments.workload_plan import ScheduleCell
from rebecsim.metrics import UserMetrics

__all__ = ["changes_csv", "schedules_csv", "users_csv"]

_CELL = ("policy", "load_factor", "estimates", "replication")


def schedules_csv(
    metrics: Sequence[ScheduleMetric], values: Mapping[ScheduleCell, tuple[float, ...]]
) -> str:
    """One line per schedule: its coordinates, then each metric under its name, in its unit."""
    header = [*_CELL, *(metric.name for metric in metrics)]
    return _text(header, ([*_cell(cell), *row] for cell, row in values.items()))


def users_csv(users: Mapping[ScheduleCell, UserMetrics]) -> str:
    """One line per schedule and user: `jobs`, `violated`, `veet` (%), `weighted_tardiness` (s)."""
    header = [*_CELL, "user", "jobs", "violated", "veet", "weighted_tardiness"]
    rows = (
        [*_cell(cell), *row]
        for cell, each in users.items()
        for row in zip(
            *(getattr(each, name).tolist() for name in header[len(_CELL) :]), strict=True
        )
    )
    return _text(header, rows)


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
    return _text(header, rows)


def _changes(difference: ScheduleDifference) -> list[list[object]]:
    each = difference.users
    columns = [each.user, each.jobs, each.earlier, each.later, each.wait]
    tardiness = each.weighted_tardiness
    last = [""] * len(each.user) if tardiness is None else tardiness.tolist()
    return [*(column.tolist() for column in columns), last]


def _cell(cell: ScheduleCell) -> list[object]:
    return [cell.policy, cell.load_factor, cell.estimates, cell.replication]


def _text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()

"""Reading the tables of a run for reports, one variant at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rebecsim.clusters.model.columns import CURVES, END, ENDINGS, WAITS
from rebecsim.studies.cells import REPLICATION
from rebecsim.studies.parts import row_groups
from rebecsim.studies.results import Results
from rebecsim.studies.simulated import OUTCOME
from rebecsim.studies.study import PlannedCell

_POINTS = 400
"""Times at which curves of all changes are drawn, at most."""

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Waits:
    """The waits of messages in all runs of a variant, with the run that each is of."""

    run: Numbers
    wait: Numbers


@dataclass(frozen=True, eq=False)
class Curve:
    """A value over time in all runs of a variant.

    Attributes:
        time: when it was looked at, ascending.
        runs: how many runs had not been ended by a violation by then.
        total: the sum of the values in these runs.
        squares: the sum of their squares.
        is_sampled: whether it is not known between these times.
    """

    time: Numbers
    runs: Numbers
    total: Values
    squares: Values
    is_sampled: bool


def column_of(results: Results, cell: PlannedCell, column: str) -> Values:
    """Read a column of a part."""
    table = pq.read_table(results.part(cell), columns=[column])
    found: Values = table.column(column).to_numpy().astype(np.float64)
    return found


def waits_of(results: Results, cell: PlannedCell, name: str) -> Waits:
    """Read the waits that an observation has noted."""
    runs, waits = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for table in row_groups(results.table(WAITS, cell)):
        mine = np.array(table.column("name").to_pylist(), dtype=object) == name
        runs.append(table.column(REPLICATION).to_numpy()[mine])
        waits.append(table.column("wait").to_numpy()[mine])
    return Waits(np.concatenate(runs), np.concatenate(waits))


def first_details(results: Results, cell: PlannedCell) -> Iterator[tuple[str, int, int, str]]:
    """Give, for each way in which runs ended early, the first such run, its time and its reason."""
    told: set[str] = set()
    for table in row_groups(results.table(ENDINGS, cell)):
        for row in table.to_pylist():
            if row["ending"] not in told and row["detail"]:
                told.add(row["ending"])
                yield row["ending"], row[REPLICATION], row["time"], row["detail"]


def curve_of(
    results: Results, cell: PlannedCell, name: str, every: int | None, stays: frozenset[str]
) -> Curve:
    """Sum up a value over time; `stays` are the ends of runs after which it stays as it is."""
    points: list[tuple[Numbers, Numbers, Values]] = []
    for table in row_groups(results.table(CURVES, cell)):
        mine = np.array(table.column("name").to_pylist(), dtype=object) == name
        points.append(
            (
                table.column(REPLICATION).to_numpy()[mine],
                table.column("time").to_numpy()[mine],
                table.column("value").to_numpy()[mine],
            )
        )
    run, time, value = (np.concatenate([each[part] for each in points]) for part in range(3))
    if every is None:
        run, time, value = _sampled(results, cell, (run, time, value), stays)
    times, places = np.unique(time, return_inverse=True)
    return Curve(
        times,
        np.bincount(places, minlength=len(times)),
        np.bincount(places, value, len(times)).astype(np.float64),
        np.bincount(places, value * value, len(times)).astype(np.float64),
        every is not None,
    )


def _sampled(
    results: Results,
    cell: PlannedCell,
    changes: tuple[Numbers, Numbers, Values],
    stays: frozenset[str],
) -> tuple[Numbers, Numbers, Values]:
    """Give the values at times that are the same in all runs, of changes that are not."""
    run, time, value = changes
    part = pq.read_table(results.part(cell), columns=[END, OUTCOME])
    ends = part.column(END).to_numpy()
    known = [outcome in stays for outcome in part.column(OUTCOME).to_pylist()]
    last = int(ends.max())
    grid = np.unique(np.linspace(0, last, min(last + 1, _POINTS)).astype(np.int64))
    edges = np.searchsorted(run, np.arange(len(ends) + 1))
    found: list[tuple[Numbers, Numbers, Values]] = []
    for number, end in enumerate(ends.tolist()):
        mine = slice(edges[number], edges[number + 1])
        seen = grid if known[number] else grid[grid < end]
        places = np.searchsorted(time[mine], seen, side="right") - 1
        found.append((np.full(len(seen), number), seen, value[mine][places]))
    first, second, third = zip(*found, strict=True)
    return np.concatenate(first), np.concatenate(second), np.concatenate(third)

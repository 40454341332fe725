"""What reports of several kinds share: stored tables, and waits by queue or user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.report.groups import GroupAnswer, group_section
from rebecsim.studies.cells import REPLICATION, Condition
from rebecsim.studies.plan import Plan
from rebecsim.studies.record import ResultsError
from rebecsim.studies.sections import Section
from rebecsim.studies.study import PlannedCell

if TYPE_CHECKING:
    import pyarrow as pa

    from rebecsim.studies.results import Results

_MOST_ABOUT = 6
"""Answers, each of two variants under a condition, that lead a page; one condition at least."""


def by_group_section(
    answers: Mapping[Condition, GroupAnswer],
    *,
    leads: bool,
    notes: tuple[str, ...] = (),
    terminal: bool = False,
) -> Section:
    """Answer by queue or user under each condition, and draw the first one.

    Where it `leads`, it is the answer of the page. The `terminal`, if it shows anything of it, and
    the file have the first condition; it leads there where it is the only one.
    """
    parts = {condition: group_section(each, leads=leads) for condition, each in answers.items()}
    (condition, first), *others = parts.items()
    if not others:
        return replace(
            first,
            pictures=first.pictures if answers[condition].groups else (),
            notes=notes,
            files=first.files if terminal else {},
            terminal=first.terminal if terminal else None,
            leads_terminal=terminal,
        )
    told = [
        replace(each, about=f"With {condition}: {each.about}")
        for condition, part in parts.items()
        for each in part.answer
    ]
    most = max(_MOST_ABOUT // max(len(first.answer), 1), 1) * len(first.answer)
    more = ("The tables have the other conditions.",) if len(told) > most else ()
    alone = by_group_section({condition: answers[condition]}, leads=leads, terminal=terminal)
    return replace(
        alone,
        answer=tuple(told[:most]),
        sentences=(*first.sentences, *more),
        tables=tuple(table.under(each) for each, part in parts.items() for table in part.tables),
        pictures=tuple(
            replace(each, title=f"{each.title}, with {condition}") for each in alone.pictures
        ),
        notes=notes,
        leads_terminal=False,
    )


def first_cells(plan: Plan) -> dict[Condition, dict[str, PlannedCell]]:
    """Give the cell of each policy under each condition, that which others are compared with first.

    Where something is drawn it is only the first condition: what one run says of others is chance.
    """
    found: dict[Condition, dict[str, PlannedCell]] = {}
    base = plan.scenario.compared_with
    for cell in sorted(plan.cells, key=lambda each: each.cell.policy != base):
        found.setdefault(cell.cell.condition, {}).setdefault(cell.cell.policy, cell)
    first = plan.cells[0].cell.condition
    ordered = {first: found[first], **found}
    return {first: ordered[first]} if plan.has_chance else ordered


def read_table(results: Results, cell: PlannedCell, name: str, *, first: bool = False) -> pa.Table:
    """Read a table of all runs of a cell, or of the first one, without its replication then.

    Raises ResultsError for a file that cannot be read.
    """
    import pyarrow as pa  # not where runs are only printed, as by commands of the light core
    import pyarrow.parquet as pq

    path = results.table(name, cell)
    try:
        table = pq.read_table(path, filters=[(REPLICATION, "=", 0)] if first else None)
    except (OSError, KeyError, ValueError, pa.ArrowException) as error:
        raise ResultsError(f"{path}: cannot be read: {error}; remove it and resume") from error
    return table.drop_columns([REPLICATION]) if first else table


def values_of(table: pa.Table, name: str) -> NDArray[Any]:
    """Give a column as an array, of shape (rows,)."""
    return np.asarray(table.column(name).to_numpy())

"""Runs for the terminal, and as comma-separated values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from rich.table import Table

from rebecsim.clusters.yarn.measures import YARN_MEASURES, MeasuredRun
from rebecsim.clusters.yarn.tables import tables_of
from rebecsim.errors import UserError
from rebecsim.files import write_atomically
from rebecsim.report.csv import text_of
from rebecsim.studies.rows import Coded


def measures_table(runs: Mapping[str, MeasuredRun]) -> Table:
    """Show the figures of some runs, by their schedulers: a row for each figure."""
    table = Table()
    table.add_column("")
    for name in runs:
        table.add_column(name, justify="right")
    placed = any(each.run.configuration.placement is not None for each in runs.values())
    for each in YARN_MEASURES:
        if each.metric.name == "local" and not placed:
            continue
        unit = f" ({each.metric.unit})" if each.metric.unit else ""
        values = [f"{each.of(run):,.{each.metric.decimals}f}" for run in runs.values()]
        table.add_row(f"{each.metric.title}{unit}", *values)
    return table


def write_tables(runs: Mapping[str, MeasuredRun], folder: Path) -> None:
    """Write all tables of some runs, each a CSV file with the scheduler in the first column.

    Raises UserError for a folder that is not there, OSError when a file cannot be written.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: there is no such directory")
    tables = {name: tables_of(run.run, run.containers) for name, run in runs.items()}
    for table in next(iter(tables.values())):
        header: list[str] = []
        rows: list[list[object]] = []
        for scheduler, found in tables.items():
            header = ["scheduler", *found[table]]
            columns = [_plain(column) for column in found[table].values()]
            rows += [[scheduler, *row] for row in zip(*columns, strict=True)]
        write_atomically(folder / f"{table}.csv", text_of(header, rows).encode())


def _plain(column: object) -> list[object]:
    if isinstance(column, Coded):
        return [column.words[code] for code in column.codes]
    found: list[object] = np.asarray(column, dtype=object).tolist()
    return ["" if each is None else each for each in found]

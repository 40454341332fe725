"""Stored runs in the terminal: lists, answers to queries, differences."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rebecsim.files import replacing
from rebecsim.report.numbers import (
    DASH,
    column_heading,
    decimals_for,
    display_scale,
    format_estimate,
)
from rebecsim.studies.query import QueryAnswer
from rebecsim.studies.stored_runs import CellDifference, MetricDifference, RunDifference, StoredRun
from rebecsim.wording import counted

_MOST_LINES = 12
"""Lines of a text that are shown where two differ."""

_SHOWN_ROWS = 100
_NAME_WIDTH = 24  # names up to it are not folded in a narrow terminal
_UNITS = ("B", "kB", "MB", "GB", "TB")


def runs_table(runs: Iterable[StoredRun]) -> Table:
    """A row for each run."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    # Narrow terminals fold names, not figures.
    runs = list(runs)
    longest = max((len(run.name) for run in runs), default=0)
    table.add_column("Run", overflow="fold", min_width=min(longest, _NAME_WIDTH))
    table.add_column("Scenario", overflow="fold")
    table.add_column("Policies")
    for heading, widest in (("Cells", "12/12"), ("Runs per cell", "10000"), ("Seed", "2015")):
        table.add_column(heading, justify="right", min_width=len(widest), overflow="fold")
    for heading, widest in (("Law", "fair"), ("Started (UTC)", "2015-01-02")):
        table.add_column(heading, min_width=len(widest), overflow="fold")
    table.add_column("Size", justify="right", min_width=len("999.9 MB"))
    for run in runs:
        started = run.record["started"]
        scenario = run.scenario
        row = (
            run.name,
            str(scenario.get("name", DASH)),
            ", ".join(run.policies),
            f"{len(run.finished)}/{len(run.cells)}",
            str(run.replications),
            str(scenario.get("seed", DASH)),
            str(scenario.get("choice_law", DASH)),
            DASH if started is None else started[:16].replace("T", " "),
            size_text(run.size),
        )
        table.add_row(*map(Text, row))
    return table


def size_text(count: int) -> str:
    """Write a number of bytes with a unit."""
    exponent = min(int(math.log(max(count, 1), 1000)), len(_UNITS) - 1)
    digits = 1 if exponent else 0
    return f"{count / 1000**exponent:.{digits}f} {_UNITS[exponent]}"


def answer_table(answer: QueryAnswer) -> RenderableType:
    """The first rows of an answer, and a line when there are more."""
    table = Table()
    for name in answer.columns:
        table.add_column(Text(name))
    for row in islice(answer.rows, _SHOWN_ROWS):
        table.add_row(*(Text(shown_value(value)) for value in row))
    if next(answer.rows, None) is None:
        return table
    return Group(table, Text(f"only the first {_SHOWN_ROWS} rows; --csv or --json gives all"))


def shown_value(value: Any) -> str:
    """Write a value of an answer for people; NULL is a dash."""
    if value is None:
        return DASH
    if isinstance(value, list):
        return ", ".join(map(shown_value, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def write_csv(answer: QueryAnswer, file: IO[str]) -> None:
    """Write an answer as CSV with a heading. NULL is an empty field; lists are written as JSON."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(answer.columns)
    writer.writerows(map(_field, row) for row in answer.rows)


def _field(value: Any) -> Any:
    plain = _plain(value)
    is_nested = isinstance(plain, bool | list | dict)
    return json.dumps(plain, ensure_ascii=False) if is_nested else plain


def write_json(answer: QueryAnswer, file: IO[str]) -> None:
    """Write an answer as a JSON list of objects; NULL and numbers that JSON lacks are null."""
    file.write("[")
    for place, row in enumerate(answer.rows):
        named = dict(zip(answer.columns, map(_plain, row), strict=True))
        file.write(",\n " if place else "\n ")
        file.write(json.dumps(named, ensure_ascii=False))
    file.write("\n]\n")


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case list() | tuple():
            return [_plain(entry) for entry in value]
        case dict():
            return {str(key): _plain(entry) for key, entry in value.items()}
        case _:
            return str(value)


def answer_to_arrow(answer: QueryAnswer) -> pa.Table:
    """Give an answer as an Arrow table. Raises QueryError."""
    rows = list(answer.rows)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(answer.columns)
    arrays = [pa.array([_exact(value) for value in column]) for column in columns]
    return pa.Table.from_arrays(arrays, names=list(answer.columns))


def write_parquet(answer: QueryAnswer, path: Path) -> None:
    """Write an answer as a Parquet file. Raises OSError, QueryError."""
    table = answer_to_arrow(answer)
    with replacing(path) as file:
        pq.write_table(table, file)


def _exact(value: Any) -> Any:
    """A value that Arrow keeps: sums of whole numbers come as decimals."""
    return _plain(value) if isinstance(value, Decimal) else value


def views_table(views: Mapping[str, tuple[str, tuple[str, ...]]]) -> Table:
    """A row for each view: its name, what its rows are, its columns."""
    table = Table(show_lines=True)
    table.add_column("View", no_wrap=True)
    table.add_column("A row, and its columns", overflow="fold")
    for name, (what, columns) in views.items():
        table.add_row(Text(name, style="bold"), Text(f"{what}\n{', '.join(columns)}"))
    return table


def diff_view(diff: RunDifference) -> Group:
    """Settings that differ, every cell that does, and how many do not."""
    return Group(*_diff_parts(diff))


def _diff_parts(diff: RunDifference) -> Iterator[RenderableType]:
    if diff.settings:
        settings = Table(title=Text("Settings that differ"))
        for heading in ("Setting", diff.first, diff.second):
            settings.add_column(Text(heading), overflow="fold")
        for setting in diff.settings:
            settings.add_row(
                *map(Text, (setting.name, *setting_values(setting.first, setting.second)))
            )
        yield settings
    else:
        yield Text("The settings are the same.")
    different = [cell for cell in diff.cells if not cell.identical]
    if different:
        yield _cells_table(diff, different)
        yield from map(Text, error_notes(different))
    identical = len(diff.cells) - len(different)
    yield Text(f"{counted(len(diff.cells), 'cell')} in both runs: {identical} identical.")
    for name, only in ((diff.first, diff.only_first), (diff.second, diff.only_second)):
        if only:
            yield Text(f"{counted(len(only), 'cell')} only in {name}.")


def setting_values(first: Any, second: Any) -> tuple[str, str]:
    """The values of a setting; of texts, such as that of a model, the lines that differ."""
    if not (isinstance(first, str) and isinstance(second, str) and "\n" in first + second):
        return _value(first), _value(second)
    lines = first.splitlines(), second.splitlines()
    changed = [
        each for each in SequenceMatcher(None, *lines, False).get_opcodes() if each[0] != "equal"
    ]
    places = [range(each[1], each[2]) for each in changed], [range(*each[3:]) for each in changed]
    ours, theirs = (
        [f"{place + 1}: {text[place].strip()}" for some in ranges for place in some]
        for text, ranges in zip(lines, places, strict=True)
    )
    return _first_lines(ours), _first_lines(theirs)


def _first_lines(lines: Sequence[str]) -> str:
    left = len(lines) - _MOST_LINES
    return "\n".join([*lines[:_MOST_LINES], *([f"and {left:,} more"] if left > 0 else [])]) or DASH


def _value(value: Any) -> str:
    if value is None:
        return DASH
    if isinstance(value, bool):  # as TOML has it
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _cells_table(diff: RunDifference, cells: Sequence[CellDifference]) -> Table:
    """The figures of each cell, below a row that says which one it is."""
    table = Table(title=Text("Cells that differ"), box=None, pad_edge=False)
    table.add_column("Metric", no_wrap=True)
    for heading in (diff.first, diff.second, "Difference", "Std. error"):
        table.add_column(Text(heading), justify="right", overflow="fold")
    for cell in cells:
        where = cell.cell
        table.add_row()
        table.add_row(Text(where.policy, style="bold"))
        table.add_row(Text(str(where.condition), style="dim"))
        for difference in cell.differences:
            table.add_row(*map(Text, difference_figures(difference)))
    return table


def difference_figures(difference: MetricDifference) -> tuple[str, ...]:
    """Give a metric of a cell in two runs: title with unit, both figures, difference, its error."""
    metric = difference.metric
    both = [difference.first, difference.second]
    decimals = decimals_for(metric, both)
    unit = " points" if metric.is_share else ""
    scale = display_scale(metric)
    value, error = difference.value, difference.standard_error
    return (
        column_heading(metric),
        *(format_estimate(metric, estimate, decimals) for estimate in both),
        DASH if math.isnan(value) else f"{scale * value:+.{decimals}f}{unit}",
        DASH if error is None else f"{scale * error:.{decimals}f}",
    )


def error_notes(cells: Sequence[CellDifference]) -> Iterator[str]:
    """How to read differences."""
    yield "A difference is the second run minus the first."
    if any(d.shares_random_numbers for cell in cells for d in cell.differences):
        yield (
            "Standard errors are those of independent runs. Cells with the same seed share their "
            "random numbers, and the error of their difference is usually smaller."
        )

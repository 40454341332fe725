"""Published figures of WFBB-RM beside ours: for the terminal, and as a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rebecsim.clusters.stages.reproduction.batches import BATCHES
from rebecsim.clusters.stages.reproduction.published import COLUMNS, COMPARED, default_point
from rebecsim.clusters.stages.reproduction.running import (
    ComparedCell,
    FoundTable,
    WorkflowExtent,
)
from rebecsim.clusters.stages.workloads.scientific import WORKFLOWS
from rebecsim.counted import counted
from rebecsim.report.numbers import DASH

_SHORT = {"late": "P %", "turnaround": "T s", "processing": "O s"}
_DECIMALS = {"late": 3, "turnaround": 1, "processing": 4}
_HEADINGS = tuple(each.replace("_", "-") for each in COLUMNS)


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that the thesis says beside single figures: in words, whether it holds, by what."""

    says: str
    holds: bool
    figure: str


def title_of(found: FoundTable) -> str:
    """Give what a table shows."""
    table = found.table
    return f"Table {table.number}: {WORKFLOWS[table.family].title}, {table.rule}, by {table.factor}"


def table_lines(found: FoundTable) -> Iterator[tuple[str, ...]]:
    """Give the lines of a table: level, figure, whose, and a value for each configuration."""
    for row, cells in zip(found.table.rows, found.rows, strict=True):
        label = row.label
        for figure, short in _SHORT.items():
            decimals = _DECIMALS[figure]
            yield (label, short, "ours", *(_number(each, decimals) for each in cells[figure]))
            yield ("", "", "published", *(_printed(each, decimals) for each in cells[figure]))
            if figure in COMPARED:
                yield ("", "", "errors", *(_errors(each) for each in cells[figure]))
            label = ""


def _number(cell: ComparedCell, decimals: int) -> str:
    return f"{cell.ours.value:.{decimals}f}"


def _printed(cell: ComparedCell, decimals: int) -> str:
    return DASH if cell.printed is None else f"{cell.printed.value:.{decimals}f}"


def _errors(cell: ComparedCell) -> str:
    """Give by how many standard errors figures differ, with a mark where that is too much."""
    if cell.printed is None:
        return DASH
    errors = max(min(cell.errors, 99.9), -99.9)
    return f"{errors:+.1f}{'' if cell.is_within else ' !'}"


def statements(tables: Sequence[FoundTable]) -> list[Statement]:
    """Hold against our figures what the thesis says beside them, as far as it was run."""
    found = []
    for each in tables:
        row = _default_row(each)
        title = f"{WORKFLOWS[each.table.family].title}, {each.table.rule} ({each.table.number})"
        if each.table.family == "cybershake":
            spread = max(
                abs(cells[figure][0].ours.value - cells[figure][1].ours.value)
                for cells in each.rows
                for figure in COMPARED
            )
            says = f"{title}: with TSP1 it makes no difference which laxity is divided"
            found.append(Statement(says, spread == 0, f"{spread:g} apart at most"))
        if row is not None:
            ours, theirs = _ratio(row, lambda cell: cell.ours.value), _ratio(row, _value)
            says = f"{title}: by TSP2 turnaround is {theirs:.2f} times that by TSP1"
            found.append(Statement(says, abs(ours / theirs - 1) <= 0.1, f"{ours:.2f} times"))
    return found


def _default_row(found: FoundTable) -> Sequence[ComparedCell] | None:
    point = default_point(found.table.family)
    for row, cells in zip(found.table.rows, found.rows, strict=True):
        if row.point == point:
            return cells["turnaround"]
    return None


def _ratio(row: Sequence[ComparedCell], value: Callable[[ComparedCell], float]) -> float:
    """Give the turnaround of SL-TSP2 over that of SL-TSP1."""
    return value(row[2]) / value(row[0])


def _value(cell: ComparedCell) -> float:
    assert cell.printed is not None
    return cell.printed.value


def within_counts(tables: Sequence[FoundTable]) -> str:
    """Say how many of the cells of P and T are within the bounds."""
    counts = {}
    for figure in COMPARED:
        cells = [cell for each in tables for cell in each.cells(figure)]
        counts[figure] = sum(cell.is_within for cell in cells), len(cells)
    within, of = (sum(each) for each in zip(*counts.values(), strict=True))
    parts = ", ".join(f"{_SHORT[name][0]} {a} of {b}" for name, (a, b) in counts.items())
    share = 100 * within / of if of else 0.0
    return (
        f"{within} of {of} cells ({share:.0f} %) are within 3 standard errors or 5 % of the "
        f"published figure: {parts}."
    )


def workflows_view(tables: Sequence[FoundTable]) -> Group:
    """Show all tables, what else the thesis says, and at the end how many cells agree."""
    parts: list[RenderableType] = []
    for each in tables:
        parts += [Text(title_of(each), style="bold"), _block(each), Text()]
    said = [
        Text(f"{'holds ' if each.holds else 'missed'} {each.says}: {each.figure}")
        for each in statements(tables)
    ]
    return Group(*parts, *said, Text(within_counts(tables)))


def _block(found: FoundTable) -> Table:
    block = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("", "", ""):
        block.add_column(heading, no_wrap=True)
    for heading in _HEADINGS:
        block.add_column(heading, justify="right", no_wrap=True)
    for line in table_lines(found):
        style = "" if line[2] == "ours" else "dim"
        block.add_row(*(Text(each, style=style) for each in line))
    return block


def workflows_markdown(tables: Sequence[FoundTable], extent: WorkflowExtent) -> str:
    """Write the tables and what holds as Markdown; it depends on the arguments alone."""
    parts = [
        f"<!-- Made by `{extent.command} --page FILE`: do not edit this file, run the command "
        "again. -->",
        "# Workflows with deadlines: published figures and ours",
        "Figures of WFBB-RM (Lim, PhD thesis, Carleton University, tables D.1 to D.24) beside "
        f"ours: {counted(extent.runs, 'replication')} of each cell, and all jobs count. "
        "P is the share of late jobs, T the mean turnaround, O what decisions take for each job by "
        "the wall clock; `errors` are differences in standard errors of both, with a mark where "
        f"they are more than 3 and more than 5 %{_by_batches(extent)}. What was "
        "decided where the thesis says nothing, and why some figures differ, is said in "
        "[Workflows with deadlines, again](background/workflows.md).",
        within_counts(tables),
        "## What the thesis says beside figures",
        markdown_table(
            ("", "", "Ours"),
            [
                (each.says, "holds" if each.holds else "missed", each.figure)
                for each in statements(tables)
            ],
        ),
    ]
    for each in tables:
        head = "", "", "", *_HEADINGS
        parts += [f"## {title_of(each)}", markdown_table(head, table_lines(each))]
    return "\n\n".join(parts) + "\n"


def _by_batches(extent: WorkflowExtent) -> str:
    """Say where our standard errors are from, if there are too few runs to compare them."""
    return f"; ours are by {BATCHES} batches of jobs of each run" if extent.is_small else ""


def markdown_table(
    head: Sequence[str], lines: Iterator[tuple[str, ...]] | Sequence[Sequence[str]]
) -> str:
    """Write a table as Markdown."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows)

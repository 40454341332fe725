"""Published figures of WFBB-RM beside ours: for the terminal, and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rebecsim.clusters.stages.workloads.scientific import WORKFLOWS, Workflow
from rebecsim.report.numbers import DASH
from rebecsim.wording import counted
from reproductions.agreement import distance_words, few_runs_notes, shares_within
from reproductions.pages import Column, markdown_table, numbers, text_table, written_page
from reproductions.workflows.batches import BATCHES
from reproductions.workflows.published import COLUMNS, COMPARED
from reproductions.workflows.running import (
    ComparedCell,
    FoundTable,
    WorkflowExtent,
)
from reproductions.workflows.statements import statements, title_of

_SHORT = {"late": "P %", "turnaround": "T s", "processing": "O s"}
_DISTANCES = "Distance from the published figures"
_DECIMALS = {"late": 3, "turnaround": 1, "processing": 4}
_HEADINGS = tuple(each.replace("_", "-") for each in COLUMNS)


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


def within_counts(tables: Sequence[FoundTable]) -> str:
    """Say how many of the cells of P and T are within the bounds."""
    counts = {}
    for figure in COMPARED:
        cells = [cell for each in tables for cell in each.cells(figure)]
        counts[figure] = sum(cell.is_within for cell in cells), len(cells)
    within, of = (sum(each) for each in zip(*counts.values(), strict=True))
    parts = ", ".join(f"{_SHORT[name][0]} {a} of {b}" for name, (a, b) in counts.items())
    bounds = "3 standard errors or 5 % of the published figure"
    return f"{shares_within(within, of, bounds)}: {parts}."


_DISTANCE_HEADINGS = ("", "P, median", "P, 90 %", "T, median", "T, 90 %", "Cells left out")


def distance_lines(tables: Sequence[FoundTable]) -> Iterator[tuple[str, ...]]:
    """Give how far cells of P and T are from the published ones: by table, and of all together."""
    groups = [(f"Table {each.table.number}", [each]) for each in tables]
    for name, some in [*groups, ("All", list(tables))]:
        words: list[str] = []
        left_out = 0
        for figure in COMPARED:
            cells = [cell.distance for each in some for cell in each.cells(figure)]
            known = [each for each in cells if each is not None]
            left_out += len(cells) - len(known)
            words += distance_words(known)
        yield (name, *words, str(left_out))


def workflows_view(tables: Sequence[FoundTable], extent: WorkflowExtent) -> Group:
    """Show all tables, what else the thesis says, and at the end how many cells agree."""
    parts: list[RenderableType] = []
    for each in tables:
        parts += [Text(title_of(each), style="bold"), _block(each), Text()]
    said = [Text(f"{each.verdict:6} {each.says}: {each.ours}") for each in statements(tables)]
    first, *others = _DISTANCE_HEADINGS
    columns = [Column(first, is_whole=True), *numbers(others, whole=False)]
    distances = text_table(columns, distance_lines(tables))
    ends = map(Text, (within_counts(tables), *few_runs_notes(extent.runs)))
    return Group(*parts, *said, Text(), Text(_DISTANCES, style="bold"), distances, *ends)


def _block(found: FoundTable) -> Table:
    columns = [*[Column(is_whole=True)] * 3, *numbers(_HEADINGS)]
    return text_table(columns, table_lines(found), "published", "errors")


def workflows_markdown(tables: Sequence[FoundTable], extent: WorkflowExtent) -> str:
    """Write the tables and what holds as Markdown; it depends on the arguments alone."""
    parts = [
        "Figures of WFBB-RM (Lim, PhD thesis, Carleton University, tables D.1 to D.24) beside "
        f"ours: {counted(extent.runs, 'replication')} of each cell, and all jobs count. "
        "P is the share of late jobs, T the mean turnaround, O what decisions take for each job by "
        "the wall clock; `errors` are differences in standard errors of both, with a mark where "
        f"they are more than 3 and more than 5 %{_by_what(tables, extent)}. What was "
        "decided where the thesis says nothing, and why some figures differ, is said in "
        "[Workflows with deadlines, again](background/workflows.md).",
        within_counts(tables),
        *few_runs_notes(extent.runs),
        f"## {_DISTANCES}",
        "How far ours are from the published figures, in parts of these: the median of the cells "
        "of a table, and what 90 % of them do not exceed. Cells whose published figure is 0 are "
        "left out.",
        markdown_table(_DISTANCE_HEADINGS, distance_lines(tables)),
        "## What the thesis says beside figures",
        markdown_table(
            ("", "", "Ours"),
            [(each.says, each.verdict, each.ours) for each in statements(tables)],
        ),
    ]
    for each in tables:
        head = "", "", "", *_HEADINGS
        parts += [f"## {title_of(each)}", markdown_table(head, table_lines(each))]
    title = f"{_workflows(tables)} with deadlines: published figures and ours"
    return written_page(f"{extent.command} --page FILE", title, parts)


def _workflows(tables: Sequence[FoundTable]) -> str:
    """Name the families of some tables, if these are not all."""
    families = _families(tables)
    return "Workflows" if len(families) == len(WORKFLOWS) else _titles(families)


def _by_what(tables: Sequence[FoundTable], extent: WorkflowExtent) -> str:
    """Say where our standard errors are from, unless they are those of independent runs alone."""
    parts = []
    if extent.runs > 1 and (spread := [each for each in _families(tables) if each.varies]):
        parts.append(f"by differences of neighbours among evenly spread runs ({_titles(spread)})")
    if extent.is_small:
        several = ", or of the runs where that is more" if extent.runs > 1 else ""
        parts.append(f"by {BATCHES} batches of jobs of each run{several}")
    return f"; ours are {', '.join(parts)}" if parts else ""


def _families(tables: Sequence[FoundTable]) -> list[type[Workflow]]:
    return [WORKFLOWS[name] for name in dict.fromkeys(each.table.family for each in tables)]


def _titles(families: Sequence[type[Workflow]]) -> str:
    return " and ".join(each.title for each in families)

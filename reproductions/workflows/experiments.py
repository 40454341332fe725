"""The published experiments on WFBB-RM, run, shown beside ours, and held against statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rebecsim.clusters.stages.workflows import WORKFLOWS, Workflow
from rebecsim.report.numbers import DASH
from rebecsim.studies.plan import Plan
from rebecsim.studies.running import PlannedRun
from rebecsim.wording import counted
from reproductions.framework import (
    Checked,
    Column,
    Experiments,
    distance_words,
    few_runs_notes,
    markdown_table,
    numbers,
    shares_within,
    text_table,
    written_page,
)
from reproductions.workflows.published import COLUMNS, COMPARED, default_point
from reproductions.workflows.running import (
    BATCHES,
    ComparedCell,
    FoundTable,
    WorkflowExtent,
    compared,
    planned,
    scenario_of,
)

_MOST_APART = 0.1
"""Figures of ours count as the published ones up to this share."""

_GROWS = {"rate": False, "multiplier": True, "count": True}
"""Whether late places take the longer, beside early ones, the further down a row of a table is."""


def title_of(found: FoundTable) -> str:
    """Give what a table shows."""
    table = found.table
    family = WORKFLOWS[table.family].title
    return f"Table {table.number}: {family}, {table.rule}, by {table.factor}"


def statements(tables: Sequence[FoundTable]) -> list[Checked]:
    """Hold against our figures what the thesis says beside them, as far as it was run."""
    return [*(each for table in tables for each in _of_table(table)), *_across(tables)]


def _across(tables: Sequence[FoundTable]) -> Iterator[Checked]:
    """Section 7.5: late jobs of CyberShake by the best of ED beside those by the best of PD."""
    mine = {(t.table.rule, t.table.varied): t for t in tables if t.table.family == "cybershake"}
    for varied in dict.fromkeys(each for _, each in mine):
        if ("PD", varied) in mine and ("ED", varied) in mine:
            proportional, even = mine["PD", varied], mine["ED", varied]
            title = f"CyberShake, PD and ED ({proportional.table.number}, {even.table.number})"
            yield _by_even(title, proportional, even)


def _by_even(title: str, proportional: FoundTable, even: FoundTable) -> Checked:
    """On average over s_max; of other factors at the level where most jobs are late."""
    pairs = [
        (one["late"][0], other["late"][2])
        for one, other in zip(proportional.rows, even.rows, strict=True)
    ]
    if proportional.table.varied == "reserved_ahead":
        theirs = _average_less([(_value(one), _value(other)) for one, other in pairs])
        ours = _average_less([(_ours(one), _ours(other)) for one, other in pairs])
        says = f"{title}: ED-SL-TSP2 has {theirs:.0%} fewer late jobs than PD-SL-TSP1 on average"
        words = "fewer" if ours > 0 else "more"
        return Checked(_spaced(says), "", _spaced(f"{abs(ours):.0%} {words}"), ours >= theirs / 2)
    place = max(range(len(pairs)), key=lambda each: _value(pairs[each][0]))
    one, other = pairs[place]
    is_less = _value(other) < _value(one)
    table = proportional.table
    says = (
        f"{title}: with {table.factor} {table.rows[place].label} ED-SL-TSP2 has "
        f"{'fewer' if is_less else 'more'} late jobs than PD-SL-TSP1"
    )
    apart = _ours(one) - _ours(other)
    figure = f"{_ours(other):.3f} and {_ours(one):.3f} %"
    return Checked(says, "", figure, (apart > 0) == is_less and apart != 0)


def _average_less(pairs: Sequence[tuple[float, float]]) -> float:
    """Give by which part the second figures are less than the first ones, which are not 0."""
    return fmean(1 - other / one for one, other in pairs if one)


def _spaced(words: str) -> str:
    return words.replace("%", " %")


def _of_table(found: FoundTable) -> Iterator[Checked]:
    table = found.table
    title = f"{WORKFLOWS[table.family].title}, {table.rule} ({table.number})"
    if table.family == "cybershake":
        says = f"{title}: with TSP1 it makes no difference which laxity is divided"
        spread = _spread(found)
        yield Checked(says, "", f"{spread:g} apart at most", spread == 0)
    if table.varied == "rate":
        yield _least_load(title, found.rows[0]["turnaround"][0])
    yield from _default_ratio(title, found)
    if table.varied in _GROWS:
        yield _trend(title, found)


def _spread(found: FoundTable) -> float:
    """Give by how much figures of SL-TSP1 and TL-TSP1 differ at most."""
    return max(
        abs(cells[figure][0].ours.value - cells[figure][1].ours.value)
        for cells in found.rows
        for figure in COMPARED
    )


def _least_load(title: str, cell: ComparedCell) -> Checked:
    """Where fewest jobs come, turnaround is hardly more than on free resources."""
    ours, theirs = cell.ours.value, _value(cell)
    says = f"{title}: where fewest jobs come, turnaround by TSP1 is {theirs:,.0f} s"
    return Checked(says, "", f"{ours:,.0f} s", abs(ours / theirs - 1) <= _MOST_APART)


def _default_ratio(title: str, found: FoundTable) -> Iterator[Checked]:
    point = default_point(found.table.family)
    for row, cells in zip(found.table.rows, found.rows, strict=True):
        if row.point == point:
            ours, theirs = _ratio(cells["turnaround"], _ours), _ratio(cells["turnaround"], _value)
            says = f"{title}: by TSP2 turnaround is {theirs:.2f} times that by TSP1"
            holds = abs(ours / theirs - 1) <= _MOST_APART
            yield Checked(says, "", f"{ours:.2f} times", holds)


def _trend(title: str, found: FoundTable) -> Checked:
    grows = _GROWS[found.table.varied]
    ratios = [_ratio(cells["turnaround"], _ours) for cells in found.rows]
    holds = all((a < b) == grows and a != b for a, b in pairwise(ratios))
    way = "grows with" if grows else "shrinks with more"
    figure = ", ".join(f"{each:.2f}" for each in ratios)
    return Checked(f"{title}: that ratio {way} {found.table.factor}", "", figure, holds)


def _ratio(row: Sequence[ComparedCell], value: Callable[[ComparedCell], float]) -> float:
    """Give the turnaround of SL-TSP2 over that of SL-TSP1."""
    return value(row[2]) / value(row[0])


def _ours(cell: ComparedCell) -> float:
    return cell.ours.value


def _value(cell: ComparedCell) -> float:
    assert cell.printed is not None
    return cell.printed.value


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


class WorkflowExperiments(Experiments[list[FoundTable]]):
    """Tables of late jobs and turnarounds, a run for each row."""

    def __init__(self, extent: WorkflowExtent) -> None:
        self.extent = extent
        self.tables = [
            (table, [planned(scenario_of(table, row.point, extent.runs)) for row in table.rows])
            for table in extent.chosen
        ]

    def plans(self) -> Mapping[str, Plan]:
        """Lay out the runs of all rows; tables share some."""
        return {plan.scenario.name: plan for _, rows in self.tables for plan in rows}

    def found(
        self, runs: Mapping[str, PlannedRun], orders: Mapping[tuple[str, str], PlannedRun]
    ) -> list[FoundTable]:
        """Put our figures beside those of each table."""
        return [
            compared(table, [runs[plan.scenario.name] for plan in rows])
            for table, rows in self.tables
        ]

    def view(self, found: list[FoundTable]) -> RenderableType:
        """Show all tables, and what else the thesis says."""
        return workflows_view(found, self.extent)

    def page(self, found: list[FoundTable]) -> str:
        """Write the tables and what holds."""
        return workflows_markdown(found, self.extent)

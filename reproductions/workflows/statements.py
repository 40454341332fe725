"""What the thesis says of WFBB-RM beside single figures, held against ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from statistics import fmean

from rebecsim.clusters.stages.workloads.scientific import WORKFLOWS
from reproductions.agreement import Checked
from reproductions.workflows.published import COMPARED, default_point
from reproductions.workflows.running import ComparedCell, FoundTable

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

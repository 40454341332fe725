"""The tables of a comparison: policies pooled, and at each place of the axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from rebecsim.metrics import Metric
from rebecsim.repeats import first_repeated
from rebecsim.studies.cell import Cell, Condition, grouped
from rebecsim.studies.statistics.estimates import Estimate, estimate
from rebecsim.studies.statistics.moments import CellMoments


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One policy, pooled over all conditions.

    Attributes:
        policy: its name.
        replications: number of runs in all its cells.
        estimates: one per metric of the summary, in that order.
        abnormal: runs that ended otherwise than they should: outcome -> number.
        unearned: the title of the figure that is 0, so that nothing of it is marked as the best;
            empty: it may be.
    """

    policy: str
    replications: int
    estimates: tuple[Estimate, ...]
    abnormal: Mapping[str, int]
    unearned: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """One policy at one place of the axis, pooled over all other coordinates.

    Attributes:
        policy: its name.
        at: the place, as a cluster size.
        replications: number of runs in these cells.
        estimates: one per metric of the summary, in that order.
    """

    policy: str
    at: float
    replications: int
    estimates: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a comparison found.

    Attributes:
        metrics: the columns.
        level: confidence level of all intervals.
        rows: one per policy, in the order in which policies first appear.
        points: one per policy and place, policies as in `rows`, places ascending; none without an
            axis.
        workloads: the conditions that were pooled, without the coordinate of the axis.
    """

    metrics: tuple[Metric, ...]
    level: float
    rows: tuple[SummaryRow, ...]
    points: tuple[Point, ...]
    workloads: tuple[Condition, ...]

    @property
    def policies(self) -> tuple[str, ...]:
        """Names of the policies, in the order of the rows."""
        return tuple(row.policy for row in self.rows)

    @property
    def places(self) -> tuple[float, ...]:
        """The places of the axis, ascending."""
        return tuple(sorted({point.at for point in self.points}))

    def points_of(self, policy: str) -> tuple[Point, ...]:
        """The points of one policy, by ascending place."""
        return tuple(point for point in self.points if point.policy == policy)


def apart(
    moments: Sequence[CellMoments], coordinates: Sequence[str]
) -> dict[Condition, list[CellMoments]]:
    """Divide cells by the values of these coordinates, in the order in which they first appear."""
    return grouped(moments, lambda each: each.cell.condition.only(coordinates))


def summarise(
    moments: Sequence[CellMoments],
    metrics: Sequence[Metric],
    level: float = 0.95,
    *,
    axis: str | None = None,
    normal_outcomes: frozenset[str] = frozenset(),
    earned_by: Metric | None = None,
) -> Summary:
    """Pool the cells of a comparison into rows per policy and points per place of the axis.

    Every policy must have been run on the same cells, otherwise the rows would compare different
    workloads.

    Args:
        moments: one per cell.
        metrics: what to compute.
        level: confidence level, in (0, 1).
        axis: the coordinate that points differ by; its values are numbers.
        normal_outcomes: the ends of runs that are not worth a warning.
        earned_by: a figure without which, where it is 0, a policy is not marked as the best.

    Raises:
        ValueError: when there is no cell, a cell appears twice, or a policy lacks a cell that
            another one has.
        KeyError: when a metric needs a counter that was not recorded.
    """
    if not moments:
        raise ValueError("there are no results to summarise")
    _require_same_conditions([m.cell for m in moments])
    by_policy = grouped(moments, lambda each: each.cell.policy)
    rows = tuple(
        SummaryRow(
            policy=policy,
            replications=sum(m.replications for m in group),
            estimates=_estimates(metrics, group, level),
            abnormal=_abnormal(group, normal_outcomes),
            unearned=_unearned(earned_by, group),
        )
        for policy, group in by_policy.items()
    )
    points = tuple(
        Point(
            policy=policy,
            at=place,
            replications=sum(m.replications for m in cells),
            estimates=_estimates(metrics, cells, level),
        )
        for policy, group in (by_policy.items() if axis else ())
        for place, cells in sorted(grouped(group, lambda e: place_of(e.cell, axis or "")).items())
    )
    names = () if axis is None else (axis,)
    workloads = tuple(dict.fromkeys(m.cell.condition.without(names) for m in moments))
    return Summary(tuple(metrics), level, rows, points, workloads)


def as_lines(moments: Sequence[CellMoments], coordinates: Sequence[str]) -> list[CellMoments]:
    """Make the values of coordinates parts of the names of policies, for lines of charts."""
    return [
        replace(each, subject=Cell(f"{cell.policy}, {named}", cell.condition.without(coordinates)))
        if (named := (cell := each.cell).condition.only(coordinates)).coordinates
        else each
        for each in moments
    ]


def place_of(cell: Cell, axis: str) -> float:
    """Give where a cell is on the axis. Raises TypeError for a coordinate that is not a number."""
    place = cell[axis]
    if isinstance(place, str):
        raise TypeError(f"{cell}: {axis} is not a number, so it cannot be an axis")
    return place


def _estimates(
    metrics: Sequence[Metric], moments: Sequence[CellMoments], level: float
) -> tuple[Estimate, ...]:
    return tuple(estimate(metric, moments, level) for metric in metrics)


def _unearned(earned_by: Metric | None, moments: Sequence[CellMoments]) -> str:
    if earned_by is None or estimate(earned_by, moments).value != 0:
        return ""
    return earned_by.title


def _abnormal(moments: Sequence[CellMoments], normal: frozenset[str]) -> Mapping[str, int]:
    ends: Counter[str] = Counter()
    for cell_moments in moments:
        ends.update(cell_moments.outcomes)
    return MappingProxyType({end: n for end, n in sorted(ends.items()) if end not in normal})


def _require_same_conditions(cells: Sequence[Cell]) -> None:
    if (twice := first_repeated(cells)) is not None:
        raise ValueError(f"{twice} appears twice; merge its moments first")
    conditions: dict[str, set[Condition]] = {}
    for cell in cells:
        conditions.setdefault(cell.policy, set()).add(cell.condition)
    everything = set().union(*conditions.values())
    for policy, seen in conditions.items():
        if missing := sorted(everything - seen, key=str):
            raise ValueError(
                f"{policy} was not run with {missing[0]} ({len(missing)} cells missing); finish "
                "the comparison first"
            )

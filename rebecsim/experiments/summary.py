"""The tables of a comparison: every policy pooled, and every policy by cluster size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from rebecsim.experiments.moments import Cell, CellMoments
from rebecsim.experiments.statistics import Estimate, estimate
from rebecsim.metrics import DISPATCH_METRICS, Metric

__all__ = ["NORMAL_OUTCOMES", "SizePoint", "Summary", "SummaryRow", "summarise"]

NORMAL_OUTCOMES = frozenset({"time limit"})
"""How the runs of a model that is free of errors end."""

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One policy, pooled over all cluster sizes and workloads.

    Attributes:
        policy: its name.
        replications: number of runs in all its cells.
        estimates: one per metric of the summary, in that order.
        abnormal: runs that ended otherwise than they should: outcome -> number.
    """

    policy: str
    replications: int
    estimates: tuple[Estimate, ...]
    abnormal: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class SizePoint:
    """One policy on one cluster size, pooled over all workloads.

    Attributes:
        policy: its name.
        app_masters: cluster size.
        replications: number of runs in these cells.
        estimates: one per metric of the summary, in that order.
    """

    policy: str
    app_masters: int
    replications: int
    estimates: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a comparison found.

    Attributes:
        metrics: the columns.
        level: confidence level of all intervals.
        rows: one per policy, in the order in which policies first appear.
        points: one per policy and cluster size, policies as in `rows`, sizes ascending.
        workloads: the (arrivals, lengths) combinations that were pooled.
    """

    metrics: tuple[Metric, ...]
    level: float
    rows: tuple[SummaryRow, ...]
    points: tuple[SizePoint, ...]
    workloads: tuple[tuple[str, str], ...]

    @property
    def policies(self) -> tuple[str, ...]:
        """Names of the policies, in the order of the rows."""
        return tuple(row.policy for row in self.rows)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The cluster sizes, ascending."""
        return tuple(sorted({point.app_masters for point in self.points}))

    def points_of(self, policy: str) -> tuple[SizePoint, ...]:
        """The points of one policy, by ascending cluster size."""
        return tuple(point for point in self.points if point.policy == policy)


def summarise(
    moments: Sequence[CellMoments],
    metrics: Sequence[Metric] = DISPATCH_METRICS,
    level: float = 0.95,
    normal_outcomes: frozenset[str] = NORMAL_OUTCOMES,
) -> Summary:
    """Pool the cells of an experiment into rows per policy and points per cluster size.

    Every policy must have been run on the same cells, otherwise the rows would compare different
    workloads.

    Args:
        moments: one per cell.
        metrics: what to compute.
        level: confidence level, in (0, 1).
        normal_outcomes: the ends of runs that are not worth a warning.

    Raises:
        ValueError: when there is no cell, a cell appears twice, or a policy lacks a cell that
            another one has.
        KeyError: when a metric needs a counter that was not recorded.
    """
    if not moments:
        raise ValueError("there are no results to summarise")
    _require_same_workloads([m.cell for m in moments])
    by_policy = _grouped(moments, lambda cell: cell.policy)
    rows = tuple(
        SummaryRow(
            policy=policy,
            replications=sum(m.replications for m in group),
            estimates=_estimates(metrics, group, level),
            abnormal=_abnormal(group, normal_outcomes),
        )
        for policy, group in by_policy.items()
    )
    points = tuple(
        SizePoint(
            policy=policy,
            app_masters=size,
            replications=sum(m.replications for m in cells),
            estimates=_estimates(metrics, cells, level),
        )
        for policy, group in by_policy.items()
        for size, cells in sorted(_grouped(group, lambda cell: cell.app_masters).items())
    )
    workloads = tuple(dict.fromkeys(m.cell.combination for m in moments))
    return Summary(tuple(metrics), level, rows, points, workloads)


def _grouped(
    moments: Sequence[CellMoments], key: Callable[[Cell], Key]
) -> dict[Key, list[CellMoments]]:
    groups: dict[Key, list[CellMoments]] = {}
    for cell_moments in moments:
        groups.setdefault(key(cell_moments.cell), []).append(cell_moments)
    return groups


def _estimates(
    metrics: Sequence[Metric], moments: Sequence[CellMoments], level: float
) -> tuple[Estimate, ...]:
    return tuple(estimate(metric, moments, level) for metric in metrics)


def _abnormal(moments: Sequence[CellMoments], normal: frozenset[str]) -> Mapping[str, int]:
    ends: Counter[str] = Counter()
    for cell_moments in moments:
        ends.update(cell_moments.outcomes)
    return MappingProxyType({end: n for end, n in sorted(ends.items()) if end not in normal})


def _require_same_workloads(cells: Sequence[Cell]) -> None:
    if len(set(cells)) != len(cells):
        twice = next(cell for cell, n in Counter(cells).items() if n > 1)
        raise ValueError(f"{twice} appears twice; merge its moments first")
    conditions: dict[str, set[tuple[str, str, int]]] = {}
    for cell in cells:
        conditions.setdefault(cell.policy, set()).add((*cell.combination, cell.app_masters))
    everything = set().union(*conditions.values())
    for policy, seen in conditions.items():
        if missing := sorted(everything - seen):
            arrivals, lengths, size = missing[0]
            raise ValueError(
                f"{policy} was not run with arrivals {arrivals!r}, lengths {lengths!r} on {size} "
                f"AppMasters ({len(missing)} cells missing); finish the comparison first"
            )

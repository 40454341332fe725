"""Summarise a comparison: its tables, its answer, and what the order of messages changes.

The answer is about the first measure. Pairs are tested for all conditions together (Holm, see
`differences`), so that the chance of any false claim in the whole answer is at most one less the
level.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from rebecsim.metrics import Metric
from rebecsim.studies.cells import Cell, Condition, grouped
from rebecsim.studies.differences import PairDifference, differences_apart
from rebecsim.studies.estimates import Estimate, estimate
from rebecsim.studies.moments import CellMoments, PairedMoments
from rebecsim.wording import first_repeated


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


def by_coordinates(
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


@dataclass(frozen=True, slots=True)
class Standing:
    """How policies stand under one condition.

    Attributes:
        condition: empty where all conditions are pooled.
        figures: policy -> its figure, NaN where it is undefined.
        leaders: the policies with the best figure: several when these are equal, none when no
            figure is defined.
        differences: the pairs that were tested.
    """

    condition: Condition
    figures: Mapping[str, float]
    leaders: tuple[str, ...]
    differences: tuple[PairDifference, ...]

    @property
    def others(self) -> tuple[str, ...]:
        """The policies that do not lead."""
        return tuple(policy for policy in self.figures if policy not in self.leaders)

    @property
    def tested(self) -> tuple[str, ...]:
        """The other policies that a leader was tested against."""
        return tuple(policy for policy in self.others if self.tests(policy, self.leaders))

    @property
    def behind(self) -> tuple[str, ...]:
        """The other policies that are shown to be behind, all that was tested of them."""
        return tuple(policy for policy in self.tested if self.shows(policy, self.leaders))

    @property
    def is_shown(self) -> bool:
        """Whether there is a lead, and all that was tested of it is shown."""
        return bool(self.tested) and self.behind == self.tested

    def shows(self, policy: str, leaders: Sequence[str]) -> bool:
        """Whether all that was tested of a policy against these leaders is shown, if anything."""
        tests = self.tests(policy, leaders)
        return bool(tests) and all(each.is_shown for each in tests)

    def tests(self, policy: str, leaders: Sequence[str]) -> list[PairDifference]:
        """Give what was tested of a policy against these leaders."""
        pairs = {(policy, leader) for leader in leaders} | {(each, policy) for each in leaders}
        return [each for each in self.differences if (each.first, each.second) in pairs]


@dataclass(frozen=True, slots=True)
class Answer:
    """The policies with the best figure under each condition.

    Attributes:
        metric: the figure.
        policies: all that were run.
        standings: one for each condition.
        baseline: the policy that all others are compared with; None: every two are.
    """

    metric: Metric
    policies: tuple[str, ...]
    standings: tuple[Standing, ...]
    baseline: str | None = None

    @property
    def champions(self) -> tuple[str, ...]:
        """The policies that lead under every condition, be it together with others."""
        return tuple(p for p in self.policies if all(p in each.leaders for each in self.standings))

    @property
    def is_certain(self) -> bool:
        """Whether nothing is drawn, so that differences need no test."""
        return all(
            each.differences and all(pair.is_certain for pair in each.differences)
            for each in self.standings
        )

    @property
    def varies(self) -> bool:
        """Whether the leaders, or the significance of their lead, depend on the condition."""
        return len({(each.leaders, each.behind) for each in self.standings}) > 1


def answer_of(
    metric: Metric,
    moments: Sequence[CellMoments],
    pairs: Sequence[PairedMoments],
    by: Sequence[str],
    level: float = 0.95,
    baseline: str | None = None,
) -> Answer:
    """Find the leaders under each condition, and which leads are significant.

    Args:
        metric: the figure.
        moments: one per cell, the same conditions for all policies.
        pairs: the same runs in pairs; empty when policies are not to be compared.
        by: the coordinates whose values are kept separate; over all others, figures are pooled.
        level: confidence level, in (0, 1).
        baseline: the policy that every other one is compared with; None: every two are.

    Raises:
        KeyError: when the metric needs a counter that was not recorded.
        ValueError: as `differences_apart`.
    """
    groups = grouped(moments, lambda each: each.cell.condition.only(by))
    paired = grouped(pairs, lambda each: each.condition.only(by))
    tested = differences_apart(
        metric,
        [
            (paired.get(condition, []), any(each.is_random for each in group))
            for condition, group in groups.items()
        ],
        level,
        baseline,
    )
    standings = tuple(
        _standing(metric, condition, group, differences)
        for (condition, group), differences in zip(groups.items(), tested, strict=True)
    )
    return Answer(metric, tuple(standings[0].figures), standings, baseline)


def _standing(
    metric: Metric,
    condition: Condition,
    moments: Sequence[CellMoments],
    differences: tuple[PairDifference, ...],
) -> Standing:
    by_policy = grouped(moments, lambda each: each.cell.policy)
    figures = {policy: estimate(metric, cells).value for policy, cells in by_policy.items()}
    defined = [value for value in figures.values() if not math.isnan(value)]
    best = (min if metric.better == "lower" else max)(defined, default=math.nan)
    leaders = tuple(policy for policy, value in figures.items() if value == best)
    return Standing(condition, figures, leaders, differences)


REFERENCE_ORDER = "random"
"""The order that the figures of a comparison are for; the others say how much hangs on it."""


@dataclass(frozen=True, slots=True)
class OrderEnvelope:
    """A metric of one policy under several message orders, pooled over cells.

    Attributes:
        metric: what was computed.
        policy: name of the policy.
        by_order: message order -> estimate; `REFERENCE_ORDER` is one of them.
    """

    metric: Metric
    policy: str
    by_order: Mapping[str, Estimate]

    @property
    def reference(self) -> Estimate:
        """The figure under random order."""
        return self.by_order[REFERENCE_ORDER]

    @property
    def lowest(self) -> str | None:
        """The order with the lowest figure, the first of equals; None if undefined under all."""
        defined = self._defined()
        return min(defined, key=lambda order: defined[order]) if defined else None

    @property
    def highest(self) -> str | None:
        """The order with the highest figure, the first of equals; None if undefined under all."""
        defined = self._defined()
        return max(defined, key=lambda order: defined[order]) if defined else None

    @property
    def width(self) -> float:
        """The highest figure minus the lowest; 0 if undefined under all orders."""
        values = self._defined().values()
        return max(values) - min(values) if values else 0.0

    def _defined(self) -> dict[str, float]:
        return {order: e.value for order, e in self.by_order.items() if e.is_defined}


def order_envelopes(
    orders: Mapping[str, Sequence[CellMoments]], metrics: Sequence[Metric], level: float = 0.95
) -> tuple[OrderEnvelope, ...]:
    """Pool the cells of each message order and put the orders side by side.

    Args:
        orders: message order -> moments of every cell, the same cells for each order.
        metrics: what to compute.
        level: confidence level of the intervals, in (0, 1).

    Returns:
        By metric, then by policy; nothing when there are no orders.

    Raises:
        ValueError: when `REFERENCE_ORDER` is not among the orders, or they are of different cells.
        KeyError: when a metric needs a counter that was not recorded.
    """
    if not orders:
        return ()
    if REFERENCE_ORDER not in orders:
        raise ValueError(f"order sensitivity needs the runs in {REFERENCE_ORDER} order as well")
    cells = {frozenset(each.cell for each in moments) for moments in orders.values()}
    if len(cells) > 1:
        raise ValueError("the message orders were run on different cells; finish the runs first")
    summaries = {o: summarise(moments, metrics, level) for o, moments in orders.items()}
    reference = summaries[REFERENCE_ORDER]
    rows = {o: {row.policy: row for row in s.rows} for o, s in summaries.items()}
    return tuple(
        OrderEnvelope(
            metric, policy, {o: by_policy[policy].estimates[c] for o, by_policy in rows.items()}
        )
        for c, metric in enumerate(metrics)
        for policy in reference.policies
    )

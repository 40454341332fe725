"""How far the figures depend on the order in which messages of one time unit are served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rebecsim.metrics import Metric
from rebecsim.studies.statistics.estimates import Estimate
from rebecsim.studies.statistics.moments import CellMoments
from rebecsim.studies.statistics.summary import summarise

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

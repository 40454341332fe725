"""What is the policy and what is the race: figures by message order, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from rebecsim.experiments.order_sensitivity import REFERENCE_ORDER, OrderEnvelope
from rebecsim.metrics import Metric
from rebecsim.report.numbers import (
    DASH,
    decimals_for,
    display_scale,
    format_estimate,
    format_value,
)

__all__ = ["ORDER_NOTES", "OrderRow", "OrderTable", "order_sentences", "order_tables"]

ORDER_NOTES = (
    "Messages that are due at the same time may be served in any order, and the model does not say "
    "which. Each figure is pooled as in the table of policies; every run of an order serves such "
    "messages by that rule: in random order, updates of AppMasters before the tick, the tick "
    "before updates, or as they were sent (fifo).",
    "The lowest and the highest of several figures differ a little by chance even where the order "
    "has no effect; compare their distance with the intervals.",
)
"""How to read the figures by order."""


@dataclass(frozen=True, slots=True)
class OrderRow:
    """One policy: its figures as text, and which orders give the lowest and the highest.

    Attributes:
        policy: its name.
        reference: the figure under random order.
        lowest: the lowest figure and its order.
        highest: the highest one likewise.
        envelope: from the lowest to the highest figure.
        by_order: message order -> figure.
    """

    policy: str
    reference: str
    lowest: str
    highest: str
    envelope: str
    by_order: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class OrderTable:
    """One metric under all message orders.

    Attributes:
        metric: which one.
        orders: names of the orders.
        rows: one per policy.
    """

    metric: Metric
    orders: tuple[str, ...]
    rows: tuple[OrderRow, ...]


def order_tables(envelopes: Sequence[OrderEnvelope]) -> list[OrderTable]:
    """The figures by order, one table per metric."""
    return [
        OrderTable(metric, tuple(group[0].by_order), _rows(metric, group))
        for metric, group in _by_metric(envelopes)
    ]


def order_sentences(envelopes: Sequence[OrderEnvelope]) -> list[str]:
    """For each metric how far order and policy move the figure, and which policy is best when.

    A policy "may be best" when its interval reaches that of the best figure, so chance alone rarely
    makes the best policy depend on the order. Policies and orders without a defined figure are left
    out.
    """
    return [
        f"{metric.title}: {_sentence(metric, group)}" for metric, group in _by_metric(envelopes)
    ]


def _by_metric(envelopes: Sequence[OrderEnvelope]) -> list[tuple[Metric, list[OrderEnvelope]]]:
    return [(m, list(group)) for m, group in groupby(envelopes, key=lambda each: each.metric)]


def _rows(metric: Metric, group: Sequence[OrderEnvelope]) -> tuple[OrderRow, ...]:
    decimals = decimals_for(metric, [e for each in group for e in each.by_order.values()])

    def shown(each: OrderEnvelope, order: str | None) -> str:
        if order is None:
            return DASH
        return f"{format_estimate(metric, each.by_order[order], decimals)} ({order})"

    return tuple(
        OrderRow(
            policy=each.policy,
            reference=format_estimate(metric, each.reference, decimals),
            lowest=shown(each, each.lowest),
            highest=shown(each, each.highest),
            envelope=_envelope(metric, each, decimals),
            by_order={o: format_estimate(metric, e, decimals) for o, e in each.by_order.items()},
        )
        for each in group
    )


def _envelope(metric: Metric, each: OrderEnvelope, decimals: int) -> str:
    if each.lowest is None or each.highest is None:
        return DASH
    ends = (each.by_order[order].value for order in (each.lowest, each.highest))
    return " to ".join(format_value(metric, end, decimals) for end in ends)


def _sentence(metric: Metric, group: Sequence[OrderEnvelope]) -> str:
    widest = max(group, key=lambda each: each.width)
    moved = (
        f"the order of messages moves a policy's figure by up to {_amount(metric, widest.width)}"
    )
    named = f" ({widest.policy})" if widest.width > 0 and len(group) > 1 else ""
    values = [each.reference.value for each in group if each.reference.is_defined]
    if len(values) < 2:
        return f"{moved}{named}."
    apart = _amount(metric, max(values) - min(values))
    return (
        f"{moved}{named}, the choice of policy by up to {apart} in {REFERENCE_ORDER} order; "
        f"{_best_clause(metric, group)}."
    )


def _best_clause(metric: Metric, group: Sequence[OrderEnvelope]) -> str:
    """Which policy is best under which order, as far as intervals tell policies apart."""
    best = {order: _best(metric, group, order) for order in group[0].by_order}
    told = {order: names for order, names in best.items() if names}
    if not told:
        return "which policy is best cannot be told without intervals"
    # In the order of the policies, to name them always alike.
    always = [each.policy for each in group if all(each.policy in n for n in told.values())]
    if always:
        verb = "is best" if set(told.values()) == {(always[0],)} else "may be best"
        return f"{_listed(always, 'or')} {verb} under every order"
    by_names: dict[tuple[str, ...], list[str]] = {}
    for order, names in told.items():
        by_names.setdefault(names, []).append(order)
    found = "; ".join(
        f"{_listed(names, 'or')} under {_listed(orders, 'and')}"
        for names, orders in by_names.items()
    )
    return f"which policy is best depends on the order: {found}"


def _best(metric: Metric, group: Sequence[OrderEnvelope], order: str) -> tuple[str, ...]:
    """Policies whose interval reaches that of the best figure; none when there is no interval."""
    sign = -1 if metric.better == "lower" else 1
    spans = {}
    for each in group:
        e = each.by_order[order]
        if e.low is not None and e.high is not None:
            spans[each.policy] = sorted((sign * e.low, sign * e.high))
    if not spans:
        return ()
    values = {
        policy: sign * each.by_order[order].value
        for each in group
        if (policy := each.policy) in spans
    }
    leader = max(values, key=lambda policy: values[policy])
    return tuple(policy for policy, (_, high) in spans.items() if high >= spans[leader][0])


def _listed(names: Sequence[str], word: str) -> str:
    *most, last = names
    return f"{', '.join(most)} {word} {last}" if most else last


def _amount(metric: Metric, value: float) -> str:
    unit = "percentage points" if metric.is_share else metric.unit
    return f"{display_scale(metric) * value:.{1 if metric.is_share else 2}f} {unit}"

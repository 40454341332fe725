"""Sentences and tables on how the order of messages changes the figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rebecsim.metrics import Metric
from rebecsim.report.numbers import (
    DASH,
    decimals_for,
    display_scale,
    format_estimate,
    format_value,
)
from rebecsim.report.pairs import by_metric
from rebecsim.studies.cell import EVERYWHERE, POLICIES, Compared, Condition
from rebecsim.studies.sections import TextTable
from rebecsim.studies.statistics.differences import PairDifference
from rebecsim.studies.statistics.order_sensitivity import REFERENCE_ORDER, OrderEnvelope

_BY_CHANCE = (
    "The lowest and the highest of several figures differ a little by chance even where the order "
    "has no effect; compare their distance with the intervals."
)


def order_tables(
    envelopes: Sequence[OrderEnvelope],
    compared: Compared = POLICIES,
    condition: Condition = EVERYWHERE,
) -> list[TextTable]:
    """The figures by order: a table per metric, a row per policy."""
    return [
        _table(
            metric,
            condition,
            (compared.one.capitalize(), "Lowest to highest", *group[0].by_order),
            [(each.policy, (_ends(metric, each, decimals), *texts)) for each, texts in rows],
        )
        for metric, group, decimals, rows in _written(envelopes)
    ]


def extreme_tables(
    envelopes: Sequence[OrderEnvelope],
    compared: Compared = POLICIES,
    condition: Condition = EVERYWHERE,
) -> list[TextTable]:
    """For each policy the figure in random order, the lowest and the highest."""
    tables = []
    for metric, _, _, rows in _written(envelopes):
        shown = []
        for each, texts in rows:
            by_order = dict(zip(each.by_order, texts, strict=True))
            ends = (f"{by_order[o]} ({o})" if o else DASH for o in (each.lowest, each.highest))
            shown.append((each.policy, (by_order[REFERENCE_ORDER], *ends)))
        first = compared.one.capitalize()
        headings = (first, "Random order", "Lowest (order)", "Highest (order)")
        tables.append(_table(metric, condition, headings, shown))
    return tables


def order_notes(metrics: Sequence[Metric], compared: Compared = POLICIES) -> list[str]:
    """How to read the figures by order."""
    judged = any(each.better != "neither" for each in metrics)
    best = (
        f"A {compared.one} may be best under an order unless another one is significantly better "
        f"there, run by run. Figures are pooled as in the table of {compared.many}."
    )
    return [*([best] if judged else []), _BY_CHANCE]


def order_sentences(
    envelopes: Sequence[OrderEnvelope],
    differences: Mapping[str, Sequence[PairDifference]],
    compared: Compared = POLICIES,
    condition: Condition = EVERYWHERE,
) -> list[str]:
    """For each metric how far order and policy move the figure, and which policy is best when.

    `differences` are those of all pairs under each order. A policy "may be best" unless another
    one is shown to be better, so the sentence never contradicts the differences, and chance alone
    rarely makes the best policy depend on the order.
    """
    where = f", {condition}" if condition.coordinates else ""
    return [
        f"{metric.title}{where}: "
        f"{_sentence(metric, group, _of_metric(metric, differences), compared)}"
        for metric, group in by_metric(envelopes)
    ]


def no_orders_note(order: str) -> str | None:
    """Why there is no comparison of orders; None for a run in random order."""
    if order == REFERENCE_ORDER:
        return None
    return (
        f"Messages of one time unit were served in the order {order} alone, so other orders were "
        "not tried. To see how much the order matters, compare with "
        f"`--order {REFERENCE_ORDER}`."
    )


def _of_metric(
    metric: Metric, differences: Mapping[str, Sequence[PairDifference]]
) -> dict[str, list[PairDifference]]:
    return {order: [d for d in each if d.metric == metric] for order, each in differences.items()}


def _table(
    metric: Metric,
    condition: Condition,
    headings: tuple[str, ...],
    rows: Sequence[tuple[str, tuple[str, ...]]],
) -> TextTable:
    title = f"{metric.title} by order of messages"
    return TextTable(title, headings, tuple(rows)).under(condition)


def _written(
    envelopes: Sequence[OrderEnvelope],
) -> Iterator[tuple[Metric, list[OrderEnvelope], int, list[tuple[OrderEnvelope, list[str]]]]]:
    """Each metric with its envelopes, their number of digits, and their figures as text."""
    for metric, group in by_metric(envelopes):
        decimals = decimals_for(metric, [e for each in group for e in each.by_order.values()])
        texts = [
            [format_estimate(metric, e, decimals) for e in each.by_order.values()] for each in group
        ]
        yield metric, group, decimals, list(zip(group, texts, strict=True))


def _ends(metric: Metric, each: OrderEnvelope, decimals: int) -> str:
    if each.lowest is None or each.highest is None:
        return DASH
    ends = (each.by_order[order].value for order in (each.lowest, each.highest))
    return " to ".join(format_value(metric, end, decimals) for end in ends)


def _sentence(
    metric: Metric,
    group: Sequence[OrderEnvelope],
    differences: Mapping[str, list[PairDifference]],
    compared: Compared,
) -> str:
    widest = max(group, key=lambda each: each.width)
    width = _amount(metric, widest.width)
    moved = f"the order of messages changes this figure by up to {width}"
    named = f" ({widest.policy})" if widest.width > 0 and len(group) > 1 else ""
    values = [each.reference.value for each in group if each.reference.is_defined]
    if len(values) < 2:
        return f"{moved}{named}."
    apart = _amount(metric, max(values) - min(values))
    by_policy = f"the choice of {compared.one} by up to {apart} in {REFERENCE_ORDER} order"
    if metric.better == "neither":
        return f"{moved}{named}, {by_policy}."
    return f"{moved}{named}, {by_policy}; {_best_clause(group, differences, compared)}."


def _best_clause(
    group: Sequence[OrderEnvelope],
    differences: Mapping[str, list[PairDifference]],
    compared: Compared,
) -> str:
    """Which policy is best under which order, as far as differences are shown."""
    best = {o: _unbeaten(group, o, differences.get(o, [])) for o in group[0].by_order}
    told = {order: names for order, names in best.items() if names}
    if not told:
        return f"which {compared.one} is best cannot be told from one run of each cell"
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
    return f"which {compared.one} is best depends on the order: {found}"


def _unbeaten(
    group: Sequence[OrderEnvelope], order: str, differences: Sequence[PairDifference]
) -> tuple[str, ...]:
    """Policies than which none is shown to be better; none when nothing was compared."""
    compared = [each for each in differences if each.p_value is not None]
    if not compared:
        return ()
    beaten = {
        each.second if each.better == each.first else each.first
        for each in compared
        if each.is_shown and each.better is not None
    }
    return tuple(
        each.policy
        for each in group
        if each.by_order[order].is_defined and each.policy not in beaten
    )


def _listed(names: Sequence[str], word: str) -> str:
    *most, last = names
    return f"{', '.join(most)} {word} {last}" if most else last


def _amount(metric: Metric, value: float) -> str:
    unit = "percentage points" if metric.is_share else metric.unit
    return f"{display_scale(metric) * value:.{1 if metric.is_share else 2}f} {unit}".rstrip()

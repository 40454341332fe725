"""Differences between policies, and between message orders, in words and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeVar

from rebecsim.metrics import Metric
from rebecsim.report.numbers import (
    DASH,
    decimals_for,
    display_scale,
    format_estimate,
    format_value,
    level_text,
)
from rebecsim.studies.cells import EVERYWHERE, POLICIES, Compared, Condition, TextTable
from rebecsim.studies.differences import MOST_RUNS, POWER, PairDifference
from rebecsim.studies.summary import REFERENCE_ORDER, OrderEnvelope

_MOST_DECIMALS = 4

Finding = TypeVar("Finding", PairDifference, OrderEnvelope)


def by_metric(findings: Sequence[Finding]) -> list[tuple[Metric, list[Finding]]]:
    """Differences, or envelopes, in one group for each metric, in their order."""
    return [(m, list(group)) for m, group in groupby(findings, key=lambda each: each.metric)]


def pair_sentence(pair: PairDifference) -> str:
    """Whether two policies differ, by how much, and between what bounds.

    The interval is for this pair alone, the verdict for all pairs of the metric together; where
    the two seem to contradict each other the sentence says so.
    """
    estimate = pair.estimate
    if not estimate.is_defined:
        return f"{pair.first} and {pair.second} cannot be compared: a figure is undefined."
    if pair.is_shown:
        return _advantage(pair)
    if pair.is_certain:
        return f"{pair.first} and {pair.second} give the same figure in every run."
    nothing = f"No significant difference was found between {pair.first} and {pair.second}"
    if estimate.standard_error == 0:
        if pair.is_identical:
            return f"{nothing}: {_all_runs(pair)} gave the same figures."
        if estimate.value == 0:
            return (
                f"{nothing}: in each cell all {pair.runs} runs gave the same difference, and these "
                "cancel out."
            )
        amount = _amount(pair.metric, estimate.value, _decimals(pair))
        return (
            f"{nothing}: {_all_runs(pair)} gave the same difference "
            f"({pair.first} minus {pair.second}: {amount}), but they are too few."
        )
    return f"{nothing} ({pair.first} minus {pair.second}: {_signed_interval(pair)})."


def power_sentence(pair: PairDifference) -> str | None:
    """Say which difference the runs of an undecided pair could find, and how many are needed."""
    if pair.power is None:
        return None
    detectable = _amount(pair.metric, pair.power.detectable, _decimals(pair))
    could = (
        f"{pair.runs} runs per cell detect a difference of {detectable} in {_power_text()} of cases"
    )
    if pair.estimate.value == 0:
        return f"{could}."
    if pair.power.runs_needed is None:
        return f"{could}; for one as small as the observed, {MOST_RUNS:,} would not do."
    needed = _rounded_up(pair.power.runs_needed)
    return f"{could}; one as large as {_observed(pair)} would need about {needed:,}."


def pair_notes(differences: Sequence[PairDifference], compared: Compared = POLICIES) -> list[str]:
    """How to read the sentences: what is paired, what an interval is for, what was corrected."""
    if not differences:
        return []
    pairs = max(pair.compared for pair in differences)
    if all(pair.is_certain for pair in differences):
        return ["Nothing is random in these runs, so the differences are exact."]
    level = level_text(differences[0].estimate.level)
    notes = [
        f"Run by run, all {compared.many} use the same random numbers. "
        f"Each {level} interval is for its own pair."
    ]
    if pairs > 1:
        chance = level_text(1 - differences[0].estimate.level)
        notes.append(
            f"Significance is decided for all {pairs} pairs of a figure together (Holm's "
            f"procedure): the risk of any false claim is at most {chance}. So a difference may "
            "not be significant although its own interval leaves out zero."
        )
    if any(pair.power for pair in differences):
        notes.append(
            "Numbers of runs are rough: the true difference may be smaller than the observed one, "
            "or none."
        )
    return notes


def method_notes(differences: Sequence[PairDifference], compared: Compared = POLICIES) -> list[str]:
    """How differences are computed, with the sources of the formulas."""
    if all(pair.is_certain for pair in differences):
        return []
    level = level_text(differences[0].estimate.level)
    return [
        f"Run number r has the same seeds under every {compared.one} (common random numbers), so "
        f"its difference between two {compared.many} is one observation (Law, Simulation "
        "Modeling and Analysis, 2015, sections 10.2 and 11.2). Differences are pooled over cells "
        "as means are. A difference of success rates is that of two ratios of pooled "
        "sums; its variance is that of the two linearised ratios, their covariance included.",
        f"Each pair has a {level} interval of its own, from Student's t; the intervals of several "
        "pairs do not hold jointly with that probability. The verdicts do: p-values are adjusted "
        "for all pairs of a metric by Holm's procedure (Scandinavian Journal of Statistics 6, "
        "1979). Different metrics are not adjusted for each other.",
        "Where all runs of every cell gave the same difference, the p-value is that of the sign "
        "test.",
        f"Numbers of runs for a power of {_power_text()} follow from (t(1 - a/2) + "
        f"t({POWER:g})) s / √n = d, with the level a that Holm's procedure leaves to each "
        "undecided pair (Lachin, Controlled Clinical Trials 2, 1981).",
    ]


def _advantage(pair: PairDifference) -> str:
    estimate, better = pair.estimate, pair.ahead
    if better is None:
        raise ValueError("a difference that is shown is not zero")
    worse = pair.second if better == pair.first else pair.first
    decimals = _decimals(pair)
    amount = _amount(pair.metric, abs(estimate.value), decimals)
    sentence = pair.metric.says_advantage(better, worse, amount)
    if pair.is_certain:
        return f"{sentence}, in every run."
    if estimate.low is None or estimate.high is None:
        raise ValueError("a difference of models with chance that is shown has an interval")
    if estimate.standard_error == 0:
        return f"{sentence}, in {_all_runs(pair)} alike."
    low, high = (
        (estimate.low, estimate.high) if estimate.value > 0 else (-estimate.high, -estimate.low)
    )
    return f"{sentence}, {_interval(pair, low, high, decimals)}."


def _signed_interval(pair: PairDifference) -> str:
    estimate = pair.estimate
    if estimate.low is None or estimate.high is None:
        raise ValueError("a pair that was tested has an interval")
    decimals = _decimals(pair)
    amount = _amount(pair.metric, estimate.value, decimals)
    return f"{amount}, {_interval(pair, estimate.low, estimate.high, decimals)}"


def _interval(pair: PairDifference, low: float, high: float, decimals: int) -> str:
    ends = " to ".join(_number(pair.metric, end, decimals) for end in (low, high))
    return f"{level_text(pair.estimate.level)} interval {ends}"


def _all_runs(pair: PairDifference) -> str:
    return f"all {pair.runs} runs of each cell"


def _amount(metric: Metric, value: float, decimals: int) -> str:
    number = _number(metric, value, decimals)
    return f"{number} percentage points" if metric.is_share else number


def _number(metric: Metric, value: float, decimals: int) -> str:
    text = f"{display_scale(metric) * value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _observed(pair: PairDifference) -> str:
    """The observed difference with at least one digit that is not zero, where four suffice."""
    size = abs(pair.estimate.value)
    needed = math.ceil(-math.log10(display_scale(pair.metric) * size))
    if needed > _MOST_DECIMALS:
        return "the observed"
    return f"the observed {_amount(pair.metric, size, max(needed, _decimals(pair)))}"


def _decimals(pair: PairDifference) -> int:
    """Digits after the point: the half-width shows one, and no end shown to differ reads as 0."""
    estimate, scale = pair.estimate, display_scale(pair.metric)
    width = scale * (estimate.half_width or 0)
    decimals = 1 if width == 0 else max(1, math.ceil(-math.log10(width)))
    ends = [abs(scale * e) for e in (estimate.low, estimate.high) if e] if pair.is_shown else []
    while decimals < _MOST_DECIMALS and any(round(end, decimals) == 0 for end in ends):
        decimals += 1
    return min(decimals, _MOST_DECIMALS)


def _power_text() -> str:
    return level_text(POWER)


def _rounded_up(runs: int) -> int:
    """To two significant digits, upwards: more would pretend to be exact."""
    unit = int(10 ** max(0, len(str(runs)) - 2))
    return -(-runs // unit) * unit


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
    width = _effect(metric, widest.width)
    moved = f"the order of messages changes this figure by up to {width}"
    named = f" ({widest.policy})" if widest.width > 0 and len(group) > 1 else ""
    values = [each.reference.value for each in group if each.reference.is_defined]
    if len(values) < 2:
        return f"{moved}{named}."
    apart = _effect(metric, max(values) - min(values))
    by_policy = f"the choice of {compared.one} by up to {apart} in {REFERENCE_ORDER} order"
    if metric.better == "neither":
        return f"{moved}{named}, {by_policy}."
    return f"{moved}{named}, {by_policy}; {_best_clause(group, differences, compared)}."


def _best_clause(
    group: Sequence[OrderEnvelope],
    differences: Mapping[str, list[PairDifference]],
    compared: Compared,
) -> str:
    """Say which policy is best under which order, by significant differences only."""
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


def _effect(metric: Metric, value: float) -> str:
    unit = "percentage points" if metric.is_share else metric.unit
    return f"{display_scale(metric) * value:.{1 if metric.is_share else 2}f} {unit}".rstrip()

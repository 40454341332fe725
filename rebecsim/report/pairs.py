"""Sentences on differences between policies, and on the runs needed to show them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import TypeVar

from rebecsim.metrics import Metric
from rebecsim.report.numbers import display_scale, level_text
from rebecsim.studies.cell import POLICIES, Compared
from rebecsim.studies.statistics.differences import PairDifference
from rebecsim.studies.statistics.order_sensitivity import OrderEnvelope
from rebecsim.studies.statistics.power import MOST_RUNS, POWER

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
    """What the runs of an undecided pair could show, and how many would be needed."""
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

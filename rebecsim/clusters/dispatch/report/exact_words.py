"""Conclusions about policies that hold in every order, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rebecsim.clusters.dispatch.orders.worth import Bounds, ClusterValues, Counted
from rebecsim.counted import counted
from rebecsim.exploration.orders import Goal
from rebecsim.studies.cell import Cell, Condition, grouped

_ROUNDING = 1e-9
"""By how much values that are the same may differ, for each unit of them."""

_MOST_DECIMALS = 9


@dataclass(frozen=True)
class _Kind:
    """How policies are compared by a figure.

    Attributes:
        more_is_better: whether the policy with more of it is the better one.
        claim: what no order lets the worse policy do, with a place for the better one.
        by: what the comparison is by.
        unit: behind the values.
    """

    more_is_better: bool
    claim: str
    by: str
    unit: str = ""


_KINDS: Mapping[Counted, _Kind] = {
    "deadline_misses": _Kind(False, "miss fewer deadlines than {}", "deadline misses"),
    "completions": _Kind(True, "complete more jobs than {}", "completed jobs"),
    "energy": _Kind(False, "take less energy than {}", "energy", " J"),
}


@dataclass(frozen=True)
class _Decided:
    """One policy is better than another by a figure in every order, up to a tick.

    Attributes:
        policies: the better one first; `spans` are theirs, from the least to the most.
        ticks: the last one, where it is not that of the runs.
        is_exact: whether the spans are; else they hold the true ones.
    """

    policies: tuple[str, str]
    spans: tuple[Bounds, Bounds]
    condition: Condition
    ticks: int | None
    is_exact: bool


def answers_in_words(
    exact: Mapping[Cell, ClusterValues], names: Mapping[Condition, str]
) -> tuple[str, ...]:
    """Say which policy is better than which in every order, by each figure where that is decided.

    Policies are compared up to the last tick, or if that does not decide, up to the last one up to
    which both are known exactly. `names` are what conditions are called.
    """
    pairs = list(_pairs(exact))
    if not pairs:
        return ()
    sentences, decided = list[str](), dict[Counted, int]()
    for figure in next(iter(exact.values())).values:
        tried = (_decided(first, second, exact, figure) for first, second in pairs)
        found = [each for each in tried if each]
        kind = _KINDS[figure]
        for policies, places in grouped(found, lambda each: each.policies).items():
            sentences.append(_sentence(policies, places, names, kind))
        decided[figure] = len(found)
    return (*sentences, _count(decided, len(pairs)))


def _pairs(exact: Mapping[Cell, ClusterValues]) -> Iterator[tuple[Cell, Cell]]:
    for cells in grouped(exact, lambda cell: cell.condition).values():
        yield from combinations(cells, 2)


def _decided(
    first: Cell, second: Cell, exact: Mapping[Cell, ClusterValues], figure: Counted
) -> _Decided | None:
    both = exact[first], exact[second]
    shared = set(both[0].by_ticks) & set(both[1].by_ticks)
    last = both[0].ticks
    for ticks in (last, *([max(shared)] if shared else [])):
        known = [each.at(ticks) for each in both]
        if not all(figure in each for each in known):
            continue
        worth = [each[figure] for each in known]
        spans = [Bounds(each["minimum"].low, each["maximum"].high) for each in worth]
        for less, more in ((0, 1), (1, 0)):
            if not _is_less(spans[less].high, spans[more].low):
                continue
            better, worse = (more, less) if _KINDS[figure].more_is_better else (less, more)
            return _Decided(
                policies=((first, second)[better].policy, (first, second)[worse].policy),
                spans=(spans[better], spans[worse]),
                condition=first.condition,
                ticks=None if ticks == last else ticks,
                is_exact=all(_is_exact(each) for each in worth),
            )
    return None


def _is_less(value: float, other: float) -> bool:
    return other - value > _ROUNDING * max(1.0, abs(value), abs(other))


def _is_exact(worth: Mapping[Goal, Bounds]) -> bool:
    return worth["minimum"].is_exact and worth["maximum"].is_exact


def shown(value: float, decimals: int) -> str:
    """Write a number with so many decimals, 0 without a sign."""
    return f"{value + 0.0:,.{decimals}f}".replace("-0." + "0" * decimals, "0." + "0" * decimals)


def _sentence(
    policies: tuple[str, str],
    places: Sequence[_Decided],
    names: Mapping[Condition, str],
    kind: _Kind,
) -> str:
    better, worse = policies
    where = "; ".join(_place(each, names[each.condition], kind.unit) for each in places)
    return f"In no order of messages does {worse} {kind.claim.format(better)} {where}."


def _place(decided: _Decided, name: str, unit: str) -> str:
    decimals = _separating(decided.spans)
    better, worse = (
        f"{policy} {_span(span, decimals)}{unit}"
        for policy, span in zip(decided.policies, decided.spans, strict=True)
    )
    ticks = f" in the first {decided.ticks} ticks" if decided.ticks else ""
    known = "exact" if decided.is_exact else "up to bounds"
    return f"{name}{ticks}: {better}, {worse} ({known})"


def _separating(spans: tuple[Bounds, Bounds]) -> int:
    """Give with how many decimals one can see that two spans have nothing in common."""
    less, more = sorted(spans, key=lambda each: each.low)
    return next(
        (
            decimals
            for decimals in range(1, _MOST_DECIMALS)
            if round(less.high, decimals) < round(more.low, decimals)
        ),
        _MOST_DECIMALS,
    )


def _span(span: Bounds, decimals: int) -> str:
    low, high = shown(span.low, decimals), shown(span.high, decimals)
    return low if low == high else f"{low} to {high}"


def _count(decided: Mapping[Counted, int], compared: int) -> str:
    if all(number == compared for number in decided.values()):
        return "So all comparisons of two policies are decided, whatever the order."
    of = counted(compared, "comparison")
    numbers = [f"{number or 'none'} by {_KINDS[each].by}" for each, number in decided.items()]
    return (
        f"Of {of} of two policies, these are decided whatever the order: {', '.join(numbers)}. In "
        "the others some order may favour either, both come to the same, or too little is known."
    )

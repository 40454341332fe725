"""What exact orders say of policies, in sentences that are so whatever the order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rebecsim.clusters.dispatch.orders.worth import Bounds, ClusterValues
from rebecsim.exploration.orders.process import Goal
from rebecsim.studies.cell import Cell, Condition, grouped


@dataclass(frozen=True)
class _Decided:
    """One policy misses fewer deadlines than another, up to a tick."""

    fewer: str
    more: str
    condition: Condition
    ticks: int
    spans: tuple[str, str]


def answers_in_words(
    exact: Mapping[Cell, ClusterValues], names: Mapping[Condition, str]
) -> tuple[str, ...]:
    """Say which policy misses fewer deadlines than which in every order, where that is decided.

    Policies are compared up to the last tick, or if that does not decide, up to the last one up to
    which both are known exactly. `names` are what conditions are called.
    """
    decided = list[_Decided]()
    compared = 0
    for condition, cells in grouped(exact, lambda cell: cell.condition).items():
        for first, second in combinations(cells, 2):
            compared += 1
            found = _decided(condition, first, second, exact)
            decided += [found] if found else []
    if not compared:
        return ()
    pairs = grouped(decided, lambda each: (each.fewer, each.more))
    sentences = [_sentence(fewer, more, each, names) for (fewer, more), each in pairs.items()]
    return (*sentences, _rest(compared, len(decided)))


def _decided(
    condition: Condition, first: Cell, second: Cell, exact: Mapping[Cell, ClusterValues]
) -> _Decided | None:
    both = exact[first], exact[second]
    shared = set(both[0].by_ticks or range(1, 1)) & set(both[1].by_ticks)
    for ticks in (both[0].ticks, *([max(shared)] if shared else [])):
        worth = [each.at(ticks)["deadline_misses"] for each in both]
        for fewer, more in ((0, 1), (1, 0)):
            if worth[fewer]["maximum"].high < worth[more]["minimum"].low:
                cells = first, second
                spans = _span(worth[fewer]), _span(worth[more])
                names = cells[fewer].policy, cells[more].policy
                return _Decided(*names, condition, ticks, spans)
    return None


def _span(worth: Mapping[Goal, Bounds]) -> str:
    low, high = shown(worth["minimum"].low, 2), shown(worth["maximum"].high, 2)
    return low if low == high else f"{low} to {high}"


def shown(value: float, decimals: int) -> str:
    """Write a number with so many decimals, 0 without a sign."""
    return f"{value + 0.0:,.{decimals}f}".replace("-0." + "0" * decimals, "0." + "0" * decimals)


def _sentence(
    fewer: str, more: str, places: Sequence[_Decided], names: Mapping[Condition, str]
) -> str:
    parts = [
        f"{names[each.condition]} in {each.ticks} ticks ({fewer} {each.spans[0]}, "
        f"{more} {each.spans[1]})"
        for each in places
    ]
    where = "; ".join(parts)
    return f"In no order of messages does {more} miss fewer deadlines than {fewer} {where}."


def _rest(compared: int, decided: int) -> str:
    if decided == compared:
        return "So all comparisons of two policies are decided, whatever the order."
    return (
        f"{decided} of {compared} comparisons of two policies are decided whatever the order; of "
        "the others, some order may favour either, or too little is known."
    )

"""Draw both orders of each race of a model, and describe how they end.

The worker process that finds races calls this, since it has all states; pages get plain values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rebecsim.exploration import Path, RaceGroup, Races
from rebecsim.report.races import (
    ORDER_TITLES,
    end_notes,
    order_drawings,
    race_meaning,
    races_conclusion,
    unexplained_lines,
)
from rebecsim.web.addresses import LONGEST_RUN, Place

_MOST_DRAWN = 1_000_000
"""Characters of all pictures of a model; later races are only named."""


def shown_races(model: str, races: Races) -> dict[str, Any]:
    """Give the races of the model with this id, as plain values, the worst first."""
    return {
        "conclusion": races_conclusion(races),
        "groups": list(_groups(model, races)),
        "unexplained": ["\n".join(unexplained_lines(each)) for each in races.unexplained],
    }


def _groups(model: str, races: Races) -> Iterator[dict[str, Any]]:
    left = _MOST_DRAWN
    for places in races.alike:
        group, *others = (races.groups[place] for place in places)
        orders = _orders(model, group)
        size = sum(len(each["drawing"]) for each in orders)
        if size > left:
            orders = []
        else:
            left -= size
        yield {
            "contenders": list(map(str, group.contenders)),
            "meaning": race_meaning(group),
            "harmful": group.is_harmful,
            "matters": group.matters,
            "alike": [" / ".join(map(str, other.contenders)) for other in others],
            "orders": orders,
            "swaps": [
                f"{swap.rebec} serves in different orders: {swap.first}; {swap.second}"
                for swap in group.witness.swaps
            ],
        }


def _orders(model: str, group: RaceGroup) -> list[dict[str, Any]]:
    def address(path: Path, step: int) -> str:
        return Place(model, path.ordinals, 0).moved(step + 1).address()

    witness = group.witness
    fits = all(len(order.path) <= LONGEST_RUN for order in witness.orders)
    drawings = order_drawings(witness, address if fits else None)
    return [
        {
            "title": title,
            "drawing": drawing,
            "notes": list(end_notes(witness, side)),
            "only": [str(each) for each in order.only],
            "begin": address(order.path, order.begins - 1) if fits else "",
            "end": address(order.path, len(order.path) - 1) if fits else "",
        }
        for side, (title, drawing, order) in enumerate(
            zip(ORDER_TITLES, drawings, witness.orders, strict=True)
        )
    ]

"""Draw the graph of the states that can be reached from a state, up to a number of states."""

from __future__ import annotations

import time
from typing import Any

from rebecsim.exploration import Neighbourhood
from rebecsim.live import Stepper
from rebecsim.report.diagrams.graphs import states_svg
from rebecsim.web.addresses import Place

MOST_STATES = 300
_FIRST_STATES = 20
_PATIENCE = 2.0
"""Seconds that looking ahead may take."""


def graph_of(stepper: Stepper, place: Place, states: int, find: str) -> dict[str, Any]:
    """Give what the page shows; `find` is a condition. Raises UserError, RebecaError."""
    (space, ways), found = _ahead(stepper, states, find)
    most = _most(states)

    def address(number: int) -> str:
        run = (*place.behind, *ways[number])
        return Place(place.model, run, len(run)).address()

    return {
        "drawing": states_svg(space, address, found),
        "count": len(space.states),
        "complete": space.complete,
        "most": most,
        "wider": str(min(most * 2, MOST_STATES)) if most < MOST_STATES else "",
        "found": [(number, address(number)) for number in sorted(found)],
    }


def drawn_graph(stepper: Stepper, states: int, find: str) -> str:
    """Draw the same for a file, where states lead nowhere. Raises UserError, RebecaError."""
    (space, _), found = _ahead(stepper, states, find)
    return states_svg(space, marked=found)


def _ahead(stepper: Stepper, states: int, find: str) -> tuple[Neighbourhood, frozenset[int]]:
    end = time.monotonic() + _PATIENCE
    return stepper.ahead(_most(states), lambda: time.monotonic() > end, find)


def _most(states: int) -> int:
    return min(max(states, 1), MOST_STATES)


def states_asked(text: str) -> int:
    """Read how many states to draw; anything but a number means the default."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else _FIRST_STATES

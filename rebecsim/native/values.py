"""Convert the integers of the native engine back to values that people read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rebecsim.actors import STOPPED
from rebecsim.generate.cells import Place, flat_length
from rebecsim.lang.types import BOOLEAN, REAL, TIMER, ArrayType, RebecType, Type
from rebecsim.native.columns import NO_TIME


def shown_value(cells: Sequence[int], kind: Type, names: Sequence[Any], now: int = 0) -> Any:
    """Give the value that starts at the first of these cells; a rebec as it is named.

    `now` is the local time of its rebec, which says how long a timer has been running.
    """
    if isinstance(kind, ArrayType):
        width = flat_length(kind.element)
        return [
            shown_value(cells[place * width :], kind.element, names, now)
            for place in range(kind.length)
        ]
    cell = int(cells[0])
    if isinstance(kind, RebecType):
        return None if cell < 0 else names[cell]
    if kind == TIMER:
        return STOPPED if cell == NO_TIME else now - cell
    if kind == BOOLEAN:
        return cell != 0
    if kind in REAL:
        return float(np.int64(cell).view(np.float64))
    return cell


@dataclass(frozen=True)
class RebecView:
    """How to read one rebec: its state variables, by their names in Rebeca, in their order there.

    `servers` are its message servers by number: their names and the types of their parameters.
    """

    name: str
    variables: tuple[tuple[str, Place], ...]
    servers: tuple[tuple[str, tuple[Type, ...]], ...]
    names: tuple[str, ...]

    def state(self, cells: Sequence[int], now: int) -> dict[str, Any]:
        """Give the state variables at a local time; `cells` start with the rebec's first one."""
        return {
            name: shown_value(cells[place.offset :], place.type, self.names, now)
            for name, place in self.variables
        }

    def arguments(self, server: int, cells: Sequence[int]) -> tuple[Any, ...]:
        """Give the arguments of a message for the server of this number."""
        kinds = self.servers[server][1]
        return tuple(
            shown_value(cells[column:], kind, self.names) for column, kind in enumerate(kinds)
        )

"""The loops of a network of flows, compiled; see `loops`. Importing this imports Numba."""

from __future__ import annotations

from typing import Any

from rebecsim.clusters.kit.devices import loops
from rebecsim.native.cache import compiled

_NUMBERS, _WHOLE = "float64[::1]", "int64[::1]"
_WORKING = f"{_NUMBERS}, {_WHOLE}, {_WHOLE}, {_WHOLE}, {_WHOLE}"

fair_rates = compiled(
    f"void(int64, {_WHOLE}, {_WHOLE}, {_NUMBERS}, {_NUMBERS}, {_WORKING})", borrows=True
)(loops.fair_rates)

go_on = compiled(
    f"void(float64, int64, {_WHOLE}, {_WHOLE}, {_NUMBERS}, {_NUMBERS}, {_NUMBERS})", borrows=True
)(loops.go_on)

next_end = compiled(f"float64(int64, {_NUMBERS}, {_NUMBERS}, {_NUMBERS})", borrows=True)(
    loops.next_end
)

ending = compiled(
    f"int64(float64, int64, {_NUMBERS}, {_NUMBERS}, {_NUMBERS}, {_WHOLE})", borrows=True
)(loops.ending)

ALL: tuple[Any, ...] = (fair_rates, go_on, next_end, ending)

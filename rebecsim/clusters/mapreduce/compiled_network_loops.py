"""The loops of `network_loops`, compiled. Importing this imports Numba."""

from __future__ import annotations

from typing import Any

from rebecsim.clusters.mapreduce import network_loops
from rebecsim.native.cache import compiled

_NUMBERS, _WHOLE = "float64[::1]", "int64[::1]"
_WORKING = f"{_NUMBERS}, {_WHOLE}, {_WHOLE}, {_WHOLE}, {_WHOLE}"

fair_rates = compiled(f"void(int64, {_WHOLE}, {_WHOLE}, {_NUMBERS}, {_NUMBERS}, {_WORKING})")(
    network_loops.fair_rates
)

go_on = compiled(f"void(float64, int64, {_WHOLE}, {_WHOLE}, {_NUMBERS}, {_NUMBERS}, {_NUMBERS})")(
    network_loops.go_on
)

next_end = compiled(f"float64(int64, {_NUMBERS}, {_NUMBERS}, {_NUMBERS})")(network_loops.next_end)

ending = compiled(f"int64(float64, int64, {_NUMBERS}, {_NUMBERS}, {_NUMBERS}, {_WHOLE})")(
    network_loops.ending
)

ALL: tuple[Any, ...] = (fair_rates, go_on, next_end, ending)

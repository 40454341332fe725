"""The search of a product, compiled; see `product_loops`. Importing this imports Numba."""

from __future__ import annotations

from typing import Any

from rebecsim.exploration.temporal import product_loops
from rebecsim.native.cache import compiled

find_components = compiled(borrows=True)(product_loops.find_components)
collect_bits = compiled(borrows=True)(product_loops.collect_bits)
find_way = compiled(borrows=True)(product_loops.find_way)

ALL: tuple[Any, ...] = (find_components, collect_bits)
"""What every formula takes; a way is looked for only where one does not hold."""

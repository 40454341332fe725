"""A run without end as a stem and a loop: the way to a component, and round in it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from rebecsim.exploration.temporal.product import Component, Product


def stem_and_loop(
    product: Product, component: Component, wanted: int
) -> tuple[list[int], list[int]]:
    """Give a shortest way to a component, and a short one round in it that has all the bits.

    Both are places of transitions of the product.
    """
    loop: list[int] = []
    at, missing = component.entry, wanted
    while missing:
        part = _way(product, component, at, _having(product, missing))
        loop += part
        for place in part:
            missing &= ~int(product.marks[place])
        at = int(product.target[part[-1]])
    if not loop or at != component.entry:
        back = _leading_to(product, component.entry)
        loop += _way(product, component, at, back)
    return _stem(product, component.entry), loop


def _having(product: Product, bits: int) -> Callable[[int], bool]:
    return lambda place: bool(int(product.marks[place]) & bits)


def _leading_to(product: Product, node: int) -> Callable[[int], bool]:
    return lambda place: bool(product.target[place] == node)


def _stem(product: Product, node: int) -> list[int]:
    """Go back to the start: the first transition to a node comes from the one it was found from."""
    nodes, places = np.unique(product.target, return_index=True)
    found_by = np.full(len(product.state), -1, np.int64)
    found_by[nodes] = places
    way: list[int] = []
    while node:
        way.append(int(found_by[node]))
        node = int(product.source[way[-1]])
    return way[::-1]


def _way(
    product: Product, component: Component, start: int, is_last: Callable[[int], bool]
) -> list[int]:
    """Give the transitions of a shortest way in a component up to one that is asked for."""
    inside = component.inside
    sources = product.source[inside]
    came: dict[int, int] = {}
    pending = deque([start])
    while True:
        node = pending.popleft()
        first, behind = np.searchsorted(sources, [node, node + 1]).tolist()
        for place in inside[first:behind].tolist():
            if is_last(place):
                return _back(product, came, start, place)
            other = int(product.target[place])
            if other not in came and other != start:
                came[other] = place
                pending.append(other)


def _back(product: Product, came: dict[int, int], start: int, last: int) -> list[int]:
    way = [last]
    while (node := int(product.source[way[-1]])) != start:
        way.append(came[node])
    return way[::-1]

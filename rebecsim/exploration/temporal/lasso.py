"""Find an infinite run as a stem and a loop: the way to a component, and a cycle in it."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebecsim.exploration.temporal.product import Hop, Product
from rebecsim.exploration.temporal.product_loops import Wanted


class Lasso(NamedTuple):
    """A run that repeats its end for ever: transitions of the endless graph."""

    stem: list[int]
    loop: list[int]


def accepted_run(product: Product, wanted: int) -> Lasso | None:
    """Give a run that goes on in a component whose transitions have all these bits, if any is.

    That is the component that is reached soonest; the way to it is a shortest one, and the one
    round in it a short one that has all the bits.
    """
    accepts = product.accepting(wanted)
    if not accepts.any():
        return None
    entry, stem = 0, []
    if not accepts[product.place(0)]:
        hops = _way(product, accepts, Wanted(0, 0, 0, 0, product.graph.rebecs))
        entry, stem = hops[-1].target, [hop.edge for hop in hops]
    return Lasso(stem, [hop.edge for hop in _round(product, accepts, entry, wanted)])


def _round(product: Product, accepts: NDArray[np.bool_], entry: int, bits: int) -> list[Hop]:
    rebecs, inside = product.graph.rebecs, int(product.component[entry])
    hops: list[Hop] = []
    at, missing = entry, bits
    while missing:
        part = _way(product, accepts, Wanted(at, inside, missing, 0, rebecs))
        for hop in part:
            missing &= ~hop.marks
        hops += part
        at = part[-1].target
    if not hops or at != entry:
        hops += _way(product, accepts, Wanted(at, inside, 0, entry, rebecs))
    return hops


def _way(product: Product, accepts: NDArray[np.bool_], wanted: Wanted) -> list[Hop]:
    """Give the transitions of a shortest way, the last one among them."""
    nodes = product.way(wanted, accepts)
    hops = [
        next(hop for hop in product.hops(node) if hop.target == after)
        for node, after in pairwise(nodes)
    ]
    last = (hop for hop in product.hops(nodes[-1]) if _ends(product, accepts, wanted, hop))
    return [*hops, next(last)]


def _ends(product: Product, accepts: NDArray[np.bool_], wanted: Wanted, hop: Hop) -> bool:
    """Whether a way ends with a transition, as `product_loops.find_way` says."""
    if not wanted.inside:
        return bool(accepts[product.place(hop.target)])
    if int(product.component[hop.target]) != wanted.inside:
        return False
    return bool(hop.marks & wanted.bits) if wanted.bits else hop.target == wanted.goal

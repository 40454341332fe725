"""Find out whether a graph has a run that an automaton accepts, and give one.

A node of the product is a state of the graph and one of the automaton. A run is accepted if it goes
on within a strongly connected component of which the transitions have all the bits that are asked
for: those of the untils, and those of fairness. It is given as a lasso: a stem, which leads to such
a component, and a loop in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebecsim.errors import UserError
from rebecsim.exploration.temporal.automaton import Automaton
from rebecsim.exploration.temporal.labelled_graph import EndlessGraph, Labels
from rebecsim.exploration.temporal.product_loops import (
    PLAIN_LOOPS,
    Loops,
    ProductArrays,
    Stack,
    Wanted,
    compiled_loops,
)
from rebecsim.native import engines
from rebecsim.native.arrays import Integers

_MOST_BITS = 62
_MOST_NODES = np.iinfo(np.int32).max - 2


class Hop(NamedTuple):
    """A transition of a product: the transition of the graph that it takes, its bits, its end."""

    edge: int
    marks: int
    target: int


@dataclass(frozen=True)
class Product:
    """The part of a product that runs reach, and its strongly connected components.

    Attributes:
        graph, automaton: of what it is the product.
        arrays: both, as `loops` take them.
        loops: how it is searched, see `product_loops`.
        component: the number of the component of each node, 0 where it is not reached.
        bits: those of the transitions within each component, and `product_loops.HAS_TRANSITIONS` if
            there are any; the component with number n is in place `len(component) + 1 - n`.
        shift: where the bits of the untils begin.
        reaches_cut: whether a run reaches a state that was not expanded.
    """

    graph: EndlessGraph
    automaton: Automaton
    arrays: ProductArrays
    loops: Loops
    component: Any
    bits: Integers
    shift: int
    reaches_cut: bool

    def accepting(self, wanted: int) -> NDArray[np.bool_]:
        """Say which components have transitions with all of these bits."""
        found: NDArray[np.bool_] = (self.bits < 0) & (self.bits & wanted == wanted)
        return found

    def place(self, node: int) -> int:
        """Give the place among `bits` of the component of a node."""
        return len(self.component) + 1 - int(self.component[node])

    def hops(self, node: int) -> list[Hop]:
        """Give the transitions of a node, in the order in which the loops follow them."""
        state, place = divmod(node, len(self.automaton.moves))
        label, width = int(self.arrays.labels[state]), len(self.automaton.moves)
        edges = range(int(self.graph.first[state]), int(self.graph.first[state + 1]))
        return [
            Hop(
                edge,
                self.graph.mark(state, edge) | move.kept << self.shift,
                int(self.graph.target[edge]) * width + move.target,
            )
            for move in self.automaton.moves[place]
            if label & move.true == move.true and not label & move.false
            for edge in edges
        ]

    def way(self, wanted: Wanted, accepts: NDArray[np.bool_]) -> list[int]:
        """Give the nodes of a shortest way up to a transition, see `product_loops.find_way`."""
        component = self.component
        came, queue = _room(component), _room(component)
        goals = accepts.tolist() if isinstance(component, list) else accepts
        node = self.loops.find_way(self.arrays, component, goals, wanted, came, queue)
        assert node >= 0, "there is a way to what was found to be there"
        nodes = [int(node)]
        while nodes[-1] != wanted.start:
            nodes.append(int(came[nodes[-1]]) - 1)
        return nodes[::-1]


def product_of(graph: EndlessGraph, labels: Labels, automaton: Automaton) -> Product:
    """Search what runs reach. Raises UserError for a formula with too many untils."""
    shift = graph.rebecs + 1
    if shift + automaton.untils > _MOST_BITS:
        raise UserError(
            f"a formula with {automaton.untils} operators that wait for something, and "
            f"{graph.rebecs} rebecs: together at most {_MOST_BITS - 1}; take it apart"
        )
    width = len(automaton.moves)
    size = len(labels) * width
    if size > _MOST_NODES:
        raise UserError(f"an automaton of {width} states is too large for {len(labels)} states")
    loops = _loops(len(graph.target) * width)
    component: Any = np.zeros(size, np.int32)
    arrays = _arrays(graph, labels, automaton, shift)
    if loops is PLAIN_LOOPS:  # plain Python is faster with lists
        component = [0] * size
        arrays = ProductArrays(*(each.tolist() for each in arrays))
    stack = Stack(*(_room(component) for _ in Stack._fields))
    count = loops.find_components(arrays, component, stack)
    bits = np.zeros(count, np.int64)
    loops.collect_bits(arrays, component, bits, graph.rebecs)
    reached = np.asarray(component, np.int32).reshape(-1, width).any(axis=1)
    reaches_cut = bool((graph.is_cut & reached).any())
    return Product(graph, automaton, arrays, loops, component, bits, shift, reaches_cut)


def _arrays(graph: EndlessGraph, labels: Labels, automaton: Automaton, shift: int) -> ProductArrays:
    moves = [move for several in automaton.moves for move in several]
    first_move = np.cumsum([0, *map(len, automaton.moves)])
    columns = np.array([(*move[:3], move.kept << shift) for move in moves], np.int64)
    true, false, towards, kept = columns.reshape(-1, 4).T.copy()
    return ProductArrays(
        graph.first,
        graph.target,
        graph.act,
        graph.idle,
        labels,
        first_move.astype(np.int64),
        true,
        false,
        towards,
        kept,
    )


def _room(component: Any) -> Any:
    """Give a place for each node: zeros, which cost no memory before they are used."""
    return [0] * len(component) if isinstance(component, list) else np.zeros_like(component)


def _loops(transitions: int) -> Loops:
    """Give the plain loops, or the compiled ones where so many transitions are worth them."""
    from rebecsim.native.cache import is_plain, is_ready, prepare

    if transitions < engines.PRODUCT_LOADS or is_plain():
        return PLAIN_LOOPS
    loops = compiled_loops()
    always = loops.find_components, loops.collect_bits  # a way is looked for if a formula fails
    if transitions < engines.PRODUCT_COMPILES and not all(map(is_ready, always)):
        return PLAIN_LOOPS
    prepare(*always)
    return loops


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

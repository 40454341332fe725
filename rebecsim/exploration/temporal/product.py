"""Whether a graph has a run that an automaton accepts: all its states and transitions at once.

A node of the product is a state of the graph and one of the automaton. A run is accepted if it goes
on within a strongly connected component of which the transitions have all the bits that are asked
for: those of the untils, and those of fairness.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from rebecsim.errors import UserError
from rebecsim.exploration.temporal.automaton import Automaton, AutomatonMove
from rebecsim.exploration.temporal.labelled import EndlessGraph
from rebecsim.exploration.temporal.labelling import Labels
from rebecsim.native.rows import ranges

Integers = NDArray[np.int64]

_MOST_BITS = 63


class Product(NamedTuple):
    """The part of a product that runs reach, its nodes in the order of being found, breadth first.

    Attributes:
        state: the state of the graph of each node.
        source, target: the nodes that each transition leads from and to, by ascending sources.
        at: the transition of the endless graph that it takes.
        marks: its bits; those of the untils come after those of the graph.
        shift: where the bits of the untils begin.
        reaches_cut: whether a run reaches a state that was not expanded.
    """

    state: Integers
    source: Integers
    target: Integers
    at: Integers
    marks: Integers
    shift: int
    reaches_cut: bool


def product_of(graph: EndlessGraph, labels: Labels, automaton: Automaton) -> Product:
    """Build what runs reach. Raises UserError for a formula with too many untils."""
    shift = graph.rebecs + 1
    if shift + automaton.untils > _MOST_BITS:
        raise UserError(
            f"a formula with {automaton.untils} operators that wait for something, and "
            f"{graph.rebecs} rebecs: together at most {_MOST_BITS - 1}; take it apart"
        )
    width = len(automaton.moves)
    number = np.full(len(labels) * width, -1, np.int64)
    number[0] = 0
    found, frontier, count = [np.zeros(1, np.int64)], np.zeros(1, np.int64), 1
    rows: list[tuple[Integers, Integers, Integers, Integers]] = []
    while len(frontier):
        row = _followed(graph, labels, automaton, frontier)
        fresh = np.unique(row[1][number[row[1]] < 0])
        number[fresh] = np.arange(count, count + len(fresh))
        count += len(fresh)
        found.append(fresh)
        rows.append(row)
        frontier = fresh
    nodes = np.concatenate(found)
    source, target, at, marks = (np.concatenate(column) for column in zip(*rows, strict=True))
    source = number[source]
    order = np.argsort(source, kind="stable")
    state = nodes // width
    return Product(
        state,
        source[order],
        number[target][order],
        at[order],
        marks[order],
        shift,
        bool(graph.is_cut[state].any()),
    )


def _followed(
    graph: EndlessGraph, labels: Labels, automaton: Automaton, nodes: Integers
) -> tuple[Integers, Integers, Integers, Integers]:
    """Follow all transitions of nodes: sources, targets, which of the graph, and bits."""
    width = len(automaton.moves)
    state, place = np.divmod(nodes, width)
    rows = []
    for each in np.unique(place).tolist():
        here = state[place == each]
        for move in automaton.moves[each]:
            allowed = here[_allows(labels[here], move)]
            counts = graph.first[allowed + 1] - graph.first[allowed]
            at = ranges(graph.first[allowed], counts)
            marks = graph.marks[at] | np.int64(move.kept << (graph.rebecs + 1))
            sources = np.repeat(allowed * width + each, counts)
            rows.append((sources, graph.target[at] * width + move.target, at, marks))
    empty = np.zeros(0, np.int64)
    columns = zip(*rows, strict=True) if rows else ((empty,),) * 4
    source, target, at, marks = (np.concatenate(column) for column in columns)
    return source, target, at, marks


def _allows(labels: Labels, move: AutomatonMove) -> NDArray[np.bool_]:
    allowed: NDArray[np.bool_] = (labels & move.true == move.true) & (labels & move.false == 0)
    return allowed


class Component(NamedTuple):
    """A strongly connected component: its first node, and its transitions by their places."""

    entry: int
    inside: Integers


def accepting_component(product: Product, wanted: int) -> Component | None:
    """Find the component that is reached soonest of those whose transitions have all the bits."""
    nodes = len(product.state)
    edges = csr_array(
        (np.ones(len(product.source), np.int8), (product.source, product.target)), (nodes, nodes)
    )
    count, component = connected_components(edges, directed=True, connection="strong")
    within = component[product.source] == component[product.target]
    bits = np.zeros(count, np.int64)
    np.bitwise_or.at(bits, component[product.source[within]], product.marks[within])
    has_edges = np.zeros(count, np.bool_)
    has_edges[component[product.source[within]]] = True
    accepts = has_edges & (bits & wanted == wanted)
    members = np.flatnonzero(accepts[component])
    if not len(members):
        return None
    entry = int(members[0])
    return Component(
        entry, np.flatnonzero(within & (component[product.source] == component[entry]))
    )

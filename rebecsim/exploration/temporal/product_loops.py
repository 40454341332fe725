"""Search the product of a graph and an automaton, transition by transition.

A node of the product is a state of the graph and one of the automaton, `state * width + place`. No
transition of the product is kept: each is found again from those of the two. These are plain
functions of sequences of numbers; `compiled_loops` gives the same ones compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from rebecsim.native.arrays import Bytes, Flags, Integers, Narrow

ACTOR = 63
"""The bits of `act` that give the rebec that acts."""

TIME = 64
"""The bit that says that time passes."""

HAS_TRANSITIONS = -(1 << 63)
"""The bit of a component that has a transition within."""


class ProductArrays(NamedTuple):
    """A graph whose states are labelled, and an automaton.

    Attributes:
        first, target, act, idle: those of `EndlessGraph`.
        labels: of each state a bit for each proposition that is true.
        first_move: the moves of place p are those from `first_move[p]` up to `first_move[p + 1]`.
        true, false: bits of the propositions that must be so in the state that is left.
        towards: the place that comes next.
        kept: the bits of the untils that a move does not put off, where those of marks are.
    """

    first: Integers
    target: Narrow
    act: Bytes
    idle: Integers
    labels: Integers
    first_move: Integers
    true: Integers
    false: Integers
    towards: Integers
    kept: Integers


class Stack(NamedTuple):
    """Room for the way to where a search in depth is, with a place for each node.

    Attributes:
        node, met: the nodes on the way, and what `component` said of each when it was met.
        edge, move: which transition of each comes next.
        waiting: nodes that have been left, whose components are not known yet.
    """

    node: Narrow
    met: Narrow
    edge: Narrow
    move: Narrow
    waiting: Narrow


def find_components(product: ProductArrays, component: Narrow, stack: Stack) -> int:
    """Number the strongly connected components that are reached from node 0.

    Each node of the first one to be completed gets the number of all nodes and one more, those of
    the next one a number less, and so on; 0 stays where a node is not reached. Gives how many
    components there are.

    The search is that of D. J. Pearce, "A space-efficient algorithm for finding strongly connected
    components" (Information Processing Letters 116, 2016).
    """
    first, target, labels = product.first, product.target, product.labels
    first_move, true, false, towards = (
        product.first_move,
        product.true,
        product.false,
        product.towards,
    )
    width = len(first_move) - 1
    size = len(component)
    number = size + 1
    count = 1  # of nodes that have been met and are in no component that is known
    left = 0
    depth = 0
    component[0] = count
    stack.node[0], stack.met[0] = 0, count
    stack.edge[0], stack.move[0] = first[0], first_move[0]
    while depth >= 0:
        node = int(stack.node[depth])
        state = node // width
        place = node - state * width
        edge, move = int(stack.edge[depth]), int(stack.move[depth])
        last_edge, last_move = first[state + 1], first_move[place + 1]
        label = labels[state]
        least = int(component[node])
        goes_deeper = False
        while move < last_move and not goes_deeper:
            if label & true[move] == true[move] and label & false[move] == 0:
                base = towards[move]
                while edge < last_edge:
                    other = target[edge] * width + base
                    edge += 1
                    if component[other] == 0:
                        goes_deeper = True
                        stack.edge[depth], stack.move[depth] = edge, move
                        depth += 1
                        count += 1
                        component[other] = count
                        stack.node[depth], stack.met[depth] = other, count
                        stack.edge[depth] = first[other // width]
                        stack.move[depth] = first_move[base]
                        break
                    least = min(least, int(component[other]))
            if not goes_deeper:
                move += 1
                edge = int(first[state])
        component[node] = least
        if goes_deeper:
            continue
        if least == stack.met[depth]:
            while left > 0 and component[stack.waiting[left - 1]] >= least:
                left -= 1
                component[stack.waiting[left]] = number
                count -= 1
            component[node] = number
            count -= 1
            number -= 1
        else:
            stack.waiting[left] = node
            left += 1
        depth -= 1
        if depth >= 0:
            above = stack.node[depth]
            component[above] = min(int(component[above]), int(component[node]))
    return size + 1 - number


def collect_bits(product: ProductArrays, component: Narrow, bits: Integers, rebecs: int) -> None:
    """Put together the bits of the transitions within each component, by how soon it was found."""
    first, target, labels, act = product.first, product.target, product.labels, product.act
    first_move, true, false = product.first_move, product.true, product.false
    width = len(first_move) - 1
    size = len(component)
    for node in range(size):
        own = component[node]
        if own == 0:
            continue
        state = node // width
        place = node - state * width
        label = labels[state]
        found = 0
        for move in range(first_move[place], first_move[place + 1]):
            if label & true[move] == true[move] and label & false[move] == 0:
                for edge in range(first[state], first[state + 1]):
                    if component[target[edge] * width + product.towards[move]] == own:
                        found |= HAS_TRANSITIONS | product.kept[move]
                        if act[edge] & ACTOR != rebecs:
                            found |= 1 << (act[edge] & ACTOR)
                        if act[edge] & TIME:
                            found |= 1 << rebecs
        if found:
            bits[size + 1 - own] |= found | product.idle[state]


class Wanted(NamedTuple):
    """What a way is to come to.

    Attributes:
        start: where it begins.
        inside: the number of the component that it stays in; 0: it leads into one that accepts.
        bits: one of the bits that its last transition has; 0: that leads to `goal`.
        goal: see `bits`.
        rebecs: how many rebecs there are.
    """

    start: int
    inside: int
    bits: int
    goal: int
    rebecs: int


def find_way(
    product: ProductArrays,
    component: Narrow,
    accepts: Flags,
    wanted: Wanted,
    came: Narrow,
    queue: Narrow,
) -> int:
    """Go breadth first until a transition is what is wanted; gives the last node but one.

    `came` says of each node, but for the first one, from which one it was found first, counted from
    1; it is full of zeros before.
    """
    first, target, labels, act = product.first, product.target, product.labels, product.act
    first_move, true, false = product.first_move, product.true, product.false
    width = len(first_move) - 1
    size = len(component)
    queue[0] = wanted.start
    came[wanted.start] = size + 1
    done, waiting = 0, 1
    while done < waiting:
        node = int(queue[done])
        done += 1
        state = node // width
        place = node - state * width
        label = labels[state]
        for move in range(first_move[place], first_move[place + 1]):
            if label & true[move] != true[move] or label & false[move] != 0:
                continue
            for edge in range(first[state], first[state + 1]):
                other = target[edge] * width + product.towards[move]
                own = int(component[other])
                if wanted.inside == 0:
                    if accepts[size + 1 - own]:
                        return node
                elif own != wanted.inside:
                    continue
                elif wanted.bits == 0:
                    if other == wanted.goal:
                        return node
                else:
                    mark = product.idle[state] | product.kept[move]
                    if act[edge] & ACTOR != wanted.rebecs:
                        mark |= 1 << (act[edge] & ACTOR)
                    if act[edge] & TIME:
                        mark |= 1 << wanted.rebecs
                    if mark & wanted.bits:
                        return node
                if came[other] == 0:
                    came[other] = node + 1
                    queue[waiting] = other
                    waiting += 1
    return -1


class Loops(NamedTuple):
    """The three functions, plain or compiled."""

    find_components: Callable[..., Any]
    collect_bits: Callable[..., Any]
    find_way: Callable[..., Any]


PLAIN_LOOPS = Loops(find_components, collect_bits, find_way)


@cache
def compiled_loops() -> Loops:
    """Give the functions compiled, on first use. This imports Numba."""
    from rebecsim.native.cache import compiled

    return Loops(*map(compiled(), PLAIN_LOOPS))

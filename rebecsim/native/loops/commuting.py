"""Drop pairs of steps that plainly commute from those that can be taken in both orders."""

from __future__ import annotations

from typing import NamedTuple

from rebecsim.native.arrays import Flags, Integers
from rebecsim.native.cache import compiled


class GraphArrays(NamedTuple):
    """States, their steps and the edges of these.

    The first three arrays are those of `rebecsim.exploration.races.diamonds.Steps`, with messages
    below 0 where only time passes, the next three those of `Arrays`. `wrong` says in which states
    something is.
    """

    of_state: Integers
    first: Integers
    message: Integers
    target: Integers
    duration: Integers
    same: Integers
    wrong: Flags


@compiled()
def _plainly_commute(graph: GraphArrays, one: int, other: int) -> bool:
    """Whether two steps lead to the same states in both orders, choice by choice.

    That is with no time in between and nothing wrong on the way.
    """
    of_state, first, message, target, duration, same, wrong = graph
    left, right = first[one + 1] - first[one], first[other + 1] - first[other]
    for i in range(left):
        at = target[first[one] + i]
        if at >= same.shape[0] or wrong[at] or duration[first[one] + i]:
            return False
        then = of_state[at]
        while then < of_state[at + 1] and message[then] != message[other]:
            then += 1
        if then == of_state[at + 1] or first[then + 1] - first[then] != right:
            return False
        for j in range(right):
            back = target[first[other] + j]
            if back >= same.shape[0] or wrong[back] or duration[first[other] + j]:
                return False
            late = of_state[back]
            while late < of_state[back + 1] and message[late] != message[one]:
                late += 1
            if late == of_state[back + 1] or first[late + 1] - first[late] != left:
                return False
            end, beside = target[first[then] + j], target[first[late] + i]
            if end >= same.shape[0] or beside >= same.shape[0] or same[end] != same[beside]:
                return False
            if wrong[end] or wrong[beside]:
                return False
    return True


@compiled()
def list_doubtful(graph: GraphArrays, left: Integers, right: Integers) -> int:
    """Fill in the pairs of steps of one state that do not plainly commute; gives how many."""
    of_state, message = graph.of_state, graph.message
    found = 0
    for state in range(graph.same.shape[0]):
        last = of_state[state + 1]
        for one in range(of_state[state], last):
            for other in range(one + 1, last):
                if (
                    message[one] < 0
                    or message[other] < 0
                    or not _plainly_commute(graph, one, other)
                ):
                    left[found] = one
                    right[found] = other
                    found += 1
    return found

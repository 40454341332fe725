"""Find pairs of steps that can be taken in both orders, and whether they commute.

Many pairs are compared at once: every row of an array is one way to take the first step, or both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rebecsim.exploration.races.futures import distinct
from rebecsim.exploration.races.step_graph import NO_MESSAGE, Arrays
from rebecsim.native.arrays import Flags, Integers, ranges

NONE = -1

_CHUNK = 1 << 14  # pairs: the arrays of so many stay in the cache of the processor


@dataclass(frozen=True)
class Steps:
    """The steps of all states: the edges of one message in one state are one step.

    Those of state s are from `of_state[s]` up to `of_state[s + 1]`; the edges of a step from
    `first[step]` up to `first[step + 1]`. `message` is what is served.
    """

    of_state: Integers
    first: Integers
    state: Integers
    message: Integers

    def __len__(self) -> int:
        return len(self.state)


class Ways(NamedTuple):
    """The ways in which pairs of steps can be taken in one order, a row for each.

    `pair` is whose way it is. `one` is the edge of the first step, `two` that of the second one,
    NONE where it is not possible right after the first. `end` is the target of the last edge.
    """

    pair: Integers
    one: Integers
    two: Integers
    end: Integers

    def of(self, pair: int) -> slice:
        """Give the rows of a pair."""
        low, high = np.searchsorted(self.pair, [pair, pair + 1])
        return slice(int(low), int(high))


@dataclass(frozen=True)
class Diamonds:
    """The pairs of different steps of one state that can be taken in both orders, which matters.

    `left` and `right` are their steps, `left_first` and `right_first` the ways to take them in that
    order. `commuting` counts the pairs that commute.
    """

    steps: Steps
    left: Integers
    right: Integers
    left_first: Ways
    right_first: Ways
    commuting: int


def find_diamonds(arrays: Arrays, *, compiled: bool = False) -> Diamonds:
    """Find all pairs of steps and compare their orders.

    `compiled`: filter out pairs that plainly commute in compiled code, with the same result.
    """
    steps = _steps(arrays)
    behind = steps.of_state[steps.state + 1] - np.arange(len(steps)) - 1
    left, right = _doubtful(arrays, steps, int(behind.sum())) if compiled else _pairs(behind)
    commutes = np.empty(len(left), dtype=bool)
    kept: tuple[list[Ways], list[Ways]] = ([_no_ways()], [_no_ways()])
    for low in range(0, len(left), _CHUNK):
        of = slice(low, low + _CHUNK)
        orders = (left[of], right[of]), (right[of], left[of])
        both = [_ways(arrays, steps, one, two) for one, two in orders]
        commutes[of] = _commute(arrays, *both)
        numbers = np.cumsum(~commutes[of]) - 1 + np.count_nonzero(~commutes[:low])
        for ways, found in zip(both, kept, strict=True):
            found.append(_of_pairs(ways, ~commutes[of], numbers))
    left_first, right_first = (
        Ways(*map(np.concatenate, zip(*found, strict=True))) for found in kept
    )
    left, right = left[~commutes], right[~commutes]
    return Diamonds(steps, left, right, left_first, right_first, int(behind.sum()) - len(left))


def _steps(arrays: Arrays) -> Steps:
    source = arrays.source
    begins = np.ones(len(source), dtype=bool)
    begins[1:] = (source[1:] != source[:-1]) | (arrays.message[1:] != arrays.message[:-1])
    edges = np.flatnonzero(begins)
    state = source[edges]
    counts = np.bincount(state, minlength=arrays.states)
    return Steps(
        np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        np.append(edges, len(source)).astype(np.int64),
        state,
        arrays.message[edges],
    )


def _pairs(behind: Integers) -> tuple[Integers, Integers]:
    """Give all pairs of steps of one state in order, if so many steps are behind each of them."""
    left = np.repeat(np.arange(len(behind), dtype=np.int64), behind)
    starts = np.cumsum(behind) - behind
    right = left + 1 + np.arange(len(left), dtype=np.int64) - np.repeat(starts, behind)
    return left, right


def _doubtful(arrays: Arrays, steps: Steps, pairs: int) -> tuple[Integers, Integers]:
    """Give the pairs that do not plainly commute, in the same order."""
    from rebecsim.native.loops.commuting import GraphArrays, list_doubtful

    left, right = np.empty((2, pairs), dtype=np.int64)
    wrong = np.zeros(arrays.states, dtype=bool)
    wrong[list(arrays.wrong)] = True
    graph = GraphArrays(
        steps.of_state,
        steps.first,
        steps.message,
        arrays.target,
        arrays.duration,
        arrays.same,
        wrong,
    )
    found = list_doubtful(graph, left, right)
    return left[:found].copy(), right[:found].copy()


def _no_ways() -> Ways:
    return Ways(*np.empty((4, 0), dtype=np.int64))


def _ways(arrays: Arrays, steps: Steps, one: Integers, two: Integers) -> Ways:
    """Take the first step of each pair and then, where it is possible, the second one."""
    counts = steps.first[one + 1] - steps.first[one]
    pair = np.repeat(np.arange(len(one), dtype=np.int64), counts)
    edge = ranges(steps.first[one], counts)
    middle = arrays.target[edge]
    goes_on = middle < arrays.states
    at = np.where(goes_on, middle, 0)
    tried = np.where(goes_on, steps.of_state[at + 1] - steps.of_state[at], 0)
    row = np.repeat(np.arange(len(pair), dtype=np.int64), tried)
    step = ranges(steps.of_state[at], tried)
    wanted = np.repeat(steps.message[two[pair]], tried)
    units = np.repeat(arrays.duration[edge], tried)
    fits = _same_messages(arrays, steps.message[step], wanted, units)
    row, step = row[fits], step[fits]
    found = steps.first[step + 1] - steps.first[step]
    both_row = np.repeat(row, found)
    both_edge = ranges(steps.first[step], found)
    alone = np.ones(len(pair), dtype=bool)
    alone[row] = False
    rows = np.concatenate((np.flatnonzero(alone), both_row))
    second = np.concatenate((np.full(int(alone.sum()), NONE, dtype=np.int64), both_edge))
    end = np.where(second == NONE, middle[rows], arrays.target[second])
    order = np.argsort(pair[rows], kind="stable")
    return Ways(pair[rows][order], edge[rows][order], second[order], end[order])


def _same_messages(arrays: Arrays, later: Integers, sooner: Integers, units: Integers) -> Flags:
    """Whether messages are the same, seen so much later."""
    same: Flags = (later == sooner) & (sooner != NO_MESSAGE)
    late = np.flatnonzero(units)
    same[late] = arrays.messages.are_later(later[late], sooner[late], units[late])
    return same


def _commute(arrays: Arrays, left_first: Ways, right_first: Ways) -> Flags:
    """Say which pairs have the same outcomes in both orders."""
    commute = np.ones(int(left_first.pair[-1]) + 1, dtype=bool)
    different = np.setxor1d(
        _outcomes(arrays, left_first), _outcomes(arrays, right_first), assume_unique=True
    )
    commute[different // _width(arrays)] = False
    for ways in (left_first, right_first):  # time passes in between: the later one is served later
        commute[ways.pair[(ways.two != NONE) & (arrays.duration[ways.one] > 0)]] = False
    return commute


def _width(arrays: Arrays) -> int:
    return arrays.states + 2 * len(arrays.keys)


def _outcomes(arrays: Arrays, ways: Ways) -> Integers:
    """Give the outcomes of each pair in an order, pair and outcome in one number.

    Outcomes are states and breaches at the end, and what is wrong with states on the way.
    """
    width = _width(arrays)
    states = arrays.states
    end = np.where(ways.end < states, arrays.same[np.minimum(ways.end, states - 1)], ways.end)
    found = [ways.pair * width + end]
    for key, meets in enumerate(arrays.meets):
        met = meets[arrays.target[ways.one]] | meets[ways.end]
        found.append(ways.pair[met] * width + states + len(arrays.keys) + key)
    return distinct(np.concatenate(found))


def _of_pairs(ways: Ways, wanted: Flags, numbers: Integers) -> Ways:
    """Give the ways of some pairs, with other numbers."""
    kept = wanted[ways.pair]
    return Ways(numbers[ways.pair[kept]], ways.one[kept], ways.two[kept], ways.end[kept])

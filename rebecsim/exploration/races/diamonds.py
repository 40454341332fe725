"""Two steps that can be taken in both orders, and whether that comes to the same.

All states are looked at together: every row of an array is one way to take the first step, or both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rebecsim.exploration.races.arrays import NO_ACTION, NO_LIMIT, Arrays, Integers
from rebecsim.exploration.races.fate import distinct

__all__ = ["Diamonds", "Steps", "Ways", "find_diamonds"]

Flags = NDArray[np.bool_]

NONE = -1


@dataclass(frozen=True)
class Steps:
    """The steps of all states: the edges of one message in one state are one step.

    Those of state s are from `of_state[s]` up to `of_state[s + 1]`; the edges of a step from
    `first[step]` up to `first[step + 1]`.
    """

    of_state: Integers
    first: Integers
    state: Integers

    def __len__(self) -> int:
        return len(self.state)


@dataclass(frozen=True)
class Ways:
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
    """The pairs of different steps of all states that can be taken in both orders.

    `left` and `right` are their steps, `there` and `back` the ways to take left before right and
    right before left. Only those that do not `commute` are kept in `there` and `back`.
    """

    steps: Steps
    left: Integers
    right: Integers
    commutes: Flags
    there: Ways
    back: Ways


def find_diamonds(arrays: Arrays) -> Diamonds:
    """Find all pairs of steps and compare their orders."""
    steps = _steps(arrays)
    left, right = _pairs(steps)
    there = _ways(arrays, steps, left, right)
    back = _ways(arrays, steps, right, left)
    differs = np.zeros(len(left), dtype=bool)
    apart = np.setxor1d(_outcomes(arrays, there), _outcomes(arrays, back), assume_unique=True)
    differs[apart // _width(arrays)] = True
    for ways in (there, back):  # time passes in between: the later one is served later
        differs[ways.pair[(ways.two != NONE) & (arrays.duration[ways.one] > 0)]] = True
    return Diamonds(steps, left, right, ~differs, _only(there, differs), _only(back, differs))


def _steps(arrays: Arrays) -> Steps:
    source = np.repeat(np.arange(arrays.states, dtype=np.int64), np.diff(arrays.first))
    columns = (source, arrays.action, arrays.arrival, arrays.deadline)
    begins = np.ones(len(source), dtype=bool)
    if len(source):
        begins[1:] = np.any([each[1:] != each[:-1] for each in columns], axis=0)
    edges = np.flatnonzero(begins)
    state = source[edges]
    return Steps(
        np.searchsorted(state, np.arange(arrays.states + 1)).astype(np.int64),
        np.append(edges, len(source)).astype(np.int64),
        state,
    )


def _pairs(steps: Steps) -> tuple[Integers, Integers]:
    """Give all pairs of steps of one state, in the order of the states."""
    behind = steps.of_state[steps.state + 1] - np.arange(len(steps)) - 1
    left = np.repeat(np.arange(len(steps), dtype=np.int64), behind)
    starts = np.cumsum(behind) - behind
    right = left + 1 + np.arange(len(left), dtype=np.int64) - np.repeat(starts, behind)
    return left, right


def _ways(arrays: Arrays, steps: Steps, one: Integers, two: Integers) -> Ways:
    """Take the first step of each pair and then, where it is possible, the second one."""
    counts = steps.first[one + 1] - steps.first[one]
    pair = np.repeat(np.arange(len(one), dtype=np.int64), counts)
    edge = _ranged(steps.first[one], counts)
    middle = arrays.target[edge]
    goes_on = middle < arrays.states
    at = np.where(goes_on, middle, 0)
    tried = np.where(goes_on, steps.of_state[at + 1] - steps.of_state[at], 0)
    row = np.repeat(np.arange(len(pair), dtype=np.int64), tried)
    step = _ranged(steps.of_state[at], tried)
    fits = _is(arrays, steps, step, steps.first[two[pair[row]]], arrays.duration[edge[row]])
    row, step = row[fits], step[fits]
    found = steps.first[step + 1] - steps.first[step]
    both_row = np.repeat(row, found)
    both_edge = _ranged(steps.first[step], found)
    alone = np.ones(len(pair), dtype=bool)
    alone[row] = False
    rows = np.concatenate((np.flatnonzero(alone), both_row))
    second = np.concatenate((np.full(int(alone.sum()), NONE, dtype=np.int64), both_edge))
    end = np.where(second == NONE, middle[rows], arrays.target[second])
    order = np.argsort(pair[rows], kind="stable")
    return Ways(pair[rows][order], edge[rows][order], second[order], end[order])


def _is(arrays: Arrays, steps: Steps, step: Integers, edge: Integers, units: Integers) -> Flags:
    """Whether steps serve the messages of edges, seen so much later."""
    other = steps.first[step]
    limit = arrays.deadline[edge]
    same: Flags = (
        (arrays.action[other] == arrays.action[edge])
        & (arrays.action[edge] != NO_ACTION)
        & (arrays.arrival[other] == arrays.arrival[edge] - units)
        & (arrays.deadline[other] == np.where(limit == NO_LIMIT, limit, limit - units))
    )
    return same


def _ranged(first: Integers, counts: Integers) -> Integers:
    """Give so many numbers from each first one on, one behind the other."""
    starts = np.cumsum(counts) - counts
    return np.repeat(first - starts, counts) + np.arange(int(counts.sum()), dtype=np.int64)


def _width(arrays: Arrays) -> int:
    return arrays.states + 2 * len(arrays.keys)


def _outcomes(arrays: Arrays, ways: Ways) -> Integers:
    """Give what each pair comes to in an order, pair and outcome in one number.

    Outcomes are states and breaches at the end, and what is wrong with states on the way.
    """
    width = _width(arrays)
    states = arrays.states
    end = np.where(ways.end < states, arrays.same[np.minimum(ways.end, states - 1)], ways.end)
    found = [ways.pair * width + end]
    for key in range(len(arrays.keys)):
        meets = arrays.meeting(key)
        met = meets[arrays.target[ways.one]] | meets[ways.end]
        found.append(ways.pair[met] * width + states + len(arrays.keys) + key)
    return distinct(np.concatenate(found))


def _only(ways: Ways, wanted: Flags) -> Ways:
    kept = wanted[ways.pair]
    return Ways(ways.pair[kept], ways.one[kept], ways.two[kept], ways.end[kept])

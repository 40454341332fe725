"""An acyclic Markov decision process in arrays, and its values by backward induction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rebecsim.exploration.orders.quantities import Numbers
from rebecsim.native.arrays import Integers
from rebecsim.native.rows import ranges

Goal = Literal["minimum", "expected", "maximum"]
GOALS: tuple[Goal, ...] = ("minimum", "expected", "maximum")


@dataclass(frozen=True)
class DecisionProcess:
    """States, the actions of each, and the outcomes of each action.

    Attributes:
        first_action: the actions of state s are from `first_action[s]` up to the next state's.
        first_outcome: the outcomes of action a, in the same way.
        weight: how likely each action is in the random order; they sum up to 1 in each state.
        probability: of each outcome of its action.
        target: the state it leads to; the number of states where the run ends by a violation.
        depth: of each state more than those of all states that follow it; 0 for the last ones.
    """

    first_action: Integers
    first_outcome: Integers
    weight: Numbers
    probability: Numbers
    target: Integers
    depth: Integers

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.first_action) - 1


@dataclass(frozen=True)
class Rewards:
    """What runs of a process get.

    Attributes:
        gain: for each outcome.
        ending: for each state, where a run ends there.
        settled: where the value is known before, whatever follows; NaN elsewhere.
    """

    gain: Numbers
    ending: Numbers
    settled: Numbers


def values_of(process: DecisionProcess, rewards: Rewards, goal: Goal) -> Numbers:
    """Give the value of each state, and 0 behind them for a run that has ended by a violation.

    States of one depth are worked out together, the last ones first.
    """
    values = np.zeros(process.states + 1)
    values[:-1] = rewards.ending
    is_settled = ~np.isnan(rewards.settled)
    values[:-1][is_settled] = rewards.settled[is_settled]
    actions = np.diff(process.first_action)
    order = np.argsort(process.depth, kind="stable")
    order = order[(actions[order] > 0) & ~is_settled[order]]
    depths = process.depth[order]
    for some in np.split(order, np.flatnonzero(np.diff(depths)) + 1):
        if len(some):
            values[some] = _of_states(process, rewards, values, goal, some)
    return values


def action_values(
    process: DecisionProcess, rewards: Rewards, values: Numbers, actions: Integers
) -> Numbers:
    """Give what taking each of some actions comes to."""
    counts = process.first_outcome[actions + 1] - process.first_outcome[actions]
    outcomes = ranges(process.first_outcome[actions], counts)
    worth = rewards.gain[outcomes] + values[process.target[outcomes]]
    return np.add.reduceat(process.probability[outcomes] * worth, _starts(counts))


def _of_states(
    process: DecisionProcess, rewards: Rewards, values: Numbers, goal: Goal, states: Integers
) -> Numbers:
    counts = process.first_action[states + 1] - process.first_action[states]
    actions = ranges(process.first_action[states], counts)
    found = action_values(process, rewards, values, actions)
    starts = _starts(counts)
    if goal == "minimum":
        return np.minimum.reduceat(found, starts)
    if goal == "maximum":
        return np.maximum.reduceat(found, starts)
    return np.add.reduceat(process.weight[actions] * found, starts)


def _starts(counts: Integers) -> Integers:
    return np.cumsum(counts) - counts


def depths_of(states: int, source: Integers, target: Integers) -> Integers | None:
    """Give of each state more than those of all that follow it, 0 where none does.

    None if there is a cycle. Transitions to no state are left out by the caller.
    """
    missing = np.bincount(source, minlength=states)
    into = np.argsort(target, kind="stable")
    first_into = np.concatenate([[0], np.cumsum(np.bincount(target, minlength=states))])
    depth = np.full(states, -1, np.int64)
    frontier = np.flatnonzero(missing == 0)
    level = 0
    while len(frontier):
        depth[frontier] = level
        level += 1
        first = first_into[frontier]
        before = source[into[ranges(first, first_into[frontier + 1] - first)]]
        sources, counts = np.unique(before, return_counts=True)
        missing[sources] -= counts
        frontier = sources[missing[sources] == 0]
    return None if (depth < 0).any() else depth

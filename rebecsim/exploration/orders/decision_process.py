"""Acyclic Markov decision processes: the one of a model up to a horizon, and values of it.

`OrdersSearch` builds the process in the order of time; `values_of` computes values by backward
induction.
"""

from __future__ import annotations

import heapq
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rebecsim.actors import ChoiceLaw
from rebecsim.exploration.checks import Limits, Problem
from rebecsim.exploration.orders.quantities import Counted, Counting, Measure, Numbers
from rebecsim.exploration.search import Progress, Search
from rebecsim.exploration.states.effects import Breach, Outcome
from rebecsim.exploration.states.transitions import State, Successor
from rebecsim.native.arrays import Integers, ranges

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
    """The rewards of runs of a process.

    Attributes:
        gain: for each outcome.
        ending: for each state, where a run ends there.
        settled: the value where it does not depend on what follows; NaN elsewhere.
    """

    gain: Numbers
    ending: Numbers
    settled: Numbers


def values_of(process: DecisionProcess, rewards: Rewards, goal: Goal) -> Numbers:
    """Give the value of each state, and 0 behind them for a run that has ended by a violation.

    States of one depth are computed together, the last ones first.
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
    """Give the value of each of some actions."""
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


_LOOK_EVERY = 512
"""States expanded between two checks of the limits."""

_BREACH = -1
"""The target of an outcome in which something goes wrong, in place of a state's number."""


class StandsStillError(Exception):
    """There is a cycle of steps without time, so runs need not end."""


class WrapsError(Exception):
    """Counters may become larger than numbers are, so they cannot be added up step by step."""


@dataclass(frozen=True)
class Unrolled:
    """All orders of a model up to a time.

    Attributes:
        process: the decision process; state 0 is the initial one.
        states: what its states are.
        until: the time up to which messages are served. Where a limit was reached that is less than
            was asked for, and less than any time of a state if nothing is known.
        sums: of each quantity that is a sum of counters what it begins with, and what each outcome
            adds; None of others.
    """

    process: DecisionProcess
    states: Sequence[State]
    until: int
    sums: Sequence[Sum | None]


@dataclass(frozen=True)
class Sum:
    """A quantity that is added up: its initial value, and what each outcome of a process adds."""

    initial: float
    added: NDArray[np.float64]


class OrdersSearch(Search):
    """Expands all states of one time before those of the next one."""

    def __init__(
        self,
        problem: Problem,
        law: ChoiceLaw,
        counted: Counted,
        limits: Limits,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        super().__init__(problem, limits=limits, stop_at="all", progress=progress)
        self._law: ChoiceLaw = law
        self._counted = counted
        self._counting = Counting(problem.system, counted)
        self._rows = _Rows(len(counted.sums))
        initial, _ = self._counting.without_counters(problem.system.initial)
        self.states = self._states = [initial]
        self._numbers = {initial: 0}
        self._waiting: dict[int, list[int]] = {problem.system.initial[-1]: [0]}
        self._times = [*self._waiting]

    def unroll(self, until: int) -> Unrolled:
        """Expand all states up to a time.

        Raises StandsStillError, WrapsError, and EndlessError for a message server that does not
        end.
        """
        known = until
        with self.expanding():
            while self._times and self._times[0] <= until:
                known = self._times[0] - 1  # unless all of this time is found
                for number in self._waiting[self._times[0]]:  # which grows meanwhile
                    self._expand(number)
                del self._waiting[heapq.heappop(self._times)]
                known = until
        order = self._rows.states
        kept = sum(self._states[number][-1] <= known for number in order)
        process, states = self._rows.process(self._states, kept)
        if process.states and self._counting.may_wrap(int(process.depth.max())):
            raise WrapsError
        outcomes = len(process.target)
        sums = [
            None
            if each is None
            else Sum(self._counting.initial[place], self._rows.added(place, outcomes))
            for place, each in enumerate(self._counted.sums)
        ]
        return Unrolled(process, states, known, sums)

    def _expand(self, number: int) -> None:
        if not self.expanded % _LOOK_EVERY:
            self.check_limits()
        found = self.system.expand(self._states[number])
        self._rows.add_state(number)
        for (cause, target, _), weight in zip(found, weights_of(found), strict=True):
            assert isinstance(cause, Outcome), "only in floating time"
            if weight:
                self._rows.add_action(weight)
            place, added = _BREACH, self._counting.nothing
            if not isinstance(target, Breach):
                after, added = self._counting.without_counters(target)
                place = self._number(after)
            self._rows.add_outcome(cause.effect.likelihood(self._law), place, added)
            self.transitions += 1
        self.expanded += 1

    def _number(self, state: State) -> int:
        known = self._numbers.get(state)
        if known is not None:
            return known
        number = len(self._states)
        if number == self.limits.states:
            self.stop("states")
        self._numbers[state] = number
        self._states.append(state)
        time = state[-1]
        if time not in self._waiting:
            self._waiting[time] = []
            heapq.heappush(self._times, time)
        self._waiting[time].append(number)
        return number


class _Rows:
    """States in the order of being expanded, with their actions and the outcomes of these."""

    def __init__(self, sums: int) -> None:
        self._added = [array("d") for _ in range(sums)]
        self.states = array("q")
        self._first_action = array("q")
        self._weight = array("d")
        self._first_outcome = array("q")
        self._probability = array("d")
        self._target = array("q")

    def add_state(self, number: int) -> None:
        """Go on with the next state."""
        self.states.append(number)
        self._first_action.append(len(self._weight))

    def add_action(self, weight: float) -> None:
        """Add an action to the state."""
        self._weight.append(weight)
        self._first_outcome.append(len(self._target))

    def add_outcome(self, probability: float, target: int, added: Sequence[float]) -> None:
        """Add an outcome to the action, with what it adds to each sum."""
        self._probability.append(probability)
        self._target.append(target)
        for some, each in zip(self._added, added, strict=True):
            some.append(each)

    def added(self, place: int, outcomes: int) -> NDArray[np.float64]:
        """Give what the first outcomes add to a sum."""
        return np.array(self._added[place][:outcomes], np.float64)

    def process(
        self, states: Sequence[State], kept: int
    ) -> tuple[DecisionProcess, Sequence[State]]:
        """Make a process of which only so many states have actions, and give its states.

        They are numbered in the order of being expanded, the others behind them.
        """
        everything = [*self._first_action, len(self._weight)]
        actions = everything[kept] if kept < len(everything) else len(self._weight)
        outcomes = [*self._first_outcome, len(self._target)][actions]
        first_outcome = np.array([*self._first_outcome[:actions], outcomes], np.int64)
        old = np.array(self._target[:outcomes], np.int64)
        order = np.array(self.states[:kept], np.int64)
        number = np.full(len(states) + 1, -1, np.int64)
        number[order] = np.arange(kept)
        ends = np.unique(old[(old != _BREACH) & (number[old] < 0)])
        if not kept:
            ends = np.zeros(1, np.int64)
        number[ends] = np.arange(kept, kept + len(ends))
        count = kept + len(ends)
        target = np.where(old == _BREACH, count, number[old])
        first_action = np.full(count + 1, actions, np.int64)
        first_action[:kept] = everything[:kept]
        source = np.repeat(np.arange(count), np.diff(first_outcome[first_action]))
        depth = depths_of(count, source[target < count], target[target < count])
        if depth is None:
            raise StandsStillError
        process = DecisionProcess(
            first_action,
            first_outcome,
            np.array(self._weight[:actions], np.float64),
            np.array(self._probability[:outcomes], np.float64),
            target,
            depth,
        )
        return process, [states[each] for each in (*order.tolist(), *ends.tolist())]


def weights_of(found: Sequence[Successor]) -> list[float]:
    """Give how likely the action of each first outcome is in the random order; 0 for the others.

    The outcomes of one message follow each other, that without any turn first.
    """
    owners = [cause.effect.owner for cause, _, _ in found if isinstance(cause, Outcome)]
    begins = [
        not any(index for index, _ in cause.effect.drawn)
        for cause, _, _ in found
        if isinstance(cause, Outcome)
    ]
    messages = Counter(owner for owner, first in zip(owners, begins, strict=True) if first)
    return [
        1 / len(messages) / messages[owner] if first else 0.0
        for owner, first in zip(owners, begins, strict=True)
    ]


def rewards_of(unrolled: Unrolled, measure: Measure, summed: Sum | None) -> Rewards:
    """Give what runs get of a quantity. Raises UserError where its expression has no value."""
    process, states = unrolled.process, unrolled.states
    if summed is not None:
        return _added_up(process, measure, summed)
    values = np.array([float(measure.read(state)) for state in states])
    source = np.repeat(np.arange(len(states)), np.diff(process.first_outcome[process.first_action]))
    before = values[source]
    after = np.append(values, 0.0)[process.target]
    gain = np.where(
        process.target < len(states), measure.of_step(before, after), measure.of_breach(before)
    )
    nothing = np.full(len(states), np.nan)
    settled = np.where(values != 0, 1.0, nothing) if measure.settles else nothing
    return Rewards(gain, measure.at_end(values), settled)


def _added_up(process: DecisionProcess, measure: Measure, summed: Sum) -> Rewards:
    """Give what runs get of a sum of counters: what it begins with, and what steps add to it."""
    nothing = np.zeros(process.states)
    before = np.zeros_like(summed.added)
    gain = summed.added
    if measure.quantity.kind == "increase":
        gain = measure.of_step(before, summed.added)
    else:
        nothing = nothing + summed.initial
        gain = np.where(process.target < process.states, gain, summed.initial)
    return Rewards(gain, nothing, np.full(process.states, np.nan))

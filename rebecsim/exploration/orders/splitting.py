"""Estimate rare events by splitting: runs that come near to one are continued more often.

A function of the state says how near a run is, and thresholds cut it into levels; the event itself
is the last one, whatever its value. A fixed number of runs starts from the initial state, and then
on each level from the states in which runs reached it, drawn at random. The product of the shares
that reach the next level is an unbiased estimate for any function and any thresholds (fixed
effort). Good ones make it precise. Repetitions with streams of their own are independent.

M. J. J. Garvels, "The splitting method in rare event simulation", PhD thesis, University of Twente
(2000), chapter 2.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rebecsim.actors import ChoiceLaw, Model
from rebecsim.distributions import values_tried
from rebecsim.errors import UserError
from rebecsim.exploration.orders.decision_process import weights_of
from rebecsim.exploration.orders.quantities import Quantity, measure_of
from rebecsim.exploration.orders.solving import process_of, require_process
from rebecsim.exploration.states.effects import Breach, Outcome
from rebecsim.exploration.states.transitions import State, TransitionSystem

if TYPE_CHECKING:
    from rebecsim.exploration.predicates import Function
    from rebecsim.lang import CheckedModel

_MOST_KEPT = 100_000
"""States whose successors are kept; they are forgotten when there are more."""

_MOST_AT_ONE_TIME = 100_000
"""Steps at one time after which time is taken to stand still."""

_WRONG: State = ()
"""Stands for a state after a violation, which ends the run."""


@dataclass(frozen=True)
class Levels:
    """A measure of how near a run is to an event, and its levels.

    Attributes:
        expression: a number, of the variables of rebecs.
        thresholds: the values of it that runs are split at, increasing.
    """

    expression: str
    thresholds: tuple[float, ...]

    def require_order(self) -> None:
        """Raise UserError for thresholds that are none, or in disorder."""
        if not self.thresholds or list(self.thresholds) != sorted(set(self.thresholds)):
            raise UserError("give the values to split at, in increasing order")


@dataclass(frozen=True)
class _Followers:
    """The states that may follow a state, and the sums of their probabilities up to each."""

    states: tuple[State, ...]
    up_to: tuple[float, ...]


class SplitRuns:
    """Runs of a model up to a time, from any of its states, with orders and choices drawn.

    Raises UserError or RebecaError for what does not fit the model.
    """

    def __init__(
        self,
        model: Model,
        quantity: Quantity,
        levels: Levels,
        until: int,
        *,
        checked: CheckedModel | None = None,
        law: ChoiceLaw = "fair",
        deadlines: bool = True,
    ) -> None:
        require_process(model, [quantity], until, law)
        levels.require_order()
        problem = process_of(model, checked, deadlines)
        self._system: TransitionSystem = problem.system
        self._levels = levels
        self._near: Function = problem.expression(levels.expression, "<split>", False)
        self._measure = measure_of(quantity, problem.expression)
        self._until = until
        self._law: ChoiceLaw = law
        self._known: dict[State, _Followers] = {}
        self._drawn = checked.drawn if checked else ()
        self.steps = 0

    def estimate(self, runs: int, seed: int, repetition: int) -> float:
        """Estimate the probability once, with so many runs on each level."""
        draw = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(repetition,)))
        begin: Sequence[State] = [self._system.initial]
        probability = 1.0
        for level in range(1, len(self._levels.thresholds) + 2):
            first = [begin[each] for each in draw.integers(len(begin), size=runs).tolist()]
            come = [self._reach(level, each, draw) for each in first]
            begin = [each for each in come if each is not None]
            probability *= len(begin) / runs
            if not begin:
                break
        return probability

    @property
    def cut(self) -> tuple[str, ...]:
        """Which values stand for distributions, as far as runs so far have drawn from them."""
        return values_tried([*self._drawn, *self._system.runner.drawn])

    def _level(self, state: State) -> int:
        top = len(self._levels.thresholds) + 1
        wanted = self._measure.quantity.kind
        if state is _WRONG:
            return top if wanted == "goes wrong" else -1
        if wanted == "reached" and self._measure.read(state):
            return top
        return bisect.bisect_right(self._levels.thresholds, self._near(state))

    def _reach(self, level: int, state: State, draw: np.random.Generator) -> State | None:
        """Give the first state of a run on that level or above; None if it reaches none."""
        since = self.steps
        while self._level(state) < level:
            if state is _WRONG or state[-1] > self._until:
                return None
            followers = self._followers(state)
            if not followers.states:
                return None
            place = bisect.bisect_right(followers.up_to, draw.random() * followers.up_to[-1])
            after = followers.states[min(place, len(followers.states) - 1)]
            self.steps += 1
            if after is _WRONG or after[-1] > state[-1]:
                since = self.steps
            elif self.steps - since > _MOST_AT_ONE_TIME:
                raise UserError(
                    f"{self._system.model.name}: time need not advance, so there are runs that "
                    f"never come to time {self._until}; `rebecsim explore` shows such a loop"
                )
            state = after
        return state

    def _followers(self, state: State) -> _Followers:
        known = self._known.get(state)
        if known is not None:
            return known
        if len(self._known) >= _MOST_KEPT:
            self._known.clear()
        found = self._system.expand(state)
        weight, each = 0.0, list[float]()
        for (cause, _, _), first in zip(found, weights_of(found), strict=True):
            assert isinstance(cause, Outcome), "only in floating time"
            weight = first or weight  # the outcomes of one message follow each other
            each.append(weight * cause.effect.likelihood(self._law))
        states = tuple(_WRONG if isinstance(to, Breach) else to for _, to, _ in found)
        followers = self._known[state] = _Followers(states, tuple(itertools.accumulate(each)))
        return followers

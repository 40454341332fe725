"""Find the states nearest to a state, and a shortest path to each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from rebecsim.exploration.graphs.space import StateSpace, Transition, transition_of
from rebecsim.exploration.states.breach_key import BreachKey, key_of_step
from rebecsim.exploration.states.outcome import Breach, Outcome
from rebecsim.exploration.states.transitions import Cause, State, TransitionSystem


class Ahead(NamedTuple):
    """The nearest states, 0 is where they begin, and by which transitions each node is reached.

    The space is not complete if there are states further away.
    """

    space: StateSpace
    ways: tuple[tuple[int, ...], ...]


def states_ahead(
    system: TransitionSystem,
    start: State,
    most: int,
    interrupted: Callable[[], bool] = lambda: False,
) -> Ahead:
    """Give at most so many states, breadth first from one of them."""
    return _Ahead(system, start, most).found(interrupted)


class _Ahead:
    def __init__(self, system: TransitionSystem, start: State, most: int) -> None:
        self._system = system
        self._most = most
        self._states = [start]
        self._numbers: dict[State, int] = {start: 0}
        self._ways: list[tuple[int, ...]] = [()]
        self._breaches: dict[BreachKey, tuple[int, ...]] = {}
        self._edges: list[tuple[int, int | BreachKey, Cause, int]] = []
        self._cut = False

    def found(self, interrupted: Callable[[], bool]) -> Ahead:
        """Look at one state after another."""
        for number, state in enumerate(self._states):  # grows meanwhile
            if interrupted():
                self._cut = True
                break
            for ordinal, (cause, target) in enumerate(self._system.expand(state)):
                self._meet(number, ordinal, cause, target)
        behind = {key: len(self._states) + place for place, key in enumerate(self._breaches)}
        wrong: dict[int, tuple[BreachKey, ...]] = {number: (key,) for key, number in behind.items()}
        edges = tuple(self._described(behind))
        space = StateSpace(self._system, tuple(self._states), edges, wrong, not self._cut)
        return Ahead(space, (*self._ways, *self._breaches.values()))

    def _meet(self, source: int, ordinal: int, cause: Cause, target: State | Breach) -> None:
        way = (*self._ways[source], ordinal)
        state = self._states[source]
        if isinstance(target, Breach):
            assert isinstance(cause, Outcome)
            key = key_of_step(self._system, state, cause, target)
            self._breaches.setdefault(key, way)
            self._edges.append((source, key, cause, 0))
            return
        number = self._numbers.get(target)
        if number is None:
            if len(self._states) >= self._most:
                self._cut = True
                return
            number = self._numbers[target] = len(self._states)
            self._states.append(target)
            self._ways.append(way)
        self._edges.append((source, number, cause, self._system.elapsed(state, cause, target)))

    def _described(self, behind: dict[BreachKey, int]) -> Iterator[Transition]:
        for source, target, cause, duration in self._edges:
            number = target if isinstance(target, int) else behind[target]
            yield transition_of(self._system, source, cause, number, duration)

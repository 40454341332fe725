"""The state graph of a model as arrays: states, and edges with what is needed to compare orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebecsim.explore.breach_key import BreachKey, key_of_state, key_of_step
from rebecsim.explore.local import Waiting
from rebecsim.explore.outcome import Breach, Outcome
from rebecsim.explore.races.fate import Graph
from rebecsim.explore.state_graph import StateGraph
from rebecsim.explore.transitions import TransitionSystem

__all__ = ["NO_ACTION", "NO_LIMIT", "Action", "Arrays", "Integers", "arrays_of"]

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

NO_ACTION = -1
"""The action of an edge in which only time passes."""

NO_LIMIT = 1 << 61
"""The deadline of a message without one; later than any time, also after some time has passed."""


_BITS = 62


class Action(NamedTuple):
    """What a rebec does in a step, apart from times and choices.

    `resumed`: the message server goes on after a delay.
    """

    owner: int
    number: int
    sender: int
    arguments: tuple[Any, ...]
    resumed: bool

    @property
    def kind(self) -> tuple[int, int, int, bool]:
        """The action without its arguments."""
        return self.owner, self.number, self.sender, self.resumed


@dataclass(frozen=True)
class Arrays:
    """A state graph; the edges of state s are those from `first[s]` up to `first[s + 1]`.

    `target` is a state, or `states + k` for a breach with the key `keys[k]`. `action` numbers
    `actions`; `arrival` and `deadline` are those of the message, counted from the time of the
    source; `choice` numbers the outcomes of one message; `duration` is the time that passes.
    `wrong` gives the numbers of keys of the states in which something is wrong. `cut` are the
    states that a limit has kept from being expanded. `same` gives the state that stands for a
    state: of two in which nothing can happen any more and that differ in how long rebecs stay busy,
    the first.
    """

    first: Integers
    target: Integers
    action: Integers
    arrival: Integers
    deadline: Integers
    choice: Integers
    duration: Integers
    actions: tuple[Action, ...]
    keys: tuple[BreachKey, ...]
    wrong: dict[int, tuple[int, ...]]
    cut: Flags
    same: Integers

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.first) - 1

    def is_stuck(self, state: int) -> bool:
        """Whether nothing can happen in a state any more."""
        return bool(self.first[state] == self.first[state + 1]) and not self.cut[state]

    def meeting(self, key: int) -> Flags:
        """Say which targets are a breach with a key, or a state with one."""
        found = np.zeros(self.states + len(self.keys), dtype=bool)
        found[[state for state, keys in self.wrong.items() if key in keys]] = True
        found[self.states + key] = True
        return found

    def graph(self) -> Graph:
        """Give states and breaches as the nodes of a graph."""
        first = np.append(self.first, np.full(len(self.keys), len(self.target), dtype=np.int64))
        # More rebecs than bits share them.
        bits = [1 << action.owner % _BITS for action in self.actions]
        owners = np.array([*bits, 0], dtype=np.int64)[self.action]
        return Graph(first, self.target, owners, self.duration)


class _Builder:
    """Numbers actions and keys."""

    def __init__(self, system: TransitionSystem) -> None:
        self._system = system
        self._actions: dict[Action, int] = {}
        self._of_message: dict[tuple[int, Waiting, bool], int] = {}
        self.keys: dict[BreachKey, int] = {}

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions by their numbers."""
        return tuple(self._actions)

    def action(self, owner: int, message: Waiting, resumed: bool) -> int:
        """Give the number of an action."""
        known = self._of_message.get((owner, message, resumed))
        if known is None:
            made = Action(owner, message.number, message.sender, message.arguments, resumed)
            known = self._actions.setdefault(made, len(self._actions))
            self._of_message[owner, message, resumed] = known
        return known

    def key(self, key: BreachKey) -> int:
        """Give the number of a key."""
        return self.keys.setdefault(key, len(self.keys))


def arrays_of(graph: StateGraph) -> Arrays:
    """Turn a graph into arrays."""
    search = graph.search
    system, states = search.system, search.states
    builder = _Builder(system)
    rows: list[tuple[int, int, int, int, int, int]] = []
    breached: list[tuple[int, int]] = []
    first = [0]
    for number, edges in enumerate(graph.edges):
        before: tuple[int, Waiting, bool] | None = None
        choice = 0
        for cause, target in edges or ():
            if not isinstance(cause, Outcome):
                assert isinstance(target, int)
                units = system.elapsed(states[number], cause, states[target])
                rows.append((target, NO_ACTION, 0, NO_LIMIT, 0, units))
                continue
            message = cause.message
            now = (cause.owner, message, cause.resumed)
            # Equal messages come one after the other, each with all of its outcomes.
            choice = choice + 1 if now == before and any(index for index, _ in cause.drawn) else 0
            before = now
            units = 0
            if isinstance(target, Breach):
                key = key_of_step(system, states[number], cause, target)
                breached.append((len(rows), builder.key(key)))
                target = 0
            else:
                units = system.elapsed(states[number], cause, states[target])
            deadline = NO_LIMIT if message.deadline == float("inf") else int(message.deadline)
            rows.append((target, builder.action(*now), message.arrival, deadline, choice, units))
        first.append(len(rows))
    wrong = {
        number: tuple(builder.key(key_of_state(breach)) for breach in breaches)
        for number, breaches in enumerate(graph.breaches)
        if breaches
    }
    columns = np.array(rows, dtype=np.int64).reshape(-1, 6).T.copy()
    for edge, key_number in breached:
        columns[0, edge] = len(states) + key_number
    targets, actions, arrivals, deadlines, choices, durations = columns
    return Arrays(
        np.array(first, dtype=np.int64),
        targets,
        actions,
        arrivals,
        deadlines,
        choices,
        durations,
        actions=builder.actions,
        keys=tuple(builder.keys),
        wrong=wrong,
        cut=np.array([edges is None for edges in graph.edges], dtype=bool),
        same=_same(graph),
    )


def _same(graph: StateGraph) -> Integers:
    """Take states in which nothing can happen any more for one, whoever is busy in them."""
    found: dict[tuple[Any, ...], int] = {}
    same = np.arange(len(graph.edges), dtype=np.int64)
    rebecs = len(graph.search.system.runner.rebecs)
    for number, edges in enumerate(graph.edges):
        if edges == ():
            held = tuple(local.variables for local in graph.search.states[number][:rebecs])
            same[number] = found.setdefault(held, number)
    return same

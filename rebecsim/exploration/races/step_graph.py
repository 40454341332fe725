"""The state graph of a model as arrays, to compare orders of steps.

`Edges` gives the edges one by one; `Observed` says what an observer outside the model sees of each:
variables, or the messages that a rebec serves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rebecsim.errors import UserError
from rebecsim.exploration.paths import written_name
from rebecsim.exploration.search import NO_SERVICE
from rebecsim.exploration.state_graph import StateGraph
from rebecsim.exploration.states.rebec_states import NO_DEADLINE
from rebecsim.exploration.states.transitions import State, TransitionSystem
from rebecsim.native.arrays import Flags, Integers

NO_ACTION = -1
"""The action of an edge in which only time passes."""

NO_MESSAGE = -1
"""The message of an edge in which only time passes."""

_NO_LIMIT = 1 << 61  # the deadline of a message without one, also after some time has passed
_BITS = 62


@dataclass(frozen=True)
class Graph:
    """Nodes, and edges with the rebecs that act (a bit for each) and the time that passes.

    The edges of node n are those from `first[n]` up to `first[n + 1]`.
    """

    first: Integers
    target: Integers
    owners: Integers
    duration: Integers

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def source(self) -> Integers:
        """The node that each edge leaves."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.first))

    @cached_property
    def before(self) -> tuple[Integers, Integers]:
        """The sources of the edges into node n: of the second array, from `first[n]` on."""
        order = np.argsort(self.target, kind="stable")
        first = np.searchsorted(self.target[order], np.arange(len(self) + 1))
        return first, self.source[order]


class Action(NamedTuple):
    """What a rebec does in a step, without times and choices.

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
class Messages:
    """The messages that are served, no two alike: a row for each, and a last one for NO_MESSAGE.

    `action` is what is done; `arrival` and `deadline` count from the time of the state in which the
    message is served.
    """

    action: Integers
    arrival: Integers
    deadline: Integers

    def are_later(self, later: Integers, sooner: Integers, units: Integers) -> Flags:
        """Whether messages are those that were seen so many units sooner; units are positive."""
        limit = self.deadline[sooner]
        same: Flags = (
            (self.action[later] == self.action[sooner])
            & (sooner != NO_MESSAGE)
            & (self.arrival[later] == self.arrival[sooner] - units)
            & (self.deadline[later] == np.where(limit == _NO_LIMIT, limit, limit - units))
        )
        return same


@dataclass(frozen=True)
class Arrays(StateGraph):
    """A state graph with the message and action of each edge.

    `message` numbers `messages`, `action` numbers `actions`. `same` gives the state that stands for
    a state: of two in which nothing can happen any more and that differ in how long rebecs stay
    busy, the first.
    """

    target: Integers
    service: Integers
    choice: Integers
    duration: Integers
    message: Integers
    action: Integers
    messages: Messages
    actions: tuple[Action, ...]
    same: Integers

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self)

    def is_stuck(self, state: int) -> bool:
        """Whether nothing can happen in a state any more."""
        return bool(self.first[state] == self.first[state + 1]) and not self.cut[state]

    @cached_property
    def meets(self) -> tuple[Flags, ...]:
        """For each key, which targets are a breach with it, or a state with one."""
        found = np.zeros((len(self.keys), self.states + len(self.keys)), dtype=bool)
        for state, keys in self.wrong.items():
            found[list(keys), state] = True
        for key, flags in enumerate(found):
            flags[self.states + key] = True
        return tuple(found)

    @cached_property
    def graph(self) -> Graph:
        """Give states and breaches as the nodes of a graph."""
        first = np.append(self.first, np.full(len(self.keys), len(self.target), dtype=np.int64))
        # More rebecs than bits share them.
        bits = [1 << action.owner % _BITS for action in self.actions]
        owners = np.array([*bits, 0], dtype=np.int64)[self.action]
        return Graph(first, self.target, owners, self.duration)


def arrays_of(graph: StateGraph) -> Arrays:
    """Find the action of every edge; actions are numbered in the order of the edges."""
    actions: dict[Action, int] = {}
    rows: dict[tuple[int, int, int], int] = {}
    # One more: that of NO_SERVICE, which is the last.
    of_service = np.full(len(graph.services) + 1, NO_MESSAGE, dtype=np.int64)
    for service in _in_order(graph.service):
        owner, message, resumed = graph.services[service]
        action = Action(owner, message.number, message.sender, message.arguments, resumed)
        row = (
            actions.setdefault(action, len(actions)),
            message.arrival,
            _NO_LIMIT if message.deadline == NO_DEADLINE else int(message.deadline),
        )
        of_service[service] = rows.setdefault(row, len(rows))
    messages = Messages(*np.array([*rows, (NO_ACTION, 0, _NO_LIMIT)], dtype=np.int64).T.copy())
    of_edge = of_service[graph.service]
    wide = {
        name: getattr(graph, name).astype(np.int64)
        for name in ("target", "service", "choice", "duration")
    }
    return Arrays(
        **vars(graph) | wide,
        message=of_edge,
        action=messages.action[of_edge],
        messages=messages,
        actions=tuple(actions),
        same=_same(graph),
    )


def _in_order(services: Integers) -> list[int]:
    """Give the numbers of services in the order of their first edges."""
    edges = np.arange(len(services), dtype=np.int64)
    first = np.full(int(services.max(initial=NO_SERVICE)) + 2, len(services), dtype=np.int64)
    first[services[::-1]] = edges[::-1]  # of several edges the last one that is written: the first
    first[NO_SERVICE] = len(services)
    met = np.count_nonzero(first < len(services))
    ordered: list[int] = np.argsort(first)[:met].tolist()
    return ordered


def _same(graph: StateGraph) -> Integers:
    """Identify final states with equal variables, however long rebecs are busy in them."""
    found: dict[tuple[Any, ...], int] = {}
    same = np.arange(len(graph), dtype=np.int64)
    rebecs = len(graph.search.system.runner.rebecs)
    for number in np.flatnonzero((np.diff(graph.first) == 0) & ~graph.cut).tolist():
        state = graph.search.states[number]
        held = tuple(local.variables for local in state[:rebecs])
        same[number] = found.setdefault(held, number)
    return same


TIME = -1
"""The kind of an edge in which only time passes."""


class Edge(NamedTuple):
    """An edge of a state.

    `kind` numbers the kinds of actions. `target` is the state or breach that stands for its target,
    `met` the breaches there, as bits of their keys, `units` the time that passes.
    """

    number: int
    kind: int
    action: int
    choice: int
    target: int
    met: int
    units: int


class Edges:
    """Gives edges of arrays, and keeps them."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        kinds: dict[tuple[int, int, int, bool], int] = {}
        for each in arrays.actions:
            kinds.setdefault(each.kind, len(kinds))
        self._kinds = [kinds[action.kind] for action in arrays.actions]
        self._met = {
            state: sum(1 << key for key in set(keys)) for state, keys in arrays.wrong.items()
        }
        self._met |= {arrays.states + key: 1 << key for key in range(len(arrays.keys))}
        self._known: dict[int, Edge] = {}
        self._of: dict[int, list[Edge]] = {}

    def of(self, side: int) -> list[Edge]:
        """Give the edges of a state, none for a breach."""
        known = self._of.get(side)
        if known is None:
            known = []
            if side < self._arrays.states:
                low, high = self._arrays.first[side : side + 2].tolist()
                known = [self[number] for number in range(low, high)]
            self._of[side] = known
        return known

    def __getitem__(self, number: int) -> Edge:
        known = self._known.get(number)
        if known is None:
            arrays = self._arrays
            action, target = int(arrays.action[number]), int(arrays.target[number])
            known = self._known[number] = Edge(
                number,
                TIME if action == NO_ACTION else self._kinds[action],
                action,
                int(arrays.choice[number]),
                int(arrays.same[target]) if target < arrays.states else target,
                self._met.get(target, 0),
                int(arrays.duration[number]),
            )
        return known


_MOST = 8  # of what one run has shown and the other one not yet, before they count as different


class Lead(NamedTuple):
    """What one side has shown and the other one not yet."""

    side: int
    shown: tuple[Any, ...]


_EVEN = Lead(0, ())

_Event = Callable[[int, int], Any]
"""What an edge of a state shows, or None."""


@dataclass(frozen=True)
class Observed:
    """The observed items: their names, and what edges show of each."""

    names: tuple[str, ...]
    events: tuple[_Event, ...]

    @property
    def none(self) -> tuple[Lead, ...]:
        """Nothing has been shown yet."""
        return (_EVEN,) * len(self.events)

    def after(
        self, leads: tuple[Lead, ...], side: int, state: int, edge: int
    ) -> tuple[tuple[Lead, ...], bool]:
        """Give the leads after an edge of one side, and whether the two have shown a difference."""
        if not self.events:
            return leads, False
        found, differs = [], False
        for lead, event in zip(leads, self.events, strict=True):
            shown = event(state, edge)
            if shown is not None:
                lead, mismatch = _pushed(lead, side, shown)
                differs |= mismatch
            found.append(lead)
        return tuple(found), differs


def _pushed(lead: Lead, side: int, shown: Any) -> tuple[Lead, bool]:
    if not lead.shown:
        return Lead(side, (shown,)), False
    if lead.side == side:
        if len(lead.shown) == _MOST:
            return _EVEN, True
        return Lead(side, (*lead.shown, shown)), False
    if lead.shown[0] != shown:
        return _EVEN, True
    rest = lead.shown[1:]
    return (Lead(lead.side, rest) if rest else _EVEN), False


def observed_of(
    names: Sequence[str], system: TransitionSystem, states: Sequence[State], arrays: Arrays
) -> Observed:
    """Find what `rebec.variable`, or `rebec` for its messages, names.

    Raises UserError, naming what there is, for something that does not exist.
    """
    events = tuple(_event(name, system, states, arrays) for name in names)
    return Observed(tuple(names), events)


def _event(name: str, system: TransitionSystem, states: Sequence[State], arrays: Arrays) -> _Event:
    rebec, _, variable = name.partition(".")
    names = [str(each) for each in system.runner.rebecs]
    if rebec not in names:
        raise UserError(f"--observe {name}: there is no rebec {rebec!r}; there are {_list(names)}")
    owner = names.index(rebec)
    if not variable:
        return _messages(owner, arrays)
    written = [
        written_name(system.runner.rebecs[owner], each) for each in system.runner.names[owner]
    ]
    if variable not in written:
        has = f"has {_list(written)}" if written else "has no variables"
        raise UserError(f"--observe {name}: {rebec} {has}, no {variable!r}")
    return _changes(owner, written.index(variable), states, arrays)


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)


def _messages(owner: int, arrays: Arrays) -> _Event:
    def event(state: int, edge: int) -> Any:
        number = int(arrays.action[edge])
        if number == NO_ACTION:
            return None
        action = arrays.actions[number]
        return None if action.owner != owner or action.resumed else number

    return event


def _changes(owner: int, place: int, states: Sequence[State], arrays: Arrays) -> _Event:
    def value(state: int) -> Any:
        return states[state][owner].variables[place]

    def event(state: int, edge: int) -> Any:
        target = int(arrays.target[edge])
        if target >= arrays.states:
            return None
        before, after = value(state), value(target)
        return None if before == after else (after,)

    return event

"""A race shown: the way to the state, the two orders, and how what they lead to differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rebecsim.explore.local import NO_DEADLINE, Local, Waiting
from rebecsim.explore.outcome import Breach
from rebecsim.explore.path import (
    Path,
    PathStep,
    path_along,
    shown_value,
    shown_variables,
    step_of,
    written_name,
)
from rebecsim.explore.state_graph import StateGraph
from rebecsim.explore.transitions import State, TransitionSystem

__all__ = ["Difference", "Ending", "Order", "Witness", "witness_of"]


@dataclass(frozen=True)
class Ending:
    """One way in which an order can go: transitions, as (state, ordinal), and what they lead to."""

    way: tuple[tuple[int, int], ...]
    target: int | Breach

    @property
    def outcome(self) -> int | Breach:
        """What is compared with the other order."""
        return self.target

    def breaches(self, graph: StateGraph) -> Iterator[Breach]:
        """Give what goes wrong on the way and in the state at its end."""
        for number, ordinal in self.way:
            target = (graph.edges[number] or ())[ordinal][1]
            breach = target if isinstance(target, Breach) else graph.breaches[target]
            if breach is not None:
                yield breach


@dataclass(frozen=True)
class Order:
    """One of the two orders: its steps, what goes wrong in them, and what only it can lead to."""

    steps: tuple[PathStep, ...]
    breach: Breach | None
    only: tuple[Breach, ...]


@dataclass(frozen=True)
class Difference:
    """Something that is not the same after the two orders: a variable, or what waits in a bag."""

    name: str
    first: Any
    second: Any


@dataclass(frozen=True)
class Witness:
    """A race: the way to its state, at a model time, and the two orders side by side.

    There are no differences where an order is cut short by what goes wrong in it.
    """

    path: Path
    time: int
    orders: tuple[Order, Order]
    differences: tuple[Difference, ...]


def witness_of(
    system: TransitionSystem,
    graph: StateGraph,
    number: int,
    endings: tuple[list[Ending], list[Ending]],
    only: tuple[tuple[Breach, ...], tuple[Breach, ...]],
) -> Witness:
    """Show the race of a state; of each order the ending that tells most is shown."""
    path = path_along(system, graph.search.way_to(number))
    time = _time_after(system, path)
    first, second = _telling(graph, *endings)
    orders = (
        _order(system, graph, first, time, only[0]),
        _order(system, graph, second, time, only[1]),
    )
    differences: tuple[Difference, ...] = ()
    if isinstance(first.target, int) and isinstance(second.target, int):
        states = graph.search.states
        differences = tuple(_differences(system, states[first.target], states[second.target]))
    return Witness(path, time, orders, differences)


def _time_after(system: TransitionSystem, path: Path) -> int:
    state, time = system.initial, system.start_time
    for ordinal in path.ordinals:
        cause, target = system.expand(state)[ordinal]
        assert not isinstance(target, Breach)
        time += system.elapsed(state, cause, target)
        state = target
    return time


def _telling(graph: StateGraph, one: list[Ending], two: list[Ending]) -> tuple[Ending, Ending]:
    """Choose one ending of each order: such that lead to something else, wrong if possible."""

    def telling(endings: list[Ending], others: list[Ending]) -> Ending:
        reached = {each.outcome for each in others}
        return min(
            endings,
            key=lambda each: (not any(each.breaches(graph)), each.outcome in reached),
        )

    first, second = telling(one, two), telling(two, one)
    return first, second


def _order(
    system: TransitionSystem,
    graph: StateGraph,
    ending: Ending,
    time: int,
    only: tuple[Breach, ...],
) -> Order:
    states = graph.search.states
    steps = []
    for number, ordinal in ending.way:
        cause, target = (graph.edges[number] or ())[ordinal]
        steps.append(step_of(system, states[number], cause, time))
        if isinstance(target, int):
            time += system.elapsed(states[number], cause, states[target])
    return Order(tuple(steps), next(ending.breaches(graph), None), only)


def _differences(system: TransitionSystem, one: State, two: State) -> Iterator[Difference]:
    for position, rebec in enumerate(system.runner.rebecs):
        first: Local = one[position]
        second: Local = two[position]
        if first is second:
            continue
        names = system.runner.names[position]
        values = zip(shown_variables(first), shown_variables(second), strict=True)
        encoded = zip(first.variables, second.variables, strict=True)
        for name, (old, new), (one_value, other_value) in zip(names, values, encoded, strict=True):
            if one_value != other_value:
                yield Difference(f"{rebec}.{written_name(rebec, name)}", old, new)
        if first.clock != second.clock:
            yield Difference(f"{rebec} is busy for", first.clock, second.clock)
        waiting, other = Counter(first.bag), Counter(second.bag)
        if waiting != other:
            yield Difference(
                f"on the way to {rebec}",
                [_message(system, position, each) for each in (waiting - other).elements()],
                [_message(system, position, each) for each in (other - waiting).elements()],
            )


def _message(system: TransitionSystem, owner: int, message: Waiting) -> str:
    arguments = ", ".join(map(_text, message.arguments))
    server = system.runner.server_of(owner, message).name
    text = f"{server}({arguments}) from {system.runner.sender_of(message)}"
    if message.arrival > 0:
        text += f" in {message.arrival}"
    if message.deadline != NO_DEADLINE:
        text += f", deadline in {message.deadline}"
    return text


def _text(argument: Any) -> str:
    value = shown_value(argument)
    return str(value).lower() if isinstance(value, bool) else str(value)

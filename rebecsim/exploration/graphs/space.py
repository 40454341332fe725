"""A state space as a graph, for exports and pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rebecsim.actors.values import call_text
from rebecsim.exploration.checks import Problem
from rebecsim.exploration.graphs.state_graph import StateGraph, build_graph
from rebecsim.exploration.limits import Limits
from rebecsim.exploration.paths.path import shown_value, shown_variables, written_name
from rebecsim.exploration.states.breach_key import BreachKey
from rebecsim.exploration.states.local import NO_DEADLINE, Waiting
from rebecsim.exploration.states.outcome import Outcome
from rebecsim.exploration.states.runner import Runner
from rebecsim.exploration.states.transitions import Cause, State, TransitionSystem
from rebecsim.lang import CheckedModel


class Transition(NamedTuple):
    """A transition between two states, by their numbers. Without a `rebec`, only time passes.

    `duration` is the time between the two, `choices` are (index, count) for each choice drawn and
    `drawn` the values. `arrival` and `deadline` are those of the message, counted from the time of
    the source; it has no deadline if that is None. `resumed`: a message server goes on after a
    delay. `parameters` are the names of the arguments.
    """

    source: int
    target: int
    sender: str
    rebec: str
    server: str
    arguments: tuple[Any, ...]
    choices: tuple[tuple[int, int], ...]
    duration: int
    arrival: int = 0
    deadline: int | None = None
    resumed: bool = False
    drawn: tuple[Any, ...] = ()
    parameters: tuple[str, ...] = ()

    @property
    def call(self) -> str:
        """The message with the names of its arguments."""
        return call_text(self.server, self.parameters, self.arguments)


class QueuedMessage(NamedTuple):
    """A message in a bag; arrival and deadline count from the time of the state."""

    sender: str
    server: str
    arguments: tuple[Any, ...]
    arrival: int
    deadline: float
    parameters: tuple[str, ...] = ()

    @property
    def call(self) -> str:
        """The message with the names of its arguments."""
        return call_text(self.server, self.parameters, self.arguments)


class RebecState(NamedTuple):
    """A rebec in a state: its name and class, its variables by name, its bag.

    `busy` is how long it is not free yet. `suspended` is the message whose message server waits in
    a delay (timed transition system); it is no longer in the bag, but takes a place of the queue.
    """

    rebec: str
    reactive_class: str
    variables: dict[str, Any]
    bag: tuple[QueuedMessage, ...]
    busy: int
    suspended: QueuedMessage | None


@dataclass(frozen=True)
class StateSpace:
    """The states, numbered from 0, the initial one, and the edges in the order of their sources.

    `wrong` gives all breaches of each state. A breach of a transition has a number of its own
    behind all states, which is the target of the edge: one for each message server of each rebec
    that it can be about. Not `complete`: a limit was reached.
    """

    system: TransitionSystem
    states: tuple[State, ...]
    edges: tuple[Transition, ...]
    wrong: dict[int, tuple[BreachKey, ...]]
    complete: bool

    @property
    def nodes(self) -> int:
        """How many numbers there are: of states, and of breaches of transitions."""
        return len(self.states) + sum(number >= len(self.states) for number in self.wrong)

    def rebecs(self, number: int) -> list[RebecState]:
        """Describe a state."""
        runner = self.system.runner
        return [
            RebecState(
                str(rebec),
                type(rebec).__name__,
                {
                    written_name(rebec, name): value
                    for name, value in zip(names, shown_variables(local), strict=True)
                },
                tuple(_queued(runner, local.owner, message) for message in local.bag),
                local.clock if local.suspension is None else local.suspension.resume,
                None
                if local.suspension is None
                else _queued(runner, local.owner, local.suspension.message),
            )
            for rebec, names, local in zip(
                runner.rebecs, runner.names, self.states[number], strict=False
            )
        ]


def _queued(runner: Runner, owner: int, message: Waiting) -> QueuedMessage:
    server = runner.server_of(owner, message)
    return QueuedMessage(
        runner.sender_of(message),
        server.name,
        tuple(map(shown_value, message.arguments)),
        message.arrival,
        message.deadline,
        server.parameters,
    )


def state_space(
    problem: Problem,
    limits: Limits | None = None,
    *,
    checked: CheckedModel | None = None,
) -> StateSpace:
    """Build the whole state space, breadth first, up to the limits."""
    graph = build_graph(problem, checked=checked, limits=limits)
    states = tuple(graph.search.states)
    breaches = np.unique(graph.target[graph.target >= len(states)]).tolist()
    wrong = graph.wrong | {number: (number - len(states),) for number in breaches}
    keys = {number: tuple(graph.keys[key] for key in found) for number, found in wrong.items()}
    edges = tuple(_edges(graph, states))
    return StateSpace(problem.system, states, edges, keys, not graph.search.bounds)


def _edges(graph: StateGraph, states: Sequence[State]) -> Iterator[Transition]:
    """Describe all edges. The graph does not know what is drawn in them: that is found again."""
    system = graph.search.system
    expanded = np.flatnonzero(np.diff(graph.first)).tolist()
    causes = ((source, cause) for source in expanded for cause, _ in system.expand(states[source]))
    columns = graph.target.tolist(), graph.duration.tolist()
    for (source, cause), target, duration in zip(causes, *columns, strict=True):
        yield transition_of(system, source, cause, target, duration)


def transition_of(
    system: TransitionSystem, source: int, cause: Cause, target: int, duration: int
) -> Transition:
    """Describe a transition between two states, by their numbers."""
    if not isinstance(cause, Outcome):
        return Transition(source, target, "", "", "", (), (), duration)
    runner, effect = system.runner, cause.effect
    message = effect.message
    server = runner.server_of(effect.owner, message)
    return Transition(
        source,
        target,
        runner.sender_of(message),
        str(runner.rebecs[effect.owner]),
        server.name,
        tuple(map(shown_value, message.arguments)),
        effect.drawn,
        duration,
        message.arrival,
        None if message.deadline == NO_DEADLINE else int(message.deadline),
        effect.resumed,
        effect.drawn_values,
        server.parameters,
    )

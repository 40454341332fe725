"""A state space as a graph, for exports and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from rebecsim.actors.written import call_text
from rebecsim.explore.exploring import Problem
from rebecsim.explore.limits import Limits
from rebecsim.explore.local import Waiting
from rebecsim.explore.outcome import Breach, Outcome
from rebecsim.explore.path import shown_value, shown_variables, written_name
from rebecsim.explore.runner import Runner
from rebecsim.explore.state_graph import build_graph
from rebecsim.explore.transitions import Cause, State, TransitionSystem

__all__ = ["Edge", "QueuedMessage", "RebecState", "StateSpace", "state_space"]


class Edge(NamedTuple):
    """A transition between two states, by their numbers. Without a `rebec`, only time passes.

    `duration` is the time between the two, `choices` are (index, count) for each choice drawn and
    `drawn` the values. `resumed`: the message server goes on after a delay. `parameters` are the
    names of the arguments.
    """

    source: int
    target: int
    sender: str
    rebec: str
    server: str
    arguments: tuple[Any, ...]
    choices: tuple[tuple[int, int], ...]
    duration: int
    resumed: bool
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

    `wrong` gives the breaches of states. A breach of a transition has a number of its own behind
    all states, which is the target of the edge. Not `complete`: a limit was reached.
    """

    system: TransitionSystem
    states: tuple[State, ...]
    edges: tuple[Edge, ...]
    wrong: dict[int, Breach]
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


def state_space(problem: Problem, limits: Limits | None = None) -> StateSpace:
    """Build the whole state space, breadth first, up to the limits."""
    graph = build_graph(problem, limits=limits)
    system, states = problem.system, graph.search.states
    wrong = {number: breach for number, breach in enumerate(graph.breaches) if breach is not None}
    breaches: dict[Breach, int] = {}
    edges = []
    for source, following in enumerate(graph.edges):
        for cause, target in following or ():
            if isinstance(target, Breach):
                target = _without_times(system, cause, target)
                node = breaches.setdefault(target, len(states) + len(breaches))
                edges.append(_edge(system, source, cause, node, 0))
            else:
                duration = system.elapsed(states[source], cause, states[target])
                edges.append(_edge(system, source, cause, target, duration))
    wrong |= {node: breach for breach, node in breaches.items()}
    return StateSpace(system, tuple(states), tuple(edges), wrong, not graph.search.bounds)


def _without_times(system: TransitionSystem, cause: Cause, breach: Breach) -> Breach:
    """Name the message that missed its deadline; a state stands for many times."""
    if breach.verdict != "deadline missed" or system.absolute or not isinstance(cause, Outcome):
        return breach
    server = system.runner.server_of(cause.owner, cause.message).name
    return Breach(breach.verdict, f"{system.runner.rebecs[cause.owner]}.{server}")


def _edge(system: TransitionSystem, source: int, cause: Cause, target: int, duration: int) -> Edge:
    if not isinstance(cause, Outcome):
        return Edge(source, target, "", "", "", (), (), duration, resumed=False)
    runner = system.runner
    message = cause.message
    server = runner.server_of(cause.owner, message)
    return Edge(
        source,
        target,
        runner.sender_of(message),
        str(runner.rebecs[cause.owner]),
        server.name,
        tuple(map(shown_value, message.arguments)),
        cause.drawn,
        duration,
        cause.resumed,
        cause.drawn_values,
        server.parameters,
    )

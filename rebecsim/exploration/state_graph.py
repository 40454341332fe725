"""The state space of a model as a graph: every state and transition that a search finds.

`StateGraph` holds it as arrays, for analyses; `StateSpace` with names and values, for exports and
pictures; `neighbourhood_of` finds the states nearest to one state, and a shortest path to each.
Stepping through a model needs this module, but no NumPy, which a browser may not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rebecsim.actors.values import call_text
from rebecsim.errors import UserError
from rebecsim.exploration.checks import Limits, Meter, Problem
from rebecsim.exploration.paths import shown_value, shown_variables, written_name
from rebecsim.exploration.search import NO_SERVICE, Progress, Recording, Search, Service
from rebecsim.exploration.states.effects import (
    Breach,
    BreachKey,
    Effect,
    Outcome,
)
from rebecsim.exploration.states.rebec_states import NO_DEADLINE, Waiting
from rebecsim.exploration.states.runner import Runner
from rebecsim.exploration.states.transitions import Cause, State, Successor, TransitionSystem
from rebecsim.exploration.strategies import BreadthFirst, run_search
from rebecsim.lang import CheckedModel
from rebecsim.native.engines import Engine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rebecsim.native.arrays import Flags, Integers

    Narrow = NDArray[np.signedinteger[Any]]
    """Integers as narrow as they may be: reckon with them as 64 bits."""


@dataclass(frozen=True)
class StateGraph:
    """States, numbered breadth first, and edges in the order of their sources and of `expand`.

    The edges of state s are those from `first[s]` up to `first[s + 1]`. `target` is a state, or
    `len(self) + k` for something that goes wrong on the way, with the key `keys[k]`; these keys
    come first. `service` numbers `services`, NO_SERVICE where only time passes; `choice` is which
    of its outcomes it is, `duration` the time that passes. `wrong` gives the numbers of the keys of
    all that is wrong with a state itself: properties that do not hold, or a deadlock. `cut` are the
    states that a bound has kept from being expanded.
    """

    search: Search
    first: Integers
    target: Narrow
    service: Narrow
    choice: Narrow
    duration: Narrow
    services: tuple[Service, ...]
    keys: tuple[BreachKey, ...]
    wrong: dict[int, tuple[int, ...]]
    cut: Flags

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def source(self) -> Integers:
        """The state that each edge leaves."""
        import numpy as np

        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.first))

    def ordinals(self, edges: Sequence[int]) -> tuple[int, ...]:
        """Give which transitions of their states some edges are."""
        import numpy as np

        places = np.array(edges, dtype=np.int64)
        sources = np.searchsorted(self.first[1:], places, side="right")
        found: list[int] = (places - self.first[sources]).tolist()
        return tuple(found)


def build_graph(
    problem: Problem,
    *,
    checked: CheckedModel | None = None,
    limits: Limits | None = None,
    meter: Meter | None = None,
    engine: Engine = "auto",
    progress: Callable[[Progress], None] | None = None,
) -> StateGraph:
    """Expand every state within the limits; the arguments are those of `explore`.

    The `meter` may have been running before.

    Unlike a search for violations this goes on behind states in which a property does not hold.
    Raises EndlessError for a message server that does not end.
    """
    search = run_search(
        lambda: _GraphSearch(problem, limits, meter, progress), BreadthFirst(), engine, checked
    )
    return _graph_of(search)


class _GraphSearch(Search):
    """Writes down every transition, and all that is wrong."""

    def __init__(
        self,
        problem: Problem,
        limits: Limits | None,
        meter: Meter | None,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        super().__init__(problem, limits=limits, meter=meter, stop_at="all", progress=progress)
        self.recording = self.written = Recording()
        self.wrong: dict[int, list[Breach]] = {}
        self._services: dict[Effect, int] = {}

    def _follow_all(self, number: int) -> list[int]:
        """Follow every transition of a state and write it down."""
        known = len(self.states)
        recording = self.written
        found = self.successors(number)
        choice = 0
        for cause, target, units in found:
            service = NO_SERVICE
            if isinstance(cause, Outcome):
                # The outcomes of one message follow each other, that without any turn first.
                choice = choice + 1 if any(index for index, _ in cause.effect.drawn) else 0
                service = self._service(cause.effect)
            if isinstance(target, Breach):
                recording.breach(number, service, choice, target.key)
                continue
            self.transitions += 1
            recording.append(number, target, service, choice, units)
        if not found:
            self.ends_in(number)
        recording.expanded = number + 1
        return list(range(known, len(self.states)))

    def _service(self, effect: Effect) -> int:
        """Give the number of the service that an effect comes of."""
        known = self._services.get(effect)
        if known is None:
            service = Service(effect.owner, effect.message, effect.resumed)
            known = self.written.service(service)
            if self.system.reads_time is None:  # otherwise effects are made anew for every state
                self._services[effect] = known
        return known

    def breached(self, breach: Breach, number: int, ordinal: int | None) -> None:
        """Note a breach of a state; breaches of transitions are recorded with them."""
        if ordinal is None:
            self.wrong.setdefault(number, []).append(breach)


def _graph_of(search: _GraphSearch) -> StateGraph:
    """Put together what a search has written down."""
    import numpy as np

    recording, states = search.written, len(search.states)
    source, target, service, choice, duration = recording.take_columns()
    keys: dict[BreachKey, int] = {}
    met = [(row, key) for row, key in recording.breached if row < len(target)]
    target = target.astype(np.min_scalar_type(-states - len(met)), copy=False)
    for row, key in met:
        target[row] = states + keys.setdefault(key, len(keys))
    wrong = {}
    for number, breaches in sorted(search.wrong.items()):
        wrong[number] = tuple(keys.setdefault(each.key, len(keys)) for each in breaches)
    edges = np.bincount(source, minlength=states)
    cut = np.arange(states) >= recording.expanded
    if "horizon" in search.bounds:
        ends = np.flatnonzero((edges == 0) & ~cut).tolist()
        cut[[number for number in ends if search.is_beyond(search.states[number])]] = True
    first = np.concatenate(([0], np.cumsum(edges))).astype(np.int64)
    return StateGraph(
        search,
        first,
        target,
        service,
        choice,
        duration,
        services=recording.services,
        keys=tuple(keys),
        wrong=wrong,
        cut=cut,
    )


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

    def final_values(self, variable: str) -> list[Any]:
        """Give the values that a variable, `rebec.variable`, has where runs end, each once.

        Raises UserError if there is no such variable.
        """
        rebec, _, name = variable.partition(".")
        leaving = {edge.source for edge in self.edges}
        found: list[Any] = []
        for number in range(len(self.states)):
            if number in leaving:
                continue
            known = {each.rebec: each.variables for each in self.rebecs(number)}
            if name not in known.get(rebec, {}):
                raise UserError(f"there is no variable {variable}")
            value = known[rebec][name]
            if value not in found:
                found.append(value)
        return found

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
        runner.name_of(message.sender),
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
    import numpy as np

    graph = build_graph(problem, checked=checked, limits=limits)
    states = tuple(graph.search.states)
    breaches = np.unique(graph.target[graph.target >= len(states)]).tolist()
    wrong = graph.wrong | {number: (number - len(states),) for number in breaches}
    keys = {number: tuple(graph.keys[key] for key in found) for number, found in wrong.items()}
    edges = tuple(_edges(graph, states))
    return StateSpace(problem.system, states, edges, keys, not graph.search.bounds)


def _edges(graph: StateGraph, states: Sequence[State]) -> Iterator[Transition]:
    """Describe all edges. The graph does not keep the choices drawn: they are recomputed."""
    import numpy as np

    system = graph.search.system
    expanded = np.flatnonzero(np.diff(graph.first)).tolist()
    found = ((source, each[0]) for source in expanded for each in system.expand(states[source]))
    columns = graph.target.tolist(), graph.duration.tolist()
    for (source, cause), target, duration in zip(found, *columns, strict=True):
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
        runner.name_of(message.sender),
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


class Neighbourhood(NamedTuple):
    """The nearest states, 0 is where they begin, and by which transitions each node is reached.

    The space is not complete if there are states further away.
    """

    space: StateSpace
    ways: tuple[tuple[int, ...], ...]


def neighbourhood_of(
    system: TransitionSystem,
    start: State,
    most: int,
    interrupted: Callable[[], bool] = lambda: False,
) -> Neighbourhood:
    """Give at most so many states, breadth first from one of them."""
    return _NeighbourhoodSearch(system, start, most).found(interrupted)


class _NeighbourhoodSearch:
    def __init__(self, system: TransitionSystem, start: State, most: int) -> None:
        self._system = system
        self._most = most
        self._states = [start]
        self._numbers: dict[State, int] = {start: 0}
        self._ways: list[tuple[int, ...]] = [()]
        self._breaches: dict[BreachKey, tuple[int, ...]] = {}
        self._edges: list[tuple[int, int | BreachKey, Cause, int]] = []
        self._cut = False

    def found(self, interrupted: Callable[[], bool]) -> Neighbourhood:
        """Expand one state after another."""
        for number, state in enumerate(self._states):  # grows meanwhile
            if interrupted():
                self._cut = True
                break
            for ordinal, found in enumerate(self._system.expand(state)):
                self._meet(number, ordinal, found)
        behind = {key: len(self._states) + place for place, key in enumerate(self._breaches)}
        wrong: dict[int, tuple[BreachKey, ...]] = {number: (key,) for key, number in behind.items()}
        edges = tuple(self._described(behind))
        space = StateSpace(self._system, tuple(self._states), edges, wrong, not self._cut)
        return Neighbourhood(space, (*self._ways, *self._breaches.values()))

    def _meet(self, source: int, ordinal: int, found: Successor) -> None:
        cause, target, units = found
        way = (*self._ways[source], ordinal)
        if isinstance(target, Breach):
            self._breaches.setdefault(target.key, way)
            self._edges.append((source, target.key, cause, 0))
            return
        number = self._numbers.get(target)
        if number is None:
            if len(self._states) >= self._most:
                self._cut = True
                return
            number = self._numbers[target] = len(self._states)
            self._states.append(target)
            self._ways.append(way)
        self._edges.append((source, number, cause, units))

    def _described(self, behind: dict[BreachKey, int]) -> Iterator[Transition]:
        for source, target, cause, duration in self._edges:
            number = target if isinstance(target, int) else behind[target]
            yield transition_of(self._system, source, cause, number, duration)

"""Find messages that may wait for ever, which no cure may cause.

A model ends up in a set of states that lead to each other and to no others (a bottom component).
What waits in all of them and is served in none will never be served; nothing else waits for ever
on all fair runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rebecsim.exploration.checks import Problem
from rebecsim.exploration.graphs.components import components
from rebecsim.exploration.graphs.state_graph import StateGraph
from rebecsim.exploration.paths.path import written_name
from rebecsim.exploration.races.arrays import NO_ACTION, Arrays, arrays_of
from rebecsim.exploration.races.cures.cure import Guarded

Service = tuple[str, str]
"""A rebec and one of its message servers."""


class Endings:
    """The sets of states that a model goes round in for ever."""

    def __init__(self, problem: Problem, graph: StateGraph) -> None:
        self._runner = problem.system.runner
        self._states = graph.search.states
        self._arrays = arrays_of(graph)
        self._components = list(_bottoms(self._arrays))

    def waiting(self) -> frozenset[Service]:
        """Give the services that some run waits for, for ever and in vain."""
        return frozenset(
            each for component in self._components for each in self._waiting_in(component)
        )

    def _waiting_in(self, component: Sequence[int]) -> Iterator[Service]:
        always: set[tuple[int, int]] | None = None
        for state in component:
            here = {
                (owner, message.number)
                for owner in range(len(self._runner.rebecs))
                for message in self._states[state][owner].bag
            }
            always = here if always is None else always & here
        served = {self._service(edge) for edge in self._edges(component)}
        for owner, number in sorted((always or set()) - served):
            yield self._named(owner, number)

    def _edges(self, component: Sequence[int]) -> Iterator[int]:
        first = self._arrays.first
        for state in component:
            for edge in range(int(first[state]), int(first[state + 1])):
                if self._arrays.action[edge] != NO_ACTION:
                    yield edge

    def _service(self, edge: int) -> tuple[int, int]:
        action = self._arrays.actions[self._arrays.action[edge]]
        return action.owner, action.number

    # --- guards ----------------------------------------------------------------------------------

    def is_ever_done(self, guarded: Guarded) -> bool:
        """Whether the flag is ever set when a guarded service comes."""
        return any(
            self._is_set(state, guarded)
            for state in range(self._arrays.states)
            if self._is_served(guarded, [state])
        )

    def is_refused_for_ever(self, guarded: Guarded) -> bool:
        """Whether some run comes to go round with the guarded service, never with the flag set."""
        return any(
            self._is_served(guarded, component)
            and not any(self._is_set(state, guarded) for state in component)
            for component in self._components
        )

    def _is_served(self, guarded: Guarded, states: Sequence[int]) -> bool:
        services = map(self._service, self._edges(states))
        return any(self._named(*service) == (guarded.rebec, guarded.server) for service in services)

    def _named(self, owner: int, number: int) -> Service:
        return str(self._runner.rebecs[owner]), self._runner.server_at(owner, number).name

    def _is_set(self, state: int, guarded: Guarded) -> bool:
        rebecs = list(map(str, self._runner.rebecs))
        owner = rebecs.index(guarded.rebec)
        names = [
            written_name(self._runner.rebecs[owner], each) for each in self._runner.names[owner]
        ]
        return bool(self._states[state][owner].variables[names.index(guarded.flag)])


def _bottoms(arrays: Arrays) -> Iterator[list[int]]:
    """Give the components that no edge leaves and in which something happens."""
    graph = arrays.graph
    first, target = graph.first.tolist(), graph.target.tolist()
    for component in components(first, target, range(arrays.states)):
        members = set(component)
        targets = [
            target[edge] for node in component for edge in range(first[node], first[node + 1])
        ]
        if targets and members.issuperset(targets):
            yield component

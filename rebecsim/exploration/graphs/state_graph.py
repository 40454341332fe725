"""Build the state space of a model as a graph: every state and transition that a search finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.exploration.checks import Problem
from rebecsim.exploration.engines import run_search
from rebecsim.exploration.limits import Limits, Meter
from rebecsim.exploration.recording import NO_SERVICE, Recording, Service
from rebecsim.exploration.search import Progress, Search
from rebecsim.exploration.states.breach_key import BreachKey, key_of_state, key_of_step
from rebecsim.exploration.states.outcome import Breach, Effect, Outcome
from rebecsim.exploration.strategies import BreadthFirst
from rebecsim.lang import CheckedModel
from rebecsim.native.arrays import Flags, Integers
from rebecsim.native.engines import Engine

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
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.first))


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
        state = self.states[number]
        found = self.successors(number)
        choice = 0
        for cause, target in found:
            service = NO_SERVICE
            if isinstance(cause, Outcome):
                # The outcomes of one message follow each other, that without any turn first.
                choice = choice + 1 if any(index for index, _ in cause.effect.drawn) else 0
                service = self._service(cause.effect)
            if isinstance(target, Breach):
                assert isinstance(cause, Outcome)
                key = key_of_step(self.system, state, cause, target)
                recording.breach(number, service, choice, key)
                continue
            self.transitions += 1
            units = self.system.elapsed(state, cause, self.states[target])
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
        """Note what is wrong with a state; what goes wrong in a transition is written down."""
        if ordinal is None:
            self.wrong.setdefault(number, []).append(breach)


def _graph_of(search: _GraphSearch) -> StateGraph:
    """Put together what a search has written down."""
    recording, states = search.written, len(search.states)
    source, target, service, choice, duration = recording.take_columns()
    keys: dict[BreachKey, int] = {}
    met = [(row, key) for row, key in recording.breached if row < len(target)]
    target = target.astype(np.min_scalar_type(-states - len(met)), copy=False)
    for row, key in met:
        target[row] = states + keys.setdefault(key, len(keys))
    wrong = {}
    for number, breaches in sorted(search.wrong.items()):
        found = map(key_of_state, breaches)
        wrong[number] = tuple(keys.setdefault(key, len(keys)) for key in found)
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

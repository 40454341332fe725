"""Record the transitions of a compiled search, or compute them again after it is over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rebecsim.exploration.compiled.collapse import Collapsed
from rebecsim.exploration.search import NO_SERVICE, Edges, Recording
from rebecsim.exploration.states.effects import BreachKey
from rebecsim.native import search_layout as at
from rebecsim.native.arrays import Integers, words_of
from rebecsim.native.cache import prepare
from rebecsim.native.codes import Reason
from rebecsim.native.engines import TimeTooLargeError
from rebecsim.native.loops.breadth_first import EDGE_SERVED, EDGE_WIDTH, expand_ahead
from rebecsim.native.loops.successors import (
    FOUND_BY_WIDTH,
    FOUND_ORDINAL,
    FOUND_SOURCE,
    FOUND_UNITS,
    TIME_PASSES,
    Successors,
)
from rebecsim.native.loops.tables import ABSENT, arrays_of, find_states

if TYPE_CHECKING:
    from rebecsim.exploration.compiled.compiled_search import CompiledSearch

EdgeRows = NDArray[np.uint32]

NOTHING_WRITTEN: EdgeRows = np.zeros((0, EDGE_WIDTH), dtype=np.uint32)

_FEW = 1 << 14  # transitions


class RecordingWriter:
    """The rows that compiled code writes, which are put behind those of a recording.

    `edges` has more rows than are in use; see `rebecsim.native.loops.breadth_first.expand_states`.
    """

    def __init__(self, recording: Recording, collapsed: Collapsed, control: Integers) -> None:
        self._recording = recording
        self._collapsed = collapsed
        self._control = control
        self._before = len(recording)
        self.edges: EdgeRows = np.empty((_FEW, EDGE_WIDTH), dtype=np.uint32)
        recording.go_on = self._columns

    @property
    def is_full(self) -> bool:
        """Whether there is no room for one more."""
        return bool(self._control[at.EDGES] == len(self.edges))

    @property
    def growth(self) -> int:
        """Give the bytes that growing takes."""
        return 2 * self.edges.nbytes

    def grow(self) -> None:
        """Make room for twice as many."""
        larger = np.empty((2 * len(self.edges), EDGE_WIDTH), dtype=np.uint32)
        larger[: len(self.edges)] = self.edges
        self.edges = larger

    def note(self) -> None:
        """Note how far the search is."""
        self._recording.expanded = int(self._control[at.NUMBER])

    def breached(self, key: BreachKey) -> None:
        """Write down that something goes wrong in the transition that was followed last."""
        if self.is_full:
            self.grow()
        control = self._control
        edge = int(control[at.EDGES])
        source, served, choice = control[[at.NUMBER, at.SERVED, at.CHOICE]].tolist()
        self.edges[edge] = source, 0, served, choice, 0
        self._recording.breached.append((self._before + edge, key))
        control[at.EDGES] = edge + 1

    def _columns(self) -> Iterator[NDArray[np.integer]]:
        """Give what was written, with the services as the recording numbers them, and keep none."""
        edges, self.edges = self.edges[: self._control[at.EDGES]], NOTHING_WRITTEN
        for column in range(EDGE_WIDTH):
            yield self._services(edges[:, column]) if column == EDGE_SERVED else edges[:, column]

    def _services(self, served: EdgeRows) -> NDArray[np.int32]:
        passes = served == TIME_PASSES
        places = np.where(passes, 0, served)
        met = np.zeros(int(places.max(initial=0)) + 1, dtype=bool)
        met[places[~passes]] = True
        numbers = np.zeros(len(met), dtype=np.int32)
        for each in np.flatnonzero(met).tolist():
            numbers[each] = self._recording.service(self._collapsed.service(each))
        found: NDArray[np.int32] = numbers[places]
        found[passes] = NO_SERVICE
        return found


_BATCH = 1 << 16  # successors
_UNNUMBERED = (1 << 32) - 1  # a state that was entered, but not counted before the search ended
_BYTES = 80  # of an edge, on the way to its component

_QUESTIONS = frozenset({Reason.ANSWER, Reason.ALTERNATIVES, Reason.WIDTH, Reason.ROOM})
"""Reasons to stop in states that Python expanded, so compiled code does not know them yet."""


def recomputed_edges(search: CompiledSearch, still: bool) -> Edges | None:
    """Give the transitions from states that were expanded, or those of them without time.

    None if they cannot be had within the limits of time and memory, or if Python met a time on the
    way that is too large for compiled code.
    """
    prepare(expand_ahead, find_states)
    with (
        suppress(TimeTooLargeError),
        np.errstate(over="ignore"),  # hashes wrap; without a compiler NumPy would warn of that
    ):
        return _edges(search, still)
    return None


def _edges(search: CompiledSearch, still: bool) -> Edges | None:
    store, control = search.store, search.control.copy()
    states, words = int(control[at.STATES]), words_of(store.layout)
    numbers = np.full(len(store.table), _UNNUMBERED, np.uint32)
    numbers[store.order[:states]] = np.arange(states, dtype=np.uint32)
    control[at.END] = min(control[at.NUMBER], states)
    control[at.NUMBER], control[at.ORDINAL] = 0, -1
    targets = np.empty((_BATCH, words), np.int64)
    found_by = np.empty((_BATCH, FOUND_BY_WIDTH), np.int64)
    successors = Successors(targets, np.empty((1, 1), np.int64), targets, found_by)
    places = np.empty(_BATCH, np.int64)
    found: list[NDArray[np.int64]] = []
    edges = 0
    arrays = arrays_of(store), search.parts()
    while control[at.NUMBER] < control[at.END]:
        if search.is_over(_BYTES * edges):
            return None
        control[at.FOUND] = 0
        reason = expand_ahead(control, *arrays, successors)
        if reason in _QUESTIONS:
            if not search.enter(reason, control):
                return None
            arrays = arrays_of(store), search.parts()
        count = int(control[at.FOUND])
        find_states(store.table, targets, places, count, words)
        kept = places[:count] != ABSENT
        kept &= numbers[places[:count]] != _UNNUMBERED
        if still:
            kept &= found_by[:count, FOUND_UNITS] == 0
        to = numbers[places[:count][kept]].astype(np.int64)
        part = found_by[:count][kept]
        found.append(np.stack([part[:, FOUND_SOURCE], to, part[:, FOUND_ORDINAL]]))
        edges += len(to)
    together = np.concatenate(found, axis=1) if found else np.empty((3, 0), np.int64)
    return together[0], together[1], together[2]

"""The store of states of the compiled search: in full, or as fingerprints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebecsim.native.arrays import Numbers, Table
from rebecsim.native.loops.tables import insert_states, move_fingerprints
from rebecsim.native.packing import relaid, words_of

_FULLEST = 0.7  # of the places of a table
_SMALLEST = 1 << 12  # places
_LARGE = 1 << 21  # places
_TOGETHER = 1 << 14  # states that are moved together, which stay near the processor


class States(NamedTuple):
    """The states that were found.

    Attributes:
        layout: word, shift and mask of each part of a state, which are inner state and bag of each
            rebec, then the time if it is kept; shape (parts, 3).
        table: the states, or with hash compaction their fingerprints; shape (places, words), or 1.
        order: the place of each state, without hash compaction.
        parents, ordinals: the state that each was found from, and by which transition.
        queue: with hash compaction the states still to be expanded, from the one being expanded
            on, in a ring; shape (rows, words).
    """

    layout: Table
    table: Table
    order: Numbers
    parents: Numbers
    ordinals: Numbers
    queue: Table


class ExactStore:
    """A table of states in full."""

    def __init__(self, layout: Table, packed: Table) -> None:
        """Begin with packed states, an array of shape (states, words)."""
        states = len(packed)
        places = _SMALLEST
        while int(places * _FULLEST) < 2 * states:
            places *= 2
        self.queue = np.zeros((1, words_of(layout)), dtype=np.int64)
        self._make(layout, places)
        insert_states(self.table, self.order, packed, 0, words_of(layout))

    def _make(self, layout: Table, places: int) -> None:
        self.layout = layout
        self.table = np.zeros((places, words_of(layout)), dtype=np.int64)
        self.order, self.parents, self.ordinals = _columns(places, 3)

    @property
    def capacity(self) -> int:
        """How many states fit in."""
        return len(self.order)

    def words_at(self, number: int) -> Table:
        """Give the words of a state."""
        words: Table = self.table[self.order[number]]
        return words

    def growth(self, states: int) -> int:
        """Give the bytes that growing takes."""
        return _factor(self.table) * (self.table.nbytes + 3 * self.order.nbytes)

    def grow(self, states: int, expanding: int) -> None:
        """Move to a larger table."""
        self._move(self.layout, _factor(self.table) * len(self.table), states)

    def relay(self, layout: Table, states: int, expanding: int) -> None:
        """Move to a table of another layout."""
        self._move(layout, len(self.table), states)
        self.queue = np.zeros((1, words_of(layout)), dtype=np.int64)

    def _move(self, layout: Table, places: int, states: int) -> None:
        old, table, order = self.layout, self.table, self.order
        kept = self.parents, self.ordinals
        self._make(layout, places)
        self.parents[:states], self.ordinals[:states] = (each[:states] for each in kept)
        for first in range(0, states, _TOGETHER):
            rows = table[order[first : min(first + _TOGETHER, states)]]
            if old is not layout:
                rows = relaid(rows, old, layout)
            insert_states(self.table, self.order, rows, first, words_of(layout))


class CompactStore:
    """A table of fingerprints, and a ring of the states that are still to be expanded.

    Hash compaction: Wolper and Leroy, "Reliable hashing without collision detection", CAV 1993.
    """

    def __init__(self, layout: Table, packed: Table, fingerprint: int) -> None:
        """Begin with one packed state, an array of shape (1, words), and its fingerprint."""
        self.layout = layout
        self.order = np.zeros(0, dtype=np.uint32)
        self.table = np.zeros((_SMALLEST, 1), dtype=np.int64)
        self.parents, self.ordinals = _columns(_SMALLEST, 2)
        self.queue = np.zeros((1024, words_of(layout)), dtype=np.int64)
        self.queue[0] = packed[0]
        move_fingerprints(np.array([[fingerprint]], dtype=np.int64), self.table)

    @property
    def capacity(self) -> int:
        """How many states fit in."""
        return len(self.parents)

    def words_at(self, number: int) -> Table:
        """Give the words of a state that has not been expanded yet, or just is."""
        words: Table = self.queue[number % len(self.queue)]
        return words

    def growth(self, states: int) -> int:
        """Give the bytes that growing takes."""
        if states < self.capacity:
            return 2 * self.queue.nbytes
        return _factor(self.table) * (self.table.nbytes + 2 * self.parents.nbytes)

    def grow(self, states: int, expanding: int) -> None:
        """Move to a larger table or ring, whichever is full."""
        if states < self.capacity:
            waiting = self._waiting(states, expanding)
            self.queue = np.zeros((2 * len(self.queue), self.queue.shape[1]), dtype=np.int64)
            self._queue_up(waiting, states, expanding)
            return
        table, kept = self.table, (self.parents, self.ordinals)
        self.table = np.zeros((_factor(table) * len(table), 1), dtype=np.int64)
        self.parents, self.ordinals = _columns(len(self.table), 2)
        self.parents[:states], self.ordinals[:states] = (old[:states] for old in kept)
        move_fingerprints(table, self.table)

    def relay(self, layout: Table, states: int, expanding: int) -> None:
        """Lay the waiting states out in another way; fingerprints do not depend on it."""
        waiting = relaid(self._waiting(states, expanding), self.layout, layout)
        self.layout = layout
        self.queue = np.zeros((len(self.queue), words_of(layout)), dtype=np.int64)
        self._queue_up(waiting, states, expanding)

    def _waiting(self, states: int, expanding: int) -> Table:
        rows: Table = self.queue[np.arange(expanding, states) % len(self.queue)]
        return rows

    def _queue_up(self, waiting: Table, states: int, expanding: int) -> None:
        self.queue[np.arange(expanding, states) % len(self.queue)] = waiting


Store = ExactStore | CompactStore
"""States by their numbers, in the order of being found, and how each was found.

There is room for `capacity` states in the arrays, which are those of `States`.
"""


def arrays_of(store: Store) -> States:
    """Give the arrays for compiled code, as long as the store does not grow."""
    return States(
        store.layout, store.table, store.order, store.parents, store.ordinals, store.queue
    )


def _columns(places: int, count: int) -> list[Numbers]:
    return [np.empty(int(places * _FULLEST), dtype=np.uint32) for _ in range(count)]


def _factor(table: Table) -> int:
    """Say how much larger the next table is.

    Small ones grow faster: moving the states takes longer than clearing memory.
    """
    return 4 if len(table) < _LARGE else 2

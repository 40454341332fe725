"""Open-addressing tables of integers, compiled: of answers, of states, of properties.

States are stored in full, or as fingerprints.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebecsim.native.arrays import Integers, Numbers, Table, relaid, words_of
from rebecsim.native.cache import compiled
from rebecsim.native.engines import FINGERPRINT_BITS
from rebecsim.native.mapped import Mapped

Word = int | np.int64  # plain Python must go on with what NumPy gives, which wraps

ABSENT = -1
"""The answer of a table that has none; also the outcome of a message that fails."""

_MULTIPLIER = -7046029254386353131  # 2**64 divided by the golden ratio, as a signed number


@compiled(inline=True)
def hash_at(table: Table, place: int | np.int64, words: int) -> int:
    """Hash the words at a place of an array; the array is of shape (places, words)."""
    mixed = 0
    for word in range(words):
        mixed = (mixed ^ table[place, word]) * _MULTIPLIER
        mixed ^= mixed >> 29
    mixed *= _MULTIPLIER
    return mixed ^ (mixed >> 32)


@compiled(inline=True)
def scatter(key: int) -> int:
    """Hash one key."""
    mixed = key * _MULTIPLIER
    mixed ^= mixed >> 32
    return mixed


@compiled(inline=True)
def look_up(keys: Integers, values: Integers, key: int) -> int:
    """Look up a key in a table of answers; free places hold the key ABSENT."""
    last = keys.shape[0] - 1
    place = scatter(key) & last
    while keys[place] != key:
        if keys[place] == ABSENT:
            return ABSENT
        place = (place + 1) & last
    return values[place]


@compiled(inline=True)
def insert_entry(keys: Integers, values: Integers, key: int, value: int) -> None:
    """Enter a key that is not there yet, with its value; the table must have room."""
    last = keys.shape[0] - 1
    place = scatter(key) & last
    while keys[place] != ABSENT:
        place = (place + 1) & last
    keys[place] = key
    values[place] = value


@compiled()
def insert_entries(keys: Integers, values: Integers, new_keys: Integers, new: Integers) -> None:
    """Enter keys that are not there yet, with their values; the table must have room."""
    for entry in range(new_keys.shape[0]):
        if new_keys[entry] != ABSENT:
            insert_entry(keys, values, new_keys[entry], new[entry])


@compiled()
def insert_states(table: Table, order: Numbers, states: Table, first: int, words: int) -> None:
    """Store states that are not there yet, numbered from `first`; the table must have room."""
    last = table.shape[0] - 1
    for row in range(states.shape[0]):
        place = hash_at(states, row, words) & last
        while table[place, 0] != 0:
            place = (place + 1) & last
        for word in range(words):
            table[place, word] = states[row, word]
        order[first + row] = place


@compiled(inline=True)
def place_of(table: Table, states: Table, row: int, first: int, words: int) -> int:
    """Give where one of these states is, or the free place for it, looking from `first` on."""
    last = table.shape[0] - 1
    place = first
    while table[place, 0] != 0:
        known = True
        for word in range(words):
            known = known and table[place, word] == states[row, word]
        if known:
            break
        place = (place + 1) & last
    return place


@compiled()
def find_states(table: Table, states: Table, places: Integers, count: int, words: int) -> None:
    """Give the places of the first so many of these states, ABSENT for one that is not there."""
    last = table.shape[0] - 1
    for row in range(count):
        place = place_of(table, states, row, hash_at(states, row, words) & last, words)
        places[row] = place if table[place, 0] != 0 else ABSENT


@compiled()
def move_states(old: Table, table: Table, begin: int, end: int) -> None:
    """Move states, or fingerprints, to a larger table: those in the places from `begin` to `end`.

    In the order of their places, as then both tables are gone through from begin to end. Beyond
    the last place comes the first. Each leaves its new place in the old table.
    """
    words = old.shape[1]
    last = table.shape[0] - 1
    for each in range(begin, end):
        row = each & old.shape[0] - 1
        if old[row, 0] == 0:
            continue
        place = hash_at(old, row, words) & last
        while table[place, 0] != 0:
            place = (place + 1) & last
        for word in range(words):
            table[place, word] = old[row, word]
        old[row, 0] = place


@compiled(inline=True)
def mix_in(mixed: Word, number: Word) -> Word:
    """Mix the number of the next part of a state into what is to become its fingerprint.

    Each bit of all that was mixed must change each bit of the result with a probability of one
    half, or states would be taken for others more often than is said. The constants are those of
    the finalizer of MurmurHash3 for 64 bits (Appleby, 2011), as signed numbers.
    """
    mixed = (mixed ^ number) + 1
    mixed = (mixed ^ mixed >> 33) * -49064778989728563
    mixed = (mixed ^ mixed >> 33) * -4265267296055464877
    return mixed ^ mixed >> 33


@compiled(inline=True)
def fingerprint(mixed: Word) -> Word:
    """Give the fingerprint of a state of which everything was mixed: never 0."""
    return mixed & (1 << FINGERPRINT_BITS) - 1 | 1 << FINGERPRINT_BITS


@compiled()
def fingerprint_of(parts: Integers, time: int) -> Word:
    """Give the fingerprint of a state: the numbers of its parts, and its time or 0."""
    mixed = mix_in(0, np.int64(time))
    for part in range(parts.shape[0]):
        mixed = mix_in(mixed, parts[part])
    return fingerprint(mixed)


@compiled(inline=True)
def look_up_property(held: Table, wanted: Table, property_: int, words: int) -> int:
    """Look up whether a property holds in a state of which only what it reads is left.

    `wanted` is of shape (1, words). Gives 1 or 0, or ABSENT.
    """
    last = held.shape[0] - 1
    place = hash_at(wanted, 0, words) + property_ & last
    while held[place, words] != 0:
        equal = held[place, words] >> 1 == property_ + 1
        for word in range(words):
            equal = equal and held[place, word] == wanted[0, word]
        if equal:
            return held[place, words] & 1
        place = (place + 1) & last
    return ABSENT


@compiled()
def insert_held(held: Table, rows: Table, words: int) -> None:
    """Enter what is known of properties; rows are (words of a state, property and answer)."""
    last = held.shape[0] - 1
    for row in range(rows.shape[0]):
        if rows[row, words] == 0:
            continue
        place = hash_at(rows, row, words) + (rows[row, words] >> 1) - 1 & last
        known = False
        while held[place, words] != 0 and not known:
            known = True
            for word in range(words + 1):
                known = known and held[place, word] == rows[row, word]
            if not known:
                place = (place + 1) & last
        for word in range(words + 1):
            held[place, word] = rows[row, word]


_KIND, _ROW = 32, 36  # bits


@compiled(inline=True)
def key_of(kind: int, row: int, value: int) -> int:
    """Give the key of an answer about a row and a number from 0 to 2**32 - 1."""
    return row << _ROW | kind << _KIND | value


def keys_of(kind: int, row: int, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the keys of answers about a row and several numbers."""
    keys: NDArray[np.int64] = values | (row << _ROW | kind << _KIND)
    return keys


def kind_of(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the kinds of answers that keys ask for."""
    return keys >> _KIND & (1 << _ROW - _KIND) - 1


def value_of(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the numbers that keys ask about, beside the row."""
    return keys & (1 << _KIND) - 1


@compiled()
def enter_answer(
    keys: Integers,
    values: Integers,
    kind: int,
    row: int,
    value: int,
    answer: int,
) -> None:
    """Enter an answer that is not there yet; the table must have room."""
    insert_entry(keys, values, key_of(kind, row, value), answer)


_FULLEST = 0.7  # of the places of a table
_SMALLEST = 1 << 12  # places
_LARGE = 1 << 21  # places
_TOGETHER = 1 << 14  # states that are moved together, which stay near the processor
_FULLEST_COMPACT = 0.8  # of the places of a table of fingerprints, of which eight lie together
_MOVED = 1 << 20  # places whose fingerprints are moved together
_THREADS_FROM = 1 << 16  # places of a table that several threads move
_STATES_IN_MEMORY = 1 << 20  # states that are found before the memory of files is given back


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

    def __init__(self, layout: Table, packed: Table, threads: int = 1) -> None:
        """Begin with packed states, an array of shape (states, words); it grows in threads."""
        self._threads = threads
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
        """The number of states that there is room for."""
        return len(self.order)

    def words_at(self, number: int) -> Table:
        """Give the words of a state."""
        words: Table = self.table[self.order[number]]
        return words

    def has_room(self, states: int, expanding: int) -> bool:
        """Whether there is room for so many states while that one is expanded."""
        return states <= self.capacity

    def growth(self, needed: int) -> int:
        """Give the bytes that growing takes."""
        return _factor(self.table) * (self.table.nbytes + 3 * self.order.nbytes)

    def give_back(self, states: int) -> None:
        """Keep everything in memory."""

    def grow(self, states: int, expanding: int, needed: int) -> None:
        """Move to a larger table."""
        old, order, parents, ordinals = self.table, self.order, self.parents, self.ordinals
        moved, words = old.reshape(-1), old.shape[1]
        self._make(self.layout, _factor(old) * len(old))
        parts = _parts(old, self._threads if len(old) >= _THREADS_FROM else 1)

        def keep(number: int) -> None:
            end = (number + 1) * states // len(parts)
            for first in range(number * states // len(parts), end, _TOGETHER):
                part = slice(first, min(first + _TOGETHER, end))
                self.order[part] = moved.take(order[part].astype(np.int64) * words, mode="wrap")
                self.parents[part], self.ordinals[part] = parents[part], ordinals[part]

        with threads(len(parts)) as pool:
            tuple(pool.map(lambda part: move_states(old, self.table, *part), parts))
            tuple(pool.map(keep, range(len(parts))))

    def relay(self, layout: Table, states: int, expanding: int) -> None:
        """Move to a table of another layout."""
        old, table, order = self.layout, self.table, self.order
        parents, ordinals = self.parents, self.ordinals
        self._make(layout, len(table))
        self.parents[:states], self.ordinals[:states] = parents[:states], ordinals[:states]
        self.queue = np.zeros((1, words_of(layout)), dtype=np.int64)
        for first in range(0, states, _TOGETHER):
            rows = relaid(table[order[first : min(first + _TOGETHER, states)]], old, layout)
            insert_states(self.table, self.order, rows, first, words_of(layout))


class CompactStore:
    """A table of fingerprints, and a ring of the states that are still to be expanded.

    Hash compaction: Wolper and Leroy, "Reliable hashing without collision detection", CAV 1993.
    Only the table has to be in memory. The ring and the columns are read and written in their
    order, so they are in temporary files once they are large.
    """

    def __init__(self, layout: Table, packed: Table, fingerprint: int) -> None:
        """Begin with one packed state, an array of shape (1, words), and its fingerprint."""
        self.layout = layout
        self.order = np.zeros(0, dtype=np.uint32)
        self._table = Mapped((_SMALLEST, 1), np.int64, on_disk=False)
        rows = int(_SMALLEST * _FULLEST_COMPACT)
        self._columns = [Mapped((rows,), np.uint32, on_disk=True) for _ in range(2)]
        self._queue = Mapped((1024, words_of(layout)), np.int64, on_disk=True)
        self._queue.array[0] = packed[0]
        self._given_back = 0
        move_states(np.array([[fingerprint]], dtype=np.int64), self.table, 0, 1)

    @property
    def table(self) -> Table:
        """The fingerprints."""
        table: Table = self._table.array
        return table

    @property
    def parents(self) -> Numbers:
        """The state that each was found from."""
        parents: Numbers = self._columns[0].array
        return parents

    @property
    def ordinals(self) -> Numbers:
        """By which transition it was."""
        ordinals: Numbers = self._columns[1].array
        return ordinals

    @property
    def queue(self) -> Table:
        """The states that wait."""
        queue: Table = self._queue.array
        return queue

    @property
    def capacity(self) -> int:
        """The number of states that there is room for."""
        return len(self.parents)

    def words_at(self, number: int) -> Table:
        """Give the words of a state that has not been expanded yet, or just is."""
        words: Table = self.queue[number % len(self.queue)]
        return words

    def has_room(self, states: int, expanding: int) -> bool:
        """Whether there is room for so many states while that one is expanded."""
        return states <= self.capacity and states - expanding <= len(self.queue)

    def growth(self, needed: int) -> int:
        """Give the bytes that growing for so many states takes, if there is room for files."""
        if needed <= self.capacity:
            return 0 if self._queue.can_be_file else 2 * self.queue.nbytes
        columns = 0 if self._columns[0].can_be_file else 2 * self.parents.nbytes
        return (_factor(self.table) - 1) * self.table.nbytes + _factor(self.table) * columns

    def give_back(self, states: int) -> None:
        """Give back the memory of what was written to files, from time to time."""
        if states - self._given_back >= _STATES_IN_MEMORY:
            self._given_back = states
            for each in (*self._columns, self._queue):
                each.flush()

    def grow(self, states: int, expanding: int, needed: int) -> None:
        """Move to a larger table, or ring, whichever has no room for the states `needed`."""
        if needed <= self.capacity:
            self._queue_up(self.layout, 2 * len(self.queue), states, expanding)
            return
        old = self._table
        places = _factor(old.array) * len(old.array)
        self._table = Mapped((places, 1), np.int64, on_disk=False)
        for first in range(0, len(old.array), _MOVED):  # both tables are never whole at once
            until = min(first + _MOVED, len(old.array))
            move_states(old.array, self.table, first, until)
            old.discard(first, _MOVED)
        for each in self._columns:
            each.lengthen(int(places * _FULLEST_COMPACT), states)

    def relay(self, layout: Table, states: int, expanding: int) -> None:
        """Lay the waiting states out in another way; fingerprints do not depend on it."""
        self._queue_up(layout, len(self.queue), states, expanding)

    def _queue_up(self, layout: Table, length: int, states: int, expanding: int) -> None:
        """Move the states that wait to a ring of another length or layout."""
        old, old_layout = self._queue, self.layout
        self._queue = Mapped((length, words_of(layout)), np.int64, on_disk=True)
        self.layout = layout
        for first in range(expanding, states, _TOGETHER):
            numbers = np.arange(first, min(first + _TOGETHER, states))
            rows = old.array[numbers % len(old.array)]
            if old_layout is not layout:
                rows = relaid(rows, old_layout, layout)
            self.queue[numbers % length] = rows
            if not (first - expanding) // _TOGETHER % 64:
                old.flush()
                self._queue.flush()


Store = ExactStore | CompactStore
"""States by their numbers, in the order of being found, and how each was found.

There is room for `capacity` states in the arrays, which are those of `States`.
"""


def arrays_of(store: Store) -> States:
    """Give the arrays for compiled code, as long as the store does not grow."""
    return States(
        store.layout, store.table, store.order, store.parents, store.ordinals, store.queue
    )


def threads(count: int) -> ThreadPoolExecutor:
    """Make threads in which hashes wrap without warnings, which only plain Python gives."""
    return ThreadPoolExecutor(count, initializer=partial(np.seterr, over="ignore"))


def _columns(places: int, count: int) -> list[Numbers]:
    return [np.empty(int(places * _FULLEST), dtype=np.uint32) for _ in range(count)]


def _parts(table: Table, count: int) -> list[tuple[int, int]]:
    """Divide a table where places are free.

    No state of one part was looked for in another, and in a larger table none will be.
    """
    places = len(table)
    begins = []
    for begin in range(0, places, places // count):
        free = begin
        while table[free % places, 0]:
            free += 1
        begins.append(free)
    return list(zip(begins, [*begins[1:], begins[0] + places], strict=True))


def _factor(table: Table) -> int:
    """Say how much larger the next table is.

    Small ones grow faster: moving the states takes longer than clearing memory.
    """
    return 4 if len(table) < _LARGE else 2

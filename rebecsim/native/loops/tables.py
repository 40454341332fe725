"""Open-addressing tables of integers, compiled: of answers, of states, of properties."""

from __future__ import annotations

import numpy as np

from rebecsim.native.arrays import Integers, Numbers, Table
from rebecsim.native.cache import compiled
from rebecsim.native.engines import FINGERPRINT_BITS

Word = int | np.int64  # plain Python must go on with what NumPy gives, which wraps

ABSENT = -1
"""What a table says that it does not know; also the outcome of a message that fails."""

_MULTIPLIER = -7046029254386353131  # 2**64 divided by the golden ratio, as a signed number


@compiled(borrows=True, inline=True)
def hash_at(table: Table, place: int | np.int64, words: int) -> int:
    """Hash the words at a place of an array; the array is of shape (places, words)."""
    mixed = 0
    for word in range(words):
        mixed = (mixed ^ table[place, word]) * _MULTIPLIER
        mixed ^= mixed >> 29
    mixed *= _MULTIPLIER
    return mixed ^ (mixed >> 32)


@compiled(borrows=True, inline=True)
def scatter(key: int) -> int:
    """Hash one key."""
    mixed = key * _MULTIPLIER
    mixed ^= mixed >> 32
    return mixed


@compiled(borrows=True, inline=True)
def look_up(keys: Integers, values: Integers, key: int) -> int:
    """Look up a key in a table of answers; free places hold the key ABSENT."""
    last = keys.shape[0] - 1
    place = scatter(key) & last
    while keys[place] != key:
        if keys[place] == ABSENT:
            return ABSENT
        place = (place + 1) & last
    return values[place]


@compiled(borrows=True, inline=True)
def insert_entry(keys: Integers, values: Integers, key: int, value: int) -> None:
    """Enter a key that is not there yet, with its value; the table must have room."""
    last = keys.shape[0] - 1
    place = scatter(key) & last
    while keys[place] != ABSENT:
        place = (place + 1) & last
    keys[place] = key
    values[place] = value


@compiled(borrows=True)
def insert_entries(keys: Integers, values: Integers, new_keys: Integers, new: Integers) -> None:
    """Enter keys that are not there yet, with their values; the table must have room."""
    for entry in range(new_keys.shape[0]):
        if new_keys[entry] != ABSENT:
            insert_entry(keys, values, new_keys[entry], new[entry])


@compiled(borrows=True)
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


@compiled(borrows=True)
def find_states(table: Table, states: Table, places: Integers, count: int, words: int) -> None:
    """Give the places of the first so many of these states, ABSENT for one that is not there."""
    last = table.shape[0] - 1
    for row in range(count):
        place = hash_at(states, row, words) & last
        known = False
        while table[place, 0] != 0 and not known:
            known = True
            for word in range(words):
                known = known and table[place, word] == states[row, word]
            if not known:
                place = (place + 1) & last
        places[row] = place if known else ABSENT


@compiled(borrows=True)
def move_fingerprints(old: Table, table: Table) -> None:
    """Move fingerprints, both arrays of shape (places, 1), to a larger table."""
    last = table.shape[0] - 1
    for row in range(old.shape[0]):
        if old[row, 0] == 0:
            continue
        place = hash_at(old, row, 1) & last
        while table[place, 0] != 0:
            place = (place + 1) & last
        table[place, 0] = old[row, 0]


@compiled(borrows=True, inline=True)
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


@compiled(borrows=True, inline=True)
def fingerprint(mixed: Word) -> Word:
    """Give the fingerprint of a state of which everything was mixed: never 0."""
    return mixed & (1 << FINGERPRINT_BITS) - 1 | 1 << FINGERPRINT_BITS


@compiled(borrows=True)
def fingerprint_of(parts: Integers, time: int) -> Word:
    """Give the fingerprint of a state: the numbers of its parts, and its time or 0."""
    mixed = mix_in(0, np.int64(time))
    for part in range(parts.shape[0]):
        mixed = mix_in(mixed, parts[part])
    return fingerprint(mixed)


@compiled(borrows=True, inline=True)
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


@compiled(borrows=True)
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

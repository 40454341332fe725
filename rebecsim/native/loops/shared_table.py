"""Two threads store states in one table: each owns one half of its places, so neither waits.

A batch of successors is first sorted by the half in which each is looked for. Then each thread
looks its own up and enters those that are new. At last one thread numbers the new ones in the
order of being found, so that the search is the same as with one thread.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebecsim.native import search_layout as at
from rebecsim.native.arrays import Integers, Table, prefetch, room
from rebecsim.native.cache import compiled
from rebecsim.native.codes import Reason
from rebecsim.native.loops.breadth_first import PropertyTables, is_to_check, note_new
from rebecsim.native.loops.successors import Successors
from rebecsim.native.loops.tables import States, hash_at, place_of

HALVES = 2

_KNOWN, _CROSSES = -1, -2  # in `answers`; a search that leaves its half is left to `number_new`
_AHEAD = 24  # successors from the one that is looked up to the one whose place is fetched

COUNT, CURSOR, NEW, CROSSING, USED_WIDTH = 0, 1, 2, 3, 16
"""Columns of `Shares.used`: how many there are, have been numbered, are new, are left over. A row
takes two lines of the processor's cache."""


class Shares(NamedTuple):
    """Which successors of a batch are looked for in which half of the table, and what came of it.

    Attributes:
        first: the place where each is looked for first; shape (rows,).
        chosen: the successors of each half, in their order; shape (HALVES, rows).
        answers: the place of each of them if it is new, or why there is none; the same shape.
        used: see COUNT; shape (HALVES, USED_WIDTH).
    """

    first: Integers
    chosen: Table
    answers: Table
    used: Table


class Batch(NamedTuple):
    """Successors that were found, and who looks them up."""

    successors: Successors
    shares: Shares


def batch_of(successors: Successors) -> Batch:
    """Make what is needed to look up these successors."""
    rows = len(successors.targets)
    shares = Shares(
        first=np.empty(rows, np.int64),
        chosen=np.empty((HALVES, rows), np.int64),
        answers=np.empty((HALVES, rows), np.int64),
        used=np.zeros((HALVES, USED_WIDTH), np.int64),
    )
    return Batch(successors, shares)


@compiled()
def sort_by_half(states: States, batch: Batch, count: int) -> None:
    """Say in which half of the table the first so many successors of a batch are looked for."""
    wanted, shares = batch.successors.identities, batch.shares
    words = wanted.shape[1]
    last = states.table.shape[0] - 1
    half_of = states.table.shape[0] // HALVES
    for half in range(HALVES):
        shares.used[half, COUNT] = shares.used[half, CURSOR] = 0
    for successor in range(count):
        place = hash_at(wanted, successor, words) & last
        shares.first[successor] = place
        half = 1 if place >= half_of else 0
        shares.chosen[half, shares.used[half, COUNT]] = successor
        shares.used[half, COUNT] += 1


@compiled(inline=True)
def _enter_batch(table: Table, batch: Batch, half: int) -> None:
    wanted, shares = batch.successors.identities, batch.shares
    words = wanted.shape[1]
    end = (half + 1) * (table.shape[0] // HALVES)
    count = shares.used[half, COUNT]
    new = crossing = 0
    for each in range(-_AHEAD, count):
        if each + _AHEAD < count:
            prefetch(table, shares.first[shares.chosen[half, each + _AHEAD]])
        if each < 0:
            continue
        successor = shares.chosen[half, each]
        place = shares.first[successor]
        known = False
        while place < end and table[place, 0] != 0:
            known = True
            for word in range(words):
                known = known and table[place, word] == wanted[successor, word]
            if known:
                break
            place += 1
        answer = _KNOWN
        if not known and place < end:
            for word in range(words):
                table[place, word] = wanted[successor, word]
            answer = place
            new += 1
        elif not known:
            answer = _CROSSES
            crossing += 1
        shares.answers[half, each] = answer
    shares.used[half, NEW] = new
    shares.used[half, CROSSING] = crossing


@compiled()
def enter_half(states: States, first: Batch, second: Batch, half: int) -> None:
    """Enter the new ones among the successors of one half, of two batches in this order.

    Meanwhile another thread may do so for the other half. The table must have room.
    """
    _enter_batch(states.table, first, half)
    _enter_batch(states.table, second, half)


@compiled()
def number_new(control: Integers, states: States, batch: Batch, properties: PropertyTables) -> int:
    """Number what `enter_half` has entered, from `control[STORED]` on, and check it.

    Gives FINISHED, or CHECK to be called again after the last state was checked.
    """
    table, wanted, shares = states.table, batch.successors.identities, batch.shares
    words = wanted.shape[1]
    half_of = table.shape[0] // HALVES
    seen = room(np.int64, (1, control[at.WORDS]))
    while control[at.STORED] < control[at.FOUND]:
        successor = control[at.STORED]
        half = 1 if shares.first[successor] >= half_of else 0
        place = shares.answers[half, shares.used[half, CURSOR]]
        shares.used[half, CURSOR] += 1
        control[at.TRANSITIONS] += 1
        control[at.STORED] += 1
        if place == _CROSSES:
            place = place_of(table, wanted, successor, shares.first[successor], words)
            if table[place, 0] != 0:
                place = _KNOWN
            else:
                for word in range(words):
                    table[place, word] = wanted[successor, word]
        if place != _KNOWN:
            note_new(control, states, batch.successors, successor, place)
            if is_to_check(control, batch.successors, successor, properties, seen):
                return Reason.CHECK
    return Reason.FINISHED

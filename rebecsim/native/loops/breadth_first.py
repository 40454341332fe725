"""The breadth-first search over collapsed states, compiled.

The loop knows nothing of models: what follows from a state is looked up in tables, and where a
table has no answer yet the loop returns, is told the answer, and goes on. So it is compiled once
for all models, and the meaning of a model is worked out where it is defined, once for each inner
state of a rebec and message, and not for each state of the system.

The idea of storing a state as numbers of its parts is Holzmann's collapse method ("State
compression in SPIN", SPIN workshop 1997).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebecsim.native import search_layout as at
from rebecsim.native.arrays import Integers, Numbers, NumberTable, Table, prefetch, room
from rebecsim.native.cache import compiled
from rebecsim.native.codes import Reason
from rebecsim.native.loops.successors import (
    FOUND_BY_WIDTH,
    FOUND_CHOICE,
    FOUND_ORDINAL,
    FOUND_SERVED,
    FOUND_SOURCE,
    FOUND_UNITS,
    WORKING_ROWS,
    Expansion,
    Successors,
    find_successors,
)
from rebecsim.native.loops.tables import States, hash_at, look_up_property, place_of
from rebecsim.native.search_layout import Parts

EDGE_SOURCE, EDGE_TARGET, EDGE_SERVED, EDGE_CHOICE, EDGE_UNITS, EDGE_WIDTH = range(6)
"""Columns of a transition that is written down: its states, then those of FOUND_SERVED on."""


class PropertyTables(NamedTuple):
    """What properties read, shape (properties, words), and what is known of them."""

    masks: Table
    held: Table


class EdgeArrays(NamedTuple):
    """Where transitions are written down.

    Attributes:
        rows: shape (rows, EDGE_WIDTH); without rows if none are written down.
        numbers: the number of the state in each place of the table of states, needed for that.
    """

    rows: NumberTable
    numbers: Numbers


_AT_ONCE = 128  # successors of a state that are looked up together
_AHEAD = 2  # states from the one that is expanded to the one that is fetched from memory


@compiled(inline=True)
def _record(
    control: Integers, edges: EdgeArrays, found_by: Table, successor: int | np.int64, target: int
) -> None:
    """Write down the transition that a successor was found by."""
    edge = control[at.EDGES]
    edges.rows[edge, EDGE_SOURCE] = found_by[successor, FOUND_SOURCE]
    edges.rows[edge, EDGE_TARGET] = target
    edges.rows[edge, EDGE_SERVED] = found_by[successor, FOUND_SERVED]
    edges.rows[edge, EDGE_CHOICE] = found_by[successor, FOUND_CHOICE]
    edges.rows[edge, EDGE_UNITS] = found_by[successor, FOUND_UNITS]
    control[at.EDGES] = edge + 1


@compiled(inline=True)
def note_new(
    control: Integers, states: States, successors: Successors, successor: int, place: int
) -> None:
    """Give the next number to a successor that was entered at a place of the table."""
    number = control[at.STATES]
    if control[at.COMPACT] != 0:
        row = number % states.queue.shape[0]
        for word in range(control[at.WORDS]):
            states.queue[row, word] = successors.targets[successor, word]
    else:
        states.order[number] = place
    states.parents[number] = successors.found_by[successor, FOUND_SOURCE]
    states.ordinals[number] = successors.found_by[successor, FOUND_ORDINAL]
    control[at.STATES] = number + 1


@compiled(inline=True)
def is_to_check(
    control: Integers,
    successors: Successors,
    successor: int,
    properties: PropertyTables,
    seen: Table,
) -> bool:
    """Whether it is not known that all properties hold in a successor.

    `seen` is room for the words of a state.
    """
    words = control[at.WORDS]
    for property_ in range(control[at.PROPERTIES]):
        for word in range(words):
            seen[0, word] = successors.targets[successor, word] & properties.masks[property_, word]
        if look_up_property(properties.held, seen, property_, words) != 1:
            return True
    return False


@compiled(inline=True)
def _store(
    control: Integers,
    states: States,
    successors: Successors,
    properties: PropertyTables,
    edges: EdgeArrays,
    seen: Table,
) -> int:
    """Store the successors that are new, and check them; those before `control[STORED]` are.

    `seen` is room for the words of a state. Gives FINISHED, or the reason to stop before the next.
    """
    table = states.table
    wanted, found_by = successors.identities, successors.found_by
    compact = control[at.COMPACT] != 0
    records = edges.rows.shape[0] != 0
    identity = wanted.shape[1]
    ring = states.queue.shape[0]
    last = table.shape[0] - 1
    begin = control[at.STORED]
    for successor in range(begin, min(begin + _AT_ONCE, control[at.FOUND])):
        prefetch(table, hash_at(wanted, successor, identity) & last)
    while control[at.STORED] < control[at.FOUND]:
        if records and control[at.EDGES] == edges.rows.shape[0]:
            return Reason.GROW
        successor = control[at.STORED]
        first = hash_at(wanted, successor, identity) & last
        place = place_of(table, wanted, successor, first, identity)
        if table[place, 0] != 0:
            if records:
                _record(control, edges, found_by, successor, edges.numbers[place])
            control[at.TRANSITIONS] += 1
            control[at.STORED] += 1
            continue
        number = control[at.STATES]
        if number == control[at.MOST]:
            control[at.TRANSITIONS] += 1
            return Reason.LIMIT
        if number == control[at.CAPACITY] or (compact and number - control[at.NUMBER] == ring):
            return Reason.GROW
        control[at.TRANSITIONS] += 1
        control[at.STORED] += 1
        for word in range(identity):
            table[place, word] = wanted[successor, word]
        if records:
            edges.numbers[place] = number
            _record(control, edges, found_by, successor, number)
        note_new(control, states, successors, successor, place)
        if is_to_check(control, successors, successor, properties, seen):
            return Reason.CHECK
    return Reason.FINISHED


@compiled()
def expand_states(
    control: Integers, states: States, parts: Parts, properties: PropertyTables, edges: EdgeArrays
) -> int:
    """Expand states in the order of being found, until there is a reason to return.

    `control` is described in `rebecsim.native.search_layout`; on return it says where to go on.
    """
    layout, table, order, queue = states.layout, states.table, states.order, states.queue
    words = control[at.WORDS]
    compact = control[at.COMPACT] != 0
    source = room(np.int64, (1, words))
    seen = room(np.int64, (1, words))
    working = room(np.int64, (WORKING_ROWS, control[at.REBECS]))
    # All successors of a state are worked out before the table is looked into: the processor
    # can then wait for several of its far-off places at once.
    targets = room(np.int64, (_AT_ONCE, words))
    fingerprints = room(np.int64, (_AT_ONCE if compact else 1, 1))
    found_by = room(np.int64, (_AT_ONCE, FOUND_BY_WIDTH))
    successors = Successors(targets, fingerprints, fingerprints if compact else targets, found_by)
    of = Expansion(control, layout, parts, source, working, successors)
    while control[at.NUMBER] < control[at.STATES]:
        number = control[at.NUMBER]
        if control[at.ORDINAL] < 0:
            if control[at.BUDGET] == 0:
                return Reason.BUDGET
            control[at.BUDGET] -= 1
            control[at.ORDINAL] = control[at.WRONG] = 0
            control[at.EXPANDED] += 1
        row = number % queue.shape[0] if compact else np.int64(order[number])
        if not compact and number + _AHEAD < control[at.STATES]:
            prefetch(table, np.int64(order[number + _AHEAD]))
        for word in range(words):
            source[0, word] = queue[row, word] if compact else table[row, word]
        on = control[at.ORDINAL]
        control[at.FOUND] = control[at.STORED] = 0
        reason = find_successors(of)
        stopped = _store(control, states, successors, properties, edges, seen)
        if stopped != Reason.FINISHED:  # what comes behind will be worked out again
            last = control[at.STORED] - 1
            control[at.ORDINAL] = found_by[last, FOUND_ORDINAL] + 1 if last >= 0 else on
            return stopped
        if reason == Reason.FINISHED:
            control[at.NUMBER] = number + 1
            control[at.ORDINAL] = -1
        elif reason != Reason.MORE:
            return reason
    return Reason.FINISHED


@compiled()
def expand_ahead(control: Integers, states: States, parts: Parts, successors: Successors) -> int:
    """Work out what follows from states, up to the one that `control` says, and store nothing.

    Meanwhile another thread may store what was found before. Gives FINISHED, or the reason to stop.
    """
    layout, table, order, queue = states.layout, states.table, states.order, states.queue
    words = control[at.WORDS]
    compact = control[at.COMPACT] != 0
    source = room(np.int64, (1, words))
    working = room(np.int64, (WORKING_ROWS, control[at.REBECS]))
    of = Expansion(control, layout, parts, source, working, successors)
    while control[at.NUMBER] < control[at.END]:
        number = control[at.NUMBER]
        if control[at.ORDINAL] < 0:
            control[at.ORDINAL] = control[at.WRONG] = 0
        row = number % queue.shape[0] if compact else np.int64(order[number])
        if not compact and number + _AHEAD < control[at.END]:
            prefetch(table, np.int64(order[number + _AHEAD]))
        for word in range(words):
            source[0, word] = queue[row, word] if compact else table[row, word]
        reason = find_successors(of)
        if reason != Reason.FINISHED:
            return reason
        control[at.NUMBER] = number + 1
        control[at.ORDINAL] = -1
    return Reason.FINISHED


@compiled()
def store_found(
    control: Integers, states: States, successors: Successors, properties: PropertyTables
) -> int:
    """Store what `expand_ahead` has found, from `control[STORED]` on.

    Gives FINISHED, or the reason to stop.
    """
    seen = room(np.int64, (1, control[at.WORDS]))
    rows = room(np.uint32, (0, EDGE_WIDTH))
    edges = EdgeArrays(rows, room(np.uint32, 0))
    return _store(control, states, successors, properties, edges, seen)

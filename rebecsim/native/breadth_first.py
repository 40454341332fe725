"""The breadth-first search over collapsed states, compiled.

The loop knows nothing of models: what follows from a state is looked up in tables, and where a
table has no answer yet the loop returns, is told the answer, and goes on. So it is compiled once
for all models, and the meaning of a model is worked out where it is defined, once for each inner
state of a rebec and message, and not for each state of the system.

The idea of storing a state as numbers of its parts is Holzmann's collapse method ("State
compression in SPIN", SPIN workshop 1997).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebecsim.native import control as at
from rebecsim.native import reasons
from rebecsim.native.cache import compiled
from rebecsim.native.successors import (
    FOUND_BY_WIDTH,
    FOUND_CHOICE,
    FOUND_ORDINAL,
    FOUND_SERVED,
    FOUND_SOURCE,
    FOUND_UNITS,
    WORKING_ROWS,
    find_successors,
)
from rebecsim.native.tables import hash_at, look_up_property

Integers = NDArray[np.int64]
Numbers = NDArray[np.uint32]
Edges = NDArray[np.uint32]
Rows = NDArray[np.int32]

EDGE_SOURCE, EDGE_TARGET, EDGE_SERVED, EDGE_CHOICE, EDGE_UNITS, EDGE_WIDTH = range(6)
"""Of a transition that is written down: the states, and the rest as of `find_successors`."""

_AT_ONCE = 128  # successors of a state that are looked up together


@compiled(
    "void(int64[::1], uint32[:, ::1], int64[:, ::1], int64, int64)", borrows=True, inline=True
)
def _record(
    control: Integers, edges: Edges, found_by: Integers, successor: int | np.int64, target: int
) -> None:
    """Write down the transition that a successor was found by."""
    edge = control[at.EDGES]
    edges[edge, EDGE_SOURCE] = found_by[successor, FOUND_SOURCE]
    edges[edge, EDGE_TARGET] = target
    edges[edge, EDGE_SERVED] = found_by[successor, FOUND_SERVED]
    edges[edge, EDGE_CHOICE] = found_by[successor, FOUND_CHOICE]
    edges[edge, EDGE_UNITS] = found_by[successor, FOUND_UNITS]
    control[at.EDGES] = edge + 1


@compiled(
    "int64(int64[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], uint32[::1],"
    "uint32[::1], uint32[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1],"
    "uint32[::1], uint32[:, ::1])",
    borrows=True,
    inline=True,
)
def _store(
    control: Integers,
    targets: Integers,
    wanted: Integers,
    found_by: Integers,
    table: Integers,
    order: Numbers,
    parents: Numbers,
    ordinals: Numbers,
    queue: Integers,
    masks: Integers,
    held: Integers,
    seen: Integers,
    numbers: Numbers,
    edges: Edges,
) -> int:
    """Store the successors that are new, and check them; those before `control[STORED]` are.

    `targets` are their words and `wanted` what the table tells them apart by: the same, or
    fingerprints. Gives FINISHED, or the reason to stop before the next one.
    """
    words = control[at.WORDS]
    compact = control[at.COMPACT] != 0
    records = edges.shape[0] != 0
    identity = wanted.shape[1]
    ring = queue.shape[0]
    last = table.shape[0] - 1
    while control[at.STORED] < control[at.FOUND]:
        if records and control[at.EDGES] == edges.shape[0]:
            return reasons.GROW
        successor = control[at.STORED]
        place = hash_at(wanted, successor, identity) & last
        known = False
        while table[place, 0] != 0:
            known = True
            for word in range(identity):
                known = known and table[place, word] == wanted[successor, word]
            if known:
                break
            place = (place + 1) & last
        if known:
            if records:
                _record(control, edges, found_by, successor, numbers[place])
            control[at.TRANSITIONS] += 1
            control[at.STORED] += 1
            continue
        states = control[at.STATES]
        if states == control[at.MOST]:
            control[at.TRANSITIONS] += 1
            return reasons.LIMIT
        if states == control[at.CAPACITY] or (compact and states - control[at.NUMBER] == ring):
            return reasons.GROW
        control[at.TRANSITIONS] += 1
        control[at.STORED] += 1
        for word in range(identity):
            table[place, word] = wanted[successor, word]
        if compact:
            for word in range(words):
                queue[states % ring, word] = targets[successor, word]
        else:
            order[states] = place
        if records:
            numbers[place] = states
            _record(control, edges, found_by, successor, states)
        parents[states] = found_by[successor, FOUND_SOURCE]
        ordinals[states] = found_by[successor, FOUND_ORDINAL]
        control[at.STATES] = states + 1
        for property_ in range(control[at.PROPERTIES]):
            for word in range(words):
                seen[0, word] = targets[successor, word] & masks[property_, word]
            if look_up_property(held, seen, property_, words) != 1:
                return reasons.CHECK
    return reasons.FINISHED


@compiled(
    "int64(int64[::1], int64[:, ::1], int32[:, ::1], int32[:, ::1], int64[::1], int64[:, ::1],"
    "int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[::1],"
    "int64[::1], int64[:, ::1], uint32[::1], uint32[::1], uint32[::1], int64[:, ::1],"
    "int64[:, ::1], int64[:, ::1], uint32[::1], uint32[:, ::1])"
)
def expand_states(
    control: Integers,
    layout: Integers,
    inner_at: Rows,
    bag_at: Rows,
    capacities: Integers,
    inners: Integers,
    bags: Integers,
    alternatives: Integers,
    batches: Integers,
    effects: Integers,
    sendings: Integers,
    keys: Integers,
    values: Integers,
    table: Integers,
    order: Numbers,
    parents: Numbers,
    ordinals: Numbers,
    queue: Integers,
    masks: Integers,
    held: Integers,
    numbers: Numbers,
    edges: Edges,
) -> int:
    """Expand states in the order of being found, until there is a reason to return.

    * control: see `rebecsim.native.control`; on return it says where to go on.
    * layout: (parts, 3), the word, shift and mask of each part of a state: inner state and bag of
      each rebec, then the time if it is kept.
    * inner_at, bag_at: (rebecs, numbers), the row of each numbered inner state and bag.
    * capacities: (rebecs,), the sizes of the queues.
    * inners, bags, alternatives, batches, effects, sendings: see `rebecsim.native.parts`.
    * keys, values: the answers, see `rebecsim.native.answers`.
    * table: (places, words), the states; order: the place of each; parents and ordinals: the
      state it was found from, and by which transition.
    * queue: (rows, words); with hash compaction the table has fingerprints only, shape (places, 1),
      and the states still to be expanded, from the one being expanded on, are here in a ring.
    * masks: (properties, words), what each property reads; held: what is known of them.
    * edges: (rows, EDGE_WIDTH), where transitions are written down, without rows if they are not;
      numbers: (places,), the number of the state in each place of the table, needed for that.
    """
    words = control[at.WORDS]
    compact = control[at.COMPACT] != 0
    source = np.empty((1, words), dtype=np.int64)
    seen = np.empty((1, words), dtype=np.int64)
    working = np.empty((WORKING_ROWS, control[at.REBECS]), dtype=np.int64)
    # All successors of a state are worked out before the table is looked into: the processor
    # can then wait for several of its far-off places at once.
    targets = np.empty((_AT_ONCE, words), dtype=np.int64)
    fingerprints = np.empty((_AT_ONCE if compact else 1, 1), dtype=np.int64)
    wanted = fingerprints if compact else targets
    found_by = np.empty((_AT_ONCE, FOUND_BY_WIDTH), dtype=np.int64)
    while control[at.NUMBER] < control[at.STATES]:
        number = control[at.NUMBER]
        if control[at.ORDINAL] < 0:
            if control[at.BUDGET] == 0:
                return reasons.BUDGET
            control[at.BUDGET] -= 1
            control[at.ORDINAL] = 0
            control[at.EXPANDED] += 1
        row = number % queue.shape[0] if compact else np.int64(order[number])
        for word in range(words):
            source[0, word] = queue[row, word] if compact else table[row, word]
        on = control[at.ORDINAL]
        control[at.FOUND] = control[at.STORED] = 0
        reason = find_successors(
            control,
            layout,
            inner_at,
            bag_at,
            capacities,
            inners,
            bags,
            alternatives,
            batches,
            effects,
            sendings,
            keys,
            values,
            source,
            working,
            targets,
            fingerprints,
            found_by,
        )
        stopped = _store(
            control,
            targets,
            wanted,
            found_by,
            table,
            order,
            parents,
            ordinals,
            queue,
            masks,
            held,
            seen,
            numbers,
            edges,
        )
        if stopped != reasons.FINISHED:  # what comes behind will be worked out again
            last = control[at.STORED] - 1
            control[at.ORDINAL] = found_by[last, FOUND_ORDINAL] + 1 if last >= 0 else on
            return stopped
        if reason == reasons.FINISHED:
            control[at.NUMBER] = number + 1
            control[at.ORDINAL] = -1
        elif reason != reasons.MORE:
            return reason
    return reasons.FINISHED


@compiled(
    "int64(int64[::1], int64[:, ::1], int32[:, ::1], int32[:, ::1], int64[::1], int64[:, ::1],"
    "int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[::1],"
    "int64[::1], int64[:, ::1], uint32[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1],"
    "int64[:, ::1])"
)
def expand_ahead(
    control: Integers,
    layout: Integers,
    inner_at: Rows,
    bag_at: Rows,
    capacities: Integers,
    inners: Integers,
    bags: Integers,
    alternatives: Integers,
    batches: Integers,
    effects: Integers,
    sendings: Integers,
    keys: Integers,
    values: Integers,
    table: Integers,
    order: Numbers,
    queue: Integers,
    targets: Integers,
    fingerprints: Integers,
    found_by: Integers,
) -> int:
    """Work out what follows from states, up to the one that `control` says, and store nothing.

    Meanwhile another thread may store what was found before. The arguments are those of
    `expand_states` and `find_successors`. Gives FINISHED, or the reason to stop.
    """
    words = control[at.WORDS]
    compact = control[at.COMPACT] != 0
    source = np.empty((1, words), dtype=np.int64)
    working = np.empty((WORKING_ROWS, control[at.REBECS]), dtype=np.int64)
    while control[at.NUMBER] < control[at.END]:
        number = control[at.NUMBER]
        control[at.ORDINAL] = max(control[at.ORDINAL], 0)
        row = number % queue.shape[0] if compact else np.int64(order[number])
        for word in range(words):
            source[0, word] = queue[row, word] if compact else table[row, word]
        reason = find_successors(
            control,
            layout,
            inner_at,
            bag_at,
            capacities,
            inners,
            bags,
            alternatives,
            batches,
            effects,
            sendings,
            keys,
            values,
            source,
            working,
            targets,
            fingerprints,
            found_by,
        )
        if reason != reasons.FINISHED:
            return reason
        control[at.NUMBER] = number + 1
        control[at.ORDINAL] = -1
    return reasons.FINISHED


@compiled(
    "int64(int64[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], uint32[::1],"
    "uint32[::1], uint32[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1])"
)
def store_found(
    control: Integers,
    targets: Integers,
    wanted: Integers,
    found_by: Integers,
    table: Integers,
    order: Numbers,
    parents: Numbers,
    ordinals: Numbers,
    queue: Integers,
    masks: Integers,
    held: Integers,
) -> int:
    """Store what `expand_ahead` has found, from `control[STORED]` on.

    `wanted` are the fingerprints with hash compaction, else the same as `targets`. The other
    arguments are those of `expand_states`. Gives FINISHED, or the reason to stop.
    """
    seen = np.empty((1, control[at.WORDS]), dtype=np.int64)
    numbers = np.empty(0, dtype=np.uint32)
    edges = np.empty((0, EDGE_WIDTH), dtype=np.uint32)
    return _store(
        control,
        targets,
        wanted,
        found_by,
        table,
        order,
        parents,
        ordinals,
        queue,
        masks,
        held,
        seen,
        numbers,
        edges,
    )

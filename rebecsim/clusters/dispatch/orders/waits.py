"""How long jobs wait under FIFO when all updates come early, or all come late: compiled loops.

Under FIFO a job begins when its turn has come and an AppMaster is ready. So it is enough to know
when each AppMaster will be ready for a job that comes now, all those before it being handed out:
the vector of Kiefer and Wolfowitz (1955), sorted. Here its entries are counted from a tick on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebecsim.clusters.dispatch.orders.loops import Floats, FloatTable, Graph, Number, unpack
from rebecsim.clusters.dispatch.orders.states import Tables
from rebecsim.native.arrays import Integers, ShortTable, Table, room
from rebecsim.native.cache import compiled

EARLY, LATE, LATEST = range(3)
"""All updates come before the tick; behind it; and a job begins no sooner than under any order."""

MISSES, COMPLETIONS, OVERFLOW = 0, 3, 6
"""Columns of a layer: misses in each of these, completions, and how likely a job is refused."""

_NEVER = 1 << 30
_MOST_OPEN = 3
"""Jobs of which it is tried out whether it is worse that they are missed; others count as both."""


class Waits(NamedTuple):
    """The vectors of a cluster, and what becomes of them.

    Attributes:
        sizes: AppMasters, the most by which two entries differ, vectors for each least entry, the
            least wait with which jobs might find all slots taken.
        binomials: by how many there are, then by how many are taken.
        vectors: each, sorted.
        aged: the number of each a tick later.
        kinds: of jobs that come: the tick of the deadline, how long one takes at least and at most.
        after: the number of each vector when a job of a kind is handed out; one block of rows for
            EARLY, LATE and LATEST each.
    """

    sizes: Integers
    binomials: Table
    vectors: Table
    aged: Integers
    kinds: Table
    after: ShortTable


@compiled()
def number_of(sizes: Integers, binomials: Table, vector: Integers) -> Number:
    """Give the number of a sorted vector: by its least entry, then by how much more others are."""
    number: np.int64 = vector[0] * sizes[2]
    for place in range(1, sizes[0]):
        number += binomials[vector[place] - vector[0] + place - 1, place]
    return number


@compiled()
def ready_again(
    chain: int, start: Number, due: Number, shortest: Number, longest: Number
) -> Number:
    """Give when an AppMaster is ready again that may begin a job at a tick; `start` if it may not.

    A job that is late takes until its deadline, and from then on it is not begun any more. For
    EARLY and LATEST, which begin a job no later, or no sooner, than any order does, this does not
    decrease when `start` increases.
    """
    if chain == 0:
        return start + shortest if start + shortest <= due else max(start, due)
    if chain == 2:
        return min(start + longest, due) + 1 if start <= due else start
    return min(start + longest, due) + 1 if start < due else start


@compiled()
def _hand_out(vector: Integers, workers: Number, ready: Number) -> None:
    """Let the AppMaster that is ready first be so at another time."""
    place = 1
    while place < workers and vector[place] < ready:
        vector[place - 1] = vector[place]
        place += 1
    vector[place - 1] = ready


@compiled()
def enter_vectors(waits: Waits) -> None:
    """Fill in what becomes of each vector."""
    workers, count = waits.sizes[0], waits.vectors.shape[0]
    vector = room(np.int64, workers)
    for number in range(count):
        for place in range(workers):
            vector[place] = max(waits.vectors[number, place] - 1, 0)
        waits.aged[number] = number_of(waits.sizes, waits.binomials, vector)
        for kind in range(waits.kinds.shape[0]):
            due, shortest = waits.kinds[kind, 0], waits.kinds[kind, 1]
            longest = waits.kinds[kind, 2]
            for chain in range(3):
                for place in range(workers):
                    vector[place] = waits.vectors[number, place]
                ready = ready_again(chain, vector[0], due, shortest, longest)
                _hand_out(vector, workers, ready)
                after = number_of(waits.sizes, waits.binomials, vector)
                waits.after[chain * count + number, kind] = after


@compiled()
def _is_open(start: Number, due: Number, longest: Number) -> bool:
    """Whether a job is missed if it begins as late as it may, but not if it begins any sooner.

    In the latter case its AppMaster is ready a tick later. Such jobs take one tick.
    """
    return start == due and longest == 1


@compiled()
def _served(
    waits: Waits, jobs: Integers, chain: int, number: Number, sooner: int, left: int, counted: Table
) -> Number:
    """Hand out the jobs of a row of kinds to a vector; give the number of the vector then.

    Of those under LATEST that are open, some begin sooner, by the bits of a number. Notes in
    `counted[0]` how many are missed and completed, whether one might be refused, how many are open.
    """
    vector = np.int64(number)
    for place in range(4):
        counted[0, place] = 0
    for coming in range(jobs.shape[0]):
        kind = jobs[coming]
        if kind < 0:
            continue
        start = waits.vectors[vector, 0]
        due = waits.kinds[kind, 0]
        ends = start + waits.kinds[kind, 1 if chain == 0 else 2]
        counted[0, 2] |= start >= waits.sizes[3]
        if chain == 2 and _is_open(start, due, waits.kinds[kind, 2]):
            begins = counted[0, 3] >= _MOST_OPEN or sooner >> counted[0, 3] & 1
            counted[0, 3] += 1
            if not begins:
                counted[0, 0] += due <= left
                continue
            ends = due
        counted[0, 0] += ends > due and due <= left
        counted[0, 1] += ends <= due and ends <= left
        row = chain * waits.vectors.shape[0] + vector
        vector = np.int64(waits.after[row, kind])
    return vector


@compiled()
def wait_back(
    waits: Waits,
    ways: Table,
    chances: Floats,
    left: int,
    later: FloatTable,
    now: FloatTable,
    counted: Table,
) -> None:
    """Work out for each vector what is counted from a tick on, from that of the next tick.

    Jobs come in one of several `ways`, each a row of kinds (-1: none). So many ticks are `left`.
    `counted` is for working.
    """
    for number in range(waits.vectors.shape[0]):
        for column in range(7):
            now[number, column] = 0.0
        for way in range(ways.shape[0]):
            for chain in range(3):
                most = -1.0
                least = 1e300
                sooner = 0
                while sooner >= 0:
                    vector = _served(waits, ways[way], chain, number, sooner, left, counted)
                    vector = np.int64(waits.aged[vector])
                    most = max(most, counted[0, 0] + later[vector, chain])
                    least = min(least, counted[0, 1] + later[vector, 3 + chain])
                    sooner = _next_sooner(sooner, counted[0, 3])
                    if chain == 2 and sooner < 0:  # all have begun sooner, and are ready later
                        refused = 1.0 if counted[0, 2] else later[vector, 6]
                        now[number, 6] += chances[way] * refused
                now[number, chain] += chances[way] * most
                now[number, 3 + chain] += chances[way] * least


@compiled()
def _next_sooner(sooner: int, open_jobs: Number) -> int:
    """Give which open jobs begin sooner next; -1 when all ways were tried."""
    sooner += 1
    return sooner if sooner < 1 << min(open_jobs, _MOST_OPEN) else -1


@compiled()
def wait_on(
    tables: Tables,
    graph: Graph,
    waits: Waits,
    nodes: Integers,
    coming: int,
    left: int,
    layer: FloatTable,
    found: FloatTable,
) -> None:
    """Give what is counted from a tick on in some states: as in a `layer`, which is of that tick.

    So many jobs are `coming` at most in the ticks that are `left`. The last column is how likely
    jobs are refused times all that there may be.
    """
    parts = room(np.int64, tables.layout.shape[0] + 1)
    work = room(np.int64, (4, max(tables.sizes[0], tables.sizes[1], 4)))
    for each in range(nodes.shape[0]):
        unpack(tables.layout, graph.nodes, nodes[each], parts)
        for chain in range(3):
            most = -1.0
            least = 1e300
            sooner = 0
            while sooner >= 0:
                _serve_waiting(tables, waits, parts, chain, sooner, left, work)
                number = number_of(waits.sizes, waits.binomials, work[0])
                most = max(most, work[2, 0] + layer[number, chain])
                least = min(least, work[2, 1] + layer[number, 3 + chain])
                sooner = _next_sooner(sooner, work[2, 3])
            found[each, chain] = most
            found[each, 3 + chain] = least
            if chain == 2:
                refused = 1.0 if _might_refuse(tables, work) else layer[number, 6]
                found[each, 6] = refused * (coming + graph.waiting[nodes[each]])


@compiled()
def _serve_waiting(
    tables: Tables,
    waits: Waits,
    parts: Integers,
    chain: int,
    sooner: int,
    left: int,
    work: Table,
) -> None:
    """Hand out the jobs that wait in a state.

    Notes in `work` the vector then, when each begins, and what is counted as `_served` does, but in
    the third place how many there are; and when each begins under EARLY, which comes first.
    """
    workers, slots, classes = tables.sizes[0], tables.sizes[1], tables.sizes[3]
    vector, starts, counted = work[0], work[1], work[2]
    for place in range(4):
        counted[place] = 0
    for worker in range(workers):  # sorted, as each takes the place of another one
        vector[worker] = -1
    for worker in range(workers):
        _hand_out(vector, workers, max(parts[1 + worker] - (chain == 0), 0))
    for slot in range(1 + workers, 1 + workers + slots):
        if parts[slot] == 0:
            continue
        due = parts[slot] // classes - 1
        kind = parts[slot] - (due + 1) * classes
        shortest = longest = _NEVER
        if tables.lengths[kind]:
            shortest = tables.shortest[kind]
            longest = 0
            for group in range(tables.groups.shape[0]):
                longest = max(longest, tables.busy[kind, group])
        start = vector[0]
        job = counted[2]
        starts[job] = start
        if chain == 0:
            work[3, job] = start
        counted[2] += 1
        ends = start + (shortest if chain == 0 else longest)
        if work[3, job] >= due:  # it is never begun
            counted[0] += due <= left
            continue
        if chain == 2 and _is_open(start, due, longest):
            begins = counted[3] >= _MOST_OPEN or sooner >> counted[3] & 1
            counted[3] += 1
            if not begins:
                counted[0] += due <= left
                continue
            ends = due
        counted[0] += ends > due and due <= left
        counted[1] += ends <= due and ends <= left
        ready = ready_again(chain, start, due, shortest, longest)
        # More than that is taken only by what cannot begin up to the last tick.
        _hand_out(vector, workers, ready if ready - start <= waits.sizes[1] else start)


@compiled()
def _might_refuse(tables: Tables, work: Table) -> bool:
    """Whether all slots might be taken before those have begun that wait now."""
    waiting = work[2, 2]
    gone = 0
    for later in range(work[0, 0] + 1):
        while gone < waiting and work[1, gone] < later:
            gone += 1
        if waiting - gone + (later + 1) * tables.jobs.shape[1] > tables.sizes[1]:
            return True
    return False

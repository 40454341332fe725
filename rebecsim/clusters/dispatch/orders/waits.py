"""How long jobs wait under FIFO when all updates come early, or all come late: compiled loops.

Under FIFO a job begins when its turn has come and an AppMaster is ready. So it is enough to know
when each AppMaster will be ready for a job that comes now, all those before it being handed out:
the vector of Kiefer and Wolfowitz (1955), sorted. Here its entries are counted from a tick on.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.dispatch.orders.loops import Floats, FloatTable, Graph, Number, unpack
from rebecsim.clusters.dispatch.orders.states import Tables
from rebecsim.native.arrays import Integers, Table
from rebecsim.native.cache import compiled

Places = Annotated[NDArray[np.int32], 2]

EARLY, LATE, LATEST = range(3)
"""All updates come before the tick; behind it; and a job begins no sooner than under any order."""

MISSES, COMPLETIONS, OVERFLOW = 0, 3, 6
"""Columns of a layer: misses in each of these, completions, and how likely a job is refused."""

_NEVER = 1 << 30


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
    after: Places


@compiled(inner=True)
def number_of(sizes: Integers, binomials: Table, vector: Integers) -> Number:
    """Give the number of a sorted vector: by its least entry, then by how much more others are."""
    number: np.int64 = vector[0] * sizes[2]
    for place in range(1, sizes[0]):
        number += binomials[vector[place] - vector[0] + place - 1, place]
    return number


@compiled(inner=True)
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


@compiled(inner=True)
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
    vector = np.zeros(workers, np.int64)
    for number in range(count):
        for place in range(workers):
            vector[place] = max(waits.vectors[number, place] - 1, 0)
        waits.aged[number] = number_of(waits.sizes, waits.binomials, vector)
        for kind in range(waits.kinds.shape[0]):
            due, shortest, longest = waits.kinds[kind]
            for chain in range(3):
                for place in range(workers):
                    vector[place] = waits.vectors[number, place]
                ready = ready_again(chain, vector[0], due, shortest, longest)
                _hand_out(vector, workers, ready)
                after = number_of(waits.sizes, waits.binomials, vector)
                waits.after[chain * count + number, kind] = after


@compiled(borrows=True)
def wait_back(
    waits: Waits, ways: Table, chances: Floats, left: int, later: FloatTable, now: FloatTable
) -> None:
    """Work out for each vector what is counted from a tick on, from that of the next tick.

    Jobs come in one of several `ways`, each a row of kinds (-1: none). So many ticks are `left`.
    """
    count = waits.vectors.shape[0]
    for number in range(count):
        for column in range(7):
            now[number, column] = 0.0
        for way in range(ways.shape[0]):
            refused = False
            for chain in range(3):
                vector = np.int64(number)
                missed = 0
                done = 0
                for coming in range(ways.shape[1]):
                    kind = ways[way, coming]
                    if kind < 0:
                        continue
                    start = waits.vectors[vector, 0]
                    due = waits.kinds[kind, 0]
                    ends = start + waits.kinds[kind, 1 if chain == 0 else 2]
                    missed += ends > due and due <= left
                    done += ends <= due and ends <= left
                    refused = refused or (chain == 2 and start >= waits.sizes[3])
                    vector = np.int64(waits.after[chain * count + vector, kind])
                vector = np.int64(waits.aged[vector])
                now[number, chain] += chances[way] * (missed + later[vector, chain])
                now[number, 3 + chain] += chances[way] * (done + later[vector, 3 + chain])
                if chain == 2:
                    now[number, 6] += chances[way] * (1.0 if refused else later[vector, 6])


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
    workers, slots, classes = tables.sizes[0], tables.sizes[1], tables.sizes[3]
    spread, together = waits.sizes[1], tables.jobs.shape[1]
    parts = np.zeros(tables.layout.shape[0] + 1, np.int64)
    vector = np.zeros(workers, np.int64)
    starts = np.zeros(slots, np.int64)
    for each in range(nodes.shape[0]):
        node = nodes[each]
        unpack(tables.layout, graph.nodes, node, parts)
        for chain in range(3):
            for worker in range(workers):  # sorted, as each takes the place of another one
                vector[worker] = -1
            for worker in range(workers):
                _hand_out(vector, workers, max(parts[1 + worker] - (chain == 0), 0))
            waiting = 0
            missed = 0
            done = 0
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
                ends = start + (shortest if chain == 0 else longest)
                missed += ends > due and due <= left
                done += ends <= due and ends <= left
                starts[waiting] = start
                waiting += 1
                ready = ready_again(chain, start, due, shortest, longest)
                # More than that is taken only by what cannot begin up to the last tick.
                _hand_out(vector, workers, ready if ready - start <= spread else start)
            number = number_of(waits.sizes, waits.binomials, vector)
            found[each, chain] = missed + layer[number, chain]
            found[each, 3 + chain] = done + layer[number, 3 + chain]
            if chain == 2:
                refused = layer[number, 6]
                gone = 0
                for later in range(vector[0] + 1):
                    while gone < waiting and starts[gone] < later:
                        gone += 1
                    if waiting - gone + (later + 1) * together > slots:
                        refused = 1.0
                found[each, 6] = refused * (coming + waiting)

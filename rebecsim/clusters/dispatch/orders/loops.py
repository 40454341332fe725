"""The states of a cluster that follow each other, and their values: compiled loops."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.dispatch.orders.states import Tables
from rebecsim.native.arrays import ArrayType, Integers, Narrow, ShortTable, Table, rows
from rebecsim.native.cache import compiled
from rebecsim.native.loops.tables import hash_at

Floats = Annotated[NDArray[np.float64], ArrayType(np.float64, 1)]
Number = int | np.int64  # where NumPy gives what plain Python goes on with
FloatTable = Annotated[NDArray[np.float64], ArrayType(np.float64, 2)]

NODES, RECEIPTS, CHOICES, ACTIONS = range(4)
"""What is counted."""

UNKNOWN = -1
"""In the place of the first action: a state that was not looked at."""

OPEN = -1.0
"""In the place of a weight: it is open whether this comes of a tick, or what stands before it."""


class Graph(NamedTuple):
    """The states that were found, what can be done in each, and what comes of it.

    A state is what is left of a tick when jobs have been handed out. Then jobs come, in one of
    several ways, and for each of these there are several ways to do the next tick.

    Attributes:
        counts: how many there are of each; see NODES and those after it.
        nodes: states; `node_places` finds them.
        waiting: how many jobs wait in each.
        way: the first way in which jobs come in each, and the one behind the last.
        first_choice, first_action: of each; UNKNOWN if it was not looked at.
        ticks: how many followed when it was looked at.
        actions: for each way in which jobs come in a state, how many there are to do the tick.
        receipts: what is counted in a tick: misses in the queue, then what becomes of each job that
            is handed out.
        target, receipt, weight: of each action; the last is how likely the random order takes it.
    """

    counts: Integers
    nodes: Table
    node_places: Narrow
    waiting: Narrow
    way: ShortTable
    first_choice: Integers
    first_action: Integers
    ticks: Narrow
    actions: Narrow
    receipts: Table
    receipt_places: Narrow
    target: Narrow
    receipt: Narrow
    weight: Floats


@compiled()
def entered(rows: Table, places: Narrow, count: Number, words: int) -> Number:
    """Give the number of the row behind the last one: that of an equal row, or its own if new."""
    last = places.shape[0] - 1
    place = hash_at(rows, count, words) & last
    while places[place] != 0:
        number = np.int64(places[place]) - 1
        same = True
        for word in range(words):
            same = same and rows[number, word] == rows[count, word]
        if same:
            return number
        place = (place + 1) & last
    places[place] = count + 1
    return count


@compiled()
def enter_all(rows: Table, places: Narrow, first: int, behind: int, words: int) -> None:
    """Enter some rows, which all differ, into an empty table of places."""
    last = places.shape[0] - 1
    for row in range(first, behind):
        place = hash_at(rows, row, words) & last
        while places[place] != 0:
            place = (place + 1) & last
        places[place] = row + 1


@compiled()
def unpack(layout: Table, rows: Table, row: int, parts: Integers) -> None:
    """Read the parts of a state."""
    for part in range(layout.shape[0]):
        parts[part] = rows[row, layout[part, 0]] >> layout[part, 1] & layout[part, 2]


@compiled()
def _pack(layout: Table, parts: Integers, rows: Table, row: Number, words: int) -> None:
    for word in range(words):
        rows[row, word] = 0
    for part in range(layout.shape[0]):
        rows[row, layout[part, 0]] |= parts[part] << layout[part, 1]


@compiled()
def _key(tables: Tables, job: np.int64) -> np.int64:
    """Give what the policy goes by: the job with the least is handed out first."""
    classes, policy = tables.sizes[3], tables.sizes[4]
    left = job // classes
    kind = job - left * classes
    key: np.int64 = left
    if policy == 2:
        key = -left
    elif policy == 3:
        key = left + (0 if tables.high[kind] else 1 << 40)
    elif policy == 4:
        key = left - tables.lengths[kind]
    elif policy == 5:
        key = tables.lengths[kind] - left
    elif policy == 6:
        key = tables.lengths[kind]
    return key


@compiled()
def chosen(tables: Tables, parts: Integers, first: int, behind: int) -> int:
    """Give the slot of the job that the policy hands out next; -1 when none waits."""
    best = -1
    least = np.int64(0)
    for slot in range(first, behind):
        if parts[slot] == 0:
            continue
        if tables.sizes[4] == 1:
            return slot
        key = _key(tables, parts[slot])
        if best == -1 or key < least:
            best = slot
            least = key
    return best


@compiled()
def _tied(tables: Tables, parts: Integers, best: int, behind: int, option: Number) -> int:
    """Give the slot of one of the jobs that differ and might be the next, from a sorted queue.

    These are as many as there are, negative, for an option that there is not. `best` is the first.
    """
    seen = parts[best]
    number = 0
    for slot in range(best, behind):
        if parts[slot] and _key(tables, parts[slot]) == _key(tables, parts[best]):
            number += slot > best and parts[slot] != seen
            seen = parts[slot]
            if number == option:
                return slot
    return -number - 1


@compiled()
def settle(tables: Tables, parts: Integers, left: int, scratch: Table) -> None:
    """Forget what does not matter: who is which of those alike, lengths, deadlines, slots.

    `left` ticks follow, and what comes behind them does not matter.
    """
    first = 1 + tables.sizes[0]
    behind = first + tables.sizes[1]
    for worker in range(1, first):
        parts[worker] = min(parts[worker], left + 1)
    for group in range(tables.groups.shape[0]):
        _sort(parts, 1 + tables.groups[group, 0], 1 + tables.groups[group, 1])
    if tables.sizes[4] == 1:
        free = first
        for slot in range(first, behind):
            if parts[slot]:
                job = parts[slot]
                parts[slot] = 0
                parts[free] = job
                free += 1
    if tables.sizes[6]:
        _foresee(tables, parts, left, scratch)
    if tables.sizes[5]:
        _sort(parts, first, behind)


@compiled()
def _foresee(tables: Tables, parts: Integers, ticks: int, scratch: Table) -> None:
    """Forget lengths of jobs that must be late, and under FIFO deadlines that must be met.

    No job can begin before those that go before it now have begun or are late, each as soon as an
    AppMaster may be free; that is the earliest. Under FIFO none can come between, and the latest is
    when all updates come behind the tick. A job that cannot begin in the ticks that follow, and is
    not missed in them either, only takes up its slot: any that goes behind the others will do.
    Where it is open which of several is next, nothing is said of these and those behind them.
    """
    classes, workers = tables.sizes[3], tables.sizes[0]
    first = 1 + workers
    behind = first + tables.sizes[1]
    soonest, latest, left = scratch[0], scratch[1], scratch[2]
    for worker in range(workers):
        busy = parts[1 + worker]
        soonest[worker] = max(busy, 1)
        latest[worker] = busy + 1
    for slot in range(first, behind):
        left[slot] = parts[slot]
    slot = chosen(tables, left, first, behind)
    while slot >= 0:
        if tables.sizes[8] and _tied(tables, left, slot, behind, 1) >= 0:
            return
        left[slot] = 0
        due = parts[slot] // classes
        kind = parts[slot] - due * classes
        worker = _least(soonest, workers)
        if soonest[worker] > ticks:
            if due > ticks:
                due = ticks + 1 if tables.sizes[4] == 2 else tables.sizes[7]
                parts[slot] = due * classes + tables.late[kind]
            slot = chosen(tables, left, first, behind)
            continue
        length = tables.shortest[kind]
        is_late = kind == tables.late[kind] or soonest[worker] + length > due
        if is_late:
            kind = tables.late[kind]
            parts[slot] = due * classes + kind
            soonest[worker] = max(soonest[worker], due)
        else:
            soonest[worker] += length
        if tables.sizes[4] == 1:
            worker = _least(latest, workers)
            ends = latest[worker] + length
            if not is_late and ends <= due:
                parts[slot] = ends * classes + kind
                due = ends
            # An update that is late, of a job that was handed out at the last moment.
            latest[worker] = max(latest[worker], due + 1 if is_late else min(ends, due) + 1)
        slot = chosen(tables, left, first, behind)


@compiled()
def _least(values: Integers, count: int) -> int:
    best = 0
    for each in range(1, count):
        if values[each] < values[best]:
            best = each
    return best


@compiled()
def _sort(parts: Integers, first: int, behind: int) -> None:
    for place in range(first + 1, behind):
        part = parts[place]
        before = place - 1
        while before >= first and parts[before] < part:
            parts[before + 1] = parts[before]
            before -= 1
        parts[before + 1] = part


@compiled()
def tick(
    tables: Tables,
    parts: Integers,
    served: Integers,
    receipts: Table,
    row: int,
    ticks: int,
    scratch: Table,
    picks: Table,
) -> None:
    """Do a tick before which so many updates of each group were served; note what is counted.

    It is the first of so many `ticks` that follow. Where ties are open, `picks[0]` says which of
    those that tie is handed out, time after time, and how many there are is noted in `picks[1]`.
    """
    workers, classes, groups = tables.sizes[0], tables.sizes[3], tables.groups.shape[0]
    first = 1 + workers
    behind = first + tables.sizes[1]
    for word in range(receipts.shape[1]):
        receipts[row, word] = 0
    for slot in range(first, behind):
        if parts[slot]:
            parts[slot] -= classes
            if parts[slot] < classes:
                parts[slot] = 0
                receipts[row, 0] += 1
    jobs = 0
    picks[1, 0] = 0
    for group in range(groups):
        left = served[group]
        for worker in range(1 + tables.groups[group, 0], 1 + tables.groups[group, 1]):
            is_free = parts[worker] == 0
            if parts[worker] == 1 and left > 0:
                left -= 1
                is_free = True
            slot = chosen(tables, parts, first, behind) if is_free else -1
            if slot < 0:
                parts[worker] = max(parts[worker] - 1, 0)
                continue
            if tables.sizes[8]:
                picks[1, jobs] = -_tied(tables, parts, slot, behind, 1 << 40)
                slot = _tied(tables, parts, slot, behind, picks[0, jobs])
            due = parts[slot] // classes
            kind = parts[slot] - due * classes
            busy = tables.busy[kind, group]
            is_late = busy > due or tables.lengths[kind] == 0
            if is_late:
                busy = due
            parts[slot] = 0
            parts[worker] = busy
            jobs += 1
            picks[1, jobs] = 0
            receipts[row, jobs] = ((busy * 2 + is_late) * groups + group) + 1
    _sort(receipts[row], 1, receipts.shape[1])
    parts[0] = (parts[0] + 1) % tables.sizes[2]
    settle(tables, parts, ticks - 1, scratch)


@compiled()
def _next_picks(picks: Table) -> bool:
    """Go on to other jobs that tie; give whether there are any."""
    last = 0
    while picks[1, last]:
        last += 1
    while last > 0:
        last -= 1
        picks[0, last] += 1
        if picks[0, last] < picks[1, last]:
            return True
        picks[0, last] = 0
    return False


@compiled()
def arrive(
    tables: Tables, way: int, saved: Integers, parts: Integers, ticks: int, scratch: Table
) -> None:
    """Let jobs come to a state, each to the lowest empty slot, before so many ticks."""
    for part in range(tables.layout.shape[0]):
        parts[part] = saved[part]
    slot = 1 + tables.sizes[0]
    coming = 0
    while coming < tables.jobs.shape[1] and tables.jobs[way, coming] != 0:
        while parts[slot] != 0:
            slot += 1
        parts[slot] = tables.jobs[way, coming]
        coming += 1
    settle(tables, parts, ticks, scratch)


@compiled()
def _find_node(tables: Tables, graph: Graph, parts: Integers, words: int) -> Number:
    """Give the number of a state, which is entered if it is new."""
    count: np.int64 = graph.counts[NODES]
    _pack(tables.layout, parts, graph.nodes, count, words)
    number = entered(graph.nodes, graph.node_places, count, words)
    if number < count:
        return number
    first = 1 + tables.sizes[0]
    waiting = 0
    for slot in range(first, first + tables.sizes[1]):
        waiting += parts[slot] != 0
    at_once = tables.jobs.shape[1]
    pattern = parts[0] * (at_once + 1) + min(tables.sizes[1] - waiting, at_once)
    graph.way[count, 0] = tables.ways[pattern, 0]
    graph.way[count, 1] = tables.ways[pattern, 1]
    graph.waiting[count] = waiting
    graph.first_action[count] = UNKNOWN
    graph.counts[NODES] = count + 1
    return count


@compiled()
def enter_states(tables: Tables, graph: Graph, states: Table, words: int, found: Integers) -> None:
    """Give the numbers of states, a row of parts each; there must be room for those not known."""
    for row in range(states.shape[0]):
        found[row] = _find_node(tables, graph, states[row], words)


@compiled()
def _chance_to_serve(due_of: Integers, served: Integers, groups: int) -> float:
    """Give how likely the random order serves so many updates of each group before the tick.

    The tick is as likely to be the first, the second, ... of the messages, and each set of as many
    updates is as likely to come before it.
    """
    due = 0
    before = 0
    sets = 1.0
    for group in range(groups):
        due += due_of[group]
        before += served[group]
        for each in range(served[group]):
            sets *= (due_of[group] - each) / (each + 1.0)
    for each in range(before):
        sets /= (due - each) / (each + 1.0)
    return sets / (due + 1.0)


@compiled()
def _note_action(graph: Graph, first: Number, target: Number, receipt: Number) -> None:
    """Add what comes of a tick, one of those from `first` on among which it is open, if new."""
    last = graph.counts[ACTIONS]
    for known in range(first, last):
        if graph.target[known] == target and graph.receipt[known] == receipt:
            return
    graph.target[last] = target
    graph.receipt[last] = receipt
    graph.weight[last] = OPEN if last > first else 0.0
    graph.counts[ACTIONS] = last + 1


@compiled()
def _weigh(graph: Graph, first: Number, block: Number, chance: float) -> None:
    """Say how likely the last actions are, from `block` on, or one that is the same before them."""
    last = graph.counts[ACTIONS] - 1
    if last == block:
        for known in range(first, block):
            if (
                graph.target[known] == graph.target[block]
                and graph.receipt[known] == graph.receipt[block]
                and graph.weight[known] != OPEN
                and graph.weight[known + 1] != OPEN
            ):
                graph.weight[known] += chance
                graph.counts[ACTIONS] = block
                return
    graph.weight[block] = chance


@compiled()
def expand(
    tables: Tables, graph: Graph, wanted: Integers, work: Table, words: int, ticks: int
) -> None:
    """Find what can be done in some states, and what comes of it; there must be room for it.

    So many `ticks` follow; at the last one it does not matter what comes of it. What is found holds
    from now on, as it need not matter earlier what comes behind the last tick. `work` is for
    working: ten rows with a place for each part.
    """
    saved, start, parts, due, served = work[0], work[1], work[2], work[3], work[4]
    scratch, picks = rows(work, 5, 3), rows(work, 8, 2)
    groups = tables.groups.shape[0]
    for each in range(wanted.shape[0]):
        node = wanted[each]
        unpack(tables.layout, graph.nodes, node, saved)
        graph.first_action[node] = graph.counts[ACTIONS]
        graph.ticks[node] = ticks
        graph.first_choice[node] = graph.counts[CHOICES]
        for way in range(graph.way[node, 0], graph.way[node, 1]):
            arrive(tables, way, saved, start, ticks, scratch)
            first_action = graph.counts[ACTIONS]
            for group in range(groups):
                due[group] = 0
                served[group] = 0
                for worker in range(1 + tables.groups[group, 0], 1 + tables.groups[group, 1]):
                    due[group] += start[worker] == 1
            goes_on = True
            while goes_on:
                block = graph.counts[ACTIONS]
                for pick in range(picks.shape[1]):
                    picks[0, pick] = 0
                is_open = True
                while is_open:
                    for part in range(tables.layout.shape[0]):
                        parts[part] = start[part]
                    row = graph.counts[RECEIPTS]
                    tick(tables, parts, served, graph.receipts, row, ticks, scratch, picks)
                    receipt = entered(
                        graph.receipts, graph.receipt_places, row, graph.receipts.shape[1]
                    )
                    graph.counts[RECEIPTS] += receipt == row
                    target = 0 if ticks == 1 else _find_node(tables, graph, parts, words)
                    _note_action(graph, block, target, receipt)
                    is_open = tables.sizes[8] > 0 and _next_picks(picks)
                chance = _chance_to_serve(due, served, groups)
                _weigh(graph, first_action, block, chance)
                group = 0
                while group < groups and served[group] == due[group]:
                    served[group] = 0
                    group += 1
                goes_on = group < groups
                if goes_on:
                    served[group] += 1
            graph.actions[graph.counts[CHOICES]] = graph.counts[ACTIONS] - first_action
            graph.counts[CHOICES] += 1

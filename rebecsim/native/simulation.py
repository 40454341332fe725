"""The loop that simulates: many replications of one model in one call.

It does, on the arrays of `rebecsim.native.layout`, what `rebecsim.actors.semantics` and
`rebecsim.actors.schedulers` say, draw by draw; those are the places to read what it means.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rebecsim.generate.step import STEP_SIGNATURE
from rebecsim.native.cache import compiled
from rebecsim.native.columns import (
    ARGUMENTS,
    ARRIVAL,
    CHOICES,
    CLASS,
    DEADLINE,
    FAILED,
    LAW,
    NOW,
    OVERFLOW,
    PRIORITY,
    RECEIVER,
    ROOM,
    SELF,
    SENDER,
    SENDS,
    SEQUENCE,
    SERVER,
    STARTED,
    STREAMS,
)
from rebecsim.native.layout import (
    BAG,
    BASE,
    CAPACITY,
    FIRST_STREAM,
    GLOBAL_PRIORITY,
    NUMBER_IN_STEP,
    OWN_CLASS,
    OWN_PRIORITY,
    SERVER_PRIORITY,
)
from rebecsim.native.random_words import below, restart_streams

__all__ = [
    "ANY",
    "ASSERTION_FAILED",
    "DEADLINE_MISSED",
    "DEADLOCK",
    "EVENT_ARGUMENTS",
    "FIFO",
    "NO_ROOM",
    "OUTCOME",
    "QUEUE_OVERFLOW",
    "RANKED",
    "SETTINGS",
    "STEPS",
    "STEP_LIMIT",
    "TIME",
    "TIME_LIMIT",
    "run_replications",
]

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

# What a call is asked for (`settings`).
(
    FIRST,
    COUNT,
    UNTIL,
    MAX_STEPS,
    ORDER,
    FIRST_RANK,
    USE_PRIORITIES,
    GLOBAL,
    CORE,
    CHOICE_LAW,
    SENT,
    SETTINGS,
) = range(12)
"""First replication and how many; last time, most steps (-1: any number); an order; which rank goes
first; whether priorities of rebecs count, and whether global ones replace them; whether a bag is
a queue; 1 for the law rmc; messages sent by constructors."""

ANY, RANKED, FIFO = range(3)
"""Orders: every one equally likely, messages of one rank before the others, by sending."""

OUTCOME, STEPS, TIME = range(3)
"""What is told of each replication."""

(
    TIME_LIMIT,
    STEP_LIMIT,
    DEADLOCK,
    _END_OF_RECORD,
    DEADLINE_MISSED,
    QUEUE_OVERFLOW,
    ASSERTION_FAILED,
    NO_ROOM,
) = range(8)
"""Outcomes, numbered as in `rebecsim.simulate.OUTCOMES`; NO_ROOM: the tables of events or of
choices are full."""

(
    EVENT_TIME,
    EVENT_FINISHED,
    EVENT_REBEC,
    EVENT_SERVER,
    EVENT_SENDER,
    EVENT_ARRIVAL,
    EVENT_DEADLINE,
    EVENT_CHOICES,
    EVENT_ARGUMENTS,
) = range(9)
"""Columns of an event: those of the message, the number of choices drawn up to its end in the whole
run, its arguments, and then the variables of the rebec when it was served."""


@compiled(
    "int64(int64, int64[:, ::1], int64[:, ::1], int64[::1], int64[::1])", borrows=True, inline=True
)
def _due(rebec: int, rebecs: Integers, bags: Integers, counts: Integers, clocks: Integers) -> int:
    """Give when a rebec can serve its first message, -1 without one."""
    if counts[rebec] == 0:
        return -1
    return max(clocks[rebec], bags[rebecs[rebec, BAG], ARRIVAL])


@compiled(
    "int64(int64[::1], int64[:, ::1], int64[:, :, ::1], int64[:, ::1], int64[::1], int64[::1],"
    " int64[::1])",
    borrows=True,
    inline=True,
)
def _ready(
    settings: Integers,
    rebecs: Integers,
    servers: Integers,
    bags: Integers,
    counts: Integers,
    clocks: Integers,
    found: Integers,
) -> int:
    """Put the rebecs that may act into `found` and give how many there are."""
    time = -1
    number = 0
    for rebec in range(rebecs.shape[0]):
        due = _due(rebec, rebecs, bags, counts, clocks)
        if due < 0:
            continue
        if due == time:
            found[number] = rebec
            number += 1
        elif due < time or time < 0:
            time = due
            found[0] = rebec
            number = 1
    if number < 2 or settings[USE_PRIORITIES] == 0:
        return number
    first = _urgency(settings, rebecs, servers, bags, found[0])
    for place in range(1, number):
        first = min(first, _urgency(settings, rebecs, servers, bags, found[place]))
    kept = 0
    for place in range(number):
        if _urgency(settings, rebecs, servers, bags, found[place]) == first:
            found[kept] = found[place]
            kept += 1
    return kept


@compiled(
    "int64(int64[::1], int64[:, ::1], int64[:, :, ::1], int64[:, ::1], int64)",
    borrows=True,
    inline=True,
)
def _urgency(
    settings: Integers, rebecs: Integers, servers: Integers, bags: Integers, rebec: int
) -> int:
    if settings[GLOBAL] == 0:
        return rebecs[rebec, OWN_PRIORITY]
    number = bags[rebecs[rebec, BAG], SERVER]
    return servers[rebecs[rebec, OWN_CLASS], number, GLOBAL_PRIORITY]


@compiled(
    "int64(int64, int64, int64[:, ::1], int64[:, ::1], int64[::1])", borrows=True, inline=True
)
def _alternatives(core: int, rebec: int, rebecs: Integers, bags: Integers, counts: Integers) -> int:
    """Give how many messages, from its first one on, a ready rebec may serve."""
    if core != 0:
        return 1
    head = rebecs[rebec, BAG]
    number = 1
    while (
        number < counts[rebec]
        and bags[head + number, ARRIVAL] == bags[head, ARRIVAL]
        and bags[head + number, PRIORITY] == bags[head, PRIORITY]
    ):
        number += 1
    return number


@compiled(
    "int64(int64[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[::1], uint64[:, ::1],"
    " int64[::1], int64)",
    borrows=True,
    inline=True,
)
def _pick(
    settings: Integers,
    rebecs: Integers,
    ranks: Integers,
    bags: Integers,
    counts: Integers,
    streams: Words,
    found: Integers,
    number: int,
) -> int:
    """Give the row of the message to serve next, of the first `number` rebecs in `found`."""
    core = settings[CORE]
    if settings[ORDER] == ANY:
        rebec = found[below(streams, 0, number)]
        chosen = below(streams, 0, _alternatives(core, rebec, rebecs, bags, counts))
        return rebecs[rebec, BAG] + chosen
    if settings[ORDER] == FIFO:
        oldest = -1
        for place in range(number):
            rebec = found[place]
            head = rebecs[rebec, BAG]
            for row in range(head, head + _alternatives(core, rebec, rebecs, bags, counts)):
                if oldest < 0 or bags[row, SEQUENCE] < bags[oldest, SEQUENCE]:
                    oldest = row
        return oldest
    lowest = 1
    for place in range(number):
        rebec = found[place]
        head = rebecs[rebec, BAG]
        for row in range(head, head + _alternatives(core, rebec, rebecs, bags, counts)):
            lowest = min(lowest, _rank(settings, rebecs, ranks, bags, rebec, row))
    candidates = 0
    for place in range(number):
        if _ranked(settings, rebecs, ranks, bags, counts, found[place], lowest) > 0:
            found[candidates] = found[place]
            candidates += 1
    rebec = found[below(streams, 0, candidates)]
    own = _ranked(settings, rebecs, ranks, bags, counts, rebec, lowest)
    chosen = below(streams, 0, own)
    row = rebecs[rebec, BAG] - 1
    while chosen >= 0:
        row += 1
        if _rank(settings, rebecs, ranks, bags, rebec, row) == lowest:
            chosen -= 1
    return row


@compiled(
    "int64(int64[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64, int64)",
    borrows=True,
    inline=True,
)
def _rank(
    settings: Integers, rebecs: Integers, ranks: Integers, bags: Integers, rebec: int, row: int
) -> int:
    """Give 0 for a message that goes first, otherwise 1."""
    is_tick = ranks[rebecs[rebec, OWN_CLASS], bags[row, SERVER]]
    return 0 if is_tick == settings[FIRST_RANK] else 1


@compiled(
    "int64(int64[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[::1], int64, int64)",
    borrows=True,
    inner=True,
)
def _ranked(
    settings: Integers,
    rebecs: Integers,
    ranks: Integers,
    bags: Integers,
    counts: Integers,
    rebec: int,
    rank: int,
) -> int:
    """Count the alternatives of a rebec that have this rank."""
    number = 0
    head = rebecs[rebec, BAG]
    for row in range(head, head + _alternatives(settings[CORE], rebec, rebecs, bags, counts)):
        if _rank(settings, rebecs, ranks, bags, rebec, row) == rank:
            number += 1
    return number


@compiled(
    "void(int64[:, ::1], int64[::1], int64[:, ::1], int64, int64[::1])", borrows=True, inline=True
)
def _remove(
    bags: Integers, counts: Integers, rebecs: Integers, row: int, message: Integers
) -> None:
    """Take a message out of its bag."""
    for column in range(message.shape[0]):
        message[column] = bags[row, column]
    rebec = message[RECEIVER]
    counts[rebec] -= 1
    for later in range(row, rebecs[rebec, BAG] + counts[rebec]):
        for column in range(message.shape[0]):
            bags[later, column] = bags[later + 1, column]


@compiled(
    "void(int64[:, ::1], int64[::1], int64[:, ::1], int64[:, ::1], int64)",
    borrows=True,
    inline=True,
)
def _insert(bags: Integers, counts: Integers, rebecs: Integers, sends: Integers, sent: int) -> None:
    """Put a message into the bag of its receiver: by arrival, priority, order of sending."""
    rebec = sends[sent, RECEIVER]
    row = rebecs[rebec, BAG] + counts[rebec]
    counts[rebec] += 1
    while row > rebecs[rebec, BAG] and (
        bags[row - 1, ARRIVAL] > sends[sent, ARRIVAL]
        or (
            bags[row - 1, ARRIVAL] == sends[sent, ARRIVAL]
            and bags[row - 1, PRIORITY] > sends[sent, PRIORITY]
        )
    ):
        for column in range(bags.shape[1]):
            bags[row, column] = bags[row - 1, column]
        row -= 1
    for column in range(bags.shape[1]):
        bags[row, column] = sends[sent, column]


@compiled(
    "boolean(int64[::1], int64[::1], int64[:, ::1], int64[::1], int64[:, ::1], int64)",
    borrows=True,
    inner=True,
)
def _note(
    ctx: Integers, message: Integers, rebecs: Integers, cells: Integers, events: Integers, step: int
) -> bool:
    """Note an event, the one after `step` others; false: there is no room for it."""
    if step >= events.shape[0]:
        return False
    rebec = message[RECEIVER]
    event = events[step]
    event[EVENT_TIME] = ctx[STARTED]
    event[EVENT_FINISHED] = ctx[NOW]
    event[EVENT_REBEC] = rebec
    event[EVENT_SERVER] = message[SERVER]
    event[EVENT_SENDER] = message[SENDER]
    event[EVENT_ARRIVAL] = message[ARRIVAL]
    event[EVENT_DEADLINE] = message[DEADLINE]
    event[EVENT_CHOICES] = ctx[CHOICES]
    place = EVENT_ARGUMENTS
    for column in range(ARGUMENTS, message.shape[0]):
        event[place] = message[column]
        place += 1
    cell = rebecs[rebec, BASE]
    while place < events.shape[1] and cell < cells.shape[0]:
        event[place] = cells[cell]
        place += 1
        cell += 1
    return True


@compiled(
    f"int64(FunctionType({STEP_SIGNATURE}), int64[::1], int64[:, ::1], int64[:, :, ::1],"
    " int64[:, ::1], int64[::1], int64[:, ::1], int64[::1], int64[::1], int64[::1],"
    " int64[:, ::1], int64[::1], int64[:, ::1], int64[:, ::1], uint64[:, ::1], int64[::1],"
    " int64[:, ::1], int64[::1], int64[::1])",
    borrows=True,
    inner=True,
)
def _run(
    step: Callable[..., None],
    settings: Integers,
    rebecs: Integers,
    servers: Integers,
    ranks: Integers,
    cells: Integers,
    bags: Integers,
    counts: Integers,
    clocks: Integers,
    found: Integers,
    queues: Integers,
    message: Integers,
    sends: Integers,
    events: Integers,
    streams: Words,
    choices: Integers,
    ends: Integers,
    ctx: Integers,
    params: Integers,
) -> int:
    """Run one replication from the state in the arrays on; gives its outcome.

    The last row of `ends` becomes its number of steps and its last time.
    """
    last = ends.shape[0] - 1
    sequence = settings[SENT]
    steps = 0
    time = 0
    outcome = STEP_LIMIT
    traced = events.shape[1] > 0
    while steps != settings[MAX_STEPS]:
        number = _ready(settings, rebecs, servers, bags, counts, clocks, found)
        if number == 0:
            outcome = DEADLOCK
            break
        start = _due(found[0], rebecs, bags, counts, clocks)
        if start > settings[UNTIL]:
            outcome = TIME_LIMIT
            break
        row = _pick(settings, rebecs, ranks, bags, counts, streams, found, number)
        time = start
        rebec = bags[row, RECEIVER]
        ctx[STARTED] = start
        if bags[row, DEADLINE] < start:
            for column in range(message.shape[0]):
                message[column] = bags[row, column]
            ctx[NOW] = clocks[rebec]
            if traced and not _note(ctx, message, rebecs, cells, events, steps):
                return NO_ROOM
            steps += 1
            outcome = DEADLINE_MISSED
            break
        _remove(bags, counts, rebecs, row, message)
        own = rebecs[rebec, OWN_CLASS]
        ctx[FAILED] = 0
        ctx[NOW] = start
        ctx[SELF] = rebec
        ctx[SENDS] = 0
        ctx[STREAMS] = rebecs[rebec, FIRST_STREAM]
        step(
            servers[own, message[SERVER], NUMBER_IN_STEP],
            rebecs[rebec, BASE],
            cells,
            message,
            sends,
            queues,
            ctx,
            streams,
            choices,
            params,
        )
        clocks[rebec] = ctx[NOW]
        for sent in range(ctx[SENDS]):
            receiver = sends[sent, RECEIVER]
            sequence += 1
            sends[sent, SEQUENCE] = sequence
            sends[sent, PRIORITY] = servers[
                rebecs[receiver, OWN_CLASS], sends[sent, SERVER], SERVER_PRIORITY
            ]
            _insert(bags, counts, rebecs, sends, sent)
        queues[rebec, ROOM] += 1  # the message that was served kept its place until now
        if traced and not _note(ctx, message, rebecs, cells, events, steps):
            return NO_ROOM
        steps += 1
        if ctx[FAILED] != 0:
            outcome = QUEUE_OVERFLOW if ctx[FAILED] == OVERFLOW else ASSERTION_FAILED
            break
    ends[last, STEPS] = steps
    ends[last, TIME] = time
    if traced and ctx[CHOICES] > choices.shape[0]:
        return NO_ROOM
    return outcome


@compiled(
    f"void(FunctionType({STEP_SIGNATURE}), int64[::1], int64[:, ::1], int64[:, :, ::1],"
    " int64[:, ::1], int64[::1], int64[:, ::1], int64[::1], int64[::1], uint64[:, ::1], int64[::1],"
    " int64[::1], int64[:, ::1], int64[::1], int64[::1], int64[::1], int64[:, ::1], int64[::1],"
    " int64[:, ::1], int64[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1])",
    borrows=True,
)
def run_replications(
    step: Callable[..., None],
    settings: Integers,
    rebecs: Integers,
    servers: Integers,
    ranks: Integers,
    first_cells: Integers,
    first_bags: Integers,
    first_counts: Integers,
    params: Integers,
    streams: Words,
    ctx: Integers,
    cells: Integers,
    bags: Integers,
    counts: Integers,
    clocks: Integers,
    found: Integers,
    queues: Integers,
    message: Integers,
    sends: Integers,
    choices: Integers,
    events: Integers,
    ends: Integers,
    columns_and_values: Integers,
) -> None:
    """Run the replications that `settings` asks for.

    Args:
        step: the step of the model.
        settings: see SETTINGS.
        rebecs, servers, first_cells, first_bags, first_counts, params: the model, see NativeModel.
        ranks: 1 for the message servers that pass time, by class and number.
        streams: the random streams; restarted for each replication.
        ctx, cells, bags, counts, clocks, found, queues, message, sends: working space; afterwards
            as the last replication has left it.
        choices, events: the trace of the last replication, as long as there is room; no events
            are noted in a table without columns.
        ends: gets OUTCOME, STEPS and TIME of each replication; shape (replications + 1, 3).
        columns_and_values: the cells to observe, then a row of their values for each replication;
            shape (1 + replications, variables).
    """
    for number in range(settings[COUNT]):
        restart_streams(streams, settings[FIRST] + number)
        for cell in range(cells.shape[0]):
            cells[cell] = first_cells[cell]
        for slot in range(ctx.shape[0]):
            ctx[slot] = 0
        ctx[LAW] = settings[CHOICE_LAW]
        for rebec in range(rebecs.shape[0]):
            counts[rebec] = first_counts[rebec]
            clocks[rebec] = 0
            queues[rebec, ROOM] = rebecs[rebec, CAPACITY] - first_counts[rebec]
            queues[rebec, CLASS] = rebecs[rebec, OWN_CLASS]
            for row in range(rebecs[rebec, BAG], rebecs[rebec, BAG] + first_counts[rebec]):
                for column in range(bags.shape[1]):
                    bags[row, column] = first_bags[row, column]
        ends[number, OUTCOME] = _run(
            step,
            settings,
            rebecs,
            servers,
            ranks,
            cells,
            bags,
            counts,
            clocks,
            found,
            queues,
            message,
            sends,
            events,
            streams,
            choices,
            ends,
            ctx,
            params,
        )
        ends[number, STEPS] = ends[settings[COUNT], STEPS]
        ends[number, TIME] = ends[settings[COUNT], TIME]
        for column in range(columns_and_values.shape[1]):
            columns_and_values[number + 1, column] = cells[columns_and_values[0, column]]

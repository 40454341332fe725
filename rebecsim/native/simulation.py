"""The loop that simulates: many replications of one model in one call.

It does, on the arrays of `rebecsim.native.layout`, what `rebecsim.actors.semantics` and
`rebecsim.actors.schedulers` say, draw by draw; those are the places to read what it means.
"""

from __future__ import annotations

from rebecsim.native.arrays import Cube, Integers, Step, Streams, Table
from rebecsim.native.bags import CLOCK, DUE, put, restart_bags, settle, take
from rebecsim.native.cache import compiled
from rebecsim.native.choosing import CORE, choose_message, ready_rebecs
from rebecsim.native.columns import (
    ARGUMENTS,
    ARRIVAL,
    CHOICES,
    CLASS,
    DEADLINE,
    ENDLESS,
    FAILED,
    LAW,
    NOW,
    OVERFLOW,
    PRIORITY,
    RECEIVER,
    ROOM,
    ROUNDS,
    SELF,
    SENDER,
    SENDS,
    SEQUENCE,
    SERVER,
    STARTED,
    STREAMS,
)
from rebecsim.native.layout import (
    BASE,
    FIRST_STREAM,
    NUMBER_IN_STEP,
    OWN_CLASS,
    SERVER_PRIORITY,
)
from rebecsim.native.random_words import restart_streams

FIRST, COUNT, UNTIL, MAX_STEPS, CHOICE_LAW, SENT, AT_ONE_TIME, SETTINGS = range(5, 13)
"""What a call is asked for, the `settings` behind those of `rebecsim.native.choosing`: the first
replication and how many; last time, most steps (-1: any number); 1 for the law rmc; messages sent
by constructors; most messages at one time."""

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
    TIME_STANDS_STILL,
    NO_ROOM,
    NOT_ENDING,
) = range(10)
"""Outcomes, numbered as in `rebecsim.simulation.OUTCOMES`; NO_ROOM: the tables of events or of
choices are full; NOT_ENDING: a message server does not end, which ends all replications."""

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


@compiled(borrows=True, inner=True)
def _note(
    ctx: Integers, message: Integers, rebecs: Table, cells: Integers, events: Table, step: int
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


@compiled(borrows=True, inline=True)
def _run(
    step: Step,
    settings: Integers,
    rebecs: Table,
    servers: Cube,
    ranks: Table,
    cells: Integers,
    bags: Table,
    places: Integers,
    states: Table,
    found: Integers,
    last_message: Integers,
    sends: Table,
    events: Table,
    streams: Streams,
    choices: Integers,
    ends: Table,
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
    began = 0  # the messages that had been served when the time advanced last
    outcome = STEP_LIMIT
    traced = events.shape[1] > 0
    while steps != settings[MAX_STEPS]:
        number = ready_rebecs(settings, rebecs, servers, bags, places, states, found)
        if number == 0:
            outcome = DEADLOCK
            break
        start = states[found[0], DUE]
        if start > settings[UNTIL]:
            outcome = TIME_LIMIT
            break
        place = choose_message(
            settings, rebecs, ranks, bags, places, states, streams, found, number
        )
        if start > time:
            began = steps
        elif steps - began >= settings[AT_ONE_TIME] and settings[CORE] == 0:
            outcome = TIME_STANDS_STILL
            break
        time = start
        row = places[place]
        message = bags[row]
        rebec = message[RECEIVER]
        ctx[STARTED] = start
        if message[DEADLINE] < start:
            outcome = DEADLINE_MISSED
            ctx[NOW] = states[rebec, CLOCK]
        else:
            take(rebecs, places, states, rebec, place)
            ctx[NOW] = start
            ctx[SELF] = rebec
            ctx[SENDS] = ctx[ROUNDS] = 0
            ctx[STREAMS] = rebecs[rebec, FIRST_STREAM]
            step(
                servers[rebecs[rebec, OWN_CLASS], message[SERVER], NUMBER_IN_STEP],
                rebecs[rebec, BASE],
                cells,
                message,
                sends,
                states,
                ctx,
                streams,
                choices,
                params,
            )
            states[rebec, CLOCK] = ctx[NOW]
            settle(rebecs, bags, places, states, rebec)
            for sent in range(ctx[SENDS]):
                sequence += 1
                sends[sent, SEQUENCE] = sequence
                own = rebecs[sends[sent, RECEIVER], OWN_CLASS]
                sends[sent, PRIORITY] = servers[own, sends[sent, SERVER], SERVER_PRIORITY]
                put(rebecs, bags, places, states, sends, sent)
            states[rebec, ROOM] += 1  # the message that was served kept its place until now
            if ctx[FAILED] != 0:
                outcome = QUEUE_OVERFLOW if ctx[FAILED] == OVERFLOW else ASSERTION_FAILED
                if ctx[FAILED] == ENDLESS:
                    outcome = NOT_ENDING
        if traced and not _note(ctx, message, rebecs, cells, events, steps):
            return NO_ROOM
        steps += 1
        if outcome != STEP_LIMIT:
            for column in range(message.shape[0]):
                last_message[column] = message[column]
            break
    ends[last, STEPS] = steps
    ends[last, TIME] = time
    if traced and ctx[CHOICES] > choices.shape[0]:
        return NO_ROOM
    return outcome


@compiled(borrows=True)
def run_replications(
    step: Step,
    settings: Integers,
    rebecs: Table,
    servers: Cube,
    ranks: Table,
    first_cells: Integers,
    first_bags: Table,
    first_counts: Integers,
    params: Integers,
    streams: Streams,
    ctx: Integers,
    cells: Integers,
    bags: Table,
    places: Integers,
    states: Table,
    found: Integers,
    last_message: Integers,
    sends: Table,
    choices: Integers,
    events: Table,
    ends: Table,
    columns_and_values: Table,
) -> None:
    """Run the replications that `settings` asks for.

    Args:
        step: the step of the model.
        settings: see SETTINGS.
        rebecs, servers, first_cells, first_bags, first_counts, params: the model, see NativeModel.
        ranks: 1 for the message servers that pass time, by class and number.
        streams: the random streams; restarted for each replication.
        ctx, cells, bags, sends: working space; afterwards as the last replication has left it.
        places, states: working space, see `rebecsim.native.bags`; shape (rows of `bags`,) and
            (rebecs, STATE_WIDTH).
        found: working space for the numbers of rebecs.
        last_message: becomes the message that a replication has ended with, if a violation did.
        choices, events: the trace of the last replication, as long as there is room; no events
            are noted in a table without columns.
        ends: gets OUTCOME, STEPS and TIME of each replication; shape (replications + 1, 3).
        columns_and_values: the cells to observe, then a row of their values for each replication;
            shape (1 + replications, variables).
    """
    for rebec in range(rebecs.shape[0]):
        states[rebec, CLASS] = rebecs[rebec, OWN_CLASS]
    for number in range(settings[COUNT]):
        restart_streams(streams, settings[FIRST] + number)
        for cell in range(cells.shape[0]):
            cells[cell] = first_cells[cell]
        for slot in range(ctx.shape[0]):
            ctx[slot] = 0
        ctx[LAW] = settings[CHOICE_LAW]
        restart_bags(first_bags, rebecs, bags, first_counts, places, states)
        ends[number, OUTCOME] = _run(
            step,
            settings,
            rebecs,
            servers,
            ranks,
            cells,
            bags,
            places,
            states,
            found,
            last_message,
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
        if ends[number, OUTCOME] == NOT_ENDING:
            break

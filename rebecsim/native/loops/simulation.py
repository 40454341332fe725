"""The simulation loop: many replications of one model in one call.

It does, on the arrays of `rebecsim.native.layout`, what `rebecsim.actors.semantics` and
`rebecsim.actors.schedulers` say, draw by draw; those are the places to read what it means.
"""

from __future__ import annotations

from typing import NamedTuple

from rebecsim.native import columns as slot
from rebecsim.native.arrays import Cube, Integers, Step, Streams, Table
from rebecsim.native.cache import compiled
from rebecsim.native.codes import Ended, Failure
from rebecsim.native.layout import (
    BASE,
    FIRST_STREAM,
    NUMBER_IN_STEP,
    OWN_CLASS,
    SERVER_PRIORITY,
)
from rebecsim.native.loops.bags import CLOCK, DUE, Bags, put, restart_bags, settle, take
from rebecsim.native.loops.choosing import CORE, choose_message, ready_rebecs
from rebecsim.native.random_words import restart_streams

FIRST, COUNT, UNTIL, MAX_STEPS, CHOICE_LAW, SENT, AT_ONE_TIME, SETTINGS = range(5, 13)
"""What is asked for, the `settings` behind those of `rebecsim.native.loops.choosing`: the first
replication and how many; last time, most steps (-1: any number); 1 for the law rmc; messages sent
by constructors; most messages at one time."""

OUTCOME, STEPS, TIME = range(3)
"""What is told of each replication."""

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


class SimulatedModel(NamedTuple):
    """The model as its constructors have left it, see `rebecsim.native.layout.NativeModel`.

    `ranks` are 1 for the message servers that pass time, by class and number.
    """

    servers: Cube
    ranks: Table
    params: Integers
    cells: Integers
    messages: Table
    counts: Integers


class Work(NamedTuple):
    """Room for work, afterwards as the last replication has left it.

    Attributes:
        bags: the bags of all rebecs.
        cells, sends, ctx, streams, choices: what a step works on; choices as long as there is room.
        found: room for the numbers of rebecs.
    """

    bags: Bags
    cells: Integers
    sends: Table
    ctx: Integers
    streams: Streams
    choices: Integers
    found: Integers


class ReplicationResults(NamedTuple):
    """What replications come to.

    Attributes:
        ends: OUTCOME, STEPS and TIME of each replication; shape (replications + 1, 3).
        columns_and_values: the cells to observe, then a row of their values for each replication;
            shape (1 + replications, variables).
        last_message: the message that the last replication has ended with, if a violation did.
        events: the trace of the last replication, as long as there is room; no events are noted in
            a table without columns.
    """

    ends: Table
    columns_and_values: Table
    last_message: Integers
    events: Table


@compiled(borrows=True, inner=True)
def _note(work: Work, message: Integers, events: Table, step: int) -> bool:
    """Note an event, the one after `step` others; false: there is no room for it."""
    if step >= events.shape[0]:
        return False
    ctx, cells = work.ctx, work.cells
    rebec = message[slot.RECEIVER]
    event = events[step]
    event[EVENT_TIME] = ctx[slot.STARTED]
    event[EVENT_FINISHED] = ctx[slot.NOW]
    event[EVENT_REBEC] = rebec
    event[EVENT_SERVER] = message[slot.SERVER]
    event[EVENT_SENDER] = message[slot.SENDER]
    event[EVENT_ARRIVAL] = message[slot.ARRIVAL]
    event[EVENT_DEADLINE] = message[slot.DEADLINE]
    event[EVENT_CHOICES] = ctx[slot.CHOICES]
    place = EVENT_ARGUMENTS
    for column in range(slot.ARGUMENTS, message.shape[0]):
        event[place] = message[column]
        place += 1
    cell = work.bags.rebecs[rebec, BASE]
    while place < events.shape[1] and cell < cells.shape[0]:
        event[place] = cells[cell]
        place += 1
        cell += 1
    return True


@compiled(borrows=True, inline=True)
def _run(
    step: Step, settings: Integers, model: SimulatedModel, work: Work, results: ReplicationResults
) -> int:
    """Run one replication from the state in the arrays on; gives its outcome.

    The last row of `ends` becomes its number of steps and its last time.
    """
    bags, cells, sends, ctx, streams, choices, found = work
    rebecs, messages, places, states = bags
    servers, ends, events = model.servers, results.ends, results.events
    last = ends.shape[0] - 1
    sequence = settings[SENT]
    steps = 0
    time = 0
    began = 0  # the messages that had been served when the time advanced last
    outcome = Ended.STEP_LIMIT
    traced = events.shape[1] > 0
    while steps != settings[MAX_STEPS]:
        number = ready_rebecs(settings, servers, bags, found)
        if number == 0:
            outcome = Ended.ENDED
            break
        start = states[found[0], DUE]
        if start > settings[UNTIL]:
            outcome = Ended.TIME_LIMIT
            break
        place = choose_message(settings, model.ranks, bags, streams, found, number)
        if start > time:
            began = steps
        elif steps - began >= settings[AT_ONE_TIME] and settings[CORE] == 0:
            outcome = Ended.TIME_STANDS_STILL
            break
        time = start
        row = places[place]
        message = messages[row]
        rebec = message[slot.RECEIVER]
        ctx[slot.STARTED] = start
        if message[slot.DEADLINE] < start:
            outcome = Ended.DEADLINE_MISSED
            ctx[slot.NOW] = states[rebec, CLOCK]
        else:
            take(bags, rebec, place)
            ctx[slot.NOW] = start
            ctx[slot.SELF] = rebec
            ctx[slot.SENDS] = ctx[slot.ROUNDS] = 0
            ctx[slot.STREAMS] = rebecs[rebec, FIRST_STREAM]
            step(
                servers[rebecs[rebec, OWN_CLASS], message[slot.SERVER], NUMBER_IN_STEP],
                rebecs[rebec, BASE],
                cells,
                message,
                sends,
                states,
                ctx,
                streams,
                choices,
                model.params,
            )
            states[rebec, CLOCK] = ctx[slot.NOW]
            settle(bags, rebec)
            for sent in range(ctx[slot.SENDS]):
                sequence += 1
                sends[sent, slot.SEQUENCE] = sequence
                own = rebecs[sends[sent, slot.RECEIVER], OWN_CLASS]
                sends[sent, slot.PRIORITY] = servers[own, sends[sent, slot.SERVER], SERVER_PRIORITY]
                put(bags, sends, sent)
            states[rebec, slot.ROOM] += 1  # the message that was served kept its place until now
            if ctx[slot.FAILED] != 0:
                outcome = Ended.ASSERTION_FAILED
                if ctx[slot.FAILED] == Failure.OVERFLOW:
                    outcome = Ended.QUEUE_OVERFLOW
                elif ctx[slot.FAILED] == Failure.ENDLESS:
                    outcome = Ended.NOT_ENDING
        if traced and not _note(work, message, events, steps):
            return Ended.NO_ROOM
        steps += 1
        if outcome != Ended.STEP_LIMIT:
            for column in range(message.shape[0]):
                results.last_message[column] = message[column]
            break
    ends[last, STEPS] = steps
    ends[last, TIME] = time
    if traced and ctx[slot.CHOICES] > choices.shape[0]:
        return Ended.NO_ROOM
    return outcome


@compiled(borrows=True)
def run_replications(
    step: Step, settings: Integers, model: SimulatedModel, work: Work, results: ReplicationResults
) -> None:
    """Run the replications that `settings` asks for, see SETTINGS."""
    cells, ctx, rebecs, states = work.cells, work.ctx, work.bags.rebecs, work.bags.states
    ends, columns_and_values = results.ends, results.columns_and_values
    for rebec in range(rebecs.shape[0]):
        states[rebec, slot.CLASS] = rebecs[rebec, OWN_CLASS]
    for number in range(settings[COUNT]):
        restart_streams(work.streams, settings[FIRST] + number)
        for cell in range(cells.shape[0]):
            cells[cell] = model.cells[cell]
        for place in range(ctx.shape[0]):
            ctx[place] = 0
        ctx[slot.LAW] = settings[CHOICE_LAW]
        restart_bags(work.bags, model.messages, model.counts)
        ends[number, OUTCOME] = _run(step, settings, model, work, results)
        ends[number, STEPS] = ends[settings[COUNT], STEPS]
        ends[number, TIME] = ends[settings[COUNT], TIME]
        for column in range(columns_and_values.shape[1]):
            columns_and_values[number + 1, column] = cells[columns_and_values[0, column]]
        if ends[number, OUTCOME] == Ended.NOT_ENDING:
            break

"""Run message servers in the compiled search, by a step of the model.

`serve` answers what comes of serving a message as `rebecsim.exploration.states.runner` does, as
long as everything goes well and all messages that are sent have been seen before. What goes wrong,
and a message that is new, is left to Python.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebecsim.native import codes as slot, search_layout as at
from rebecsim.native.arrays import (
    Cube,
    Integers,
    Step,
    Streams,
    Table,
    call,
    room,
)
from rebecsim.native.cache import compiled
from rebecsim.native.codes import AnswerKind, Reason
from rebecsim.native.layout import BASE, NUMBER_IN_STEP, OWN_CLASS, SERVER_PRIORITY
from rebecsim.native.loops.breadth_first import EdgeArrays, PropertyTables, expand_states
from rebecsim.native.loops.successors import LATEST
from rebecsim.native.loops.tables import ABSENT, States, enter_answer, key_of, look_up, scatter
from rebecsim.native.operations import STREAM_WIDTH
from rebecsim.native.search_layout import Parts

CELLS_OWNER, CELLS_CLOCK, CELLS_FIRST = range(3)
"""Columns of the contents of an inner state: the rebec, its clock, its variables."""

OWN_CELLS, OWN_ROOM, OWN_EMPTY_BAG, OWN_WIDTH = range(4)
"""What to know of each rebec: how many cells it has; how many places its queue leaves for what it
sends to itself, as the message that is served keeps its own; the row of its empty bag."""

SENDS_TO_EACH = 64
"""The most messages to one rebec in one step; with more, Python goes on."""

_MOST_CHOICES = 32


@compiled(inline=True)
def _hash_row(contents: Table, row: int) -> int:
    mixed = 0
    for column in range(contents.shape[1]):
        mixed = scatter((mixed ^ contents[row, column]) + column)
    return mixed


@compiled()
def find_row(table: Integers, contents: Table, wanted: Table) -> int:
    """Give the row whose contents are those in row 0 of `wanted`, or ABSENT.

    `table` holds rows of `contents`, ABSENT in free places.
    """
    last = table.shape[0] - 1
    place = _hash_row(wanted, 0) & last
    while table[place] != ABSENT:
        row = table[place]
        equal = True
        for column in range(contents.shape[1]):
            equal = equal and contents[row, column] == wanted[0, column]
        if equal:
            return row
        place = (place + 1) & last
    return ABSENT


@compiled()
def enter_row(table: Integers, contents: Table, row: int) -> None:
    """Enter a row whose contents are not there yet; the table must have room."""
    last = table.shape[0] - 1
    place = _hash_row(contents, row) & last
    while table[place] != ABSENT:
        place = (place + 1) & last
    table[place] = row


@compiled()
def enter_rows(table: Integers, contents: Table, rows: Integers) -> None:
    """Enter some rows, as `enter_row` does."""
    for each in range(rows.shape[0]):
        enter_row(table, contents, rows[each])


class Known(NamedTuple):
    """The inner states and messages that have a number.

    Attributes:
        counts: how many rows of each table are in use, see `rebecsim.native.search_layout`.
        inner_counts: how many inner states each rebec has; shape (rebecs,).
        contents: what the inner states are, see CELLS_OWNER; shape (rows of `inners`, columns).
        content_table: their rows by their contents.
        messages: shape (messages, columns), see `rebecsim.native.codes`; those that are none for
            a step have the receiver ABSENT.
        message_table: the others by their contents.
    """

    counts: Integers
    inner_counts: Integers
    contents: Table
    content_table: Integers
    messages: Table
    message_table: Integers


class ServedModel(NamedTuple):
    """The model, see `rebecsim.native.layout.NativeModel`; `cells` are room for work.

    Attributes:
        own: shape (rebecs, OWN_WIDTH).
        arities: the cells of the parameters of message servers; shape (classes, servers).
    """

    rebecs: Table
    servers: Cube
    params: Integers
    cells: Integers
    own: Table
    arities: Table


class _Work(NamedTuple):
    """Room for the arguments of a step, and for a message and an inner state to look for."""

    message: Integers
    sends: Table
    queues: Table
    ctx: Integers
    streams: Streams
    choices: Integers
    sought: Table
    wanted: Table


class _Service(NamedTuple):
    """A search that serves messages by itself."""

    control: Integers
    parts: Parts
    known: Known
    model: ServedModel
    work: _Work


@compiled()
def _number_of_sent(known: Known, model: ServedModel, work: _Work, sent: int) -> int:
    """Give the number of a message that was sent, ABSENT if it is new."""
    sends, wanted, arities = work.sends, work.sought, model.arities
    receiver = sends[sent, slot.RECEIVER]
    server = sends[sent, slot.SERVER]
    own = model.rebecs[receiver, OWN_CLASS]
    for column in range(wanted.shape[1]):
        wanted[0, column] = 0
    wanted[0, slot.RECEIVER] = receiver
    wanted[0, slot.SERVER] = server
    wanted[0, slot.SENDER] = sends[sent, slot.SENDER]
    wanted[0, slot.ARRIVAL] = sends[sent, slot.ARRIVAL]
    wanted[0, slot.DEADLINE] = sends[sent, slot.DEADLINE]
    wanted[0, slot.PRIORITY] = model.servers[own, server, SERVER_PRIORITY]
    for column in range(slot.ARGUMENTS, slot.ARGUMENTS + arities[own, server]):
        wanted[0, column] = sends[sent, column]
    return find_row(known.message_table, known.messages, wanted)


@compiled(inline=True)
def _turn(choices: Integers, drawn: int) -> bool:
    """Let the last choice that has another alternative take it; false if there is none."""
    most = choices.shape[0] // 2
    for place in range(drawn - 1, -1, -1):
        if choices[place] + 1 < choices[most + place]:
            choices[place] += 1
            return True
        choices[place] = 0
    return False


@compiled(inline=True)
def _run_step(step: Step, of: _Service, row: int, number: int) -> None:
    """Serve a message in an inner state, with the choices that come next."""
    contents, model, work = of.known.contents, of.model, of.work
    message, queues, ctx = work.message, work.queues, work.ctx
    rebec = contents[row, CELLS_OWNER]
    base = model.rebecs[rebec, BASE]
    for cell in range(model.own[rebec, OWN_CELLS]):
        model.cells[base + cell] = contents[row, CELLS_FIRST + cell]
    for column in range(message.shape[0]):
        message[column] = of.known.messages[number, column]
    for other in range(queues.shape[0]):
        queues[other, slot.ROOM] = SENDS_TO_EACH
    queues[rebec, slot.ROOM] = min(SENDS_TO_EACH, model.own[rebec, OWN_ROOM])
    for place in range(slot.SLOTS):
        ctx[place] = 0
    ctx[slot.SELF] = rebec
    ctx[slot.LAW] = slot.SCRIPT
    arguments = (
        model.servers[model.rebecs[rebec, OWN_CLASS], message[slot.SERVER], NUMBER_IN_STEP],
        base,
        model.cells,
        message,
        work.sends,
        queues,
        ctx,
        work.streams,
        work.choices,
        model.params,
    )
    call(step, arguments)


@compiled(inline=True)
def _note_sent(of: _Service, effect: int, sent: int) -> int:
    """Note what a step has sent, from the row `sent` of the sendings on.

    Gives FINISHED, or what to ask of Python.
    """
    control, parts, sends = of.control, of.parts, of.work.sends
    effects, sendings = parts.effects, parts.sendings
    rebec = of.work.ctx[slot.SELF]
    empty = of.model.own[rebec, OWN_EMPTY_BAG]
    bag = empty
    passed = 0
    for place in range(of.work.ctx[slot.SENDS]):
        found = _number_of_sent(of.known, of.model, of.work, place)
        if found == ABSENT:
            return Reason.ANSWER
        receiver = sends[place, slot.RECEIVER]
        if receiver == rebec:
            got = look_up(parts.keys, parts.values, key_of(AnswerKind.RECEIVED, bag, found))
            if got == ABSENT:
                control[at.ASKED] = AnswerKind.RECEIVED
                control[at.ASKED + 1] = bag
                control[at.ASKED + 2] = found
                return Reason.ANSWER
            bag = got
        else:
            sendings[sent + passed, at.SENDING_RECEIVER] = receiver
            sendings[sent + passed, at.SENDING_MESSAGE] = found
            passed += 1
    effects[effect, at.EFFECT_OWN] = ABSENT if bag == empty else bag
    effects[effect, at.EFFECT_FIRST] = sent
    effects[effect, at.EFFECT_COUNT] = passed
    return Reason.FINISHED


@compiled(inline=True)
def _inner_after(of: _Service) -> int:
    """Give the row of the inner state that a step has left; ABSENT if there is no room for it."""
    known, inners, wanted, ctx = of.known, of.parts.inners, of.work.wanted, of.work.ctx
    rebec = ctx[slot.SELF]
    base = of.model.rebecs[rebec, BASE]
    for column in range(wanted.shape[1]):
        wanted[0, column] = 0
    wanted[0, CELLS_OWNER] = rebec
    wanted[0, CELLS_CLOCK] = ctx[slot.NOW] if of.control[at.FLOATING] != 0 else 0
    for cell in range(of.model.own[rebec, OWN_CELLS]):
        wanted[0, CELLS_FIRST + cell] = of.model.cells[base + cell]
    after = find_row(known.content_table, known.contents, wanted)
    if after != ABSENT:
        return after
    after = known.counts[at.INNERS]
    numbered = known.inner_counts[rebec] + 1
    if (
        after == inners.shape[0]
        or after == known.contents.shape[0]
        or numbered == of.parts.inner_at.shape[1]
        or 2 * (after + 1) > known.content_table.shape[0]
    ):
        return ABSENT
    for column in range(wanted.shape[1]):
        known.contents[after, column] = wanted[0, column]
    inners[after, at.INNER_CLOCK] = wanted[0, CELLS_CLOCK]
    inners[after, at.INNER_RESUME] = ABSENT
    inners[after, at.INNER_URGENCY] = ABSENT
    inners[after, at.INNER_MESSAGE] = ABSENT
    inners[after, at.INNER_TICKS] = 0
    inners[after, at.INNER_NUMBER] = numbered
    of.parts.inner_at[rebec, numbered] = after
    known.inner_counts[rebec] = numbered
    known.counts[at.INNERS] = after + 1
    enter_row(known.content_table, known.contents, after)
    return after


@compiled()
def _serve(step: Step, of: _Service) -> int:
    """Answer what comes of serving a message, with all choices.

    Gives FINISHED when the answer has been entered, otherwise what to ask of Python.
    """
    control, parts, known, ctx = of.control, of.parts, of.known, of.work.ctx
    batches, effects, sendings, counts = parts.batches, parts.effects, parts.sendings, known.counts
    choices = of.work.choices
    row = control[at.ASKED + 1]
    number = control[at.ASKED + 2]
    if known.messages[number, slot.RECEIVER] == ABSENT or known.messages[number, slot.DEADLINE] < 0:
        return Reason.ANSWER
    if counts[at.BATCHES] == batches.shape[0]:
        return _ask_for_room(control, at.BATCHES)
    if 2 * (counts[at.ANSWERS] + 1) > parts.keys.shape[0]:
        return _ask_for_room(control, at.ANSWERS)
    effect = counts[at.EFFECT_ROWS]
    sent = counts[at.SENDINGS]
    places = 1
    for place in range(choices.shape[0] // 2):
        choices[place] = 0
    more = True
    while more:
        _run_step(step, of, row, number)
        if ctx[slot.FAILED] != 0 or ctx[slot.NOW] > LATEST:
            return Reason.ANSWER
        if effect == effects.shape[0]:
            return _ask_for_room(control, at.EFFECT_ROWS)
        if sent + ctx[slot.SENDS] > sendings.shape[0]:
            return _ask_for_room(control, at.SENDINGS)
        reason = _note_sent(of, effect, sent)
        if reason != Reason.FINISHED:
            return reason
        after = _inner_after(of)
        if after == ABSENT:
            return _ask_for_room(control, at.INNERS)
        effects[effect, at.EFFECT_INNER] = after
        effects[effect, at.EFFECT_FAILS] = 0
        passed = effects[effect, at.EFFECT_COUNT]
        places = max(places, 1 + ctx[slot.SENDS] - passed)
        sent += passed
        effect += 1
        more = _turn(choices, ctx[slot.CHOICES])
    batch = counts[at.BATCHES]
    batches[batch, at.BATCH_FIRST] = counts[at.EFFECT_ROWS]
    batches[batch, at.BATCH_COUNT] = effect - counts[at.EFFECT_ROWS]
    batches[batch, at.BATCH_PLACES] = places
    counts[at.BATCHES] = batch + 1
    counts[at.EFFECT_ROWS] = effect
    counts[at.SENDINGS] = sent
    counts[at.ANSWERS] += 1
    enter_answer(parts.keys, parts.values, AnswerKind.EFFECTS, row, number, batch)
    return Reason.FINISHED


@compiled(inline=True)
def _ask_for_room(control: Integers, table: int) -> int:
    """Ask for room in a table; gives the reason."""
    control[at.ASKED] = table
    return Reason.ROOM


@compiled()
def expand_and_serve(
    step: Step,
    control: Integers,
    states: States,
    parts: Parts,
    properties: PropertyTables,
    edges: EdgeArrays,
    known: Known,
    model: ServedModel,
) -> int:
    """Expand states as `expand_states` does, and serve messages by the step of the model."""
    number = model.rebecs.shape[0]
    queues = room(np.int64, (number, 2))
    for rebec in range(number):
        queues[rebec, slot.CLASS] = model.rebecs[rebec, OWN_CLASS]
    width = known.messages.shape[1]
    work = _Work(
        message=room(np.int64, width),
        sends=room(np.int64, (SENDS_TO_EACH * number + 1, width)),
        queues=queues,
        ctx=room(np.int64, slot.SLOTS),
        streams=room(np.uint64, (1, STREAM_WIDTH)),
        choices=room(np.int64, 2 * _MOST_CHOICES),
        sought=room(np.int64, (1, width)),
        wanted=room(np.int64, (1, known.contents.shape[1])),
    )
    service = _Service(control, parts, known, model, work)
    while True:
        reason = expand_states(control, states, parts, properties, edges)
        if reason != Reason.ANSWER or control[at.ASKED] != AnswerKind.EFFECTS:
            return reason
        reason = _serve(step, service)
        if reason != Reason.FINISHED:
            return reason

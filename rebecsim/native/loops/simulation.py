"""The simulation loop: many replications of one model in one call.

It does, on the arrays of `rebecsim.native.layout`, what `rebecsim.actors.semantics` and
`rebecsim.actors.schedulers` say, draw by draw; those are the places to read what it means. First
it chooses among the rebecs that may act, then among the messages of that rebec.

A bag is sorted by arrival, priority and order of sending. Its messages are rows of a table and do
not move.
"""

from __future__ import annotations

from typing import NamedTuple

from rebecsim.native import codes as slot
from rebecsim.native.arrays import Cube, Integers, Step, Streams, Table, call
from rebecsim.native.cache import compiled
from rebecsim.native.codes import Ended, Failure, First
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
from rebecsim.native.operations import below, restart_streams

WAITING, CLOCK, DUE, STATE_WIDTH = range(2, 6)
"""Columns of `states`, behind those that message servers see: how many messages the bag has, the
rebec's own time, and when it can serve its first message."""

IDLE = 2**63 - 1
"""Stands for the time at which a rebec with an empty bag can serve."""


class Bags(NamedTuple):
    """The bags of all rebecs.

    Attributes:
        rebecs: see `rebecsim.native.layout.NativeModel`.
        messages: shape (sum of the queue sizes, columns of a message).
        places: a stretch for each rebec, with the rows of its messages in their order, then those
            that are free.
        states: shape (rebecs, STATE_WIDTH).
    """

    rebecs: Table
    messages: Table
    places: Integers
    states: Table


@compiled(inline=True)
def restart_bags(bags: Bags, first_messages: Table, first_counts: Integers) -> None:
    """Fill all bags as they are when constructors have run, and set all clocks to 0."""
    rebecs, messages, places, states = bags
    for place in range(places.shape[0]):
        places[place] = place
    for rebec in range(rebecs.shape[0]):
        states[rebec, WAITING] = first_counts[rebec]
        states[rebec, slot.ROOM] = rebecs[rebec, CAPACITY] - first_counts[rebec]
        states[rebec, CLOCK] = 0
        for row in range(rebecs[rebec, BAG], rebecs[rebec, BAG] + first_counts[rebec]):
            for column in range(messages.shape[1]):
                messages[row, column] = first_messages[row, column]
        settle(bags, rebec)


@compiled(inline=True)
def settle(bags: Bags, rebec: int) -> None:
    """Note when a rebec whose clock or bag has changed can serve its first message."""
    rebecs, messages, places, states = bags
    if states[rebec, WAITING] == 0:
        states[rebec, DUE] = IDLE
    else:
        first = places[rebecs[rebec, BAG]]
        states[rebec, DUE] = max(states[rebec, CLOCK], messages[first, slot.ARRIVAL])


@compiled(inline=True)
def take(bags: Bags, rebec: int, place: int) -> int:
    """Take the message at this place out of its bag and give its row.

    The row is the last one to be used again. As the message that is served keeps its place in the
    queue, it stays as it is until the rebec serves another one.
    """
    rebecs, _, places, states = bags
    row = places[place]
    states[rebec, WAITING] -= 1
    end = rebecs[rebec, BAG] + states[rebec, WAITING]
    last = rebecs[rebec, BAG] + rebecs[rebec, CAPACITY] - 1
    for later in range(place, end):
        places[later] = places[later + 1]
    places[end] = places[last]
    places[last] = row
    return row


@compiled(inline=True)
def put(bags: Bags, sends: Table, sent: int) -> None:
    """Put a message that was sent into the bag of its receiver."""
    rebecs, messages, places, states = bags
    rebec = sends[sent, slot.RECEIVER]
    arrival = sends[sent, slot.ARRIVAL]
    priority = sends[sent, slot.PRIORITY]
    head = rebecs[rebec, BAG]
    place = head + states[rebec, WAITING]
    states[rebec, WAITING] += 1
    row = places[place]
    for column in range(messages.shape[1]):
        messages[row, column] = sends[sent, column]
    while place > head:
        before = places[place - 1]
        if messages[before, slot.ARRIVAL] < arrival or (
            messages[before, slot.ARRIVAL] == arrival
            and messages[before, slot.PRIORITY] <= priority
        ):
            break
        places[place] = before
        place -= 1
    places[place] = row
    if place == head:
        states[rebec, DUE] = max(states[rebec, CLOCK], arrival)


ORDER, FIRST_RANK, USE_PRIORITIES, GLOBAL, CORE = range(5)
"""The first of the `settings` of a run: an order; the rank that goes first; whether
priorities of rebecs count, and whether global ones replace them; whether a bag is a queue."""


@compiled(inline=True)
def _end(core: int, bags: Bags, rebec: int) -> int:
    """Give where the messages that a ready rebec may serve end in `places`; they start at BAG."""
    rebecs, messages, places, states = bags
    head = rebecs[rebec, BAG]
    place = head + 1
    if core == 0:
        first = places[head]
        end = head + states[rebec, WAITING]
        while (
            place < end
            and messages[places[place], slot.ARRIVAL] == messages[first, slot.ARRIVAL]
            and messages[places[place], slot.PRIORITY] == messages[first, slot.PRIORITY]
        ):
            place += 1
    return place


@compiled()
def _deciding_server(core: int, bags: Bags, rebec: int) -> int:
    """Give the number of the message server whose global priority a ready rebec has.

    Servers are numbered as they are declared, and the first of those that it may serve decides.
    """
    rebecs, messages, places, _ = bags
    head = rebecs[rebec, BAG]
    first = messages[places[head], slot.SERVER]
    for place in range(head + 1, _end(core, bags, rebec)):
        first = min(first, messages[places[place], slot.SERVER])
    return first


@compiled()
def _most_urgent(
    settings: Integers, servers: Cube, bags: Bags, found: Integers, number: int
) -> int:
    """Keep those of the first `number` rebecs in `found` that come first by priority."""
    rebecs = bags.rebecs
    first = kept = 0
    for place in range(number):
        rebec = found[place]
        urgency = rebecs[rebec, OWN_PRIORITY]
        if settings[GLOBAL] != 0:
            server = _deciding_server(settings[CORE], bags, rebec)
            urgency = servers[rebecs[rebec, OWN_CLASS], server, GLOBAL_PRIORITY]
        if kept == 0 or urgency < first:
            first = urgency
            kept = 0
        if urgency == first:
            found[kept] = rebec
            kept += 1
    return kept


@compiled(inline=True)
def ready_rebecs(settings: Integers, servers: Cube, bags: Bags, found: Integers) -> int:
    """Put the rebecs that may act into `found` and give how many there are."""
    states = bags.states
    time = IDLE
    number = 0
    for rebec in range(states.shape[0]):
        due = states[rebec, DUE]
        if due < time:
            time = due
            number = 0
        if due == time:
            found[number] = rebec
            number += 1
    if time == IDLE:
        return 0
    if number > 1 and settings[USE_PRIORITIES] != 0:
        return _most_urgent(settings, servers, bags, found, number)
    return number


@compiled(inline=True)
def choose_message(
    settings: Integers, ranks: Table, bags: Bags, streams: Streams, found: Integers, number: int
) -> int:
    """Give the place of the message to serve next, of the first `number` rebecs in `found`."""
    rebecs = bags.rebecs
    if settings[ORDER] == First.ANY:
        rebec = found[below(streams, 0, number)]
        head = rebecs[rebec, BAG]
        end = _end(settings[CORE], bags, rebec)
        return head + below(streams, 0, end - head)
    if settings[ORDER] == First.FIFO:
        return _oldest(bags, found, number)
    return _ranked(settings, ranks, bags, streams, found, number)


@compiled()
def _oldest(bags: Bags, found: Integers, number: int) -> int:
    """Give the place of the message that was sent first; in each bag that is the first one."""
    rebecs, messages, places, _ = bags
    oldest = rebecs[found[0], BAG]
    for each in range(1, number):
        head = rebecs[found[each], BAG]
        if messages[places[head], slot.SEQUENCE] < messages[places[oldest], slot.SEQUENCE]:
            oldest = head
    return oldest


@compiled()
def _ranked(
    settings: Integers, ranks: Table, bags: Bags, streams: Streams, found: Integers, number: int
) -> int:
    """Give the place of a message of the rank that goes first, if there is one, or of the other."""
    rebecs, messages, places, _ = bags
    core = settings[CORE]
    first = settings[FIRST_RANK]
    candidates = 0
    for each in range(number):
        rebec = found[each]
        if _of_rank(ranks, bags, rebec, _end(core, bags, rebec), first) > 0:
            found[candidates] = rebec
            candidates += 1
    if candidates == 0:  # then all messages are of the other rank
        candidates = number
        first = 1 - first
    rebec = found[below(streams, 0, candidates)]
    end = _end(core, bags, rebec)
    chosen = below(streams, 0, _of_rank(ranks, bags, rebec, end, first))
    place = rebecs[rebec, BAG]
    while True:
        if ranks[rebecs[rebec, OWN_CLASS], messages[places[place], slot.SERVER]] == first:
            if chosen == 0:
                return place
            chosen -= 1
        place += 1


@compiled()
def _of_rank(ranks: Table, bags: Bags, rebec: int, end: int, rank: int) -> int:
    """Count the messages of this rank among those of a rebec up to a place."""
    rebecs, messages, places, _ = bags
    number = 0
    for place in range(rebecs[rebec, BAG], end):
        if ranks[rebecs[rebec, OWN_CLASS], messages[places[place], slot.SERVER]] == rank:
            number += 1
    return number


FIRST, COUNT, UNTIL, MAX_STEPS, CHOICE_LAW, SENT, AT_ONE_TIME, SETTINGS = range(5, 13)
"""The other `settings`: the first replication and how many; last time, most steps (-1: any number);
1 for the law rmc; messages sent by constructors; most messages at one time."""

OUTCOME, STEPS, TIME = range(3)
"""Columns of the results of replications."""

EVENT_TIME, EVENT_FINISHED, EVENT_REBEC, EVENT_SERVER, EVENT_SENDER = range(5)
EVENT_ARRIVAL, EVENT_DEADLINE, EVENT_CHOICES, EVENT_ARGUMENTS = range(5, 9)
"""Columns of an event: those of the message, the number of choices drawn up to its end in the whole
run, its arguments, and then the variables of the rebec when it was served."""


class SimulatedModel(NamedTuple):
    """The model as its constructors have left it, see `rebecsim.native.layout.NativeModel`.

    `ranks` are 0 or 1 for each message server, by class and number.
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
    """The results of replications.

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


@compiled()
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


@compiled(inline=True)
def _serve(step: Step, model: SimulatedModel, work: Work, message: Integers, start: int) -> None:
    """Serve a message that was taken out of its bag; what it sends is left in `work`."""
    rebecs, ctx = work.bags.rebecs, work.ctx
    rebec = message[slot.RECEIVER]
    ctx[slot.NOW] = start
    ctx[slot.SELF] = rebec
    ctx[slot.SENDS] = ctx[slot.ROUNDS] = 0
    ctx[slot.STREAMS] = rebecs[rebec, FIRST_STREAM]
    arguments = (
        model.servers[rebecs[rebec, OWN_CLASS], message[slot.SERVER], NUMBER_IN_STEP],
        rebecs[rebec, BASE],
        work.cells,
        message,
        work.sends,
        work.bags.states,
        ctx,
        work.streams,
        work.choices,
        model.params,
    )
    call(step, arguments)
    work.bags.states[rebec, CLOCK] = ctx[slot.NOW]
    settle(work.bags, rebec)


@compiled(inline=True)
def _deliver(servers: Cube, work: Work, sequence: int) -> int:
    """Put what was sent into the bags, numbered; gives the number of the last message sent."""
    rebecs, sends = work.bags.rebecs, work.sends
    for sent in range(work.ctx[slot.SENDS]):
        sequence += 1
        sends[sent, slot.SEQUENCE] = sequence
        own = rebecs[sends[sent, slot.RECEIVER], OWN_CLASS]
        sends[sent, slot.PRIORITY] = servers[own, sends[sent, slot.SERVER], SERVER_PRIORITY]
        put(work.bags, sends, sent)
    return sequence


@compiled(inline=True)
def _outcome(failed: int) -> int:
    """Give how a replication ends with a failure of a step; STEP_LIMIT if there is none."""
    if failed == Failure.OVERFLOW:
        return Ended.QUEUE_OVERFLOW
    if failed == Failure.ENDLESS:
        return Ended.NOT_ENDING
    return Ended.STEP_LIMIT if failed == 0 else Ended.ASSERTION_FAILED


@compiled(inline=True)
def _run(
    step: Step,
    settings: Integers,
    model: SimulatedModel,
    work: Work,
    results: ReplicationResults,
    number: int,
) -> int:
    """Run the replication in this row of `ends` from the state in the arrays on.

    Notes its number of steps and its last time, and gives its outcome.
    """
    bags, ctx, found, states = work.bags, work.ctx, work.found, work.bags.states
    events = results.events
    sequence = settings[SENT]
    steps = time = 0
    began = 0  # the messages that had been served when the time advanced last
    outcome: int = Ended.STEP_LIMIT
    traced = events.shape[1] > 0
    while outcome == Ended.STEP_LIMIT and steps != settings[MAX_STEPS]:
        ready = ready_rebecs(settings, model.servers, bags, found)
        if ready == 0:
            outcome = Ended.ENDED
            break
        start = states[found[0], DUE]
        if start > settings[UNTIL]:
            outcome = Ended.TIME_LIMIT
            break
        place = choose_message(settings, model.ranks, bags, work.streams, found, ready)
        if start > time:
            began = steps
        elif steps - began >= settings[AT_ONE_TIME] and settings[CORE] == 0:
            outcome = Ended.TIME_STANDS_STILL
            break
        time = start
        message = bags.messages[bags.places[place]]
        rebec = message[slot.RECEIVER]
        ctx[slot.STARTED] = start
        if message[slot.DEADLINE] < start:
            outcome = Ended.DEADLINE_MISSED
            ctx[slot.NOW] = states[rebec, CLOCK]
        else:
            take(bags, rebec, place)
            _serve(step, model, work, message, start)
            sequence = _deliver(model.servers, work, sequence)
            states[rebec, slot.ROOM] += 1  # the message that was served kept its place until now
            outcome = _outcome(ctx[slot.FAILED])
        if traced and not _note(work, message, events, steps):
            return Ended.NO_ROOM
        steps += 1
        if outcome != Ended.STEP_LIMIT:
            for column in range(message.shape[0]):
                results.last_message[column] = message[column]
    results.ends[number, STEPS] = steps
    results.ends[number, TIME] = time
    if traced and ctx[slot.CHOICES] > work.choices.shape[0]:
        return Ended.NO_ROOM
    return outcome


@compiled()
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
        ends[number, OUTCOME] = _run(step, settings, model, work, results, number)
        for column in range(columns_and_values.shape[1]):
            columns_and_values[number + 1, column] = cells[columns_and_values[0, column]]
        if ends[number, OUTCOME] == Ended.NOT_ENDING:
            break

"""Choose the next message of a simulation: `rebecsim.actors.schedulers` for compiled code.

The rebecs that may act first, then one of their messages, draw by draw as there.
"""

from __future__ import annotations

from rebecsim.native import columns as slot
from rebecsim.native.arrays import Cube, Integers, Streams, Table
from rebecsim.native.cache import compiled
from rebecsim.native.codes import First
from rebecsim.native.layout import BAG, GLOBAL_PRIORITY, OWN_CLASS, OWN_PRIORITY
from rebecsim.native.loops.bags import COUNT, DUE, IDLE, Bags
from rebecsim.native.random_words import below

ORDER, FIRST_RANK, USE_PRIORITIES, GLOBAL, CORE = range(5)
"""What is asked for, the first of the `settings`: an order; which rank goes first; whether
priorities of rebecs count, and whether global ones replace them; whether a bag is a queue."""


@compiled(borrows=True, inline=True)
def _end(core: int, bags: Bags, rebec: int) -> int:
    """Give where the messages that a ready rebec may serve end in `places`; they start at BAG."""
    rebecs, messages, places, states = bags
    head = rebecs[rebec, BAG]
    place = head + 1
    if core == 0:
        first = places[head]
        end = head + states[rebec, COUNT]
        while (
            place < end
            and messages[places[place], slot.ARRIVAL] == messages[first, slot.ARRIVAL]
            and messages[places[place], slot.PRIORITY] == messages[first, slot.PRIORITY]
        ):
            place += 1
    return place


@compiled(borrows=True, inner=True)
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


@compiled(borrows=True, inner=True)
def _most_urgent(
    settings: Integers, servers: Cube, bags: Bags, found: Integers, number: int
) -> int:
    """Keep those of the first `number` rebecs in `found` that come first by priority."""
    rebecs = bags.rebecs
    first = 0
    kept = 0
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


@compiled(borrows=True, inline=True)
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


@compiled(borrows=True, inline=True)
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


@compiled(borrows=True, inner=True)
def _oldest(bags: Bags, found: Integers, number: int) -> int:
    """Give the place of the message that was sent first; in each bag that is the first one."""
    rebecs, messages, places, _ = bags
    oldest = rebecs[found[0], BAG]
    for each in range(1, number):
        head = rebecs[found[each], BAG]
        if messages[places[head], slot.SEQUENCE] < messages[places[oldest], slot.SEQUENCE]:
            oldest = head
    return oldest


@compiled(borrows=True, inner=True)
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
        end = _end(core, bags, rebec)
        if _of_rank(ranks, bags, rebec, end, first) > 0:
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


@compiled(borrows=True, inner=True)
def _of_rank(ranks: Table, bags: Bags, rebec: int, end: int, rank: int) -> int:
    """Count the messages of this rank among those of a rebec up to a place."""
    rebecs, messages, places, _ = bags
    number = 0
    for place in range(rebecs[rebec, BAG], end):
        if ranks[rebecs[rebec, OWN_CLASS], messages[places[place], slot.SERVER]] == rank:
            number += 1
    return number

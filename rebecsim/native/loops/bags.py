"""The bags of all rebecs while a simulation runs.

A bag is sorted by arrival, priority and order of sending. Its messages are rows of a table and do
not move.
"""

from __future__ import annotations

from typing import NamedTuple

from rebecsim.native import columns as slot
from rebecsim.native.arrays import Integers, Table
from rebecsim.native.cache import compiled
from rebecsim.native.layout import BAG, CAPACITY

COUNT, CLOCK, DUE, STATE_WIDTH = range(2, 6)
"""Columns of `states`, behind those that message servers see: how many messages the bag has, the
rebec's own time, and when it can serve its first message."""

IDLE = 2**63 - 1
"""When a rebec with an empty bag can serve."""


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


@compiled(borrows=True, inline=True)
def restart_bags(bags: Bags, first_messages: Table, first_counts: Integers) -> None:
    """Fill all bags as they are when constructors have run, and set all clocks to 0."""
    rebecs, messages, places, states = bags
    for place in range(places.shape[0]):
        places[place] = place
    for rebec in range(rebecs.shape[0]):
        states[rebec, COUNT] = first_counts[rebec]
        states[rebec, slot.ROOM] = rebecs[rebec, CAPACITY] - first_counts[rebec]
        states[rebec, CLOCK] = 0
        for row in range(rebecs[rebec, BAG], rebecs[rebec, BAG] + first_counts[rebec]):
            for column in range(messages.shape[1]):
                messages[row, column] = first_messages[row, column]
        settle(bags, rebec)


@compiled(borrows=True, inline=True)
def settle(bags: Bags, rebec: int) -> None:
    """Note when a rebec whose clock or bag has changed can serve its first message."""
    rebecs, messages, places, states = bags
    if states[rebec, COUNT] == 0:
        states[rebec, DUE] = IDLE
    else:
        first = places[rebecs[rebec, BAG]]
        states[rebec, DUE] = max(states[rebec, CLOCK], messages[first, slot.ARRIVAL])


@compiled(borrows=True, inline=True)
def take(bags: Bags, rebec: int, place: int) -> int:
    """Take the message at this place out of its bag and give its row.

    The row is the last one to be used again. As the message that is served keeps its place in the
    queue, it stays as it is until the rebec serves another one.
    """
    rebecs, _, places, states = bags
    row = places[place]
    count = states[rebec, COUNT] - 1
    states[rebec, COUNT] = count
    end = rebecs[rebec, BAG] + count
    last = rebecs[rebec, BAG] + rebecs[rebec, CAPACITY] - 1
    for later in range(place, end):
        places[later] = places[later + 1]
    places[end] = places[last]
    places[last] = row
    return row


@compiled(borrows=True, inline=True)
def put(bags: Bags, sends: Table, sent: int) -> None:
    """Put a message that was sent into the bag of its receiver."""
    rebecs, messages, places, states = bags
    rebec = sends[sent, slot.RECEIVER]
    arrival = sends[sent, slot.ARRIVAL]
    priority = sends[sent, slot.PRIORITY]
    head = rebecs[rebec, BAG]
    place = head + states[rebec, COUNT]
    states[rebec, COUNT] += 1
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

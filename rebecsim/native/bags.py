"""The bags of all rebecs while a simulation runs.

A bag is sorted by arrival, priority and order of sending. Its messages are rows of a table and do
not move: `places` has a stretch for each rebec, with the rows of its messages in their order, then
those that are free. `states` has a row for each rebec.
"""

from __future__ import annotations

from rebecsim.native.arrays import Integers, Table
from rebecsim.native.cache import compiled
from rebecsim.native.columns import ARRIVAL, PRIORITY, RECEIVER, ROOM
from rebecsim.native.layout import BAG, CAPACITY

COUNT, CLOCK, DUE, STATE_WIDTH = range(2, 6)
"""Columns of `states`, behind those that message servers see: how many messages the bag has, the
rebec's own time, and when it can serve its first message."""

IDLE = 2**63 - 1
"""When a rebec with an empty bag can serve."""


@compiled(borrows=True, inline=True)
def restart_bags(
    first_bags: Table,
    rebecs: Table,
    bags: Table,
    first_counts: Integers,
    places: Integers,
    states: Table,
) -> None:
    """Fill all bags as they are when constructors have run, and set all clocks to 0."""
    for place in range(places.shape[0]):
        places[place] = place
    for rebec in range(rebecs.shape[0]):
        states[rebec, COUNT] = first_counts[rebec]
        states[rebec, ROOM] = rebecs[rebec, CAPACITY] - first_counts[rebec]
        states[rebec, CLOCK] = 0
        for row in range(rebecs[rebec, BAG], rebecs[rebec, BAG] + first_counts[rebec]):
            for column in range(bags.shape[1]):
                bags[row, column] = first_bags[row, column]
        settle(rebecs, bags, places, states, rebec)


@compiled(borrows=True, inline=True)
def settle(rebecs: Table, bags: Table, places: Integers, states: Table, rebec: int) -> None:
    """Note when a rebec whose clock or bag has changed can serve its first message."""
    if states[rebec, COUNT] == 0:
        states[rebec, DUE] = IDLE
    else:
        first = places[rebecs[rebec, BAG]]
        states[rebec, DUE] = max(states[rebec, CLOCK], bags[first, ARRIVAL])


@compiled(borrows=True, inline=True)
def take(rebecs: Table, places: Integers, states: Table, rebec: int, place: int) -> int:
    """Take the message at this place out of its bag and give its row.

    The row is the last one to be used again. As the message that is served keeps its place in the
    queue, it stays as it is until the rebec serves another one.
    """
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
def put(
    rebecs: Table,
    bags: Table,
    places: Integers,
    states: Table,
    sends: Table,
    sent: int,
) -> None:
    """Put a message that was sent into the bag of its receiver."""
    rebec = sends[sent, RECEIVER]
    arrival = sends[sent, ARRIVAL]
    priority = sends[sent, PRIORITY]
    head = rebecs[rebec, BAG]
    place = head + states[rebec, COUNT]
    states[rebec, COUNT] += 1
    row = places[place]
    for column in range(bags.shape[1]):
        bags[row, column] = sends[sent, column]
    while place > head:
        before = places[place - 1]
        if bags[before, ARRIVAL] < arrival or (
            bags[before, ARRIVAL] == arrival and bags[before, PRIORITY] <= priority
        ):
            break
        places[place] = before
        place -= 1
    places[place] = row
    if place == head:
        states[rebec, DUE] = max(states[rebec, CLOCK], arrival)

"""The arrays of the compiled search: places in the control array, columns of the tables.

The control array says how far the search is, and what it asks for. The tables say what the numbers
in a collapsed state stand for. The state of a rebec is two numbers there: one of its inner state,
which is everything but the bag, and one of its bag.
"""

from __future__ import annotations

from typing import NamedTuple

from rebecsim.native.arrays import Integers, ShortTable, Table

STATES = 0
TRANSITIONS = 1
EXPANDED = 2
NUMBER = 3
"""The state being expanded, in the order of being found."""
ORDINAL = 4
"""The number of its transitions that have been followed; -1 before the first look at it."""
ASKED = 5
"""Three places: what the reason to return is about."""
REBECS = 8
WORDS = 9
MOST = 10
"""The state that would be one too many."""
HORIZON = 11
BEYOND = 12
"""Whether a state lay behind the horizon."""
FLOATING = 13
"""Floating time: the time moves on within a transition."""
TIMED = 14
"""Timed transition system: the time moves on in transitions of its own."""
ABSOLUTE = 15
"""The time is the last part of a state."""
BY_TIME = 16
"""What a message leads to depends on the time of the state."""
CAPACITY = 17
"""How many states the table of states holds before it has to grow."""
PROPERTIES = 18
COMPACT = 19
"""Hash compaction: states are told apart by fingerprints."""
FOUND = 20
"""How many successors have been worked out since they were last looked up."""
BUDGET = 21
"""How many more states to expand before returning."""
STORED = 22
"""How many of these have been looked up."""
END = 23
"""The state before which to stop expanding."""
EDGES = 24
"""How many transitions have been written down, where that is asked for."""
SERVED = 25
"""What is served in the transition that goes wrong, see
`rebecsim.native.loops.successors.TIME_PASSES`."""
CHOICE = 26
"""Which of the outcomes of a message the transition that is followed is."""
WRONG = 27
"""Whether something goes wrong in a transition of the state that is being expanded."""
PARTIAL = 28
"""Not all orders of messages are followed."""
CHANGED = 29
"""How many rebecs are noted as changed in the transition that is followed."""
LENGTH = 30
"""Of the array."""


INNERS, BAGS, ALTERNATIVES, BATCHES, EFFECT_ROWS, SENDINGS, ANSWERS, TABLES = range(8)
"""The tables, in the array that counts how many rows of each are in use."""

(
    INNER_CLOCK,
    INNER_RESUME,
    INNER_URGENCY,
    INNER_MESSAGE,
    INNER_TICKS,
    INNER_NUMBER,
    INNER_WIDTH,
) = range(7)
"""Of an inner state: how long the rebec stays busy; when it goes on with which message, how urgent
that is, ABSENT if it waits in no delay; whether a timer runs; its number among
those of its rebec, from 1 on."""

(
    BAG_NEXT,
    BAG_URGENCY,
    BAG_SIZE,
    BAG_FIRST,
    BAG_COUNT,
    BAG_SENT,
    BAG_ALONE,
    BAG_NUMBER,
    BAG_WIDTH,
) = range(9)
"""Of a bag: when its first message arrives, NEVER without one, and how urgent that is; how many
messages there are; the first alternative, ABSENT before it was asked for, and how many there are.
Under partial-order reduction: the receivers of messages that make a difference, and the rebecs to
which no other may send such messages if this rebec is to go first, as sets; see
`rebecsim.exploration.reduction`. Last its number among those of its rebec, from 1 on."""

ALTERNATIVE_MESSAGE, ALTERNATIVE_REST, ALTERNATIVE_WIDTH = range(3)
"""Of a message that may be served: which one, and the bag without it."""

BATCH_FIRST, BATCH_COUNT, BATCH_PLACES, BATCH_WIDTH = range(4)
"""Of what comes of serving a message: first effect and how many, one for each way to choose; how
many places there must be beside the other messages."""

EFFECT_INNER, EFFECT_OWN, EFFECT_FAILS, EFFECT_FIRST, EFFECT_COUNT, EFFECT_WIDTH = range(6)
"""Of one effect: the inner state afterwards; the bag of what the rebec has sent to itself, ABSENT
if nothing; whether it is a breach; first sending and how many."""

SENDING_RECEIVER, SENDING_MESSAGE, SENDING_WIDTH = range(3)
"""Of a message to another rebec: which rebec, which message."""


class Parts(NamedTuple):
    """What follows from parts of states.

    Attributes:
        inner_at, bag_at: the row of each numbered inner state and bag; shape (rebecs, numbers).
        capacities: the sizes of the queues; shape (rebecs,).
        inners, bags, alternatives, batches, effects, sendings: tables with the columns above.
        keys, values: the answers, see `rebecsim.native.loops.tables`.
        origins: whose image each rebec is under each symmetry that is used, first the identity;
            shape (symmetries, rebecs).
    """

    inner_at: ShortTable
    bag_at: ShortTable
    capacities: Integers
    inners: Table
    bags: Table
    alternatives: Table
    batches: Table
    effects: Table
    sendings: Table
    keys: Integers
    values: Integers
    origins: Table

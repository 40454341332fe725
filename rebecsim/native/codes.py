"""The codes that compiled loops and Python exchange, and the columns of their arrays.

Everything is an integer of 64 bits: booleans are 0 or 1, references the position of a rebec in
main or -1 for null, floats the bits of a double that holds the single exactly.
"""

from __future__ import annotations

from enum import IntEnum


class Reason(IntEnum):
    """Why the compiled search has returned."""

    FINISHED = 0
    BUDGET = 1
    ANSWER = 2
    ALTERNATIVES = 3
    WIDTH = 4
    GROW = 5
    LIMIT = 6
    CHECK = 7
    BREACH = 8
    OVERFLOW = 9
    ENDS = 10
    ROOM = 11
    """A table is full, see `rebecsim.native.search_layout`."""
    MORE = 12
    """There are more successors than are worked out at once; never seen outside the loop."""


class AnswerKind(IntEnum):
    """The kinds of answers in the table of answers."""

    RECEIVED = 0
    """A bag, a message: the bag with it."""
    JOINED = 1
    """A bag, another bag of the same rebec: both in one."""
    BAG_LATER = 2
    """A bag, time units: the bag as it is seen so much later."""
    INNER_LATER = 3
    """An inner state, time units: how it is seen so much later."""
    EFFECTS = 4
    """An inner state, a message: what comes of serving it there."""
    TIGHT = 5
    """A message, a number of places: the message for a rebec that has no more of them."""
    AT_TIME = 6
    """An inner state, an absolute time: the inner state as one that knows the time."""
    INNER_IMAGE = 7
    """An inner state, a symmetry: its image, which is one of another rebec."""
    BAG_IMAGE = 8
    """A bag, a symmetry: its image."""


class Failure(IntEnum):
    """What can go wrong in a step."""

    INDEX = 1
    QUOTIENT = 2
    REMAINDER = 3
    TRUNCATION = 4
    CAST = 5
    NULL = 6
    PAST = 7
    DELAY = 8
    ASSERTION = 9
    OVERFLOW = 10
    SCRIPT_ENDED = 11
    ENDLESS = 12
    """More rounds of loops than are waited for."""
    UNFIT = 13
    """A whole number of Python that leaves 32 bits."""


class Ended(IntEnum):
    """How a replication has ended, numbered as in `rebecsim.simulation.OUTCOMES`."""

    TIME_LIMIT = 0
    STEP_LIMIT = 1
    ENDED = 2
    END_OF_RECORD = 3
    DEADLINE_MISSED = 4
    QUEUE_OVERFLOW = 5
    ASSERTION_FAILED = 6
    TIME_STANDS_STILL = 7
    NO_ROOM = 8
    """The tables of events or of choices are full."""
    NOT_ENDING = 9
    """A message server does not end, which ends all replications."""


class First(IntEnum):
    """Which message is served first, of those that may be."""

    ANY = 0
    """Every one is equally likely."""
    RANKED = 1
    """One of the rank that goes first, if there is one."""
    FIFO = 2
    """The one that was sent first."""


# A message: a row of a bag, of the messages sent in a step, or the one that is served.
ARRIVAL, PRIORITY, SEQUENCE, RECEIVER, SERVER, SENDER, DEADLINE, ARGUMENTS = range(8)
"""Arguments are the last columns, as many as the message server with the most of them has."""
NEVER = 2**62
"""The deadline of a message that has none."""

NO_TIME = -(2**62)
"""The cell of a timer that does not run; that of another is the time of its start."""

# A rebec, as the servers see the others.
ROOM, CLASS = range(2)

# The step at work (`ctx`): what it has come to, and what its message server may ask for.
FAILED, SITE, VALUE, NOW, STARTED, SELF, SENDS, CHOICES, LAW, STREAMS, ROUNDS = range(11)
"""FAILED is 0 or what went wrong, SITE and VALUE tell where and with what; NOW is the rebec's own
time, STARTED when serving began; SENDS and CHOICES count; STREAMS is the row of the random
stream of choice site 1; ROUNDS counts the rounds of loops."""
SLOTS = 11
SITE_SHIFT = 32
"""Bits of what is noted of a choice that hold the index; its site stands above them."""
SCRIPT = -1
"""The LAW under which choices are not drawn but read."""

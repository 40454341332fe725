"""The columns of the arrays that compiled code works on.

Everything is an integer of 64 bits: booleans are 0 or 1, references the position of a rebec in
main or -1 for null, floats the bits of a double that holds the single exactly.
"""

from __future__ import annotations

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

"""Why the compiled loop has returned."""

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
DEADLOCK = 10
ROOM = 11
"""A table is full, see `rebecsim.native.parts`."""
MORE = 12
"""There are more successors than are worked out at once; never seen outside the loop."""

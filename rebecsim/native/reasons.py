"""Why the compiled loop has returned."""

FINISHED = 0
BUDGET = 1
OUTCOMES = 2
RECEIVE = 3
LATER = 4
WIDTH = 5
GROW = 6
LIMIT = 7
CHECK = 8
BREACH = 9
OVERFLOW = 10
DEADLOCK = 11
MORE = 12
"""There are more successors than are worked out at once; never seen outside the loop."""

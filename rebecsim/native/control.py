"""The places in the control array: how far the search is, and what it asks for."""

STATES = 0
TRANSITIONS = 1
EXPANDED = 2
NUMBER = 3
"""The state being expanded, in the order of being found."""
ORDINAL = 4
"""How many of its transitions have been followed; -1 before it was looked at."""
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
"""Which of its outcomes that is."""
WRONG = 27
"""Whether something goes wrong in a transition of the state that is being expanded."""
PARTIAL = 28
"""Not all orders of messages are followed."""
LENGTH = 29
"""Of the array."""

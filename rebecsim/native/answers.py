"""The kinds of answers in a table: the key is row << 34 | kind << 32 | message or time."""

RECEIVED = 0
LATER = 1
AT_TIME = 2
"""The batch of outcomes of a state of a rebec at an absolute time."""

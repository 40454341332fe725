"""The kinds of answers in the table of answers, and their keys."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebecsim.native.arrays import Integers
from rebecsim.native.cache import compiled
from rebecsim.native.tables import ABSENT, scatter

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

_KIND, _ROW = 32, 35  # bits


@compiled(borrows=True, inline=True)
def key_of(kind: int, row: int, value: int) -> int:
    """Give the key of an answer about a row and a number from 0 to 2**32 - 1."""
    return row << _ROW | kind << _KIND | value


def kind_of(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the kinds of answers that keys ask for."""
    return keys >> _KIND & (1 << _ROW - _KIND) - 1


def value_of(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the numbers that keys ask about, beside the row."""
    return keys & (1 << _KIND) - 1


@compiled(borrows=True)
def enter_answer(
    keys: Integers,
    values: Integers,
    kind: int,
    row: int,
    value: int,
    answer: int,
) -> None:
    """Enter an answer that is not there yet; the table must have room."""
    last = keys.shape[0] - 1
    key = key_of(kind, row, value)
    place = scatter(key) & last
    while keys[place] != ABSENT:
        place = (place + 1) & last
    keys[place] = key
    values[place] = answer

"""The keys in the table of answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebecsim.native.arrays import Integers
from rebecsim.native.cache import compiled
from rebecsim.native.loops.tables import insert_entry

_KIND, _ROW = 32, 36  # bits


@compiled(borrows=True, inline=True)
def key_of(kind: int, row: int, value: int) -> int:
    """Give the key of an answer about a row and a number from 0 to 2**32 - 1."""
    return row << _ROW | kind << _KIND | value


def keys_of(kind: int, row: int, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the keys of answers about a row and several numbers."""
    keys: NDArray[np.int64] = values | (row << _ROW | kind << _KIND)
    return keys


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
    insert_entry(keys, values, key_of(kind, row, value), answer)

"""Arrays that grow: for tables of which nobody knows how long they get."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["NumberedRows", "Rows"]


class Rows:
    """Rows of integers, appended one by one. `array` has more rows than are in use."""

    def __init__(self, width: int, room: int = 64) -> None:
        self.array: NDArray[np.int64] = np.empty((room, width), np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, *values: int) -> int:
        """Add a row and give its number."""
        number = self._count
        if number == len(self.array):
            larger = np.empty((2 * number, self.array.shape[1]), np.int64)
            larger[:number] = self.array
            self.array = larger
        self.array[number] = values
        self._count = number + 1
        return number


class NumberedRows:
    """Rows that belong to rebecs, those of each of them numbered from 1 on, in the last column.

    Attributes:
        counts: how many rows each rebec has.
        at: the row of each number; shape (rebecs, more than the largest number).
    """

    def __init__(self, rebecs: int, width: int) -> None:
        self._rows = Rows(width)
        self.counts = [0] * rebecs
        self.at = np.zeros((rebecs, 64), np.int32)

    @property
    def array(self) -> NDArray[np.int64]:
        """The rows, and more that are not in use."""
        return self._rows.array

    def append(self, owner: int, *values: int) -> int:
        """Add a row of a rebec, without its number, and give where it is."""
        self.counts[owner] = number = self.counts[owner] + 1
        row = self._rows.append(*values, number)
        if number == self.at.shape[1]:
            self.at = np.concatenate([self.at, np.zeros_like(self.at)], axis=1)
        self.at[owner, number] = row
        return row

    def number_of(self, row: int) -> int:
        """Give the number of a row."""
        return int(self.array[row, -1])

    def row_at(self, owner: int, number: int) -> int:
        """Give the row of a number of a rebec."""
        return int(self.at[owner, number])

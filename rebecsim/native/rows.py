"""Arrays that grow, for tables whose length is not known before."""

from __future__ import annotations

import numpy as np

from rebecsim.native.arrays import Integers


def ranges(first: Integers, count: Integers) -> Integers:
    """Give the numbers of the rows first, first + 1, ... of each range, one after the other."""
    before = np.cumsum(count) - count
    return np.repeat(first - before, count) + np.arange(int(count.sum()), dtype=np.int64)


class IntegerRows:
    """Rows of integers, appended one by one. `array` has more rows than are in use.

    How many are is in `counts`, at this `place`, where compiled code can count on.
    """

    def __init__(self, width: int, counts: Integers, place: int) -> None:
        self.array: Integers = np.empty((64, width), np.int64)
        self._counts = counts
        self._place = place

    def __len__(self) -> int:
        return int(self._counts[self._place])

    def append(self, *values: int) -> int:
        """Add a row and give its number."""
        number = len(self)
        if number == len(self.array):
            self.grow()
        self.array[number] = values
        self._counts[self._place] = number + 1
        return number

    def grows(self, coming: int) -> bool:
        """Whether there is no room for so many more."""
        return len(self) + coming > len(self.array)

    def grow(self) -> None:
        """Make room for twice as many rows."""
        larger = np.empty((2 * len(self.array), self.array.shape[1]), np.int64)
        larger[: len(self)] = self.array[: len(self)]
        self.array = larger


class NumberedRows(IntegerRows):
    """Rows that belong to rebecs, those of each of them numbered from 1 on, in the last column.

    Attributes:
        numbers: how many rows each rebec has; shape (rebecs,).
        at: the row of each number; shape (rebecs, more than the largest number).
    """

    def __init__(self, rebecs: int, width: int, counts: Integers, place: int) -> None:
        super().__init__(width, counts, place)
        self.numbers = np.zeros(rebecs, np.int64)
        self.at = np.zeros((rebecs, 64), np.int32)

    def append_to(self, owner: int, *values: int) -> int:
        """Add a row of a rebec, without its number, and give where it is."""
        number = int(self.numbers[owner]) + 1
        if number == self.at.shape[1]:
            self.grow_numbers()
        row = self.append(*values, number)
        self.numbers[owner] = number
        self.at[owner, number] = row
        return row

    def grows_numbers(self, coming: int) -> bool:
        """Whether a rebec may get a number that there is no room for, when so many come."""
        return bool(self.numbers.max() + coming >= self.at.shape[1])

    def grow_numbers(self) -> None:
        """Make room for larger numbers."""
        self.at = np.concatenate([self.at, np.zeros_like(self.at)], axis=1)

    def number_of(self, row: int) -> int:
        """Give the number of a row."""
        return int(self.array[row, -1])

    def row_at(self, owner: int, number: int) -> int:
        """Give the row of a number of a rebec."""
        return int(self.at[owner, number])

"""Arrays that grow: for tables of which nobody knows how long they get."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rows"]


class Rows:
    """Rows of integers, appended one by one. `array` has more rows than are in use."""

    def __init__(self, width: int, room: int = 64) -> None:
        self.array: NDArray[np.int64] = np.empty((room, width), dtype=np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, *values: int) -> int:
        """Add a row and give its number."""
        number = self._count
        if number == len(self.array):
            larger = np.empty((2 * number, self.array.shape[1]), dtype=np.int64)
            larger[:number] = self.array
            self.array = larger
        self.array[number] = values
        self._count = number + 1
        return number

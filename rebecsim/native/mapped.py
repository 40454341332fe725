"""Large arrays whose memory can be given back while they are in use."""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from math import prod
from typing import IO, Any

import numpy as np

_LARGE = 1 << 24  # bytes from which on an array is mapped
_CAN_MAP = hasattr(mmap, "MADV_DONTNEED") and hasattr(os, "posix_fallocate")  # not on Windows


class Mapped:
    """An array of zeros, in memory or, if it is `on_disk`, in a temporary file.

    A file without room is refused before anything is written, and the array stays in memory.
    """

    def __init__(self, shape: tuple[int, ...], element: type[np.generic], on_disk: bool) -> None:
        self.can_be_file = on_disk and _CAN_MAP
        """Whether the array is in a file, or will be once it is large."""
        self._file: IO[bytes] | None = None
        self._make(shape, element)

    def _make(self, shape: tuple[int, ...], element: type[np.generic]) -> None:
        size = _bytes_of(shape, element)
        self._map: mmap.mmap | None = None
        self._row = size // shape[0]
        if self.can_be_file and size >= _LARGE:
            try:
                if self._file is None:
                    self._file = tempfile.TemporaryFile()  # noqa: SIM115 - for as long as the array
                    weakref.finalize(self, self._file.close)
                os.posix_fallocate(self._file.fileno(), 0, size)
                self._map = mmap.mmap(self._file.fileno(), size)
            except OSError:
                self._file, self.can_be_file = None, False
        if self._map is None and _CAN_MAP and size >= _LARGE:
            self._map = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            if hasattr(mmap, "MADV_HUGEPAGE"):
                self._map.madvise(mmap.MADV_HUGEPAGE)
        self.array: Any = (
            np.zeros(shape, element)
            if self._map is None
            else np.frombuffer(self._map, element, prod(shape)).reshape(shape)
        )

    def lengthen(self, rows: int, used: int) -> None:
        """Make room for more rows; the first `used` stay as they are. The array is another then."""
        old, file = self.array, self._file
        self._make((rows, *old.shape[1:]), old.dtype.type)
        if file is None or self._file is None:  # a file that gets longer keeps what it holds
            self.array[:used] = old[:used]

    def flush(self) -> None:
        """Give back the memory of an array in a file, which is read again when it is needed."""
        if self._file is not None and self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)

    def discard(self, first: int, rows: int) -> None:
        """Give back the memory of rows in memory, which are lost."""
        begin, size = first * self._row, rows * self._row
        if self._file is None and self._map is not None and not begin % mmap.PAGESIZE:
            self._map.madvise(mmap.MADV_DONTNEED, begin, size)


def _bytes_of(shape: tuple[int, ...], element: type[np.generic]) -> int:
    return prod(shape) * np.dtype(element).itemsize

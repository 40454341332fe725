"""Let Python collect garbage less often while states are stored."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_ALLOCATIONS = 50_000


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Let more objects be made between two searches for reference cycles.

    An exploration keeps nearly all that it makes, so that these searches cost much and find
    little; they still take place, as message servers written in Python may make cycles.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(_ALLOCATIONS, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)

"""Finding what is listed twice."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

Entry = TypeVar("Entry", bound=Hashable)


def first_repeated(entries: Iterable[Entry]) -> Entry | None:
    """Return the first entry that equals an earlier one; None if all differ.

    >>> first_repeated(["fifo", "fair", "fifo", "fair"])
    'fifo'
    """
    seen: set[Entry] = set()
    for entry in entries:
        if entry in seen:
            return entry
        seen.add(entry)
    return None

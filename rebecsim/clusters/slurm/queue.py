"""The queue of eligible jobs, in the order in which they are tried."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator
from functools import cmp_to_key
from operator import attrgetter

from rebecsim.actors import StatePart
from rebecsim.clusters.slurm.records import Entry, Record, preempting_first

_KEY = attrgetter("key")


class JobQueue(StatePart):
    """Entries of eligible jobs.

    Attributes:
        entries: in order, if they are `ordered`.
        places: how many of them are in each partition, by number.
    """

    def __init__(self, by_preemption: bool) -> None:
        self.entries: list[Entry] = []
        self.places: Counter[int] = Counter()
        self._by_preemption = by_preemption
        self._is_sorted = True

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def insert(self, entry: Entry) -> None:
        """Put an entry into the queue."""
        entry.key = _key(entry)
        self.places[entry.place.number] += 1
        if self._by_preemption:
            self.entries.append(entry)
            self._is_sorted = False
        else:
            insort(self.entries, entry, key=_KEY)

    def remove(self, record: Record) -> None:
        """Take the entries of a job out; one that waits for a time or another job has none."""
        entries = self.entries
        for entry in record.entries:
            if self._by_preemption:
                place = entries.index(entry) if entry in entries else len(entries)
            else:
                place = bisect_left(entries, entry.key, key=_KEY)
            if place < len(entries) and entries[place] is entry:
                del entries[place]
                number = entry.place.number
                self.places[number] -= 1
                if not self.places[number]:
                    del self.places[number]

    def ordered(self) -> list[Entry]:
        """Give the entries in the order in which they are tried."""
        if not self._is_sorted:
            self.entries.sort(key=_KEY)
            self.entries.sort(key=cmp_to_key(preempting_first))
            self._is_sorted = True
        return self.entries

    def sort(self) -> None:
        """Sort them by new priorities."""
        for entry in self.entries:
            entry.key = _key(entry)
        self.entries.sort(key=_KEY)
        self._is_sorted = not self._by_preemption


def _key(entry: Entry) -> tuple[int, ...]:
    record = entry.record
    job, spec = record.job, entry.place.spec
    array = job.extras.array
    return (
        not job.request.reservation,
        -spec.priority_tier,
        -entry.priority,
        record.submit,
        job.number if array is None else array.array,
        0 if array is None else array.task,
        job.number,
        entry.place.number,
    )

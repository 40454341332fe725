"""The queue of eligible jobs, in the order in which they are tried."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator, Mapping
from operator import attrgetter

from rebecsim.actors import StatePart
from rebecsim.clusters.slurm.records import Entry, Record

_KEY = attrgetter("key")


class JobQueue(StatePart):
    """Entries of eligible jobs.

    Attributes:
        entries: in order, if they are `ordered`.
        places: how many of them are in each partition, by number.
        split: when a task of an array started last, seconds, by the number of the array.
    """

    def __init__(self, by_preemption: bool) -> None:
        self.entries: list[Entry] = []
        self.places: Counter[int] = Counter()
        self.split: dict[int, int] = {}
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
                if self._by_preemption:
                    self._is_sorted = False  # where rules contradict each other, others move too

    def ordered(self) -> list[Entry]:
        """Give the entries in the order in which they are tried."""
        if not self._is_sorted:
            self.entries = preempting_first(self.entries, self.split)
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
        entry.rank,
    )


def preempting_first(entries: list[Entry], split: Mapping[int, int]) -> list[Entry]:
    """Put entries whose QOS may preempt that of others before them, and sort others by their keys.

    These two rules may contradict each other in a circle. What comes of it depends on how Slurm
    sorts, which is by merging halves, and on what it sorts: jobs without a `problem` with their
    partition in the order in which they were made. What is left of an array is one job, which is
    made anew whenever a task starts; `split` has when that was, seconds, by the array's number.
    """
    found = sorted(entries, key=_KEY)
    before: set[str] = set()
    for each in found:
        qos = each.record.qos
        if qos is not None:
            if not before.isdisjoint(qos.preempt):
                return _as_merged(found, split)
            before.add(qos.name)
    return found


def _as_merged(entries: list[Entry], split: Mapping[int, int]) -> list[Entry]:
    good, bad = [], []
    tasks: dict[tuple[int, int], list[Entry]] = {}
    for each in entries:
        array = each.record.job.extras.array
        if each.problem:
            bad.append(each)
        elif array is None:
            good.append(each)
        else:
            tasks.setdefault((array.array, each.place.number), []).append(each)

    def made(each: Entry) -> tuple[int, int]:
        job = each.record.job
        array = job.extras.array
        if array is None:
            return job.submit, job.number
        return split.get(array.array, job.submit), array.array

    good = _merged(sorted((*good, *(each[0] for each in tasks.values())), key=made))
    found = []
    for each in good:
        array = each.record.job.extras.array
        found += [each] if array is None else tasks[array.array, each.place.number]
    return [*found, *bad]


def _merged(entries: list[Entry]) -> list[Entry]:
    if len(entries) < 2:
        return entries
    half = len(entries) // 2
    left, right = _merged(entries[:half]), _merged(entries[half:])
    found, one, other = [], 0, 0
    while one < len(left) and other < len(right):
        if _comes_first(left[one], right[other]):
            found.append(left[one])
            one += 1
        else:
            found.append(right[other])
            other += 1
    return [*found, *left[one:], *right[other:]]


def _comes_first(one: Entry, other: Entry) -> bool:
    a, b = one.record.qos, other.record.qos
    if a is not None and b is not None:
        if b.name in a.preempt:
            return True
        if a.name in b.preempt:
            return False
    return one.key < other.key

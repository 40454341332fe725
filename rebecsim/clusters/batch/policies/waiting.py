"""The queue of waiting jobs: sorted, and fast to search for a job that is small and short.

The jobs lie in blocks of at most a few hundred. Each block knows the fewest processors and the
shortest estimate in it, so that a search for jobs to backfill passes over blocks that have none.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from typing import Any

from rebecsim.clusters.batch.job import Job

_FULL = 256  # entries at which a block is split

Entry = tuple[Any, ...]
"""Key, position in the workload (which decides between equal keys), job."""


class QueueBlock:
    """Consecutive entries of the queue, and lower bounds of what is in them."""

    __slots__ = ("entries", "fewest", "shortest")

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self.fewest = 0
        """No job of the block takes fewer processors."""
        self.shortest = 0
        """No job of the block has a shorter estimate; seconds."""
        if len(entries) == 1:
            job = entries[0][2]
            self.fewest, self.shortest = job.processors, job.estimate
        else:
            self.measure()

    def measure(self) -> None:
        """Make the bounds exact again; removals have left them too low."""
        self.fewest = min(entry[2].processors for entry in self.entries)
        self.shortest = min(entry[2].estimate for entry in self.entries)


class WaitingQueue:
    """Waiting jobs by a key, smallest first; of equal keys the one submitted first."""

    __slots__ = ("_keys", "blocks")

    def __init__(self) -> None:
        self.blocks: list[QueueBlock] = []
        self._keys: dict[int, Any] = {}

    def add(self, job: Job, key: Any) -> None:
        """Put a job into its place."""
        index = job.index
        entry = (key, index, job)
        self._keys[index] = key
        blocks = self.blocks
        if not blocks:
            blocks.append(QueueBlock([entry]))
            return
        place = len(blocks) - 1
        if place and entry < blocks[place].entries[0]:
            place = max(bisect_left(blocks, entry, key=_first) - 1, 0)
        block = blocks[place]
        if block.entries[-1] < entry:
            block.entries.append(entry)
        else:
            insort(block.entries, entry)
        if job.processors < block.fewest:
            block.fewest = job.processors
        if job.estimate < block.shortest:
            block.shortest = job.estimate
        if len(block.entries) > _FULL:
            half = _FULL // 2
            blocks.insert(place + 1, QueueBlock(block.entries[half:]))
            del block.entries[half:]
            block.measure()

    def remove(self, job: Job) -> None:
        """Take a job out. Raises KeyError if it does not wait here."""
        index = job.index
        key = self._keys.pop(index)
        blocks, place = self.blocks, 0
        if len(blocks) > 1:
            place = bisect_left(blocks, (key, index + 1), key=_first) - 1
        entries = blocks[place].entries
        if entries[0][2] is job:
            del entries[0]
        else:
            del entries[bisect_left(entries, (key, index))]
        if not entries:
            del blocks[place]

    def small(self, processors: int) -> list[Job]:
        """Give the jobs that take at most so many processors, in their order."""
        found: list[Job] = []
        for block in self.blocks:
            if block.fewest <= processors:
                in_block = [job for _, _, job in block.entries if job.processors <= processors]
                if in_block:
                    found += in_block
                else:
                    block.fewest = processors + 1
        return found

    def reorder(self, key: Callable[[Job], Any]) -> None:
        """Give every job a new key."""
        entries = sorted((key(job), job.index, job) for job in self)
        self._keys = {index: value for value, index, _ in entries}
        half = _FULL // 2
        self.blocks = [QueueBlock(entries[i : i + half]) for i in range(0, len(entries), half)]

    @property
    def head(self) -> Job:
        """The first job. Raises IndexError when nobody waits."""
        head: Job = self.blocks[0].entries[0][2]
        return head

    def __iter__(self) -> Iterator[Job]:
        return (entry[2] for block in self.blocks for entry in block.entries)

    def __len__(self) -> int:
        return len(self._keys)

    def __bool__(self) -> bool:
        return bool(self._keys)


def _first(block: QueueBlock) -> tuple[Any, ...]:
    return block.entries[0]

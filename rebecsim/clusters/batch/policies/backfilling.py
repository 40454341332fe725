"""Which waiting jobs start: the second half of a policy, and the books that it keeps.

The jobs lie in blocks of at most a few hundred. Each block knows the fewest processors and the
shortest estimate in it, so that a search for jobs to backfill passes over blocks that have none.

All kinds of backfilling work alike: something has happened (a job was submitted or has ended, or
the order of the queue was refreshed), and they say which jobs start now. Nothing can start in
between.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from typing import Any

from rebecsim.actors import StatePart
from rebecsim.clusters.batch.machine import Job, Machine
from rebecsim.clusters.batch.policies.orders import PolicySettings, QueueOrder


class Allocations(StatePart):
    """What runs on a machine, by the estimates.

    Nothing runs longer than its estimate. A job whose estimate expires now therefore counts as
    ended, though the message that says so may still wait to be served.
    """

    __slots__ = ("free", "given", "given_back", "machine", "processors", "running")

    def __init__(self, machine: Machine[Any]) -> None:
        self.machine = machine
        self.free: Any = machine.empty
        """The level of the machine now."""
        self.processors = machine.processors
        """How many of them are free; a job that takes more does not fit."""
        self.given_back = 0
        """How often something has become free."""
        self.running: list[tuple[int, int, int, Any]] = []
        """Expected end, position in the workload, processors and amount, of what runs; in that
        order."""
        self.given: dict[int, tuple[int, Any]] = {}
        """Expected end and amount, by position in the workload, until the end of a job is noted."""

    def expire(self, now: int) -> None:
        """Take back what jobs have whose estimate is over at the time `now`."""
        running = self.running
        if running and running[0][0] <= now:
            count = bisect_left(running, (now + 1,))
            ended = running[:count]
            self.free = sum([amount for _, _, _, amount in ended], self.free)
            self.processors += sum([processors for _, _, processors, _ in ended])
            del running[:count]
            self.given_back += 1

    def start(self, job: Job, amount: Any, now: int) -> None:
        """Note that a job takes an amount from now on."""
        processors = job.processors
        self.free = self.free - amount
        self.processors -= processors
        end = now + job.estimate
        self.given[job.index] = end, amount
        insort(self.running, (end, job.index, processors, amount))

    def finish(self, job: Job, now: int) -> tuple[int, Any] | None:
        """Note that a job has ended; give its expected end and amount if that is still to come."""
        running = self.running
        if running and running[0][0] <= now:
            self.expire(now)
        given = self.given.pop(job.index)
        end, amount = given
        if end <= now:
            return None
        del running[bisect_left(running, (end, job.index))]
        self.free = self.free + amount
        self.processors += job.processors
        self.given_back += 1
        return given


_FULL = 256  # entries at which a block is split

Entry = tuple[Any, ...]
"""Key, position in the workload (which decides between equal keys), job."""


class QueueBlock(StatePart):
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


class WaitingQueue(StatePart):
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
        """The first job. Raises IndexError if no job waits."""
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


class Backfilling(StatePart, ABC):
    """Decides which jobs start; made anew for every run.

    Subclasses define `schedule`, which starts jobs with `start`. A submission leads to it only if
    the submitted job itself fits: nothing else has changed for the others.
    """

    def __init__(
        self, order: QueueOrder, allocations: Allocations, settings: PolicySettings
    ) -> None:
        self.order = order
        self.allocations = allocations
        self.settings = settings
        self.machine = allocations.machine
        self.waiting = WaitingQueue()
        self.by_estimate: WaitingQueue | None = None
        """The same jobs, the one with the shortest estimate first, where that is wanted."""
        self._notes_ends = type(order).finished is not QueueOrder.finished

    def __str__(self) -> str:
        queue = ", ".join(str(job.number) for job in self.waiting)
        return f"queue [{queue}], {self.allocations.processors} free"

    @property
    def _place(self) -> Callable[[Job, Any], Any] | None:
        """How a job is placed; None where an amount is the number of processors."""
        machine = self.machine
        return None if machine.is_counted else machine.place

    @property
    def wake(self) -> int | None:
        """The time, in seconds, at which something may have to start without any other event."""
        return None

    def submitted(self, job: Job, now: int) -> list[Job]:
        """Take a new job; give the jobs that start."""
        allocations = self.allocations
        if allocations.running and allocations.running[0][0] <= now:
            allocations.expire(now)
        key = self.order.key(job, now)
        looks = job.processors <= allocations.processors
        if looks:
            starts = self.starts_alone(job, key, now)
            if starts:
                return [job]
            looks = starts is None
        self.waiting.add(job, key)
        if self.by_estimate is not None:
            self.by_estimate.add(job, job.estimate)
        if not looks:
            return []
        machine = self.machine
        if not machine.are_alike and machine.place(job, allocations.free) is None:
            return []
        return self.schedule(now)

    def starts_alone(self, job: Job, key: Any, now: int) -> bool | None:
        """Start a new job for which there are enough processors, if no other job matters for that.

        False if it has to wait for that reason, and nothing else can start; None where `schedule`
        has to say. Jobs that start like this are never in the queue, where `key` would be theirs.
        """
        return None

    def finished(self, job: Job, now: int) -> list[Job]:
        """Take back what an ended job had; give the jobs that start."""
        self.allocations.finish(job, now)
        if self._notes_ends:
            self.order.finished(job, now)
        return self.schedule(now) if self.waiting.blocks else []

    def refreshed(self, now: int) -> list[Job]:
        """Sort the queue anew; give the jobs that start.

        None starts here: a job that is the head only now waits for the next submission or end.
        """
        self.waiting.reorder(lambda job: self.order.key(job, now))
        return []

    def woken(self, now: int) -> list[Job]:
        """Give the jobs that start at the time that `wake` gave."""
        self.allocations.expire(now)
        return self.schedule(now)

    @abstractmethod
    def schedule(self, now: int) -> list[Job]:
        """Start what should start now, and give it, in the order of starting."""

    def start(self, job: Job, amount: Any, now: int) -> None:
        """Let a waiting job have an amount of the machine."""
        self.waiting.remove(job)
        if self.by_estimate is not None:
            self.by_estimate.remove(job)
        self.allocations.start(job, amount, now)

    def start_heads(self, now: int) -> list[Job]:
        """Start jobs from the head of the queue on, up to the first that does not fit."""
        started: list[Job] = []
        blocks, allocations, place = self.waiting.blocks, self.allocations, self._place
        while blocks:
            head = blocks[0].entries[0][2]
            wanted = head.processors
            if wanted > allocations.processors:
                break
            amount = wanted if place is None else place(head, allocations.free)
            if amount is None:
                break
            self.start(head, amount, now)
            started.append(head)
        return started


class NoBackfilling(Backfilling):
    """The head of the queue starts when it fits; nothing overtakes it."""

    def schedule(self, now: int) -> list[Job]:
        """Start heads."""
        return self.start_heads(now)


class EasyBackfilling(Backfilling):
    """A job overtakes if that does not delay the head of the queue, by the estimates.

    The head has a reservation at the shadow time, the earliest time at which it fits when running
    jobs end as estimated. Another job starts now if it fits and is over by then, or leaves enough
    for the head on the machine (Mu'alem and Feitelson, "Utilization, predictability, workloads,
    and user runtime estimates in scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001,
    section 2.2).
    """

    def __init__(
        self, order: QueueOrder, allocations: Allocations, settings: PolicySettings
    ) -> None:
        super().__init__(order, allocations, settings)
        if settings.backfill_order == "shortest":
            self.by_estimate = WaitingQueue()
        self._starts_alone = (
            self.machine.are_alike
            and type(self).schedule is EasyBackfilling.schedule
            and type(self).start is Backfilling.start
        )
        self._tried = -1  # what was given back when all were tried last
        self._head: Job | None = None  # who was the head then
        self._reserved: tuple[int, Any, int] | None = None  # for that head, if it was asked for

    def schedule(self, now: int) -> list[Job]:
        """Start heads, then what overtakes the head that is left."""
        blocks, allocations = self.waiting.blocks, self.allocations
        started: list[Job] = []
        if blocks and blocks[0].entries[0][2].processors <= allocations.processors:
            started = self.start_heads(now)
        if not blocks:
            return started
        entries = blocks[0].entries
        self._tried = allocations.given_back
        self._head = entries[0][2]
        self._reserved = None
        if len(entries) == 1 and len(blocks) == 1:
            return started
        queue = self.waiting if self.by_estimate is None else self.by_estimate
        small = queue.small(allocations.processors)
        return started + self._pass(small, self.start, now) if small else started

    def starts_alone(self, job: Job, key: Any, now: int) -> bool | None:
        """Start a new job at once if no job waits, or it overtakes a head that has been tried.

        While nothing is given back and the head is the same, what could not start cannot later:
        what is free, what the head leaves, and the time up to its start only become less.
        """
        if not self._starts_alone:
            return None
        blocks, allocations = self.waiting.blocks, self.allocations
        if not blocks:
            place = self._place
            amount = job.processors if place is None else place(job, allocations.free)
            if amount is None:
                return None
            allocations.start(job, amount, now)
            return True
        first = blocks[0].entries[0]
        if (
            first[2] is not self._head
            or self._tried != allocations.given_back
            or (key, job.index) < first
        ):
            return None
        return bool(self._pass([job], allocations.start, now))

    def shadow_time(self) -> int:
        """Give the reserved start of the head, seconds. Raises IndexError when none waits."""
        return self._reservation()[0]

    def _reservation(self) -> tuple[int, Any, int]:
        """Give the shadow time in seconds, what is free beside the head then, and how much that is.

        Where processors are alike, which of them those are is None, until `_beside` is asked.
        """
        head, machine, allocations = self.waiting.head, self.machine, self.allocations
        running, level, free = allocations.running, allocations.free, allocations.processors
        wanted, ended, added, count = head.processors, 0, 0, len(running)
        for end, _, processors, _ in running:
            free += processors
            ended += 1
            if free < wanted or (ended < count and running[ended][0] == end):
                continue
            if machine.are_alike:
                return end, None, free - wanted
            level = sum([amount for _, _, _, amount in running[added:ended]], level)
            added = ended
            amount = machine.place(head, level)
            if amount is not None:
                beside = level - amount
                return end, beside, machine.free(beside)
        raise AssertionError(f"{head!r} does not fit on the empty machine")

    def _beside(self, shadow: int) -> Any:
        """Give what is free beside the head at the shadow time, of processors that are alike.

        Jobs that have started since then and are over by that time are free again, so it is as if
        it had been asked before.
        """
        running, level = self.allocations.running, self.allocations.free
        ended = bisect_left(running, (shadow + 1,))
        level = sum([amount for _, _, _, amount in running[:ended]], level)
        return level - self.machine.place(self.waiting.head, level)

    def _pass(self, jobs: list[Job], start: Callable[[Job, Any, int], None], now: int) -> list[Job]:
        """Start those of some jobs, in their order, that overtake the head."""
        allocations, place = self.allocations, self._place
        if self._reserved is None:
            self._reserved = self._reservation()
        shadow, beside, extra = self._reserved
        room, free, started = shadow - now, allocations.processors, []
        for job in jobs:
            wanted = job.processors
            if wanted > free:
                continue
            is_over = job.estimate <= room
            if not is_over and wanted > extra:
                continue
            if place is None:
                amount: Any = wanted
            elif is_over:
                amount = place(job, allocations.free)
            else:
                if beside is None:
                    beside = self._beside(shadow)
                amount = place(job, self.machine.lower(allocations.free, beside))
            if amount is None:
                continue
            if not is_over:
                extra -= wanted
                if beside is not None:
                    beside = beside - amount
            free -= wanted
            start(job, amount, now)
            started.append(job)
        self._reserved = shadow, beside, extra
        return started

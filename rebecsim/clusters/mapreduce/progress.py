"""The progress of a job: tasks that wait, run or have ended, and the places of splits."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from enum import IntEnum
from math import ceil
from typing import Protocol

from rebecsim.clusters.mapreduce.job import MapReduceJob, SlotKind
from rebecsim.clusters.mapreduce.tracker import TrackerSlots


class Locality(IntEnum):
    """How far a map is from its split."""

    NODE = 0
    RACK = 1
    OFF_SWITCH = 2


class Speculator(Protocol):
    """Who finds tasks that are worth a second attempt."""

    def backup_for(
        self, job: JobInProgress, kind: SlotKind, tracker: TrackerSlots, now: int
    ) -> int | None:
        """Give a running task that should have a backup on this node; None: there is none."""


class JobInProgress:
    """A job that has been submitted.

    Attributes:
        job: what was submitted.
        hosts: for each map, the nodes with a replica of its split.
        running: how many attempts run, of maps and of reduces (backups count).
        finished: how many tasks have ended, of maps and of reduces.
        opportunities: how often it was offered a slot for a map since a map of it was last given
            one in its rack.
        slow_start: of its maps, the part that has ended before reduces are given slots.
        speculator: who says which tasks should have backups; None: none have.
    """

    speculator: Speculator | None = None

    def __init__(
        self,
        job: MapReduceJob,
        hosts: Sequence[tuple[int, ...]],
        racks: Sequence[int],
        slow_start: float = 0.05,
    ) -> None:
        self.job = job
        self.hosts = hosts
        self.running = [0, 0]
        self.finished = [0, 0]
        self.opportunities = 0
        self._racks = racks
        self._enough_maps = ceil(slow_start * job.maps)
        self._waits = [True] * job.maps
        self._waiting_maps = job.maps
        self._anywhere = deque(range(job.maps))
        self._on_node: dict[int, deque[int]] = {}
        self._in_rack: dict[int, deque[int]] = {}
        for number, nodes in enumerate(hosts):
            for node in nodes:
                self._on_node.setdefault(node, deque()).append(number)
            for rack in dict.fromkeys(racks[node] for node in nodes):
                self._in_rack.setdefault(rack, deque()).append(number)
        self._waiting_reduces = deque(range(job.reduces))

    def waiting(self, kind: SlotKind) -> int:
        """Give how many tasks have no slot and have not ended."""
        return self._waiting_maps if kind is SlotKind.MAP else len(self._waiting_reduces)

    @property
    def is_done(self) -> bool:
        """Whether all tasks have ended."""
        return self.finished[0] == self.job.maps and self.finished[1] == self.job.reduces

    def map_for(self, tracker: TrackerSlots, furthest: Locality) -> tuple[int, Locality] | None:
        """Find a map that waits, as near to its split as there is one; none that is further."""
        number = self._first(self._on_node.get(tracker.number))
        if number is not None:
            return number, Locality.NODE
        if furthest >= Locality.RACK:
            number = self._first(self._in_rack.get(tracker.rack))
            if number is not None:
                return number, Locality.RACK
        if furthest >= Locality.OFF_SWITCH:
            number = self._first(self._anywhere)
            if number is not None:
                return number, Locality.OFF_SWITCH
        return None

    def offers_reduce(self) -> bool:
        """Whether a reduce waits, and enough maps have ended for it to begin."""
        return bool(self._waiting_reduces) and self.finished[0] >= self._enough_maps

    def start_map(self, number: int) -> None:
        """Give a waiting map a slot."""
        self._waits[number] = False
        self._waiting_maps -= 1
        self.running[SlotKind.MAP] += 1

    def start_reduce(self) -> int:
        """Give the first waiting reduce a slot, and its number."""
        self.running[SlotKind.REDUCE] += 1
        return self._waiting_reduces.popleft()

    def backup_for(self, kind: SlotKind, tracker: TrackerSlots, now: int) -> int | None:
        """Give a running task that should have a second attempt here; None: there is none.

        Schedulers ask when nothing of the job that could be given waits.
        """
        if self.speculator is None:
            return None
        return self.speculator.backup_for(self, kind, tracker, now)

    def start_backup(self, kind: SlotKind) -> None:
        """Give a second attempt of a running task a slot."""
        self.running[kind] += 1

    def attempt_ended(self, kind: SlotKind) -> None:
        """Take note that an attempt runs no more, however it ended."""
        self.running[kind] -= 1

    def finish(self, kind: SlotKind) -> None:
        """Take note that a task has ended."""
        self.finished[kind] += 1

    def lose(self, number: int) -> None:
        """Take note that the output of a map that had ended is lost: the map waits again."""
        self.finished[SlotKind.MAP] -= 1
        self.wait_again(SlotKind.MAP, number)

    def wait_again(self, kind: SlotKind, number: int) -> None:
        """Let a task wait that has no attempt any more; it goes before those not yet begun."""
        if kind is SlotKind.REDUCE:
            self._waiting_reduces.appendleft(number)
            return
        self._waits[number] = True
        self._waiting_maps += 1
        self._anywhere.appendleft(number)
        nodes = self.hosts[number]
        for node in nodes:
            self._on_node[node].appendleft(number)
        for rack in dict.fromkeys(self._racks[node] for node in nodes):
            self._in_rack[rack].appendleft(number)

    def _first(self, numbers: deque[int] | None) -> int | None:
        """Give the first number that waits; those that do not are dropped on the way."""
        while numbers:
            if self._waits[numbers[0]]:
                return numbers[0]
            numbers.popleft()
        return None

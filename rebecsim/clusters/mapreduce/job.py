"""Jobs as they are submitted, their progress, and the slots of a node as schedulers see them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import ceil
from typing import Protocol

from rebecsim.actors import Constant, StatePart

MEBIBYTE = 2**20

MILLISECOND, SECOND = 1000, 1_000_000
"""In microseconds."""


class SlotKind(IntEnum):
    """The kind of task that a slot takes."""

    MAP = 0
    REDUCE = 1


class JobPriority(IntEnum):
    """Priorities, as Hadoop names them."""

    VERY_LOW = 0
    LOW = 1
    NORMAL = 2
    HIGH = 3
    VERY_HIGH = 4


@dataclass(frozen=True, slots=True)
class JobCosts:
    """Costs of a job's tasks on processors and disks, per byte and per task.

    The defaults are TeraSort's in MRPERF (see `attempts`). Ratios are output bytes to input bytes.

    Attributes:
        start: of a task's process (cycles).
        map: of the map function (cycles per byte of input).
        map_ratio: output of the map function; the shuffled bytes, before a combiner.
        combine_ratio: what a combiner leaves of a map's output; 1: there is none.
        sort: of a map's output (cycles per byte).
        merge: of what a reduce holds in memory, each time that this is full (cycles).
        reduce_sort: before a reduce function begins (cycles).
        reduce: of the reduce function (cycles per byte of its input).
        reduce_ratio: output of the reduce function.
    """

    start: float = 4.0e9
    map: float = 40.0
    map_ratio: float = 1.0
    combine_ratio: float = 1.0
    sort: float = 44.0
    merge: float = 1.0e9
    reduce_sort: float = 6.0e9
    reduce: float = 90.0
    reduce_ratio: float = 1.0


@dataclass(frozen=True, slots=True)
class MapReduceJob(Constant):
    """A job: a map for each split of its input, and reduces that share the output of the maps.

    Attributes:
        number: number of the job, which breaks ties.
        family: kind of job, by which measures are grouped.
        user: user who submits it.
        queue: its queue or pool.
        submit: time of submission (microseconds). For a job after another, the time from the end
            of that job, until it is submitted.
        splits: input bytes of each map.
        reduces: number of reduces; with 0, maps write to the file system.
        costs: costs of its tasks.
        priority: priority, in queues that support priorities.
        after: number of the job after whose end or rejection it is submitted, if any.
    """

    number: int
    family: str
    user: str
    queue: str
    submit: int
    splits: tuple[int, ...]
    reduces: int
    costs: JobCosts = JobCosts()
    priority: JobPriority = JobPriority.NORMAL
    after: int | None = None

    @property
    def name(self) -> str:
        """The name in tables."""
        return f"job_{self.number}"

    @property
    def maps(self) -> int:
        """How many maps it has."""
        return len(self.splits)

    @property
    def tasks(self) -> int:
        """How many maps and reduces it has."""
        return len(self.splits) + self.reduces

    def __str__(self) -> str:
        return self.name


class TrackerSlots(StatePart):
    """The slots of a node.

    Attributes:
        number: number of the node, from 0.
        rack: number of its rack, from 0.
        slots: number of map slots and of reduce slots.
        busy: number of busy ones.
        alive: whether it sends heartbeats; without them its tasks are lost.
    """

    __slots__ = ("alive", "busy", "number", "rack", "slots")

    def __init__(self, number: int, rack: int, maps: int, reduces: int) -> None:
        self.number = number
        self.rack = rack
        self.slots = (maps, reduces)
        self.busy = [0, 0]
        self.alive = True

    def free(self, kind: SlotKind) -> int:
        """Return the number of free slots."""
        return self.slots[kind] - self.busy[kind]


class Locality(IntEnum):
    """How far a map is from its split."""

    NODE = 0
    RACK = 1
    OFF_SWITCH = 2


class Speculator(Protocol):
    """Finds tasks for second attempts."""

    def backup_for(
        self, job: JobInProgress, kind: SlotKind, tracker: TrackerSlots, now: int
    ) -> int | None:
        """Return a running task that should have a backup on this node, or None."""


class JobInProgress(StatePart):
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
        """Return the number of tasks that wait for a slot."""
        return self._waiting_maps if kind is SlotKind.MAP else len(self._waiting_reduces)

    @property
    def is_done(self) -> bool:
        """Whether all tasks have ended."""
        return self.finished[0] == self.job.maps and self.finished[1] == self.job.reduces

    def map_for(self, tracker: TrackerSlots, furthest: Locality) -> tuple[int, Locality] | None:
        """Find the waiting map nearest to its split, within a locality level."""
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
        """Whether a reduce waits and the slow start is over."""
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
        """Return a running task that should have a second attempt here, or None.

        Schedulers ask when no task of the job waits.
        """
        if self.speculator is None:
            return None
        return self.speculator.backup_for(self, kind, tracker, now)

    def start_backup(self, kind: SlotKind) -> None:
        """Give a second attempt of a running task a slot."""
        self.running[kind] += 1

    def attempt_ended(self, kind: SlotKind) -> None:
        """Record the end of an attempt, of any outcome."""
        self.running[kind] -= 1

    def finish(self, kind: SlotKind) -> None:
        """Record the end of a task."""
        self.finished[kind] += 1

    def lose(self, number: int) -> None:
        """Record the loss of a map's output; the map waits again."""
        self.finished[SlotKind.MAP] -= 1
        self.wait_again(SlotKind.MAP, number)

    def wait_again(self, kind: SlotKind, number: int) -> None:
        """Return a task without attempts to the queue, before tasks that have not started."""
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

    def tidy(self) -> None:
        """Drop maps that no longer wait, which is otherwise done lazily."""
        waits = self._waits
        for numbers in (self._anywhere, *self._on_node.values(), *self._in_rack.values()):
            left = dict.fromkeys(number for number in numbers if waits[number])
            numbers.clear()
            numbers.extend(left)

    def _first(self, numbers: deque[int] | None) -> int | None:
        """Return the first waiting number, and drop stale ones before it."""
        while numbers:
            if self._waits[numbers[0]]:
                return numbers[0]
            numbers.popleft()
        return None

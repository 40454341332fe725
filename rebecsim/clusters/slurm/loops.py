"""Compiled loops of large runs: the slots of a cycle of backfill, and what calls all loops.

They are for needs that are plain, and do what `backfill.Cycle` does where nothing but running jobs
keeps nodes. Importing this imports Numba.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebecsim.clusters.slurm.allotment import finished, in_tasks
from rebecsim.clusters.slurm.machine import NODES, Machine, Need
from rebecsim.clusters.slurm.node_loops import chosen, earliest, fitting
from rebecsim.clusters.slurm.occupancy import Allocation, Level, Occupancy
from rebecsim.native.arrays import Flags, Integers, Table
from rebecsim.native.cache import compiled, entry_of

_NEVER = -1

NOTHING, STARTS, RESERVES = range(3)
"""What comes of planning a job."""


class Scratch(NamedTuple):
    """What loops work with: see `node_loops`; `later` is a level of a later time."""

    work: Table
    turns: Table
    given: Table
    later: Table


@compiled(inline=True)
def slot_of(slots: Table, count: int, time: int) -> int:
    """Give the slot of a time; the first one for times before it."""
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        if slots[0, middle] <= time:
            low = middle
        else:
            high = middle
    return low


@compiled()
def open_over(
    slots: Table, free: Table, count: int, begin: int, end: int, wanted: Integers, found: Flags
) -> int:
    """Put the wanted nodes that are free in [begin, end] into `found`, as `SlotMap.over` does.

    Give when there may be more; -1: never. The last row of `free` is worked with.
    """
    words, later, is_inside, last = len(wanted), _NEVER, True, len(free) - 1
    for word in range(words):
        free[last, word] = wanted[word]
    place = slot_of(slots, count, begin)
    while is_inside and place < count:
        is_inside = slots[0, place] <= end
        if is_inside:
            row = slots[1, place]
            for word in range(words):
                free[last, word] &= free[row, word]
        place += 1
        if later < 0 and place < count:
            row, before = slots[1, place], slots[1, place - 1]
            for word in range(words):
                here = free[last, word] & free[before, word]
                if free[row, word] & wanted[word] & ~here:
                    later = slots[0, place]
    for node in range(len(found)):
        found[node] = (free[last, node >> 6] >> (node & 63)) & 1
    return later


@compiled()
def split(slots: Table, free: Table, count: int, time: int) -> int:
    """Let a slot begin at a time; give how many there are."""
    place = slot_of(slots, count, time)
    if slots[0, place] == time:
        return count
    for each in range(count, place + 1, -1):
        slots[0, each], slots[1, each] = slots[0, each - 1], slots[1, each - 1]
    slots[0, place + 1], slots[1, place + 1] = time, count
    before = slots[1, place]
    for word in range(free.shape[1]):
        free[count, word] = free[before, word]
    return count + 1


@compiled()
def merged(slots: Table, free: Table, count: int, place: int, end: int, last: int) -> int:
    """Make one of the first two equal slots around, as `SlotMap.reserve` does; give how many left.

    The row of `free` of the one that goes is used for the last one.
    """
    words = free.shape[1]
    for each in range(max(place - 2, 0), count - 1):
        if end < last and slots[0, each] >= end:
            break
        one, other, same = slots[1, each], slots[1, each + 1], True
        for word in range(words):
            same = same and free[one, word] == free[other, word]
        if not same:
            continue
        for behind in range(each + 1, count - 1):
            slots[0, behind], slots[1, behind] = slots[0, behind + 1], slots[1, behind + 1]
        for behind in range(count - 1):
            if slots[1, behind] == count - 1:
                slots[1, behind] = other
                for word in range(words):
                    free[other, word] = free[count - 1, word]
        return count - 1
    return count


@compiled()
def reserve(
    slots: Table, free: Table, count: int, given: Table, begin: int, end: int, last: int
) -> int:
    """Take nodes out in [begin, end), as `SlotMap.reserve` does; give how many slots there are."""
    begin = max(begin, slots[0, 0])
    count = split(slots, free, count, begin)
    if end < last:
        count = split(slots, free, count, end)
    for place in range(slot_of(slots, count, begin), count):
        if end < last and slots[0, place] >= end:
            break
        for each in range(given[2, 0]):
            node = given[0, each]
            free[slots[1, place], node >> 6] &= ~(1 << (node & 63))
    return merged(slots, free, count, slot_of(slots, count, begin), end, last)


@compiled()
def may_start(
    machine: Table,
    level: Table,
    need: Integers,
    wanted: Integers,
    slots: Table,
    free: Table,
    count: int,
    begin: int,
    end: int,
    found: Flags,
) -> bool:
    """Whether there may be enough now on wanted nodes that are free in [begin, end]."""
    open_over(slots, free, count, begin, end, wanted, found)
    return fitting(machine, level, need, found)


@compiled()
def plan(
    machine: Table,
    level: Table,
    need: Integers,
    wanted: Integers,
    slots: Table,
    free: Table,
    count: int,
    times: Integers,
    completing: Flags,
    planned: Table,
    scratch: Scratch,
    found: Flags,
) -> int:
    """Say what comes of planning a job: see `backfill.Cycle.plan`.

    `times` are now, the limit, the end of the window, by how much overdue jobs are late, whether
    the job reserves, bf_window_linear, whether the job may fit now at all, how many stretches are
    planned, whether the job was placed at all, and bf_resolution. The start stands in the last row
    of `given`, after the number of nodes; where the job may be now, in `found`.
    """
    now, limit, reserves, many = times[0], times[1], times[4], times[7]
    given, later_level = scratch.given, scratch.later
    time = now
    while True:
        later = open_over(slots, free, count, time, time + limit, wanted, found)
        size = 0
        for node in range(len(found)):
            size += int(found[node])
        start = _NEVER
        if size >= need[NODES]:
            times[8] = 1
            for node in range(len(found)):
                later_level[0, node] = level[0, node]
                later_level[1, node] = level[1, node]
                later_level[2, node] = level[2, node]
            size = chosen(machine, level, need, found, scratch.work, given) if times[6] else 0
            if size:
                start = now
            else:
                start = earliest(
                    machine, later_level, need, found, planned, many, times[5],
                    scratch.work, scratch.turns, given,
                )  # fmt: skip
                size = given[2, 0]
                if 0 <= start <= now:
                    start = max(now + 1, start + times[3])
        if start < 0:
            if later < 0 or not reserves or later <= time:
                return NOTHING
            time = later
            continue
        start = max(start, time)
        given[2, 0], given[2, 1] = size, start
        if start == now:
            for each in range(size):
                if completing[given[0, each]]:
                    start, later = now + 1, _NEVER
            given[2, 1] = start
            if start == now:
                return STARTS
        if not reserves:
            return NOTHING
        if start > later > time:
            time = later
            continue
        if start > times[2]:
            return NOTHING
        step = times[9]
        end = (start + limit) // step * step
        is_free, place = True, slot_of(slots, count, start // step * step)
        while is_free and place < count and slots[0, place] < end:
            for each in range(size):
                node = given[0, each]
                is_free = is_free and (free[slots[1, place], node >> 6] >> (node & 63)) & 1 == 1
            place += 1
        if is_free:
            return RESERVES
        time = max(start, time + 1)


class Loops:
    """The loops with what they need to work on; arrays have shape (..., nodes)."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.table = np.stack([machine.cpus, machine.memory, machine.unit, machine.weight])
        size = len(machine.names)
        self._work = np.zeros((8, size), np.int64)
        self._given = np.zeros((3, max(size, 2)), np.int64)
        self._later = Level(machine)
        self._turns = np.zeros((3, 0), np.int64)
        self._linear = machine.cluster.backfilling.bf_window_linear
        self._fitting, self._chosen = entry_of(fitting), entry_of(chosen)
        self._earliest = entry_of(earliest)
        self._plan, self._reserve = entry_of(plan), entry_of(reserve)
        self._may_start = entry_of(may_start)
        self._slots = np.zeros((2, 0), np.int64)
        self._free = np.zeros((0, -(-size // 64)), np.int64)
        self._completing, self._found = np.zeros((2, size), bool)
        self._times = np.zeros(10, np.int64)
        self._count = self._last = self.records = 0
        self._sets: dict[int, Integers] = {}

    def fits(self, level: Level, need: Need, nodes: int) -> bool:
        """Whether there may be enough for a need on these nodes; see `room.could_fit`."""
        mask = self.machine.mask(nodes)
        return bool(self._fitting(self.table, level.table, need.packed, mask))

    def choose(self, level: Level, need: Need, nodes: int) -> Allocation | None:
        """Choose nodes as `selection.choose` does."""
        mask = self.machine.mask(nodes & need.candidates)
        count = self._chosen(self.table, level.table, need.packed, mask, self._work, self._given)
        return self._allocation(level, need, count) if count else None

    def earliest(
        self, occupancy: Occupancy, need: Need, nodes: int
    ) -> tuple[int, Allocation] | None:
        """Give the first planned end by which a need fits on these nodes, and what it gets."""
        planned, many = occupancy.planned, occupancy.many
        if self._turns.shape[1] != planned.shape[1]:
            self._turns = np.zeros((3, planned.shape[1]), np.int64)
        later = self._later
        later.table[:] = occupancy.level.table
        mask = self.machine.mask(nodes & need.candidates)
        time = self._earliest(
            self.table, later.table, need.packed, mask, planned, many, self._linear,
            self._work, self._turns, self._given,
        )  # fmt: skip
        if time < 0:
            return None
        return int(time), self._allocation(later, need, int(self._given[2, 0]))

    def _allocation(self, level: Level, need: Need, count: int) -> Allocation:
        where, cpus = self._given[0, :count].copy(), self._given[1, :count].copy()
        if need.per_task > 1 and not need.whole:
            caps = cpus
            cpus = np.array(in_tasks(self.machine, need, where, caps.tolist()), np.int64)
            cpus = np.maximum(cpus, np.minimum(need.least, caps))
        return finished(self.machine, level, need, where, cpus)

    # A cycle of backfill

    def begin(self, occupancy: Occupancy, now: int, first: int, last: int, most: int) -> None:
        """Begin a cycle in which nothing is reserved yet, with one slot from `first` to `last`.

        There will be no more than `most` slots when something is reserved.
        """
        cluster = self.machine.cluster
        if self._free.shape[0] < most + 4:
            self._slots = np.zeros((2, most + 4), np.int64)
            self._free = np.zeros((most + 4, self._free.shape[1]), np.int64)
        self._slots[:, 0] = first, 0
        self._free[0] = self._words(occupancy.up)
        self._completing[:] = False
        self._completing[list(occupancy.completing)] = True
        late = cluster.kill_wait + cluster.over_time_limit
        self._count = 1
        self.records, self._last = 1, last
        end, step = now + cluster.backfilling.bf_window, max(cluster.backfilling.bf_resolution, 1)
        self._times[:] = now, 0, end, late, 0, self._linear, 0, 0, 0, step

    def _words(self, nodes: int) -> Integers:
        """Give a set of nodes in words of 64 bits."""
        found = self._sets.get(nodes)
        if found is None:
            raw = nodes.to_bytes(8 * self._free.shape[1], "little")
            found = self._sets[nodes] = np.frombuffer(raw, "<i8").astype(np.int64)
        return found

    def may_start(self, occupancy: Occupancy, need: Need, limit: int) -> bool:
        """Whether a need may fit now on what is not reserved."""
        now = int(self._times[0])
        return self._may_start(
            self.table, occupancy.level.table, need.packed,
            self._words(need.candidates & occupancy.up),
            self._slots, self._free, self._count, now, now + limit, self._found,
        )  # fmt: skip

    def plan(self, occupancy: Occupancy, need: Need, limit: int, fits: bool, reserves: bool) -> int:
        """Plan a job, as `backfill.Cycle` does; it is for this to start or to reserve for it."""
        planned, times = occupancy.planned, self._times
        if self._turns.shape[1] != planned.shape[1]:
            self._turns = np.zeros((3, planned.shape[1]), np.int64)
        scratch = Scratch(self._work, self._turns, self._given, self._later.table)
        times[1], times[4], times[6], times[7] = limit, reserves, fits, occupancy.many
        times[8] = 0
        return self._plan(
            self.table, occupancy.level.table, need.packed,
            self._words(need.reach & occupancy.up), self._slots, self._free,
            self._count, times, self._completing, planned, scratch, self._found,
        )  # fmt: skip

    @property
    def has_tested(self) -> bool:
        """Whether the job that was planned last was placed anywhere, now or later."""
        return bool(self._times[8])

    @property
    def start(self) -> int:
        """When the job that was planned last may start."""
        return int(self._given[2, 1])

    @property
    def open(self) -> int:
        """The nodes on which it may start now, as bits."""
        return self.machine.bits(self._found)

    def planned(self, need: Need) -> Allocation:
        """Give what it will have."""
        return self._allocation(self._later, need, int(self._given[2, 0]))

    def reserve(self, given: Allocation | None, begin: int, end: int) -> None:
        """Keep nodes in [begin, end): those that were planned last, if none are given."""
        if given is not None:
            many = self._given[2, 0] = len(given.nodes)
            self._given[0, :many] = given.nodes
        if begin >= self._last:
            return  # Slurm forgets what begins after all slots
        begins = self._slots[0, : self._count].tolist()
        begin = max(begin, begins[0])
        self.records += (begin == begins[0]) + (begin not in begins)
        self.records += begin < end < self._last and end not in begins
        self._count = self._reserve(
            self._slots, self._free, self._count, self._given, begin, end, self._last
        )

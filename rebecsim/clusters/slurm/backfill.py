"""The backfill scheduler: starts jobs past blocked ones if that delays no reservation.

A cycle plans jobs in order. A job that cannot start now reserves the nodes on which running jobs
will have ended by their limits, whole nodes and in steps of bf_resolution. A later job starts only
on nodes without reservations for as long as its limit.

Nothing of a plan is kept until the next cycle. A cycle is therefore over as soon as none of the
jobs that are left could start now on what is not reserved; the jobs in between are not planned.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from rebecsim.clusters.slurm.machine import Integers, Need
from rebecsim.clusters.slurm.main_pass import (
    Started,
    attempt,
    blocks_nothing,
    may_kill,
    note_kill,
)
from rebecsim.clusters.slurm.occupancy import Allocation, Level
from rebecsim.clusters.slurm.preemption import without_candidates
from rebecsim.clusters.slurm.records import Entry
from rebecsim.clusters.slurm.reservations import Closed
from rebecsim.clusters.slurm.scheduler import SlurmScheduler
from rebecsim.clusters.slurm.selection import choose, could_fit, usable

if TYPE_CHECKING:
    from rebecsim.clusters.slurm.loops import Loops

BACKFILL = "backfill"

_FIRST_WINDOW = 30

_DENIED = "AccountNotAllowed"
"""The reason for which a job never starts in a partition, and yet backfill keeps nodes for it."""


class SlotMap:
    """Which nodes are not reserved, by time: slot n is [begins[n], begins[n + 1])."""

    def __init__(self, begin: int, end: int, nodes: int) -> None:
        self.begins, self.nodes, self.end = [begin], [nodes], end

    def __len__(self) -> int:
        return len(self.begins)

    def over(self, begin: int, end: int, wanted: int) -> tuple[int, int | None]:
        """Give which of the wanted nodes are free in [begin, end], and when there may be more."""
        begins, nodes = self.begins, self.nodes
        place = max(bisect_right(begins, begin) - 1, 0)
        found, later = wanted, None
        inside = True
        while inside and place < len(begins):
            inside = begins[place] <= end
            if inside:
                found &= nodes[place]
            following = place + 1
            if later is None and following < len(begins) and nodes[following] & wanted & ~found:
                later = begins[following]
            place = following
        return found, later

    def is_free(self, nodes: int, begin: int, end: int) -> bool:
        """Whether nodes are free in [begin, end)."""
        place = max(bisect_right(self.begins, begin) - 1, 0)
        while place < len(self.begins) and self.begins[place] < end:
            if nodes & ~self.nodes[place]:
                return False
            place += 1
        return True

    def reserve(self, nodes: int, begin: int, end: int) -> None:
        """Take nodes out in [begin, end)."""
        first = self._split(max(begin, self.begins[0]))
        last = self._split(end) if end < self.end else len(self.begins)
        for place in range(first, last):
            self.nodes[place] &= ~nodes

    def _split(self, time: int) -> int:
        place = bisect_left(self.begins, time)
        if place == len(self.begins) or self.begins[place] != time:
            self.begins.insert(place, time)
            self.nodes.insert(place, self.nodes[place - 1])
        return place


class Cycle:
    """One cycle of backfill."""

    def __init__(self, scheduler: SlurmScheduler, now: int) -> None:
        self.scheduler, self.now = scheduler, now
        self.parameters = scheduler.machine.cluster.backfilling
        resolution = max(self.parameters.bf_resolution, 1)
        self.resolution = resolution
        self.window_end = now + self.parameters.bf_window
        self.slots = SlotMap(
            now // resolution * resolution, self.window_end, scheduler.occupancy.up
        )
        self.done = Started([], [])
        self.entries = [
            each for each in scheduler.queue.ordered() if each.record.state == "PENDING"
        ]
        self.tested = 0
        self.is_full = False
        self._by_place: defaultdict[int, int] = defaultdict(int)
        self._by_user: defaultdict[str, int] = defaultdict(int)
        self._by_user_place: defaultdict[tuple[str, int], int] = defaultdict(int)
        self._by_association: defaultdict[int, int] = defaultdict(int)
        self._by_array: defaultdict[int, int] = defaultdict(int)
        self._reserving: defaultdict[int, int] = defaultdict(int)
        self._reserved: set[int] = set()
        self._levels: dict[int, Level] = {}
        self._usable: dict[tuple[int, int], Integers] = {}
        self._version = (-1, -1)
        self._most = self.parameters.bf_node_space_size or self.parameters.bf_max_job_test
        self._seen = -1  # the entry that was found to be able to start, while it is
        self._soonest = 0  # what begins first of what was reserved since
        self._failed: dict[int, list[tuple[int, int, int]]] = {}
        self._failed_like: dict[object, list[tuple[int, int, int]]] = {}
        self.loops = scheduler.machine.loops
        plain = scheduler.occupancy.is_additive and all(e.need.is_plain for e in self.entries)
        if scheduler.may_preempt_any or scheduler.reservations.all or not plain:
            self.loops = None
        if self.loops is not None:
            first = now // resolution * resolution
            self.loops.begin(scheduler.occupancy, now, first, self._most)
        self._preempted: dict[int, Level | None] = {}

    def run(self) -> Started:
        """Make the cycle; give what starts, and what has to go."""
        scheduler, parameters = self.scheduler, self.parameters
        complete = bool(scheduler.journal.watched)
        last = len(self.entries) - 1  # of those that may still start now
        for place, entry in enumerate(self.entries):
            if not complete:
                while last >= place and not self._may_start(last):
                    last -= 1
                if last < place:
                    break
            if self.tested >= parameters.bf_max_job_test or self.is_full:
                break
            if entry.record.state == "PENDING" and not self._is_skipped(entry):
                self.tested += 1
                self._plan(entry)
            if parameters.bf_max_job_start == len(self.done.jobs) > 0:
                break
        return self.done

    def _may_start(self, place: int) -> bool:
        """Whether an entry may still start now, beside what is reserved."""
        entry = self.entries[place]
        if entry.record.state != "PENDING":
            return False
        if self.scheduler.may_preempt_any:
            return True
        if self.loops is not None:
            return self._may_start_fast(self.loops, place, entry.need, self._limit(entry))
        nodes = self.scheduler.fitting(entry.need)
        if not nodes:
            return False
        free, _ = self.slots.over(self.now, self.now + self._limit(entry), nodes)
        if free == nodes:
            return True
        scheduler, need = self.scheduler, entry.need
        if free.bit_count() < need.nodes:
            return False
        if need.rows > 1:
            return True
        there = usable(scheduler.machine, scheduler.occupancy.level, need)
        return could_fit(need, there * scheduler.machine.mask(free))

    def _may_start_fast(self, loops: Loops, place: int, need: Need, limit: int) -> bool:
        """Say the same with compiled loops; in a cycle, less and less is free for plain needs."""
        if self._seen == place and self._soonest > self.now + limit:
            return True
        failed = self._failed.get(need.number)
        if failed is None:
            failed = self._failed[need.number] = self._failed_like.setdefault(need.family, [])
        nodes, cpus = need.nodes, need.cpus
        for fewest, least, shortest in failed:
            if nodes >= fewest and cpus >= least and limit >= shortest:
                return False
        if not self.scheduler.fitting(need):
            failed.append((nodes, cpus, 0))
            return False
        self._seen, self._soonest = place, self.window_end
        if loops.may_start(self.scheduler.occupancy, need, limit):
            return True
        failed.append((nodes, cpus, limit))
        return False

    def _is_skipped(self, entry: Entry) -> bool:
        """Whether a cycle passes over an entry."""
        scheduler, parameters, record = self.scheduler, self.parameters, entry.record
        problem = scheduler.partition_problem(entry)
        if (problem and problem != _DENIED) or scheduler.waiting.array_is_full(record.job):
            return True
        place, user = entry.place.number, record.job.user
        counts: list[tuple[int, Any, object]] = [
            (parameters.bf_max_job_part, self._by_place, place),
            (parameters.bf_max_job_user_part, self._by_user_place, (user, place)),
        ]
        if parameters.bf_max_job_assoc:
            counts.append((parameters.bf_max_job_assoc, self._by_association, record.association))
        else:
            counts.append((parameters.bf_max_job_user, self._by_user, user))
        for most, counter, key in counts:
            if most:
                counter[key] += 1
                if counter[key] > most:
                    return True
        stops = scheduler.machine.cluster.main.assoc_limit_stop
        problem = "" if stops else scheduler.early_problem(entry)
        if not problem and scheduler.licenses_missing(entry, self.now):
            problem = "Licenses"
        if problem:
            scheduler.set_reason(entry, problem, self.now, BACKFILL)
        return bool(problem)

    def _limit(self, entry: Entry) -> int:
        """Give the limit by which an entry is planned, seconds."""
        record = entry.record
        limit, extras = entry.limit, record.job.extras
        if extras.deadline is not None:
            limit = max(min(limit, extras.deadline - self.now), 60)
        if extras.min_time is not None:
            limit = min(limit, extras.min_time)
        if record.qos and "NoReserve" in record.qos.flags and self.scheduler.may_preempt_any:
            limit = min(limit, 60)
        return limit

    def _plan(self, entry: Entry) -> None:
        """Start a job now, or reserve nodes for it, or neither."""
        scheduler, now, need = self.scheduler, self.now, entry.need
        record, limit = entry.record, self._limit(entry)
        reserves = not blocks_nothing(scheduler, entry, now)
        if self.parameters.bf_one_resv_per_job and record.number in self._reserved:
            reserves = False
        if self.loops is not None:
            self._plan_fast(self.loops, entry, limit, reserves)
            return
        time = now
        while True:
            closed = scheduler.reservations.closed(record.job, entry.place, time, limit, now)
            wanted = need.candidates & scheduler.occupancy.up & ~closed.nodes
            if closed.reason:
                wanted = 0
            nodes, later = self.slots.over(time, time + limit, wanted)
            later = self._after_reservations(closed, time, later)
            found = None
            if nodes.bit_count() >= need.nodes and not need.required & ~nodes:
                found = self._will_run(entry, nodes, closed)
            if found is None:
                if later is None or not reserves or later <= time:
                    return
                time = later
                continue
            start, given = found
            start, taken = max(start, time), given.bits
            if start == now and self._completes(taken):
                start, later = now + 1, None
            if start <= now and self._starts(entry, nodes, limit):
                return
            if start > now and not reserves:
                return
            if later is not None and start > later > time:
                time = later
                continue
            if start > self.window_end:
                return
            if not self.slots.is_free(taken, start, start + limit):
                time = max(start, time + 1)
                continue
            self.is_full = len(self.slots) >= self._most
            if not self.is_full and self._may_reserve(entry, given, limit):
                self.slots.reserve(taken, *self._reserved_time(entry, start, limit))
            return

    def _plan_fast(self, loops: Loops, entry: Entry, limit: int, reserves: bool) -> None:
        """Do the same with compiled loops, for a plain need and where nothing else keeps nodes."""
        scheduler = self.scheduler
        wanted = scheduler.bounded(entry)
        fits = scheduler.fitting(entry.need) != 0
        found = loops.plan(scheduler.occupancy, wanted, limit, fits, reserves)
        given, start = None, loops.start
        if found and (scheduler.limits.enforces or found == 1):
            given = loops.planned(wanted)
        if not found or (found == 1 and self._starts(entry, loops.open, limit)):
            return
        self.is_full = len(loops) >= self._most
        if not self.is_full and self._may_reserve(entry, given, limit):
            begin, end = self._reserved_time(entry, start, limit)
            self._soonest = min(self._soonest, begin)
            loops.reserve(given, begin, end)

    def _after_reservations(self, closed: Closed, time: int, later: int | None) -> int | None:
        """Give when a job may find more, once an advance reservation is over."""
        if not closed.meets:
            return later
        end = self.scheduler.reservations.first_end(time)
        if end is None:
            return later
        end = -(-end // self.resolution) * self.resolution + 1
        return end if later is None else min(later, end)

    def _completes(self, nodes: int) -> bool:
        return any(nodes >> node & 1 for node in self.scheduler.occupancy.completing)

    def _starts(self, entry: Entry, nodes: int, limit: int) -> bool:
        """Try to start a job now; say whether the cycle is through with it."""
        scheduler, now = self.scheduler, self.now
        problem = scheduler.partition_problem(entry)
        stops = scheduler.machine.cluster.main.assoc_limit_stop
        if not problem and stops:
            problem = scheduler.early_problem(entry)
        if problem:
            scheduler.set_reason(entry, problem, now, BACKFILL)
            return False
        found = attempt(scheduler, entry, nodes & scheduler.occupancy.open, now, limit)
        if found.given is not None:
            self.done.jobs.append(scheduler.start(entry, found.given, now, "SchedBackfill", limit))
            self._seen = -1
            return True
        scheduler.set_reason(entry, found.reason, now, BACKFILL)
        if found.victims and may_kill(scheduler, entry, now):
            note_kill(scheduler, entry, now)
            self.done.victims.extend(found.victims)
        return found.verdict in ("limit", "reserved")

    def _may_reserve(self, entry: Entry, given: Allocation | None, limit: int) -> bool:
        """Whether a job may have nodes kept for it; `given` is only needed for limits."""
        scheduler, record, parameters = self.scheduler, entry.record, self.parameters
        stops = scheduler.machine.cluster.main.assoc_limit_stop
        if given is not None and not stops:
            tres = scheduler.tres_of(entry, given)
            if scheduler.late_problem(entry, given, tres, limit):
                return False
        if record.qos and "NoReserve" in record.qos.flags:
            return False
        array = record.job.extras.array
        if array is not None:
            self._by_array[array.array] += 1
            if self._by_array[array.array] > parameters.bf_max_job_array_resv:
                return False
        place = entry.place.number
        self._reserving[place] += 1
        most = parameters.bf_job_part_count_reserve
        return not (most and self._reserving[place] > most)

    def _reserved_time(self, entry: Entry, start: int, limit: int) -> tuple[int, int]:
        """Note when a job is expected to start; give from when until when its nodes are kept."""
        scheduler, record = self.scheduler, entry.record
        step = self.resolution
        begin = start // step * step
        end = max((start + limit) // step * step, begin + step)
        self._reserved.add(record.number)
        record.expected = start
        scheduler.journal.note(
            self.now,
            record.number,
            BACKFILL,
            f"expected to start {start - record.job.submit:,} s after submission",
        )
        return begin, end

    def _will_run(self, entry: Entry, nodes: int, closed: Closed) -> tuple[int, Allocation] | None:
        """Find when and where a job will run on some nodes, by the limits of running jobs."""
        scheduler, need, now = self.scheduler, entry.need, self.now
        search, wanted = scheduler.search(entry, now), scheduler.bounded(entry)
        occupancy = scheduler.occupancy
        if scheduler.fitting(need):
            given = choose(search, self._kept(occupancy.level, closed), wanted, nodes)
            if given is not None:
                return now, given
        if scheduler.may_preempt_any:
            level = self._without_candidates(entry)
            if level is not None:
                given = choose(search, self._kept(level, closed), wanted, nodes)
                if given is not None:
                    return now, given
        loops = scheduler.machine.loops
        is_plain = need.is_plain and occupancy.is_additive and closed.cores is None
        if loops is not None and is_plain and not search.first:
            at = loops.earliest(occupancy, wanted, nodes)
            if at is None:
                return None
            return (at[0] if at[0] > now else self._overdue(at[0])), at[1]
        ends = occupancy.ends_on(nodes)
        if not len(ends):
            return None
        times = self._windows(ends, nodes)
        mask = scheduler.machine.mask(nodes & need.candidates)

        def fits(time: int) -> bool:
            if need.rows <= 1 and closed.cores is None:
                return could_fit(need, self._usable_later(need, time) * mask)
            level = self._kept(self._later(time), closed)
            return any(
                could_fit(need, usable(scheduler.machine, level, need, row) * mask)
                for row in range(-1, need.rows)
            )

        first = bisect_left(times, True, key=fits)
        search = scheduler.search(entry, now, for_later=True)
        for time in times[first:]:
            given = choose(search, self._kept(self._later(time), closed), wanted, nodes)
            if given is not None:
                end = int(ends[np.searchsorted(ends, time, "right") - 1])
                return (end if end > now else self._overdue(end)), given
        return None

    def _overdue(self, end: int) -> int:
        """Give when a job ends that should have ended already."""
        cluster = self.scheduler.machine.cluster
        return max(self.now + 1, end + cluster.kill_wait + cluster.over_time_limit)

    def _windows(self, ends: Integers, nodes: int) -> list[int]:
        """Give the times by which jobs are taken out together: 30 s, 60 s, 120 s, ...

        Slurm asks whether the next job of the cluster ends within the window; if it does, it takes
        out the next one on these nodes, which may end later.
        """
        if self.scheduler.machine.cluster.selection.type == "linear":
            return list(dict.fromkeys(ends.tolist()))
        base = int(ends[0]) + _FIRST_WINDOW - int(ends[0]) % _FIRST_WINDOW
        width, times, place = _FIRST_WINDOW, [], 0
        linear = self.parameters.bf_window_linear
        own, following = (each.tolist() for each in self.scheduler.occupancy.in_turn(nodes))
        while place < len(own):
            while place < len(own) - 1 and following[place] <= base + width:
                place += 1
            times.append(own[place])
            while place < len(own) - 1 and following[place] > base + width:
                width = width + linear if linear else 2 * width
            place += 1
        return times

    def _later(self, time: int) -> Level:
        """Give the level of a later time; those of this cycle are kept until a job starts."""
        occupancy = self.scheduler.occupancy
        version = occupancy.freed, occupancy.taken
        if version != self._version:
            self._levels.clear()
            self._usable.clear()
            self._version = version
        found = self._levels.get(time)
        if found is None:
            found = self._levels[time] = occupancy.later(time)
        return found

    def _usable_later(self, need: Need, time: int) -> Integers:
        """Give the CPUs that a job may have on each node at a later time."""
        level = self._later(time)
        found = self._usable.get((need.number, time))
        if found is None:
            found = usable(self.scheduler.machine, level, need)
            self._usable[need.number, time] = found
        return found

    def _kept(self, level: Level, closed: Closed) -> Level:
        """Give a level without the cores that reservations keep."""
        if closed.cores is None:
            return level
        made = level.copy()
        made.table[0] -= closed.cores
        return made

    def _without_candidates(self, entry: Entry) -> Level | None:
        return without_candidates(self.scheduler, entry, self.now)


def backfill(scheduler: SlurmScheduler, now: int) -> Started:
    """Make one cycle of backfill."""
    scheduler.age()
    if not (scheduler.journal.watched or scheduler.may_preempt_any):
        entries = reversed(scheduler.queue.ordered())
        if not any(scheduler.fitting(each.need) for each in entries):
            return Started([], [])
    return Cycle(scheduler, now).run()

"""When and where a waiting job will run, by the limits of running jobs: backfill asks this."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace

import numpy as np

from rebecsim.clusters.slurm.features import Alternative
from rebecsim.clusters.slurm.machine import Integers, Need
from rebecsim.clusters.slurm.occupancy import Allocation, Level, together
from rebecsim.clusters.slurm.preemption import candidates
from rebecsim.clusters.slurm.records import Entry
from rebecsim.clusters.slurm.reservations import Closed
from rebecsim.clusters.slurm.scheduler import SlurmScheduler
from rebecsim.clusters.slurm.selection import Search, choose, could_fit, usable

_FIRST_WINDOW = 30

_ANY = (Alternative(-1),)

_REST = 10**7


class Forecast:
    """What running jobs will leave free, during one cycle of backfill."""

    def __init__(self, scheduler: SlurmScheduler, now: int) -> None:
        self.scheduler, self.now = scheduler, now
        self._levels: dict[int, Level] = {}
        self._usable: dict[tuple[int, int], Integers] = {}
        self._version = (-1, -1)

    def will_run(self, entry: Entry, nodes: int, closed: Closed) -> tuple[int, Allocation] | None:
        """Find when and where a job will run on some nodes, by the limits of running jobs.

        A job that asked to share cores is tried first as if it had not; a start now is believed.
        Nodes of counted features are looked for one feature after the other, and those that the
        job wants beyond them last.
        """
        wanted = self.scheduler.bounded(entry)
        parts = self.scheduler.machine.parts(entry.need)
        if not parts:
            alone = self.scheduler.machine.alone(wanted)
            if alone is not wanted:
                found = self._run_at(entry, alone, nodes, closed)
                if found is not None and found[0] == self.now:
                    return found
            return self._run_at(entry, wanted, nodes, closed)
        start, taken, given = 0, 0, list[Allocation]()
        for part in (*parts, None):
            if part is None:
                rest = wanted.wanted - taken.bit_count()
                if rest <= 0:
                    break
                least = max(wanted.nodes - taken.bit_count(), 1)
                number = -_REST - wanted.number * _REST - rest
                part = replace(wanted, number=number, nodes=least, wanted=rest, alternatives=_ANY)
            among = nodes & ~taken & (part.candidates if part.number > -_REST else -1)
            found = self._run_at(entry, part, among, closed)
            if found is None:
                return None
            start, taken = max(start, found[0]), taken | found[1].bits
            given.append(found[1])
        return start, together(given)

    def _run_at(
        self, entry: Entry, wanted: Need, nodes: int, closed: Closed
    ) -> tuple[int, Allocation] | None:
        scheduler, need, now = self.scheduler, wanted, self.now
        search = scheduler.search(entry, now)._replace(plans=True)
        occupancy = scheduler.occupancy
        if scheduler.fitting(need):
            given = choose(search, self._kept(occupancy.level, closed), wanted, nodes)
            if given is not None:
                return now, given
        gone: list[int] = []
        if scheduler.may_preempt_any:
            gone = [each.number for each in candidates(scheduler, entry, now)]
        if gone:
            level = occupancy.without(gone)
            given = choose(search, self._kept(level, closed), wanted, nodes)
            if given is not None:
                return now, given
        loops = scheduler.machine.loops
        is_plain = need.is_plain and occupancy.is_additive and closed.cores is None and not gone
        if loops is not None and is_plain and not search.first:
            at = loops.earliest(occupancy, wanted, nodes)
            if at is None:
                return None
            return (at[0] if at[0] > now else self._overdue(at[0])), at[1]
        ends, following = occupancy.in_turn(nodes, gone)
        if not len(ends):
            return None
        times = self._windows(ends, following)
        mask = scheduler.machine.mask(nodes & need.candidates)

        def fits(time: int) -> bool:
            if closed.cores is None and not gone:
                return could_fit(need, self._usable_later(need, time) * mask)
            level = self._kept(self._later(time, gone), closed)
            return could_fit(need, usable(scheduler.machine, level, need) * mask)

        first = bisect_left(times, True, key=fits)
        search = search._replace(for_later=True)
        for time in times[first:]:
            given = choose(search, self._kept(self._later(time, gone), closed), wanted, nodes)
            if given is not None:
                if scheduler.machine.cluster.selection.type == "linear":
                    given = self._one_by_one(search, time, wanted, nodes, closed, gone) or given
                end = int(ends[np.searchsorted(ends, time, "right") - 1])
                return (end if end > now else self._overdue(end)), given
        return None

    def _one_by_one(
        self,
        search: Search,
        time: int,
        wanted: Need,
        nodes: int,
        closed: Closed,
        gone: list[int],
    ) -> Allocation | None:
        """Place a job as select/linear does, which takes out one job after the other."""
        occupancy = self.scheduler.occupancy
        together = [each for each in occupancy.ending_at(time) if each not in gone]
        if len(together) < 2:
            return None
        level = self._kept(occupancy.later(time - 1, gone), closed)
        for number in together:
            level.give(occupancy.given[number])
            given = choose(search, level, wanted, nodes)
            if given is not None:
                return given
        return None

    def _overdue(self, end: int) -> int:
        """Give when a job ends that should have ended already."""
        cluster = self.scheduler.machine.cluster
        return max(self.now + 1, end + cluster.kill_wait + cluster.over_time_limit)

    def _windows(self, ends: Integers, next_ends: Integers) -> list[int]:
        """Give the times by which jobs are taken out together: 30 s, 60 s, 120 s, ...

        Slurm asks whether the next job of the cluster ends within the window; if it does, it takes
        out the next one on these nodes, which may end later.
        """
        if self.scheduler.machine.cluster.selection.type == "linear":
            return list(dict.fromkeys(ends.tolist()))
        base = int(ends[0]) + _FIRST_WINDOW - int(ends[0]) % _FIRST_WINDOW
        width, times, place = _FIRST_WINDOW, [], 0
        linear = self.scheduler.machine.cluster.backfilling.bf_window_linear
        own, following = ends.tolist(), next_ends.tolist()
        while place < len(own):
            while place < len(own) - 1 and following[place] <= base + width:
                place += 1
            times.append(own[place])
            while place < len(own) - 1 and following[place] > base + width:
                width = width + linear if linear else 2 * width
            place += 1
        return times

    def _later(self, time: int, gone: list[int] | None = None) -> Level:
        """Give the level of a later time; those of this cycle are kept until a job starts."""
        occupancy = self.scheduler.occupancy
        if gone:
            return occupancy.later(time, gone)
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

"""When and where a waiting job will run, by the limits of running jobs: backfill asks this."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from rebecsim.clusters.slurm.features import Alternative
from rebecsim.clusters.slurm.machine import Integers, Need
from rebecsim.clusters.slurm.occupancy import Allocation, Level, together
from rebecsim.clusters.slurm.preemption import candidates
from rebecsim.clusters.slurm.records import Entry
from rebecsim.clusters.slurm.reservations import Closed
from rebecsim.clusters.slurm.room import could_fit, usable
from rebecsim.clusters.slurm.scheduler import SlurmScheduler
from rebecsim.clusters.slurm.selection import choose

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
        if loops is not None and is_plain:
            at = loops.earliest(occupancy, wanted, nodes)
            if at is None:
                return None
            return (at[0] if at[0] > now else self._overdue(at[0])), at[1]
        jobs, ends, following = occupancy.in_turn(nodes, gone)
        if not len(ends):
            return None
        places = self._windows(ends, following)
        mask = scheduler.machine.mask(nodes & need.candidates)

        def fits(place: int) -> bool:
            job = int(jobs[place])
            if closed.cores is None and not gone:
                return could_fit(need, self._usable_later(need, job) * mask)
            level = self._kept(self._later(job, gone), closed)
            return could_fit(need, usable(scheduler.machine, level, need) * mask)

        first = bisect_left(places, True, key=fits)
        search = search._replace(for_later=True)
        for place in places[first:]:
            level = self._kept(self._later(int(jobs[place]), gone), closed)
            given = choose(search, level, wanted, nodes)
            if given is not None:
                end = int(ends[place])
                return (end if end > now else self._overdue(end)), given
        return None

    def _overdue(self, end: int) -> int:
        """Give when a job ends that should have ended already."""
        cluster = self.scheduler.machine.cluster
        return max(self.now + 1, end + cluster.kill_wait + cluster.over_time_limit)

    def _windows(self, ends: Integers, next_ends: Integers) -> Sequence[int]:
        """Give the jobs after which it is tried again, by place: 30 s, 60 s, 120 s, ... apart.

        Slurm asks whether the next job of the cluster ends within the window; if it does, it takes
        out the next one on these nodes, which may end later. select/linear takes out single jobs.
        """
        if self.scheduler.machine.cluster.selection.type == "linear":
            return range(len(ends))
        base = int(ends[0]) + _FIRST_WINDOW - int(ends[0]) % _FIRST_WINDOW
        width, places, place = _FIRST_WINDOW, [], 0
        linear = self.scheduler.machine.cluster.backfilling.bf_window_linear
        following = next_ends.tolist()
        while place < len(following):
            while place < len(following) - 1 and following[place] <= base + width:
                place += 1
            places.append(place)
            while place < len(following) - 1 and following[place] > base + width:
                width = width + linear if linear else 2 * width
            place += 1
        return places

    def _later(self, job: int, gone: list[int] | None = None) -> Level:
        """Give the level after a job; those of this cycle are kept until a job starts."""
        occupancy = self.scheduler.occupancy
        if gone:
            return occupancy.later(job, gone)
        version = occupancy.freed, occupancy.taken
        if version != self._version:
            self._levels.clear()
            self._usable.clear()
            self._version = version
        found = self._levels.get(job)
        if found is None:
            found = self._levels[job] = occupancy.later(job)
        return found

    def _usable_later(self, need: Need, job: int) -> Integers:
        """Give the CPUs that a job may have on each node once another one has ended."""
        level = self._later(job)
        found = self._usable.get((need.number, job))
        if found is None:
            found = usable(self.scheduler.machine, level, need)
            self._usable[need.number, job] = found
        return found

    def _kept(self, level: Level, closed: Closed) -> Level:
        """Give a level without the cores that reservations keep."""
        if closed.cores is None:
            return level
        made = level.copy()
        made.table[0] -= closed.cores
        return made

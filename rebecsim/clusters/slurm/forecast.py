"""When and where a waiting job will run, by the limits of running jobs: backfill asks this."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace

from rebecsim.clusters.slurm.features import Alternative
from rebecsim.clusters.slurm.machine import Integers, Need
from rebecsim.clusters.slurm.occupancy import Allocation, Level, together
from rebecsim.clusters.slurm.preemption import candidates
from rebecsim.clusters.slurm.records import Entry
from rebecsim.clusters.slurm.reservations import Closed
from rebecsim.clusters.slurm.scheduler import SlurmScheduler
from rebecsim.clusters.slurm.selection import choose, could_fit, usable

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

        Nodes of counted features are looked for one feature after the other, and those that the
        job wants beyond them last.
        """
        wanted = self.scheduler.bounded(entry)
        parts = self.scheduler.machine.parts(entry.need)
        if not parts:
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
        ends, following, places = occupancy.in_turn(nodes, gone)
        if not len(ends):
            return None
        turns = self._windows(ends, following)
        mask = scheduler.machine.mask(nodes & need.candidates)

        def fits(turn: int) -> bool:
            many = int(places[turn])
            if need.rows <= 1 and closed.cores is None and not gone:
                return could_fit(need, self._usable_later(need, many) * mask)
            level = self._kept(self._later(many, gone), closed)
            return any(
                could_fit(need, usable(scheduler.machine, level, need, row) * mask)
                for row in range(-1, need.rows if need.rows > 1 else 0)
            )

        first = bisect_left(turns, True, key=fits)
        search = search._replace(for_later=True)
        for turn in turns[first:]:
            level = self._kept(self._later(int(places[turn]), gone), closed)
            given = choose(search, level, wanted, nodes)
            if given is not None:
                end = int(ends[turn])
                return (end if end > now else self._overdue(end)), given
        return None

    def _overdue(self, end: int) -> int:
        """Give when a job ends that should have ended already."""
        cluster = self.scheduler.machine.cluster
        return max(self.now + 1, end + cluster.kill_wait + cluster.over_time_limit)

    def _windows(self, ends: Integers, next_ends: Integers) -> list[int]:
        """Give the last ones of the jobs that are taken out together: 30 s, 60 s, 120 s, ...

        Slurm asks whether the next job of the cluster ends within the window; if it does, it takes
        out the next one on these nodes, which may end later. select/linear takes out one by one.
        """
        if self.scheduler.machine.cluster.selection.type == "linear":
            return list(range(len(ends)))
        base = int(ends[0]) + _FIRST_WINDOW - int(ends[0]) % _FIRST_WINDOW
        width, turns, place = _FIRST_WINDOW, [], 0
        linear = self.scheduler.machine.cluster.backfilling.bf_window_linear
        following = next_ends.tolist()
        while place < len(following):
            while place < len(following) - 1 and following[place] <= base + width:
                place += 1
            turns.append(place)
            while place < len(following) - 1 and following[place] > base + width:
                width = width + linear if linear else 2 * width
            place += 1
        return turns

    def _later(self, many: int, gone: list[int] | None = None) -> Level:
        """Give the level once so many stretches have ended; kept until a job starts."""
        occupancy = self.scheduler.occupancy
        if gone:
            return occupancy.later(many, gone)
        version = occupancy.freed, occupancy.taken
        if version != self._version:
            self._levels.clear()
            self._usable.clear()
            self._version = version
        found = self._levels.get(many)
        if found is None:
            found = self._levels[many] = occupancy.later(many)
        return found

    def _usable_later(self, need: Need, many: int) -> Integers:
        """Give the CPUs that a job may have on each node once so many stretches have ended."""
        level = self._later(many)
        found = self._usable.get((need.number, many))
        if found is None:
            found = usable(self.scheduler.machine, level, need)
            self._usable[need.number, many] = found
        return found

    def _kept(self, level: Level, closed: Closed) -> Level:
        """Give a level without the cores that reservations keep."""
        if closed.cores is None:
            return level
        made = level.copy()
        made.table[0] -= closed.cores
        return made

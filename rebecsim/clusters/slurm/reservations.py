"""Advance reservations: which nodes a job may not have in a time, and when that changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rebecsim.actors import Constant
from rebecsim.clusters.slurm.configuration import DAY, Reservation
from rebecsim.clusters.slurm.jobs import Job
from rebecsim.clusters.slurm.machine import Integers, Machine, Place

_REPEATS = {"HOURLY": 3600, "DAILY": DAY, "WEEKDAY": DAY, "WEEKEND": DAY, "WEEKLY": 7 * DAY}


class Closed(NamedTuple):
    """What reservations keep from a job.

    Attributes:
        nodes: those it may not have, as bits.
        reason: why it has to wait as a whole; empty: it has not.
        cores: cores that are kept on nodes that it may have, shape (nodes,); None: none.
        meets: whether any reservation is in its time.
    """

    nodes: int
    reason: str
    cores: Integers | None
    meets: bool


_NOTHING = Closed(0, "", None, False)


class Reservations(Constant):
    """The reservations of a cluster.

    Attributes:
        has_flexible: whether jobs of any may have other nodes, too.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.all = machine.cluster.reservations
        self.by_name = {each.name: each for each in self.all}
        self.nodes = {each.name: machine.named(each.nodes) for each in self.all}
        self.has_flexible = any("FLEX" in each.flags for each in self.all)
        self._magnetic = [each for each in self.all if "MAGNETIC" in each.flags]

    def windows(self, each: Reservation, begin: int, end: int) -> Iterator[tuple[int, int]]:
        """Give the times [start, end) of a reservation, repeated ones too, that meet a time."""
        if "TIME_FLOAT" in each.flags:
            yield begin + each.start, begin + each.end  # it stays ahead of now
            return
        period = next((_REPEATS[flag] for flag in _REPEATS if flag in each.flags), 0)
        if not period:
            if each.start < end and each.end > begin:
                yield each.start, each.end
            return
        number = max((begin - each.end) // period, 0)
        while each.start + number * period < end:
            start, stop = each.start + number * period, each.end + number * period
            weekday = (start // DAY + 3) % 7  # the epoch was a Thursday
            skipped = ("WEEKDAY" in each.flags and weekday > 4) or (
                "WEEKEND" in each.flags and weekday < 5
            )
            if stop > begin and not skipped:
                yield start, stop
            number += 1

    def meets(self, each: Reservation, begin: int, end: int) -> bool:
        """Whether a reservation is in a time."""
        return next(self.windows(each, begin, end), None) is not None

    def known(self, each: Reservation, now: int) -> bool:
        """Whether a reservation has been made by now."""
        return each.created is None or each.created <= now

    def is_open(self, name: str, now: int) -> str:
        """Give why a job cannot start in its reservation; empty: it can."""
        each = self.by_name.get(name)
        if each is None or not self.known(each, now):
            return "ReservationDeleted"
        if "FLEX" in each.flags or self.meets(each, now, now + 1):
            return ""
        later = self.meets(each, now, now + 400 * DAY)
        return "Reservation" if later else "ReservationDeleted"

    def admits(self, name: str, job: Job) -> bool:
        """Whether a job may use a reservation."""
        each = self.by_name.get(name)
        if each is None:
            return False
        if each.partition and job.partitions and each.partition not in job.partitions:
            return False
        named = each.users or each.accounts
        return not named or job.user in each.users or job.account in each.accounts

    def of(self, job: Job, now: int) -> str:
        """Give the reservation that a job uses: its own, or a magnetic one; empty: none."""
        if job.request.reservation or not self._magnetic:
            return job.request.reservation
        for each in self._magnetic:
            if self.admits(each.name, job) and not self.is_open(each.name, now):
                return each.name
        return ""

    @property
    def has_magnetic(self) -> bool:
        """Whether any reservation draws jobs that do not ask for it."""
        return bool(self._magnetic)

    def preferred(self, job: Job) -> int:
        """Give the nodes that a job takes first, as bits: those of its flexible reservation."""
        each = self.by_name.get(job.request.reservation)
        if each is None or "FLEX" not in each.flags or not self.nodes[each.name]:
            return self.machine.everything
        return self.nodes[each.name]

    def closed(self, job: Job, place: Place, begin: int, limit: int, now: int) -> Closed:
        """Give what is kept from a job that would run in [begin, begin + limit)."""
        if not self.all:
            return _NOTHING
        own = self.of(job, begin)
        nodes, meets, cores = 0, False, None
        if own:
            each = self.by_name[own]
            if "FLEX" not in each.flags and "ANY_NODES" not in each.flags:
                nodes = self.machine.everything & ~self.nodes[own]
            if each.flags & {"MAINT", "OVERLAP"}:
                return Closed(nodes, "", None, True)
        for each in self.all:
            if each.name == own or "ANY_NODES" in each.flags or not self.known(each, now):
                continue
            if not self.meets(each, begin, begin + limit):
                continue
            meets = True
            kept = self.nodes[each.name]
            if each.cores:
                cores = np.zeros(len(self.machine.names), np.int64) if cores is None else cores
                for name, count in each.cores.items():
                    number = self.machine.number[name]
                    cores[number] += count * int(self.machine.unit[number])
                continue
            if _stops(each) and not place.nodes & ~kept:
                return Closed(kept, "ReqNodeNotAvail, Reserved for maintenance", None, True)
            nodes |= kept
        return Closed(nodes, "", cores, meets or bool(own))

    def first_end(self, time: int) -> int | None:
        """Give the first end of any reservation that is not before a time."""
        ends = [
            end
            for each in self.all
            for _, end in self.windows(each, time - 1, max(time, each.end) + 1)
            if end >= time
        ]
        return min(ends, default=None)

    def next_edge(self, now: int) -> int | None:
        """Give the next time at which a reservation begins, ends or becomes known."""
        edges = []
        for each in self.all:
            if each.created is not None and each.created > now:
                edges.append(each.created)
            if "TIME_FLOAT" in each.flags:
                continue
            horizon = max(each.end, now) + 8 * DAY
            for start, end in self.windows(each, now, horizon):
                edges += [time for time in (start, end) if time > now]
                break
        return min(edges, default=None)

    def licenses(self, name: str, job: Job, begin: int, limit: int) -> int:
        """Give how many of a licence are kept from a job."""
        own = self.of(job, begin)
        return sum(
            each.licenses.get(name, 0)
            for each in self.all
            if each.name != own
            and self.known(each, begin)
            and self.meets(each, begin, begin + limit)
        )


def _stops(each: Reservation) -> bool:
    return bool(each.flags & {"ALL_NODES", "PART_NODES", "MAINT"})

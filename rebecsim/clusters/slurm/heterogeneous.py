"""The parts of heterogeneous jobs, which backfill starts together or not at all.

As `het_job_start_*` of Slurm's backfill.c: a cycle plans the parts one by one, none before what is
planned of the others, and starts a job whose parts could all start now. What was planned is
forgotten after the cycle.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from rebecsim.clusters.slurm.machine import ONE_YEAR
from rebecsim.clusters.slurm.occupancy import Allocation
from rebecsim.clusters.slurm.preemption import Victim
from rebecsim.clusters.slurm.records import Entry, Record
from rebecsim.clusters.slurm.scheduler import SlurmScheduler


@dataclass(slots=True)
class PlannedPart:
    """The earliest start of a part in any of its partitions, where, with what and for how long."""

    start: int
    entry: Entry
    given: Allocation | None = None
    limit: int = 0


class HetPlan:
    """What one cycle of backfill plans of heterogeneous jobs.

    Attributes:
        parts: of each job, by the number of its first part, the parts that were looked at.
    """

    def __init__(self, scheduler: SlurmScheduler, now: int) -> None:
        self.scheduler, self.now = scheduler, now
        self.parts: defaultdict[int, dict[int, PlannedPart]] = defaultdict(dict)
        self._latest: defaultdict[int, dict[int, int]] = defaultdict(dict)  # by partition and job

    def look_at(self, entry: Entry) -> int:
        """Give the time before which a part does not start, as the others do not; seconds."""
        parts, number = self.parts[number_of(entry.record)], entry.record.number
        parts.setdefault(number, PlannedPart(self.now + ONE_YEAR, entry))
        return max((each.start for part, each in parts.items() if part != number), default=0)

    def plan(self, entry: Entry, start: int, given: Allocation, limit: int) -> None:
        """Note when a part could start; a later time in another partition does not count."""
        parts, number = self.parts[number_of(entry.record)], entry.record.number
        if start < parts[number].start:
            parts[number] = PlannedPart(start, entry, given, limit)

    def is_deadlock(self, entry: Entry, start: int) -> bool:
        """Whether a job that starts after this one here starts before it in another partition."""
        number = number_of(entry.record)
        here = self._latest[entry.place.number]
        here[number] = max(here.get(number, 0), start)
        later = [each for each, at in here.items() if at > here[number]]
        others = (times for times in self._latest.values() if times is not here)
        return any(
            times.get(each, here[number]) < here[number]
            for times in others
            if number in times
            for each in later
        )

    def start(self, job: int, starts: Callable[[Entry, int, int], bool]) -> list[Victim]:
        """Start a job whose parts could all start now; `starts` tries a part on some nodes.

        If one does not start, those that have are put back into the queue, and are given.
        """
        used = 0
        begun: list[Record] = []
        for part in self._ready(job):
            nodes = part.entry.need.reach & self.scheduler.occupancy.up & ~used
            if not starts(part.entry, nodes, part.limit):
                return [self._put_back(each) for each in begun]
            begun.append(part.entry.record)
            used |= self.scheduler.occupancy.given[part.entry.record.number].bits
        return []

    def _ready(self, job: int) -> list[PlannedPart]:
        """Give the parts of a job that can start now as far as is planned; none: it cannot."""
        scheduler, parts = self.scheduler, self.parts[job]
        if any(each.start > self.now for each in parts.values()):
            return []
        for number in scheduler.waiting.jobs.parts[job]:
            record = scheduler.records.get(number)
            if number not in parts and (record is None or record.state != "RUNNING"):
                return []
        found = list(parts.values())
        return found if self._is_allowed(found) else []

    def _is_allowed(self, parts: list[PlannedPart]) -> bool:
        """Whether limits and licences let all parts run at once.

        Where licences do not, Slurm starts some parts and puts them back, again and again.
        """
        scheduler = self.scheduler
        limits, total = scheduler.limits, scheduler.machine.cluster.licenses
        wanted: Counter[str] = Counter()
        for part in parts:
            wanted.update(dict(part.entry.record.job.request.licenses))
        if any(
            count + scheduler.licenses.get(name, 0) > total.get(name, 0)
            for name, count in wanted.items()
        ):
            return False
        if not limits.enforces:
            return True
        begun: list[tuple[Record, str, list[int]]] = []
        for part in parts:
            entry, record, given = part.entry, part.entry.record, part.given
            assert given is not None
            record.tres = scheduler.tres_of(entry, given)
            problem = scheduler.early_problem(entry) or scheduler.late_problem(
                entry, given, record.tres, part.limit
            )
            if problem:
                scheduler.set_reason(entry, problem, self.now, "backfill")
                break
            begun.append((record, entry.place.spec.qos, given.nodes.tolist()))
            limits.start(*begun[-1])
        for each in begun:
            limits.start(*each, -1)
        return len(begun) == len(parts)

    def _put_back(self, record: Record) -> Victim:
        given = self.scheduler.end(record, self.now, "PREEMPTED", again=True)
        self.scheduler.occupancy.complete(given)
        return Victim(record, "REQUEUE", self.now, True, given)


def number_of(record: Record) -> int:
    """Give the number of the heterogeneous job of a part."""
    het = record.job.extras.het
    assert het is not None
    return het.job

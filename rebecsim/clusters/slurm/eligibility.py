"""Which submitted jobs may be considered at all: holds, dependencies, begin times, arrays.

And whether a partition takes a job, and whether one that it took may start there at all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from rebecsim.actors import Constant, StatePart
from rebecsim.clusters.slurm.accounts import Accounts
from rebecsim.clusters.slurm.jobs import NO_EXTRAS, Dependency, Job
from rebecsim.clusters.slurm.limits import denial
from rebecsim.clusters.slurm.machine import Machine, Place
from rebecsim.clusters.slurm.records import Entry, Record
from rebecsim.clusters.slurm.reservations import Reservations

NEVER = "DependencyNeverSatisfied"


class JobIndex(Constant):
    """What is known of all jobs before the first is submitted.

    Attributes:
        members: the numbers of the jobs of each array, by the number of the array.
        parts: the numbers of the parts of each heterogeneous job, by that of the first.
        watched: numbers of the jobs that others wait for.
        tasks: the array and task of the jobs of arrays, to the number.
        has_singletons: whether any job waits for others of its name.
        has_interactive: whether any job comes from salloc or srun, and may start at submission.
    """

    def __init__(self, jobs: Iterable[Job]) -> None:
        self.members: dict[int, list[int]] = defaultdict(list)
        self.parts: dict[int, list[int]] = defaultdict(list)
        self.tasks: dict[tuple[int, int], int] = {}
        self.has_singletons = self.has_interactive = False
        wanted: set[int] = set()
        for job in jobs:
            extras = job.extras
            self.has_interactive |= not job.batch
            if extras is NO_EXTRAS:
                continue
            self.has_singletons |= any(each.type == "singleton" for each in extras.dependencies)
            if extras.array is not None:
                self.members[extras.array.array].append(job.number)
                self.tasks[extras.array.array, extras.array.task] = job.number
            if extras.het is not None:
                self.parts[extras.het.job].append(job.number)
            wanted.update(each.job for each in extras.dependencies)
        self.watched = frozenset(
            number for each in wanted for number in self.members.get(each, (each,))
        )


class Waiting(StatePart):
    """Jobs that are not eligible yet, and what they wait for.

    Attributes:
        asleep: their records by number.
        held: the records of held jobs by number, in the order in which they will be released.
        started: when each job that others wait for started, or was cancelled.
        ended: whether each of these ended well.
        running: how many tasks of an array run.
        names: for singleton: the numbers of the jobs of a user and name that wait or run.
    """

    def __init__(self, jobs: JobIndex, reservations: Reservations) -> None:
        self.jobs, self.reservations = jobs, reservations
        self.asleep: dict[int, Record] = {}
        self.started: dict[int, int] = {}
        self.ended: dict[int, bool] = {}
        self.running: dict[int, int] = {}
        self.names: dict[tuple[str, str], list[int]] = {}
        self.held: dict[int, Record] = {}
        self._held_back: dict[int, None] = {}  # those that wait for other jobs

    def is_held(self, record: Record, now: int) -> bool:
        """Whether a job was submitted held and is not released yet."""
        extras = record.job.extras
        return extras.held and (extras.released is None or now < extras.released)

    def reason(self, record: Record, now: int) -> str:
        """Give why a job is not eligible; empty: it is."""
        job = record.job
        extras = job.extras
        if self.is_held(record, now):
            return "JobHeldUser"
        if extras.dependencies:
            found = [self._holds(record, each, now) for each in extras.dependencies]
            if extras.any_dependency:
                if all(each == NEVER for each in found):
                    return NEVER
                if not any(each == "" for each in found):
                    return "Dependency"
            elif any(found):
                return NEVER if NEVER in found else "Dependency"
        if now < max(job.begin, record.begin):
            return "BeginTime"
        own = job.request.reservation
        return self.reservations.is_open(own, now) if own else ""

    def _holds(self, record: Record, each: Dependency, now: int) -> str:
        """Say whether a dependency is met: empty, `Dependency`, or NEVER."""
        if each.type == "singleton":
            same = self.names.get((record.job.user, record.job.name), [])
            return "Dependency" if any(n < record.number for n in same) else ""
        numbers: Iterable[int] = self.jobs.members.get(each.job, (each.job,))
        if each.type == "aftercorr" and record.job.extras.array is not None:
            numbers = (self.jobs.tasks.get((each.job, record.job.extras.array.task), -1),)
        worst = ""
        for number in numbers:
            if number not in self.jobs.watched or number < 0:
                continue
            worst = max(worst, self._one(each, number, now), key=_ORDER.__getitem__)
        return worst

    def _one(self, each: Dependency, number: int, now: int) -> str:
        if each.type == "after":
            since = self.started.get(number)
            return "" if since is not None and since + each.delay <= now else "Dependency"
        good = self.ended.get(number)
        if good is None:
            return "Dependency"
        if each.type in ("afterok", "aftercorr"):
            return "" if good else NEVER
        if each.type == "afternotok":
            return NEVER if good else ""
        return ""

    def sleep(self, record: Record) -> None:
        """Keep a job until it is eligible."""
        self.asleep[record.number] = record
        if record.reason == "JobHeldUser":
            self.held[record.number] = record
        if record.job.extras.dependencies:
            self._held_back[record.number] = None

    def wake(self, record: Record) -> None:
        """Forget a job that is eligible now, or gone."""
        self.asleep.pop(record.number, None)
        self._held_back.pop(record.number, None)
        self.held.pop(record.number, None)

    def released(self, now: int) -> list[Record]:
        """Give the held jobs that are released now."""
        found = [each for each in self.held.values() if not self.is_held(each, now)]
        for each in found:
            del self.held[each.number]
        return found

    def ready(self, now: int, *, timed: bool) -> list[Record]:
        """Give the sleeping jobs that are eligible now; `timed` also those that wait for a time."""
        numbers: Mapping[int, object] = self.asleep if timed else self._held_back
        found = []
        for number in list(numbers):
            record = self.asleep[number]
            record.reason = self.reason(record, now) or record.reason
            if not self.reason(record, now):
                found.append(record)
        return found

    def next_time(self, now: int) -> int | None:
        """Give the next time at which a sleeping job may become eligible."""
        times = []
        for record in self.asleep.values():
            extras = record.job.extras
            times += [record.begin, record.job.begin, extras.released or 0]
            times += [
                self.started[each.job] + each.delay
                for each in extras.dependencies
                if each.type == "after" and each.job in self.started
            ]
        if any(record.job.request.reservation for record in self.asleep.values()):
            times.append(self.reservations.next_edge(now) or 0)
        return min((each for each in times if each > now), default=None)

    def submitted(self, job: Job) -> None:
        """Note a new job, for singleton."""
        if self.jobs.has_singletons:
            self.names.setdefault((job.user, job.name), []).append(job.number)

    def note_start(self, job: Job, now: int) -> None:
        """Note that a job starts."""
        if job.number in self.jobs.watched:
            self.started.setdefault(job.number, now)
        array = job.extras.array
        if array is not None:
            self.running[array.array] = self.running.get(array.array, 0) + 1

    def note_end(self, job: Job, *, ran: bool) -> None:
        """Note that a job has ended or was cancelled."""
        array = job.extras.array
        if array is not None and ran:
            self.running[array.array] -= 1
        same = self.names.get((job.user, job.name))
        if same is not None and job.number in same:
            same.remove(job.number)
            if not same:
                del self.names[job.user, job.name]

    def note_gone(self, job: Job, now: int, *, well: bool) -> None:
        """Note that all nodes of an ended job are back: only now do others depend on it no more."""
        if job.number in self.jobs.watched:
            self.started.setdefault(job.number, now)
            self.ended[job.number] = well

    def array_is_full(self, job: Job) -> bool:
        """Whether as many tasks of the array of a job run as may run at once."""
        array = job.extras.array
        if array is None or array.at_once is None:
            return False
        return self.running.get(array.array, 0) >= array.at_once


_ORDER = {"": 0, "Dependency": 1, NEVER: 2}


def refusal(machine: Machine, accounts: Accounts, record: Record, place: Place) -> str:
    """Give why a partition does not take a job at all."""
    spec = place.spec
    if spec.state in ("DRAIN", "INACTIVE"):
        return "PartitionInactive"
    if spec.needs_reservation and not record.job.request.reservation:
        return "ReservationRequired"
    if machine.cluster.enforce_part_limits != "NO":
        need = machine.need(record.job.request, place)
        too_long = spec.time_limit is not None and (record.job.limit or 0) > spec.time_limit
        denied = denial(accounts, record, spec)
        return denied or need.problem or ("PartitionTimeLimit" if too_long else "")
    return ""


def partition_problem(accounts: Accounts, entry: Entry) -> str:
    """Give why a partition keeps a job waiting; empty: it does not."""
    spec, need = entry.place.spec, entry.need
    if spec.state in ("DOWN", "INACTIVE"):  # a drained one only takes no new jobs
        return "PartitionDown" if spec.state == "DOWN" else "PartitionInactive"
    denied = denial(accounts, entry.record, spec)
    if denied:
        return denied
    flags = entry.record.qos.flags if entry.record.qos else frozenset[str]()
    if need.problem == "PartitionNodeLimit":
        if not flags & {"PartitionMaxNodes", "PartitionMinNodes"}:
            return need.problem
    elif need.problem:
        return need.problem
    asked, most = entry.record.job.limit, spec.time_limit
    too_long = asked is not None and most is not None and asked > most
    if too_long and "PartitionTimeLimit" not in flags:
        return "PartitionTimeLimit"
    return ""

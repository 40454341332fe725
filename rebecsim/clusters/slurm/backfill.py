"""The backfill scheduler: starts jobs past blocked ones if that delays no reservation.

A cycle plans jobs in order. A job that cannot start now reserves the nodes on which running jobs
will have ended by their limits, whole nodes and in steps of bf_resolution. A later job starts only
on nodes without reservations for as long as its limit.

Nothing of a plan is kept until the next cycle. A cycle is therefore over as soon as none of the
jobs that are left could start now on what is not reserved; the jobs in between are not planned.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rebecsim.clusters.slurm.forecast import Forecast
from rebecsim.clusters.slurm.heterogeneous import HetPlan, number_of
from rebecsim.clusters.slurm.jobs import Amounts
from rebecsim.clusters.slurm.main_pass import (
    Started,
    Verdict,
    attempt,
    blocks_nothing,
    nodes_of_others,
)
from rebecsim.clusters.slurm.occupancy import Allocation
from rebecsim.clusters.slurm.preemption import mode_of, preempt
from rebecsim.clusters.slurm.reasons import is_limit
from rebecsim.clusters.slurm.records import Entry, Record
from rebecsim.clusters.slurm.reservations import Closed
from rebecsim.clusters.slurm.room import could_fit, usable
from rebecsim.clusters.slurm.scheduler import SlurmScheduler
from rebecsim.clusters.slurm.slots import SlotMap

if TYPE_CHECKING:
    from rebecsim.clusters.slurm.loops import Loops
    from rebecsim.clusters.slurm.machine import Need

BACKFILL = "backfill"

_GUESS = 500
"""So many seconds from now Slurm expects a job at a limit to start, if it knows nothing better."""

_DENIED = "AccountNotAllowed"
"""The reason for which a job never starts in a partition, and yet backfill keeps nodes for it."""


class Cycle:
    """One cycle of backfill."""

    def __init__(self, scheduler: SlurmScheduler, now: int) -> None:
        self.scheduler, self.now = scheduler, now
        self.parameters = scheduler.machine.cluster.backfilling
        resolution = max(self.parameters.bf_resolution, 1)
        self.resolution = resolution
        self.window_end = now + self.parameters.bf_window
        total = scheduler.machine.cluster.licenses if self.parameters.bf_licenses else None
        self.slots = SlotMap(
            now // resolution * resolution,
            self.window_end // resolution * resolution,
            scheduler.occupancy.up,
            total,
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
        self._array = -1, 0  # the one that something was reserved for last, and for how many tasks
        self._goes_on = False  # whether the last entry lets the next task of its array come
        self._is_next = False  # whether this entry is such a task: Slurm looks at limits later
        self._rejected: set[tuple[int, int]] = set()
        self._blocked_until: dict[str, int] = {}
        self._reserving: defaultdict[int, int] = defaultdict(int)
        self._reserved: set[int] = set()
        self._forecast = Forecast(scheduler, now)
        self._het = HetPlan(scheduler, now)
        self._most = self.parameters.bf_node_space_size or self.parameters.bf_max_job_test
        self._seen = -1  # the entry that was found to be able to start, while it is
        self._soonest = 0  # what begins first of what was reserved since
        self._failed: dict[int, list[tuple[int, int, int]]] = {}
        self._failed_like: dict[object, list[tuple[int, int, int]]] = {}
        self.loops = scheduler.machine.loops if self._is_plain() else None
        if self.loops is not None:
            first = now // resolution * resolution
            self.loops.begin(scheduler.occupancy, now, first, self.slots.end, self._most)

    @cached_property
    def _tasks_left(self) -> Counter[int]:
        """How many tasks of each array have not started."""
        arrays = (
            each.record.job.extras.array
            for each in self.entries
            if each.rank == 0 and each.record.state == "PENDING"
        )
        return Counter(each.array for each in arrays if each is not None)

    def _is_plain(self) -> bool:
        """Whether compiled loops can plan all entries."""
        scheduler, parameters = self.scheduler, self.parameters
        if parameters.bf_licenses or parameters.bf_running_job_reserve:
            return False
        if scheduler.may_preempt_any or scheduler.has_owners or scheduler.reservations.all:
            return False
        if scheduler.machine.cluster.main.assoc_limit_stop or not scheduler.occupancy.is_additive:
            return False
        return all(
            each.need.is_plain and each.record.job.extras.het is None for each in self.entries
        )

    def run(self) -> Started:
        """Make the cycle; give what starts, and what has to go."""
        scheduler, parameters = self.scheduler, self.parameters
        if parameters.bf_running_job_reserve or parameters.bf_licenses:
            self._reserve_running()
        complete = bool(scheduler.journal.watched)
        last = len(self.entries) - 1  # of those that may still start now
        for place, entry in enumerate(self.entries):
            if not complete:
                while last >= place and not self._may_start(last):
                    last -= 1
                if last < place:
                    self._look_at_limits(place)
                    break
            if self.tested >= parameters.bf_max_job_test or self.is_full:
                break
            if entry.record.state == "PENDING" and not self._is_skipped(entry):
                self._plan(entry)
            if 0 < parameters.bf_max_job_start <= len(self.done.jobs):
                break
        for job in () if parameters.bf_hetjob_immediate else list(self._het.parts):
            self._start_parts(job)
        return self.done

    def _start_parts(self, job: int) -> None:
        """Start the parts of a heterogeneous job if all of them can start now."""
        most = self.parameters.bf_max_job_start
        if not most or len(self.done.jobs) < most:
            self._is_next = False
            gone = self._het.start(job, lambda *given: self._starts(*given) == "starts")
            self.done.victims.extend(gone)

    def _look_at_limits(self, first: int) -> None:
        """Note which limits hold back the entries from a place on, and forget others.

        A job that is held back by a limit lets later ones start at their submission.
        """
        scheduler = self.scheduler
        if not (scheduler.waiting.jobs.has_interactive and scheduler.limits.enforces):
            return
        for entry in self.entries[first : first + self.parameters.bf_max_job_test]:
            if entry.record.state == "PENDING" and not scheduler.partition_problem(entry):
                problem = scheduler.early_problem(entry) or scheduler.asked_problem(entry)
                if problem:
                    scheduler.set_reason(entry, problem, self.now, BACKFILL)

    def _may_start(self, place: int) -> bool:
        """Whether an entry may still start now, beside what is reserved."""
        entry = self.entries[place]
        if entry.record.state != "PENDING":
            return False
        if self.scheduler.may_preempt_any:
            return True
        if self.scheduler.is_unplanned(entry):
            return True
        if self.loops is not None:
            return self._may_start_fast(self.loops, place, entry.need, self._limit(entry))
        nodes = self.scheduler.fitting(entry.need)
        if not nodes:
            return False
        free, _ = self.slots.over(
            self.now, self.now + self._limit(entry), nodes, *self._licenses(entry)
        )
        if free == nodes:
            return True
        scheduler, need = self.scheduler, entry.need
        if free.bit_count() < need.nodes:
            return False
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
        is_part = record.job.extras.het is not None
        if is_part and self._het.look_at(entry) > self.window_end:
            return True
        if (problem and problem != _DENIED) or scheduler.waiting.array_is_full(record.job):
            return True
        array = record.job.extras.array
        self._is_next, self._goes_on = array is not None and self._goes_on, False
        if array is not None and (array.array, entry.place.number) in self._rejected:
            return True
        stops = scheduler.machine.cluster.main.assoc_limit_stop
        problem = "" if stops or self._is_next else scheduler.early_problem(entry)
        if problem:
            scheduler.set_reason(entry, problem, self.now, BACKFILL)
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
        if any(most and counter[key] >= most for most, counter, key in counts):
            return True
        for most, counter, key in counts:
            if most:
                counter[key] += 1
        if not parameters.bf_licenses and scheduler.licenses_missing(entry, self.now):
            scheduler.set_reason(entry, "Licenses", self.now, BACKFILL)
            return True
        problem = scheduler.too_many_nodes(entry)
        if problem:
            scheduler.set_reason(entry, problem, self.now, BACKFILL)
        return bool(problem)

    def _licenses(self, entry: Entry) -> tuple[Amounts, str]:
        """Give the licences that a job asks for, and its reservation."""
        job = entry.record.job
        if not self.parameters.bf_licenses or not job.request.licenses:
            return (), ""
        return job.request.licenses, self.scheduler.reservations.of(job, self.now)

    def _reserve_running(self) -> None:
        """Keep nodes and licences for the jobs that run already."""
        scheduler, slots = self.scheduler, self.slots
        if self.parameters.bf_licenses:
            for each in scheduler.reservations.all:
                if each.licenses and scheduler.reservations.known(each, self.now):
                    for begin, end in scheduler.reservations.windows(each, self.now, slots.end):
                        begin = 0 if "FLEX" in each.flags else begin // self.resolution
                        end = slots.end if "FLEX" in each.flags else end // self.resolution
                        slots.keep(
                            each.licenses, begin * self.resolution, end * self.resolution, each.name
                        )
        for record in sorted(scheduler.running.values(), key=lambda each: each.number):
            if record.state == "RUNNING":
                self._keep_running(record)

    def _keep_running(self, record: Record) -> None:
        """Keep whole nodes that are not preempted, and licences, until a job ends by its limit."""
        entry, scheduler = record.entry, self.scheduler
        assert entry is not None
        licenses, own = self._licenses(entry)
        whole = entry.need.whole and scheduler.machine.cluster.selection.type != "linear"
        if whole and scheduler.may_preempt_any and mode_of(scheduler, record) != "OFF":
            whole = False
        if not whole and not licenses:
            return
        slots: SlotMap | Loops = self.loops or self.slots
        given = scheduler.occupancy.given[record.number]
        begin = self.slots.begins[0]
        end = max(record.planned // self.resolution * self.resolution, begin + self.resolution)
        if slots.records >= self._most:
            return
        if self.loops is not None:
            self.loops.reserve(given, begin, end)
        else:
            self.slots.reserve(given.bits if whole else 0, begin, end, licenses, own)

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
        most = self.parameters.bf_job_part_count_reserve
        if most and self._reserving[entry.place.number] >= most:
            reserves = False
        array = record.job.extras.array
        if array is not None:
            self._rejected.add((array.array, entry.place.number))
        if self.loops is not None:
            self._plan_fast(self.loops, entry, limit, reserves)
            return
        licenses = self._licenses(entry)
        time = max([now, *(self._blocked_until.get(each, now) for each in _qos_of(entry))])
        is_part = record.job.extras.het is not None
        if is_part:
            time = max(time, self._het.look_at(entry))
        counted = False
        while True:
            closed = scheduler.reservations.closed(record.job, entry.place, time, limit, now)
            wanted = need.reach & scheduler.occupancy.up & ~closed.nodes
            wanted &= ~nodes_of_others(scheduler, record, entry.place)
            if closed.reason:
                wanted = 0
            nodes, later = self.slots.over(time, time + limit, wanted, *licenses)
            later = self._after_reservations(closed, time, later)
            found = None
            if nodes.bit_count() >= need.nodes and not need.required & ~nodes:
                self.tested += not counted
                counted = True
                found = self._forecast.will_run(entry, nodes, closed)
            if found is None:
                if later is None or not reserves or later <= time:
                    return
                time = later
                continue
            start, given = found
            scheduler.resize(record, scheduler.tres_of(entry, given)["cpu"])
            start, taken = max(start, time), given.bits
            if start == now and self._completes(taken):
                start, later = now + 1, None
            if start <= now and not is_part:
                verdict = self._starts(entry, nodes, limit)
                stops = scheduler.machine.cluster.main.assoc_limit_stop
                if verdict in ("starts", "reserved") or (verdict == "limit" and not stops):
                    return
                if verdict == "limit":  # nobody knows when; Slurm guesses
                    start = now + _GUESS if later is None else later
                    if record.reason.startswith("QOSGrp"):
                        for each in _qos_of(entry):
                            self._blocked_until[each] = start
                else:
                    later = None
            if is_part:
                self._het.plan(entry, start, given, limit)
                if self.parameters.bf_hetjob_immediate:
                    self._start_parts(number_of(record))
            if start > now and not reserves:
                return
            if later is not None and start > later > time:
                time = later
                continue
            if start > self.window_end:
                return
            step = self.resolution
            end = (start + limit) // step * step
            if start > now and not self.slots.is_free(taken, start // step * step, end, *licenses):
                time = max(start, time + 1)
                continue
            if is_part and self._het.is_deadlock(entry, start):
                return
            self.is_full = self.slots.records >= self._most
            if not self.is_full and self._may_reserve(entry, given, limit):
                self.slots.reserve(taken, *self._reserved_time(entry, start, limit), *licenses)
            return

    def _plan_fast(self, loops: Loops, entry: Entry, limit: int, reserves: bool) -> None:
        """Do the same with compiled loops, for a plain need and where nothing else keeps nodes."""
        scheduler = self.scheduler
        wanted = scheduler.bounded(entry)
        fits = scheduler.fitting(entry.need) != 0
        found = loops.plan(scheduler.occupancy, wanted, limit, fits, reserves)
        self.tested += loops.has_tested
        given, start = None, loops.start
        if found and (
            scheduler.limits.enforces or found == 1 or scheduler.priorities.measures(wanted)
        ):
            given = loops.planned(wanted)
            scheduler.resize(entry.record, scheduler.tres_of(entry, given)["cpu"])
        if not found or (found == 1 and self._starts(entry, loops.open, limit) != "busy"):
            return
        self.is_full = loops.records >= self._most
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

    def _starts(self, entry: Entry, nodes: int, limit: int) -> Verdict:
        """Try to start a job now; say what came of it."""
        scheduler, now = self.scheduler, self.now
        problem = scheduler.partition_problem(entry)
        stops = scheduler.machine.cluster.main.assoc_limit_stop
        if not problem and (stops or self._is_next):
            problem = scheduler.early_problem(entry)
        if problem:
            scheduler.set_reason(entry, problem, now, BACKFILL)
            return "limit" if is_limit(problem) else "busy"
        found = attempt(scheduler, entry, nodes, now, limit, plans=True)
        if found.given is not None:
            self._seen = -1
            record = scheduler.start(entry, found.given, now, "SchedBackfill", limit)
            self.done.jobs.append(record)
            self._keep_running(record)
            array = record.job.extras.array
            if array is not None:
                self._rejected.discard((array.array, entry.place.number))
                self._goes_on = True
                self.__dict__.pop("_tasks_left", None)
            return "starts"
        scheduler.set_reason(entry, found.reason, now, BACKFILL)
        self.done.victims.extend(preempt(scheduler, entry, found.victims, now))
        return found.verdict

    def _may_reserve(self, entry: Entry, given: Allocation | None, limit: int) -> bool:
        """Whether a job may have nodes kept for it; `given` is only needed for limits."""
        scheduler, record, parameters = self.scheduler, entry.record, self.parameters
        if given is not None and not scheduler.machine.cluster.main.assoc_limit_stop:
            tres, qos = scheduler.tres_of(entry, given), entry.place.spec.qos
            problem = scheduler.limits.after(record, qos, tres, limit, {})
            if problem:
                scheduler.set_reason(entry, problem, self.now, BACKFILL)
                return False
        if record.qos and "NoReserve" in record.qos.flags:
            return False
        array, place = record.job.extras.array, entry.place.number
        self._reserving[place] += 1
        if array is not None:
            count = self._array[1] + 1 if self._array[0] == array.array else 1
            self._array = array.array, count
            if count < min(parameters.bf_max_job_array_resv, self._tasks_left[array.array]):
                self._rejected.discard((array.array, place))
                self._goes_on = True
        return not (parameters.bf_one_resv_per_job and record.number in self._reserved)

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


def _qos_of(entry: Entry) -> list[str]:
    qos = entry.record.qos
    return [name for name in (entry.place.spec.qos, qos.name if qos else "") if name]


def backfill(scheduler: SlurmScheduler, now: int) -> Started:
    """Make one cycle of backfill."""
    scheduler.aging.age(now)
    looks_at_limits = scheduler.limits.enforces and scheduler.waiting.jobs.has_interactive
    if not (scheduler.journal.watched or scheduler.may_preempt_any or looks_at_limits):
        entries = reversed(scheduler.queue.ordered())
        if not any(
            scheduler.fitting(each.need) or scheduler.is_unplanned(each) for each in entries
        ):
            return Started([], [])
    return Cycle(scheduler, now).run()

"""The main scheduler: starts jobs in order until a partition is blocked; and starts at submission.

A job that does not fit blocks its partition, and its nodes are hidden from all later partitions.
A job that waits for a limit, a licence or a reservation blocks nothing.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from rebecsim.clusters.slurm.machine import Need, bits_of
from rebecsim.clusters.slurm.occupancy import Allocation
from rebecsim.clusters.slurm.preemption import Victim, victims_for
from rebecsim.clusters.slurm.records import Entry, Record
from rebecsim.clusters.slurm.runs import By
from rebecsim.clusters.slurm.scheduler import SlurmScheduler
from rebecsim.clusters.slurm.selection import choose

MAIN = "main"

Verdict = Literal["starts", "busy", "limit", "reserved", "unavailable"]


class Attempt(NamedTuple):
    """What came of trying to start a job now."""

    verdict: Verdict
    reason: str = ""
    given: Allocation | None = None
    victims: tuple[Victim, ...] = ()


class Started(NamedTuple):
    """What a pass has done: jobs that start, and jobs that have to go for others."""

    jobs: list[Record]
    victims: list[Victim]


def attempt(
    scheduler: SlurmScheduler,
    entry: Entry,
    nodes: int,
    now: int,
    limit: int,
    preferred: bool = False,
) -> Attempt:
    """Try to place a job now on some of these nodes; nothing is changed."""
    record, need, occupancy = entry.record, entry.need, scheduler.occupancy
    closed = scheduler.reservations.closed(record.job, entry.place, now, limit, now)
    if closed.reason:
        return Attempt("reserved", closed.reason)
    allowed = need.candidates & ~closed.nodes
    if (allowed & occupancy.up).bit_count() < need.nodes or need.required & ~(
        allowed & occupancy.up
    ):
        if record.job.request.reservation:
            return Attempt("reserved", "Reservation")
        return Attempt("unavailable", _unavailable(scheduler, need))
    level = occupancy.level
    if closed.cores is not None:
        level = level.copy()
        level.table[0] -= closed.cores
    shared = 0
    if scheduler.limits.enforces:
        shared = bits_of(scheduler.limits.shared_nodes(record, entry.place.spec.qos))
    search = scheduler.search(entry, now)._replace(preferred=preferred, first=shared)
    given = choose(search, level, scheduler.bounded(entry), allowed & nodes)
    if given is None:
        victims = victims_for(scheduler, entry, allowed & nodes, now)
        return Attempt("busy", "Resources", victims=tuple(victims))
    if scheduler.limits.enforces:
        tres = scheduler.tres_of(entry, given)
        problem = scheduler.late_problem(entry, given, tres, limit)
        if problem:
            return Attempt("limit", problem)
    return Attempt("starts", given=given)


def _unavailable(scheduler: SlurmScheduler, need: Need) -> str:
    down = need.candidates & ~scheduler.occupancy.up
    names = ",".join(
        name for number, name in enumerate(scheduler.machine.names) if down >> number & 1
    )
    return f"ReqNodeNotAvail, UnavailableNodes:{names}" if names else "ReqNodeNotAvail"


def may_kill(scheduler: SlurmScheduler, entry: Entry, now: int) -> bool:
    """Whether a job may have others killed now: it has not just done so."""
    return now >= scheduler.kills_until.get(entry.record.number, -1)


def note_kill(scheduler: SlurmScheduler, entry: Entry, now: int) -> None:
    """Note that a job has had others killed."""
    cluster = scheduler.machine.cluster
    wait = cluster.kill_wait + cluster.message_timeout
    scheduler.kills_until[entry.record.number] = now + wait


def blocks_nothing(scheduler: SlurmScheduler, entry: Entry, now: int) -> bool:
    """Whether a job is too young, or of too low a priority, to keep anything for itself."""
    parameters, qos = scheduler.machine.cluster.backfilling, entry.record.qos
    least = parameters.bf_min_prio_reserve
    if qos is not None and qos.min_prio_threshold is not None:
        least = qos.min_prio_threshold
    return now - entry.record.begin < parameters.bf_min_age_reserve or entry.priority < least


def main_pass(scheduler: SlurmScheduler, now: int, *, full: bool) -> Started:
    """Start what can start, in order."""
    parameters = scheduler.machine.cluster.main
    scheduler.age()
    done = Started([], [])
    failed: set[int] = set()
    closed_reservations: set[str] = set()
    refused: set[tuple[int, int]] = set()
    depth: dict[int, int] = {}
    avail = scheduler.occupancy.open
    watching = scheduler.journal.watched
    left = len(scheduler.queue.places)
    tested = 0
    for entry in list(scheduler.queue.ordered()):
        record, need, place = entry.record, entry.need, entry.place
        if record.state != "PENDING":
            continue
        if len(failed) >= left and not watching:
            break
        array = record.job.extras.array
        if array is not None and (array.array, place.number) in refused:
            continue
        if parameters.partition_job_depth:
            depth[place.number] = depth.get(place.number, 0) + 1
            if depth[place.number] > parameters.partition_job_depth:
                scheduler.set_reason(entry, "Priority", now, MAIN)
                continue
        problem = scheduler.partition_problem(entry)
        if problem:
            scheduler.set_reason(entry, problem, now, MAIN)
            continue
        reservation = record.job.request.reservation
        if place.number in failed or (reservation and reservation in closed_reservations):
            scheduler.set_reason(entry, "Priority", now, MAIN)
            continue
        if len(record.entries) > 1 and not scheduler.is_runnable(need):
            continue
        tested += 1
        if not full and tested > parameters.default_queue_depth + 1:
            break
        problem = _early(scheduler, entry, now)
        if problem:
            scheduler.set_reason(entry, problem, now, MAIN)
            if array is not None:
                refused.add((array.array, place.number))
            continue
        found = Attempt("busy", "Resources")
        kills = may_kill(scheduler, entry, now)
        if (avail & place.nodes).bit_count() >= need.nodes and (
            scheduler.fitting(need) or scheduler.may_preempt_any
        ):
            found = attempt(scheduler, entry, avail, now, entry.limit, True)
        elif scheduler.reservations.all or need.candidates & ~scheduler.occupancy.up:
            found = _only_test(scheduler, entry, now)
        if found.verdict == "starts":
            assert found.given is not None
            by: By = "SchedMain"
            limit = entry.limit
            done.jobs.append(scheduler.start(entry, found.given, now, by, limit))
            if parameters.sched_max_job_start == len(done.jobs):
                break
            continue
        if found.verdict == "busy" and not found.victims:
            problem = scheduler.asked_problem(entry)
            found = Attempt("limit", problem) if problem else found
        scheduler.set_reason(entry, found.reason, now, MAIN)
        if array is not None:
            refused.add((array.array, place.number))
        if found.verdict == "busy" or (found.verdict == "limit" and parameters.assoc_limit_stop):
            if found.victims and kills:
                note_kill(scheduler, entry, now)
                done.victims.extend(found.victims)
            if need.required and need.required.bit_count() == need.nodes:
                avail &= ~need.required
            elif reservation:
                closed_reservations.add(reservation)
            elif not blocks_nothing(scheduler, entry, now):
                failed.add(place.number)
                avail &= ~place.nodes
    return done


def _only_test(scheduler: SlurmScheduler, entry: Entry, now: int) -> Attempt:
    """Say whether a job that does not fit now waits for nodes, or for a reservation."""
    found = attempt(scheduler, entry, 0, now, entry.limit)
    return found if found.verdict in ("reserved", "unavailable") else Attempt("busy", "Resources")


def _early(scheduler: SlurmScheduler, entry: Entry, now: int) -> str:
    if scheduler.waiting.array_is_full(entry.record.job):
        return "JobArrayTaskLimit"
    problem = scheduler.early_problem(entry)
    if problem:
        return problem
    return "Licenses" if scheduler.licenses_missing(entry, now) else ""


_HARMLESS = (
    "Assoc", "QOS", "ReqNodeNotAvail", "PartitionDown", "PartitionInactive", "PartitionNodeLimit",
    "PartitionTimeLimit", "InvalidAccount", "InvalidQOS", "MaxJobsPer", "MaxCpuPer",
)  # fmt: skip
"""Reasons of waiting jobs, or how they begin, that let a new one start at submission."""


def start_at_submission(scheduler: SlurmScheduler, record: Record, now: int) -> Started:
    """Start a job of salloc or srun at once if no waiting one has a higher priority."""
    done = Started([], [])
    cluster, extras = scheduler.machine.cluster, record.job.extras
    is_simple = extras.array is None and extras.het is None and extras.deadline is None
    if not is_simple or cluster.main.defer or scheduler.reservations.has_magnetic:
        return done
    if cluster.complete_wait and scheduler.occupancy.completing:
        return done
    for entry in record.entries:
        if entry.key == () or scheduler.partition_problem(entry):
            continue
        if _is_forbidden(scheduler, entry, now):
            scheduler.set_reason(entry, "Priority", now, "submission")
            continue
        problem = _early(scheduler, entry, now)
        if problem:
            scheduler.set_reason(entry, problem, now, "submission")
            continue
        limit = entry.limit
        found = attempt(scheduler, entry, scheduler.occupancy.open, now, limit, True)
        if found.given is not None:
            done.jobs.append(scheduler.start(entry, found.given, now, "SchedSubmit", limit))
            break
        scheduler.set_reason(entry, found.reason, now, "submission")
        if found.victims and may_kill(scheduler, entry, now):
            note_kill(scheduler, entry, now)
            done.victims.extend(found.victims)
    return done


def _is_forbidden(scheduler: SlurmScheduler, entry: Entry, now: int) -> bool:
    """Whether a waiting job of a higher priority keeps a new one from starting at submission."""
    least = scheduler.machine.cluster.backfilling.bf_min_age_reserve
    for other in scheduler.queue:
        record = other.record
        if record is entry.record or other.priority <= entry.priority:
            continue
        if least and now - record.begin < least:
            continue
        if record.reason == "QOSNotAllowed" or not record.reason.startswith(_HARMLESS):
            return True
    return False

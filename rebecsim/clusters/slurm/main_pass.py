"""The main scheduler: starts jobs in order until a partition is blocked; and starts at submission.

A job that does not fit blocks its partition, and its nodes are hidden from all later partitions.
A job that waits for a limit, a licence or a reservation blocks nothing.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from rebecsim.clusters.slurm.machine import Need, Place
from rebecsim.clusters.slurm.occupancy import Allocation
from rebecsim.clusters.slurm.preemption import Victim, preempt, victims_for
from rebecsim.clusters.slurm.reasons import is_limit
from rebecsim.clusters.slurm.records import Entry, Record
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
    plans: bool = False,
) -> Attempt:
    """Try to place a job now on some of these nodes; only weights of nodes are changed.

    Backfill `plans`: for it, the other nodes are none at all.
    """
    record, need, occupancy = entry.record, entry.need, scheduler.occupancy
    problem = scheduler.too_many_nodes(entry)
    if problem:
        return Attempt("limit", problem)
    _share_nothing(scheduler, entry)
    closed = scheduler.reservations.closed(record.job, entry.place, now, limit, now)
    if closed.reason:
        return Attempt("reserved", closed.reason)
    allowed = need.candidates & ~closed.nodes
    nodes &= ~nodes_of_others(scheduler, record, entry.place)
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
    scheduler.weights.try_on(entry, allowed & nodes if plans else allowed)
    search = scheduler.search(entry, now)._replace(preferred=preferred)
    nodes &= allowed & occupancy.open
    given = choose(search, level, scheduler.bounded(entry), nodes)
    victims: tuple[Victim, ...] = ()
    if given is None:
        given, victims = victims_for(scheduler, entry, nodes, now)
    if given is None:
        return Attempt("busy", "Resources")
    if scheduler.limits.enforces:
        tres = scheduler.tres_of(entry, given)
        problem = scheduler.late_problem(entry, given, tres, limit)
        if problem:
            return Attempt("limit", problem)
    if victims:
        return Attempt("busy", "Resources", victims=victims)
    return Attempt("starts", given=given)


def nodes_of_others(scheduler: SlurmScheduler, record: Record, place: Place) -> int:
    """Give the nodes that a job may not have as other users are on them, as bits.

    A job of `--exclusive=user` or of a partition with ExclusiveUser wants its nodes for its
    user alone; nodes of such jobs take nobody else.
    """
    found = 0
    if scheduler.has_owners:
        alone = place.spec.exclusive_user or record.job.request.exclusive == "user"
        for each in scheduler.running.values():
            if each.job.user == record.job.user or each.entry is None:
                continue
            owned = each.entry.place.spec.exclusive_user
            if alone or owned or each.job.request.exclusive == "user":
                given = scheduler.occupancy.given.get(each.number)
                found |= given.bits if given is not None else 0
    return found


def _share_nothing(scheduler: SlurmScheduler, tried: Entry) -> None:
    """Note that a job takes whole nodes in all its partitions, if one of them is exclusive.

    Slurm notes this in the job once it has been tried there; and so in the tasks of its array that
    have not started.
    """
    record = tried.record
    is_whole = all(entry.need.whole for entry in record.entries)
    if len(record.entries) < 2 or tried.place.spec.sharing != "EXCLUSIVE" or is_whole:
        return
    for each in scheduler.alike(record):
        for entry in each.entries:
            entry.need = scheduler.machine.whole(entry.need)


def _unavailable(scheduler: SlurmScheduler, need: Need) -> str:
    down = need.candidates & ~scheduler.occupancy.up
    names = ",".join(
        name for number, name in enumerate(scheduler.machine.names) if down >> number & 1
    )
    return f"ReqNodeNotAvail, UnavailableNodes:{names}" if names else "ReqNodeNotAvail"


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
    scheduler.aging.age(now)
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
        if record.job.extras.het is not None:  # only backfill starts it
            if not scheduler.partition_problem(entry):
                failed.add(place.number)
                avail &= ~place.nodes
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
            if problem == "Licenses" and scheduler.machine.cluster.backfilling.bf_licenses:
                break  # backfill plans it
            continue
        found = Attempt("busy", "Resources")
        if (avail & place.nodes).bit_count() >= need.nodes and (
            scheduler.fitting(need) or scheduler.may_preempt_any or scheduler.weights.change
        ):
            found = attempt(scheduler, entry, avail, now, entry.limit, True)
        elif scheduler.reservations.all or need.candidates & ~scheduler.occupancy.up:
            found = _only_test(scheduler, entry, now)
        if found.verdict == "starts":
            assert found.given is not None
            started = scheduler.start(entry, found.given, now, "SchedMain", entry.limit)
            done.jobs.append(started)
            if parameters.sched_max_job_start == len(done.jobs):
                break
            continue
        found = _explained(scheduler, entry, found, now, MAIN)
        if array is not None:
            refused.add((array.array, place.number))
        if found.verdict == "busy" or (found.verdict == "limit" and parameters.assoc_limit_stop):
            gone = preempt(scheduler, entry, found.victims, now)
            done.victims.extend(gone)
            for each in gone:
                if each.given is not None:
                    avail &= ~each.given.bits
            if need.required and need.required.bit_count() == need.nodes:
                avail &= ~need.required
            elif reservation:
                closed_reservations.add(reservation)
            elif not blocks_nothing(scheduler, entry, now):
                failed.add(place.number)
                avail &= ~place.nodes
    return done


def _explained(
    scheduler: SlurmScheduler, entry: Entry, found: Attempt, now: int, who: str
) -> Attempt:
    """Note why a job does not start: of what it asks for, a limit comes before busy nodes."""
    problem = ""
    if found.verdict == "busy" and not found.victims:
        problem = scheduler.asked_problem(entry)
    scheduler.set_reason(entry, problem or found.reason, now, who)
    return Attempt("limit", problem) if problem else found


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
    "ReqNodeNotAvail", "PartitionDown", "PartitionInactive", "PartitionNodeLimit",
    "PartitionTimeLimit", "InvalidAccount", "InvalidQOS", "QOSUsageThreshold",
)  # fmt: skip
"""How reasons of waiting jobs begin that let a new one start at submission, as limits do."""


def start_at_submission(scheduler: SlurmScheduler, record: Record, now: int) -> Started:
    """Start a job of salloc or srun at once if no waiting one has a higher priority.

    Of several partitions the next one is tried only if the nodes of one are busy or reserved, or
    too few; not if a limit is in the way.
    """
    done = Started([], [])
    cluster, extras = scheduler.machine.cluster, record.job.extras
    is_simple = extras.array is None and extras.het is None and extras.deadline is None
    if not is_simple or cluster.main.defer or scheduler.reservations.has_magnetic:
        return done
    if cluster.complete_wait and scheduler.occupancy.completing:
        return done
    for entry in record.entries:
        if entry.key == ():
            continue
        problem = scheduler.partition_problem(entry)
        if problem:
            scheduler.set_reason(entry, problem, now, "submission")
            if problem == "PartitionNodeLimit" or cluster.enforce_part_limits == "ANY":
                continue
            _share_nothing(scheduler, entry)
            break
        if _is_forbidden(scheduler, entry, now):
            scheduler.set_reason(entry, "Priority", now, "submission")
            continue
        problem = _early(scheduler, entry, now)
        if problem:
            scheduler.set_reason(entry, problem, now, "submission")
            break
        if entry.rank and not scheduler.is_runnable(entry.need):
            break  # it waits for what it lacks in the partition before
        found = attempt(scheduler, entry, scheduler.occupancy.open, now, entry.limit, True)
        if found.given is not None:
            done.jobs.append(scheduler.start(entry, found.given, now, "SchedSubmit", entry.limit))
            break
        found = _explained(scheduler, entry, found, now, "submission")
        gone = preempt(scheduler, entry, found.victims, now)
        done.victims.extend(gone)
        if gone or found.verdict in ("limit", "unavailable"):
            break
    return done


def _is_forbidden(scheduler: SlurmScheduler, entry: Entry, now: int) -> bool:
    """Whether a waiting job of a higher priority keeps a new one from starting at submission."""
    least = scheduler.machine.cluster.backfilling.bf_min_age_reserve
    for other in scheduler.queue:
        record = other.record
        if record is entry.record or other.priority <= entry.priority:
            continue
        if record.job.request.reservation != entry.record.job.request.reservation:
            continue
        if least and now - record.begin < least:
            continue
        if not (record.reason.startswith(_HARMLESS) or is_limit(record.reason)):
            return True
    return False

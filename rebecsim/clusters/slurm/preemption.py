"""Who may preempt whom, and which jobs have to go for one that does not fit otherwise."""

from __future__ import annotations

from typing import NamedTuple

from rebecsim.clusters.slurm.configuration import PreemptMode
from rebecsim.clusters.slurm.machine import ONE_YEAR, bits_of
from rebecsim.clusters.slurm.occupancy import Allocation
from rebecsim.clusters.slurm.records import Entry, Record
from rebecsim.clusters.slurm.scheduler import SlurmScheduler
from rebecsim.clusters.slurm.selection import choose

_MOST_RANK = 65_535

CREDENTIAL_LIFE = 121
"""How long a requeued job waits at least, seconds."""


class Victim(NamedTuple):
    """A job that has to go.

    Attributes:
        record: the job.
        mode: what happens to it.
        end: when it ends, seconds.
        again: whether it is put back into the queue.
        given: what it had, if it has ended; its nodes take no other job yet.
    """

    record: Record
    mode: PreemptMode
    end: int
    again: bool = False
    given: Allocation | None = None


def mode_of(scheduler: SlurmScheduler, victim: Record) -> PreemptMode:
    """Give what would happen to a job that is preempted."""
    preemption = scheduler.machine.cluster.preemption
    entry = victim.entry
    assert entry is not None
    if preemption.type == "qos":
        own = victim.qos.preempt_mode if victim.qos else None
    else:
        own = entry.place.spec.preempt_mode
    return preemption.mode if own is None else own


def may_preempt(scheduler: SlurmScheduler, entry: Entry, victim: Record, now: int) -> bool:
    """Whether a waiting job may preempt a running one now."""
    preemption = scheduler.machine.cluster.preemption
    if preemption.mode == "OFF" or victim.entry is None or victim.state != "RUNNING":
        return False
    if mode_of(scheduler, victim) == "OFF" or now < victim.start + _exempt(scheduler, victim):
        return False
    if preemption.type == "partition_prio":
        return victim.entry.place.spec.priority_tier < entry.place.spec.priority_tier
    own, other = entry.record.qos, victim.qos
    if preemption.type != "qos" or own is None or other is None:
        return False
    if own.name == other.name:
        return preemption.within and victim.entry.priority < entry.priority
    return other.name in own.preempt


def _exempt(scheduler: SlurmScheduler, victim: Record) -> int:
    """Give how long after its start a job is safe, seconds."""
    assert victim.entry is not None
    partition_qos = scheduler.accounts.qos.get(victim.entry.place.spec.qos)
    sources = [partition_qos, victim.qos]
    if victim.qos and "OverPartQOS" in victim.qos.flags:
        sources.reverse()
    for each in sources:
        if each is not None and each.preempt_exempt_time is not None:
            return each.preempt_exempt_time
    return scheduler.machine.cluster.preemption.exempt_time


def candidates(scheduler: SlurmScheduler, entry: Entry, now: int) -> list[Record]:
    """Give the jobs that a waiting one may preempt, in the order in which they are tried."""
    preemption = scheduler.machine.cluster.preemption
    if preemption.type == "none" or preemption.mode == "OFF":
        return []
    given = scheduler.occupancy.given
    found = [
        each
        for each in scheduler.running.values()
        if may_preempt(scheduler, entry, each, now) and given[each.number].bits & entry.place.nodes
    ]
    if preemption.youngest_first:
        return sorted(found, key=lambda each: (-each.start, each.number))
    return sorted(found, key=lambda each: (_rank(scheduler, each), each.number))


def _rank(scheduler: SlurmScheduler, victim: Record) -> int:
    assert victim.entry is not None
    rank = victim.entry.place.spec.priority_tier
    if scheduler.machine.cluster.preemption.type == "qos":
        rank = victim.qos.priority if victim.qos else 0
    return min(rank, _MOST_RANK) * 65_536 + len(scheduler.occupancy.given[victim.number].nodes)


def victims_for(
    scheduler: SlurmScheduler, entry: Entry, nodes: int, now: int
) -> tuple[Allocation | None, tuple[Victim, ...]]:
    """Find the jobs that have to go so that a waiting one fits on some of these nodes.

    Give also what it would have then; None: nothing helps.
    """
    preemption = scheduler.machine.cluster.preemption
    order = candidates(scheduler, entry, now)
    if scheduler.gang is not None:  # it stops jobs by itself
        order = [each for each in order if mode_of(scheduler, each) != "SUSPEND"]
    found: Allocation | None = None
    prefix: list[Record] = []
    count = len(order)
    for success in range(1, count + 1):
        level = scheduler.occupancy.level.copy()
        prefix, found = [], None
        for each in order:
            prefix.append(each)
            level.give(scheduler.occupancy.given[each.number])
            found = choose(scheduler.search(entry, now), level, entry.need, nodes)
            if found is not None:
                break
        if found is None:
            return None, ()
        if success > preemption.reorder_count + 1 or success >= count:
            break
        order = _reordered(scheduler, order, prefix, found, strict=preemption.strict_order)
    if found is None:
        return None, ()
    taken = found.bits
    return found, tuple(
        Victim(each, mode_of(scheduler, each), now + _grace(scheduler, each))
        for each in prefix
        if scheduler.occupancy.given[each.number].bits & taken
    )


def preempt(
    scheduler: SlurmScheduler, entry: Entry, victims: tuple[Victim, ...], now: int
) -> list[Victim]:
    """Have jobs make room for a waiting one, unless it has just had others killed.

    Those without a time of grace end at once: the rest of the pass finds their cores free, but
    their nodes closed.
    """
    number, cluster = entry.record.number, scheduler.machine.cluster
    if not victims or now < scheduler.kills_until.get(number, -1):
        return []
    scheduler.kills_until[number] = now + cluster.kill_wait + cluster.message_timeout
    gone = []
    for victim in victims:
        record = victim.record
        again = victim.mode == "REQUEUE" and scheduler.is_requeued(record)
        given = None
        if victim.mode != "SUSPEND":
            if victim.end <= now:
                given = scheduler.end(record, now, "PREEMPTED", again=again)
                scheduler.occupancy.complete(given)
            else:
                end = min(record.planned, victim.end)
                scheduler.occupancy.replan(record.number, end)
        gone.append(victim._replace(again=again, given=given))
    return gone


def _reordered(
    scheduler: SlurmScheduler,
    order: list[Record],
    prefix: list[Record],
    found: Allocation,
    *,
    strict: bool,
) -> list[Record]:
    """Put the last one that was needed first, and those that hold many chosen nodes next."""
    last, earlier, later = prefix[-1], prefix[:-1], order[len(prefix) :]
    if strict:
        return [last, *earlier, *later]
    taken = bits_of(found.nodes.tolist())
    given = scheduler.occupancy.given
    earlier.sort(key=lambda each: -(given[each.number].bits & taken).bit_count())
    return [last, *earlier, *later]


def _grace(scheduler: SlurmScheduler, victim: Record) -> int:
    """Give how long a preempted job goes on, seconds."""
    assert victim.entry is not None
    if scheduler.machine.cluster.preemption.type == "qos":
        return victim.qos.grace_time if victim.qos else 0
    return victim.entry.place.spec.grace_time


def suspend(scheduler: SlurmScheduler, record: Record, now: int) -> None:
    """Take the cores of a running job, but not its memory, until it can go on."""
    _stop(scheduler, record, now)
    scheduler.suspended[record.number] = scheduler.occupancy.suspend(record.number, now + ONE_YEAR)


def _stop(scheduler: SlurmScheduler, record: Record, now: int) -> None:
    record.left -= now - record.since
    record.limit = record.planned - now
    record.state = "SUSPENDED"
    record.attempt += 1
    scheduler.changed += 1


def _go_on(scheduler: SlurmScheduler, record: Record, now: int) -> None:
    assert record.entry is not None
    qos, given = record.entry.place.spec.qos, scheduler.occupancy.given[record.number]
    scheduler.limits.start(record, qos, given.nodes.tolist(), -1)
    record.state, record.since, record.planned = "RUNNING", now, now + record.limit
    scheduler.limits.start(record, qos, given.nodes.tolist())
    scheduler.changed += 1


def switched(scheduler: SlurmScheduler, now: int) -> tuple[list[Record], list[Victim]]:
    """Stop jobs and let others go on as the gang says; give those that go on, and those that end.

    A job whose mode is not to be suspended ends where it would stop.
    """
    go_on, gone = list[Record](), list[Victim]()
    if scheduler.gang is None:
        return go_on, gone
    changes, scheduler.gang.changes = scheduler.gang.changes, []
    for record, stops in changes:
        mode = mode_of(scheduler, record) if scheduler.may_preempt_any else "SUSPEND"
        if stops and mode in ("CANCEL", "REQUEUE"):
            again = mode == "REQUEUE" and scheduler.is_requeued(record)
            gone.append(Victim(record, mode, now, again))
        elif stops:
            _stop(scheduler, record, now)
        else:
            _go_on(scheduler, record, now)
            scheduler.occupancy.replan(record.number, record.planned)
            go_on.append(record)
    return go_on, gone


def resumable(scheduler: SlurmScheduler, now: int) -> list[Record]:
    """Give the suspended jobs that have their cores back, and go on now."""
    found = []
    for number, given in list(scheduler.suspended.items()):
        if not (scheduler.occupancy.level.cpus[given.nodes] >= given.cpus).all():
            continue
        del scheduler.suspended[number]
        record = scheduler.running[number]
        scheduler.occupancy.resume(number, given, now + record.limit)
        _go_on(scheduler, record, now)
        found.append(record)
    return found


def requeue(scheduler: SlurmScheduler, record: Record, now: int) -> None:
    """Put a job whose nodes are back into the queue anew."""
    record.submit, record.begin, record.accrue = now, now + CREDENTIAL_LIFE, -1
    record.left, record.reason = record.job.run, "BeginTime"
    record.limit = record.entries[0].limit
    scheduler.limits.submit(record, record.entries[0].place.spec.qos, -1)
    scheduler.submit(record, now)

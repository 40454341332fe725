"""What the controller knows, and how a job starts and ends; the passes over the queue use it."""

from __future__ import annotations

from dataclasses import replace

from rebecsim.actors import StatePart
from rebecsim.clusters.slurm.accounts import Accounts
from rebecsim.clusters.slurm.configuration import Qos, Tres
from rebecsim.clusters.slurm.eligibility import NEVER, JobIndex, Waiting, partition_problem, refusal
from rebecsim.clusters.slurm.features import FeatureError
from rebecsim.clusters.slurm.gang import Gang
from rebecsim.clusters.slurm.jobs import Job
from rebecsim.clusters.slurm.limits import LimitBook, limited_tres
from rebecsim.clusters.slurm.machine import ONE_YEAR, Machine, Need
from rebecsim.clusters.slurm.occupancy import Allocation, Level, Occupancy
from rebecsim.clusters.slurm.priority import Aging, Priorities, asked_tres, billed
from rebecsim.clusters.slurm.queue import JobQueue
from rebecsim.clusters.slurm.reasons import is_limit
from rebecsim.clusters.slurm.records import HELD, Entry, Record
from rebecsim.clusters.slurm.reservations import Reservations
from rebecsim.clusters.slurm.room import could_fit, usable
from rebecsim.clusters.slurm.runs import By, JobRun, Journal, RunState
from rebecsim.clusters.slurm.selection import Search, choose
from rebecsim.clusters.slurm.topology import Tree
from rebecsim.clusters.slurm.usage import PastUsage, Running
from rebecsim.clusters.slurm.weights import NodeWeights


class SlurmScheduler(StatePart):
    """The state of the controller.

    Attributes:
        machine, accounts, reservations: what does not change.
        occupancy, usage, limits, priorities, waiting: what does, by what it is about.
        queue: entries of eligible jobs in order.
        running, records: records of running and suspended jobs, and of all there are, by number.
        runs: what has ended.
        licenses: how many of each are in use.
        leaving: how many nodes of ended jobs take no others yet, and whether the job ended well, by
            its number.
        changed: how often something has happened that a pass may make something of.
        journal: why watched jobs wait.
        suspended: what suspended jobs get back, by number, where there is no gang.
        gang: who of the jobs that share cores runs; None: jobs take no turns.
        by: which scheduler started each running job, by number.
        kills_until: until when a job that had others killed does not do so again, seconds.
        may_preempt_any: whether there is preemption.
        has_owners: whether nodes may serve one user at a time.
    """

    def __init__(
        self, machine: Machine, accounts: Accounts, jobs: JobIndex, journal: Journal | None = None
    ) -> None:
        cluster = machine.cluster
        self.machine, self.accounts = machine, accounts
        self.tree = Tree(cluster.switches, machine) if cluster.switches else None
        self.reservations = Reservations(machine)
        self.occupancy = Occupancy(machine)
        self.usage = PastUsage(accounts, cluster.priority, limited_tres(accounts))
        self.limits = LimitBook(accounts, self.usage)
        self.aging = Aging(self.limits)
        self.priorities = Priorities(machine, accounts, self.usage)
        self.weights = NodeWeights(machine, self.limits, self.reservations)
        self.waiting = Waiting(jobs, self.reservations)
        self.queue = JobQueue(cluster.preemption.type == "qos")
        self.running: dict[int, Record] = {}
        self.records: dict[int, Record] = {}
        self.runs: list[JobRun] = []
        self.licenses: dict[str, int] = {}
        self.leaving: dict[int, tuple[int, bool]] = {}
        self.changed = 0
        self.journal = journal or Journal()
        self.by: dict[int, By] = {}
        self.suspended: dict[int, Allocation] = {}
        self.gang = Gang(machine) if cluster.has_gang else None
        self.kills_until: dict[int, int] = {}
        self.may_preempt_any = (
            cluster.preemption.type != "none" and cluster.preemption.mode != "OFF"
        )
        self.has_owners = any(each.exclusive_user for each in cluster.partitions)
        self._fitting: dict[int, tuple[int, int, int]] = {}  # of needs, and when it was found
        self._runnable: dict[int, bool] = {}
        self._bounded: dict[tuple[int, int], Need] = {}

    # Submission

    def record(self, job: Job, index: int, now: int) -> tuple[Record, str]:
        """Make the record of a submitted job, and say why it is refused; empty: it is not."""
        names = job.partitions or ((self.machine.default.name,) if self.machine.default else ())
        association = self.accounts.find(job.user, job.account, names[0] if names else "")
        qos = self.accounts.qos_of(association, job.qos)
        record = Record(job, index, association, qos, now)
        self.has_owners = self.has_owners or job.request.exclusive == "user"
        if not names:
            return record, "no partition"
        if qos is None and "qos" in self.accounts.enforces:
            return record, "InvalidQOS"
        if association < 0 and "associations" in self.accounts.enforces:
            return record, "InvalidAccount"
        refusals = []
        entries = []
        for name in names:
            place = self.machine.places[name]
            problem = refusal(self.machine, self.accounts, record, place)
            if problem:
                refusals.append(problem)
                continue
            try:
                need = self.machine.need(job.request, place)
            except FeatureError:
                refusals.append("BadConstraints")
                continue
            entries.append(Entry(record, need, 0.0))
        if not entries or (refusals and self.machine.cluster.enforce_part_limits == "ALL"):
            return record, refusals[0]
        entries.sort(key=lambda each: -each.place.spec.priority_tier)
        record.entries = tuple(entries)
        for rank, entry in enumerate(entries):
            entry.limit, entry.rank = self.limit_of(entry), rank
        record.limit = entries[0].limit
        for entry in entries:
            entry.fixed = self.priorities.fixed(record, entry.need)
        refused = self.limits.refuses(record, entries[0].place.spec.qos)
        return record, refused or self._alone(record, qos)

    def _alone(self, record: Record, qos: Qos | None) -> str:
        """Give the limit that a job breaks by itself, where its QOS denies such jobs."""
        if qos is None or "DenyOnLimit" not in qos.flags or not self.limits.enforces:
            return ""
        entry = record.entries[0]
        for each in self.limits.rules(record, entry.place.spec.qos).after:
            asked = {"cpu": entry.need.cpus, "node": entry.need.nodes}.get(each.tres, 0)
            if each.kind in ("job", "grp", "user", "account") and asked > each.most:
                return each.reason
        return ""

    def limit_of(self, entry: Entry) -> int:
        """Give the time limit that a job has in a partition, seconds."""
        spec, asked = entry.place.spec, entry.record.job.limit
        most = ONE_YEAR if spec.time_limit is None else spec.time_limit
        if asked is None:
            asked = most if spec.default_time is None else spec.default_time
        qos = entry.record.qos
        return asked if qos and "PartitionTimeLimit" in qos.flags else min(asked, most)

    def submit(self, record: Record, now: int) -> None:
        """Take a new job, or one that is requeued."""
        record.state = "PENDING"
        self.limits.submit(record, record.entries[0].place.spec.qos)
        self.waiting.submitted(record.job)
        if not self.waiting.is_held(record, now):
            self.priorities.submitted(record, now)
        if not any(self.is_runnable(entry.need) for entry in record.entries):
            record.reason = "BadConstraints"
            for entry in record.entries:
                entry.priority = HELD
            self.waiting.sleep(record)
            return
        first = record.entries[0]
        limited = "" if self.partition_problem(first) else self.early_problem(first)
        if not limited:
            self.weights.try_on(first, first.need.candidates)
        reason = self.waiting.reason(record, now)
        if reason:
            record.reason = reason
            self.waiting.sleep(record)
            self.journal.note(now, record.number, "controller", reason)
            if reason == NEVER and self.machine.cluster.main.kill_invalid_depend:
                self.withdraw(record, now)
        else:
            record.reason = limited or record.reason
            self.make_eligible(record, now)

    def is_runnable(self, need: Need) -> bool:
        """Whether a job could start on the empty machine."""
        found = self._runnable.get(need.number)
        if found is None:
            search = Search(self.machine, self.tree, ONE_YEAR)
            placed = choose(search, Level(self.machine), need, self.machine.everything)
            found = self._runnable[need.number] = placed is not None or bool(need.problem)
        return found

    def ready(self, now: int, *, timed: bool) -> list[Record]:
        """Release held jobs, and give those that are eligible now; see `Waiting.ready`."""
        for record in self.waiting.released(now):
            self.priorities.submitted(record, now)
        return self.waiting.ready(now, timed=timed)

    def make_eligible(self, record: Record, now: int) -> None:
        """Put a job into the queue."""
        self.waiting.wake(record)
        record.begin = max(record.begin, now)
        if record.reason in ("BeginTime", "Dependency", "JobHeldUser", "Reservation"):
            record.reason = "None"
        self.aging.admit(record)
        for entry in record.entries:
            self.partition_problem(entry)
            self.queue.insert(entry)
        self.changed += 1

    def period(self, now: int) -> None:
        """End a period of the priority plug-in: usage, fair share, priorities, order."""
        self.priorities.period(now)
        self.priorities.recompute(self.queue.entries, now)
        for record in self.waiting.asleep.values():
            self.priorities.recompute(record.entries, now)
        if self.queue and self.priorities.changes:
            self.queue.sort()
        self.changed += bool(self.queue)

    # Tests before a start

    def partition_problem(self, entry: Entry) -> str:
        """Give why a partition keeps a job waiting; empty: it does not."""
        found = entry.problem
        if found is None:
            found = entry.problem = partition_problem(self.accounts, entry)
        return found

    def early_problem(self, entry: Entry) -> str:
        """Give the limit, or the like, that keeps a job waiting whatever nodes are free."""
        record = entry.record
        if self.limits.enforces:
            reason = self.limits.before(record, entry.place.spec.qos, entry.limit)
            if reason:
                return reason
            if is_limit(record.reason):
                record.reason = "None"  # until it is found again, by what the job would have
        qos = record.qos
        if qos and qos.usage_threshold is not None and "EnforceUsageThreshold" in qos.flags:
            shared = self.priorities.fairshare
            if record.association >= 0 and shared[record.association] < qos.usage_threshold:
                return "QOSUsageThreshold"
        return ""

    def licenses_missing(self, entry: Entry, now: int) -> bool:
        """Whether a job asks for more licences than are free."""
        job, total = entry.record.job, self.machine.cluster.licenses
        if not job.request.licenses:
            return False
        limit = entry.limit
        return any(
            count
            > total.get(name, 0)
            - self.licenses.get(name, 0)
            - self.reservations.licenses(name, job, now, limit)
            for name, count in job.request.licenses
        )

    def fitting(self, need: Need) -> int:
        """Give the nodes on which something is free now for a need, as bits; 0: it cannot fit.

        Reservations are not looked at, and nodes with jobs that complete count as free.
        """
        freed, taken = self.occupancy.freed, self.occupancy.taken
        before = self._fitting.get(need.number)
        if before is not None:
            was_freed, was_taken, bits = before
            if was_freed == freed and (not bits or was_taken == taken):
                return bits
        level, loops, there = self.occupancy.level, self.machine.loops, self.occupancy.up
        there &= need.candidates
        if loops is not None and need.is_plain:
            found = there if loops.fits(level, need, there) else 0
        else:
            free = usable(self.machine, level, need) * self.machine.mask(there)
            found = self.machine.bits(free > 0) if could_fit(need, free) else 0
        self._fitting[need.number] = freed, taken, found
        return found

    def asked_problem(self, entry: Entry) -> str:
        """Give the limit that a job would break with what it asks for; empty: none."""
        if not self.limits.enforces:
            return ""
        tres = asked_tres(self.machine, entry.need)
        tres["cpu"] = entry.record.total_cpus or tres["cpu"]
        tres["billing"] = self._billed(entry, tres)
        return self.limits.after(entry.record, entry.place.spec.qos, tres, entry.limit, {})

    def _billed(self, entry: Entry, tres: Tres) -> int:
        flags = self.machine.cluster.priority.flags
        return billed(entry.place.spec.billing_weights, tres, flags)

    def too_many_nodes(self, entry: Entry) -> str:
        """Give the limit that allows fewer nodes than a job needs; empty: none."""
        if not self.limits.enforces:
            return ""
        limit = self.limits.most_nodes(entry.record, entry.place.spec.qos)
        return limit[1] if limit is not None and limit[0] < entry.need.nodes else ""

    def bounded(self, entry: Entry) -> Need:
        """Give what an entry asks for, on no more nodes than its limits allow."""
        need = entry.need
        if not self.limits.enforces:
            return need
        limit = self.limits.most_nodes(entry.record, entry.place.spec.qos)
        if limit is None:
            return need
        most, _ = limit
        if most < need.nodes or (need.most_nodes or most + 1) <= most:
            return need
        key = need.number, most
        found = self._bounded.get(key)
        if found is None:
            found = self._bounded[key] = replace(need, most_nodes=most)
        return found

    def search(self, entry: Entry, now: int) -> Search:
        """Give how nodes are searched for a job."""
        record = entry.record
        waited = now - record.begin if entry.need.request.switches is not None else None
        weights = self.weights.now if self.weights.change else None
        return Search(self.machine, self.tree, waited, weights=weights)

    def tres_of(self, entry: Entry, given: Allocation) -> dict[str, int]:
        """Give what a job would have, by TRES."""
        cpus, memory = int(given.cpus.sum()), int(given.memory.sum())
        if given.charged >= 0:
            cpus = given.charged
        tres = {"cpu": cpus, "node": len(given.nodes)}
        if memory:
            tres["mem"] = memory
        for name, counts in given.gres:
            tres[f"gres/{name}"] = int(counts.sum())
        for name, count in entry.need.request.licenses:
            tres[f"license/{name}"] = count
        tres["billing"] = self._billed(entry, tres)
        return tres

    def is_unplanned(self, entry: Entry) -> bool:
        """Whether only a plan shows which limits a job breaks, or its size: it will have more."""
        if entry.record.total_cpus:
            return False
        more = entry.need.whole or self.machine.one_unit != 1
        return (more and self.limits.enforces) or self.priorities.measures(entry.need)

    def resize(self, record: Record, cpus: int) -> None:
        """Note how many CPUs a job would have, and so the tasks of its array that wait."""
        if record.total_cpus != cpus:
            for each in self.alike(record):
                self.priorities.resize(each, cpus)

    def alike(self, record: Record) -> list[Record]:
        """Give a job, and the tasks of its array that wait."""
        array = record.job.extras.array
        if array is None:
            return [record]
        found = map(self.records.get, self.waiting.jobs.members[array.array])
        return [record, *(each for each in found if each is not None and each.state == "PENDING")]

    def late_problem(self, entry: Entry, given: Allocation, tres: Tres, limit: int) -> str:
        """Give the limit that a job would break with what it would have; empty: none."""
        self.resize(entry.record, tres["cpu"])
        if not self.limits.enforces:
            return ""
        nodes: dict[int, Tres] = {
            node: {"cpu": int(cpus), "mem": int(memory)}
            for node, cpus, memory in zip(
                given.nodes.tolist(), given.cpus, given.memory, strict=True
            )
        }
        return self.limits.after(entry.record, entry.place.spec.qos, tres, limit, nodes)

    def forget(self) -> None:
        """Drop what was only kept so as not to find it again."""
        self._fitting.clear()

    # Starts and ends

    def start(self, entry: Entry, given: Allocation, now: int, by: By, limit: int) -> Record:
        """Start a job with what it has been given."""
        record = entry.record
        self.queue.remove(record)
        if record.accrue < 0:
            self.aging.age(now)
        self.aging.stop(record)
        record.entry, record.state, record.start, record.since = entry, "RUNNING", now, now
        record.limit, record.planned, record.expected = limit, now + limit, now
        record.attempt += 1
        record.tres = self.tres_of(entry, given)
        self.by[record.number] = by
        self.occupancy.start(record.number, given, record.planned)
        self.running[record.number] = record
        if self.gang is not None:
            self.gang.start(record, given)
        partition_qos = entry.place.spec.qos
        self.limits.start(record, partition_qos, given.nodes.tolist())
        factor = record.qos.usage_factor if record.qos else 1.0
        kinds = self.usage.kinds
        amounts = {**record.tres, "wall": 1}
        rates = [amounts.get(name, 0) * factor for name in kinds]
        qos = self.limits.qos_of(record, partition_qos)
        self.usage.start(record.number, Running.of(record.association, qos, now, rates))
        for name, count in entry.need.request.licenses:
            self.licenses[name] = self.licenses.get(name, 0) + count
        self.waiting.note_start(record.job, now)
        if record.job.extras.array is not None:
            self.queue.split[record.job.extras.array.array] = now
        self.changed += 1
        return record

    def end(self, record: Record, now: int, state: RunState, *, again: bool = False) -> Allocation:
        """Note that a job has ended, or begins `again` later; give what it had."""
        entry = record.entry
        assert entry is not None
        nodes = self.occupancy.given[record.number].nodes.tolist()
        self.limits.start(record, entry.place.spec.qos, nodes, -1)
        self.usage.end(record.number, now)
        given = self.occupancy.end(record.number)
        del self.running[record.number]
        self.suspended.pop(record.number, None)
        self._note(record, now, state, given)
        if not again:
            self.limits.submit(record, record.entries[0].place.spec.qos, -1)
        well = state == "COMPLETED" and not record.job.extras.fails
        self.leaving[record.number] = len(given.nodes), well
        if not again:
            self.waiting.note_end(record.job, ran=True)
        elif record.job.extras.array is not None:
            self.waiting.running[record.job.extras.array.array] -= 1
        record.state = "COMPLETING" if again else "DONE"
        self.changed += 1
        return given

    def is_requeued(self, record: Record) -> bool:
        """Whether a job is put back into the queue when its nodes fail or others need them."""
        own = record.job.extras.requeues
        wanted = self.machine.cluster.requeues if own is None else own
        return wanted and record.job.batch

    def release(self, job: Job, given: Allocation, now: int) -> Record | None:
        """Take back nodes of an ended job that were completing, and its licences with the last.

        Give its record if it is to be requeued now.
        """
        self.occupancy.release(given)
        left, well = self.leaving.pop(job.number)
        left -= len(given.nodes)
        if left:
            self.leaving[job.number] = left, well
            return None
        for name, count in job.request.licenses:
            self.licenses[name] -= count
        if self.gang is not None:
            self.gang.end(job.number)
        record = self.records.get(job.number)
        if record is not None and record.state == "COMPLETING":
            return record
        self.waiting.note_gone(job, now, well=well)
        return None

    def _note(self, record: Record, now: int, state: RunState, given: Allocation | None) -> None:
        place = record.entry.place.number if record.entry else -1
        nodes = tuple(given.nodes.tolist()) if given else ()
        cpus = tuple(given.cpus.tolist()) if given else ()
        by = self.by.pop(record.number, "")
        start = record.start if given else -1
        reason = "None" if record.reason in ("Priority", "Resources") else record.reason
        self.runs.append(
            JobRun(record.index, start, now, nodes, cpus, state, by, place, reason, record.begin)
        )

    def refuse(self, record: Record, now: int, reason: str) -> None:
        """Note that a job was not even accepted."""
        record.reason, record.state = reason, "DONE"
        self._note(record, now, "REFUSED", None)

    def withdraw(self, record: Record, now: int) -> None:
        """Cancel a job that waits."""
        self.waiting.wake(record)
        self.queue.remove(record)
        self.aging.stop(record)
        record.state = "DONE"
        self.limits.submit(record, record.entries[0].place.spec.qos, -1)
        self.waiting.note_end(record.job, ran=False)
        self.waiting.note_gone(record.job, now, well=False)
        self._note(record, now, "CANCELLED", None)
        self.changed += 1

    def set_reason(self, entry: Entry, reason: str, now: int, who: str) -> None:
        """Note why a job waits; Priority comes only in the place of nothing and Resources."""
        record = entry.record
        if self.journal.watched:
            self.journal.note(now, record.number, who, reason)
        if reason != "Priority" or record.reason in ("None", "Resources"):
            record.reason = reason

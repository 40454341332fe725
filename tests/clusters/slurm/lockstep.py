"""Give the scheduler the very events of a recorded case, in the order in which slurmctld had them.

Our clocks know whole seconds; the passes of the real one come at fractions of them. Here each
submission, end of a job, released node, pass and cycle happens when the log of slurmctld says so,
and `now` is the second that the real scheduler saw. So does what an operator did, as to hold a job
or to close a partition, though users have no file of it. What is left to differ is what is decided:
which jobs start in which pass, and where.
"""

import heapq
import re
from dataclasses import replace
from itertools import count
from typing import Any

from rebecsim.clusters.slurm.backfill import backfill
from rebecsim.clusters.slurm.configuration import Cluster
from rebecsim.clusters.slurm.eligibility import NEVER as NEVER_HOLDS
from rebecsim.clusters.slurm.files.hostlists import expand
from rebecsim.clusters.slurm.jobs import Job
from rebecsim.clusters.slurm.main_pass import Started, main_pass, start_at_submission
from rebecsim.clusters.slurm.occupancy import Allocation
from rebecsim.clusters.slurm.preemption import requeue, resumable, suspend, switched
from rebecsim.clusters.slurm.records import Record
from rebecsim.clusters.slurm.run import make_scheduler
from rebecsim.workloads.sacct import moment
from tests.clusters.slurm import recorded
from tests.clusters.slurm.recorded import NEVER, Compared

SOON = 5  # ms after which a node is free again, if it answers quickly
REGISTERS = 600  # ms after which slurmd has registered a node that comes back
QUICK = 12  # ms
SLOW = 700  # ms by which an answer is logged late at most; recorder and controller may lag so much
CLOSED = 60  # ms after an end in which a plan may show that its node is not free yet


def next_after(times: list[int] | None, ms: int) -> int:
    """Give the first of some times from a time on; -1: there is none."""
    return min((each for each in times or () if each >= ms), default=-1)


class Lockstep:
    """Runs a case event by event."""

    def __init__(
        self,
        case: dict[str, Any],
        cluster: Cluster,
        jobs: tuple[Job, ...],
        period: float,
        where: dict[int, tuple[str, ...]],
    ) -> None:
        self.case, self.zero = case, moment(case["zero"]) or 0
        self.cluster = cluster
        self.scheduler = make_scheduler(cluster, jobs)
        self.jobs = {job.number: job for job in jobs}
        self.index = {job.number: n for n, job in enumerate(jobs)}
        self.records = self.scheduler.records
        self.starts: dict[int, tuple[int, tuple[str, ...]]] = {}
        self.heap: list[tuple[int, int, int, str, Any]] = []
        self.order = count(len(case["events"]))
        self.logged: dict[tuple[int, int], int] = {}  # the line of a job's end, of so many ms
        self.ms = 0
        self.real_ends: dict[int, list[int]] = {}
        self.real_starts: dict[int, list[int]] = {}
        self.preempted: set[int] = set()
        self.began: dict[int, int] = {}
        self.taken: dict[str, list[int]] = {}
        self.where = where
        self.answers: dict[str, list[int]] = {}
        self.epilogs: dict[tuple[int, str], list[int]] = {}
        self.closed: dict[str, list[int]] = {}  # when a plan for the next second shows a node so
        self._plan_events()
        length = cluster.priority.calc_period
        for n in range(60):
            self.push(round((period + n * length) * 1000), "period", None, first=1)

    def push(self, ms: int, what: str, about: Any, first: int = 5, line: int | None = None) -> None:
        order = next(self.order) if line is None else line
        heapq.heappush(self.heap, (ms, first, order, what, about))

    def _plan_events(self) -> None:
        for at, command, _ in self.case["said"]:
            if isinstance(command, list):
                self._plan_command(int(at * 1000) + 60, " ".join(command))
        submitted: dict[int, int] = {}
        begun = 0
        for line, (at, what, *rest) in enumerate(self.case["events"]):
            number = recorded.job_of(rest[0]) if rest else -1
            if what == "answered":
                self.answers.setdefault(rest[0], []).append(at)
            elif what == "epilog":
                self.epilogs.setdefault((number, rest[1]), []).append(at)
            elif what == "planned" and int(rest[1]) == at // 1000 + 1:
                for node in expand(rest[2]):
                    self.closed.setdefault(node, []).append(at)
            elif what in ("pass", "backfill"):
                begun = at
                self.push(at, what, rest[0], line=line)
            elif what == "submit" and number in self.jobs:
                submitted[number] = at
                self.push(at, "submit", self.jobs[number], line=line)
            elif what in ("start", "backfilled"):
                self.real_starts.setdefault(number, []).append(at)
                for node in self.where.get(number, ()):
                    self.taken.setdefault(node, []).append(begun)
            elif what in ("kill", "done", "time limit"):
                self.real_ends.setdefault(number, []).append(at)
                self.logged[number, at] = line
            elif what == "preempted":
                self.preempted.add(number)
        for number, job in self.jobs.items():
            array = job.extras.array
            if number not in submitted:
                same = array is not None and array.array in submitted
                if not same:  # the log does not name parts; numbers are given in order
                    before = max((submitted[e] for e in submitted if e < number), default=0)
                    at = max((job.submit - self.zero) * 1000 + 500, before + 1)
                    self.push(at, "submit", job)
                else:
                    at = next(
                        e[0]
                        for e in self.case["events"]
                        if e[1] == "submit" and recorded.job_of(e[2]) == array.array
                    )
                    self.push(at, "submit", job)
            ends = self.real_ends.get(number, [])
            if job.extras.withdrawn is not None:
                ends = ends or [(job.extras.withdrawn - self.zero) * 1000]
            if ends and (job.extras.withdrawn is not None or not self.where.get(number)):
                self.push(ends[-1], "withdraw", job)
        moments = [
            at * 1000 + 60
            for at, command, _ in self.case["said"]
            if isinstance(command, list) and "nodename" in " ".join(command)
        ]
        for change, at in zip(self.cluster.changes, moments, strict=True):
            slow = REGISTERS if change.state == "UP" else 0
            self.push(int(at) + slow, "change", change)
            if change.state == "DOWN":  # its slurmd answers, and ReturnToService=2 takes it back
                self.push(int(at) + REGISTERS, "change", replace(change, state="UP"))

    def _plan_command(self, ms: int, command: str) -> None:
        """Plan what an operator did to jobs and partitions, of which users have no file."""
        found = re.search(r"(hold|release) ([\d,]+)$", command)
        if found:
            numbers = [int(each) for each in found[2].split(",")]
            self.push(ms, "hold" if found[1] == "hold" else "let_go", numbers)
            for each in numbers:
                job = self.jobs[each]
                extras = replace(job.extras, released=None)
                held_later = not extras.held
                self.jobs[each] = replace(job, extras=extras, begin=0 if held_later else job.begin)
        found = re.search(r"partitionname=(\w+) state=(\w+)", command)
        if found:
            self.push(ms, "partition", (found[1], found[2].upper()))

    @property
    def now(self) -> int:
        return self.zero + self.ms // 1000

    def run(self) -> None:
        while self.heap:
            self.ms, _, _, what, about = heapq.heappop(self.heap)
            self._admit(timed=True)
            getattr(self, f"on_{what}")(about)

    def on_period(self, _: None) -> None:
        if not self.scheduler.priorities.is_basic or self.scheduler.limits.enforces:
            self.scheduler.period(self.now)

    def on_pass(self, depth: str) -> None:
        self._begin(main_pass(self.scheduler, self.now, full=depth == "full"))

    def on_backfill(self, _: str) -> None:
        if self.scheduler.queue:
            self._begin(backfill(self.scheduler, self.now))

    def on_submit(self, job: Job) -> None:
        scheduler, now = self.scheduler, self.now
        record, refusal = scheduler.record(job, self.index[job.number], now)
        if refusal:
            scheduler.refuse(record, now, refusal)
            return
        self.records[job.number] = record
        scheduler.submit(record, now)
        if job.extras.deadline is not None:
            least = job.extras.min_time or record.limit
            gone = max((job.extras.deadline - least - self.zero) * 1000, self.ms)
            self.push(gone, "withdraw", job)
        if (
            record.state == "PENDING"
            and record.number not in scheduler.waiting.asleep
            and not job.batch
        ):
            self._begin(start_at_submission(scheduler, record, now))

    def on_withdraw(self, job: Job) -> None:
        record = self.records.get(job.number)
        if record is not None and record.state == "PENDING":
            self.scheduler.withdraw(record, self.now)
            self._admit(timed=False)

    def on_hold(self, numbers: list[int]) -> None:
        for record in (self.records[each] for each in numbers):
            self.scheduler.queue.remove(record)
            record.job = replace(record.job, extras=replace(record.job.extras, held=True))
            record.reason = "JobHeldUser"
            self.scheduler.waiting.sleep(record)
        self.scheduler.changed += 1

    def on_let_go(self, numbers: list[int]) -> None:
        """Release held jobs, in the order in which they were named."""
        for number in numbers:
            record = self.scheduler.waiting.held.pop(number, None)
            if record is not None:
                extras = replace(record.job.extras, released=self.now)
                record.job = replace(record.job, extras=extras)
                self.scheduler.waiting.held[number] = record
        self._admit(timed=True)

    def on_partition(self, about: tuple[str, str]) -> None:
        """Put a partition into another state."""
        place, queue = self.scheduler.machine.places[about[0]], self.scheduler.queue
        object.__setattr__(place, "spec", replace(place.spec, state=about[1]))  # type: ignore[arg-type]
        for entry in queue:
            entry.problem = None
        self.scheduler.changed += 1

    def on_change(self, change: Any) -> None:
        scheduler = self.scheduler
        node = scheduler.machine.number[change.node]
        scheduler.occupancy.set_state(node, change.state)
        if change.state == "DOWN":
            for record in list(scheduler.running.values()):
                if node in scheduler.occupancy.given[record.number].nodes:
                    self._stop(
                        record, "NODE_FAIL", again=record.job.batch and self.cluster.requeues
                    )
        scheduler.changed += 1

    def on_end(self, about: tuple[Record, int]) -> None:
        record, attempt = about
        if record.number in self.scheduler.running and self.began[record.number] == attempt:
            self._stop(record, "FAILED" if record.job.extras.fails else "COMPLETED")

    def on_release(self, about: tuple[Job, Allocation]) -> None:
        requeued = self.scheduler.release(*about, self.now)
        if requeued is not None:
            requeue(self.scheduler, requeued, self.now)
        self._switch()
        self._admit(timed=False)

    def _begin(self, started: Started) -> None:
        scheduler = self.scheduler
        gone = {
            each.record.number: each.given for each in started.victims if each.given is not None
        }
        for record in started.jobs:
            self._send(record, gone.get(record.number))
        for victim in started.victims:
            record = victim.record
            if victim.given is not None:
                scheduler.occupancy.release(victim.given)
                self._after_end(record, victim.given)
            elif victim.mode == "SUSPEND":
                if record.state == "RUNNING":
                    suspend(scheduler, record, self.now)
            else:
                grace = (victim.end - self.now) * 1000
                ms = next_after(self.real_ends.get(record.number), self.ms)
                if not 0 <= ms - self.ms <= grace + 2000:
                    ms = self.ms + grace
                self.push(ms, "preempt", (record, record.attempt, victim.again))
        self._switch()
        if started.jobs and scheduler.waiting.asleep:
            self._admit(timed=False)

    def _switch(self) -> None:
        """Stop jobs and let others go on; how long each ran is known, so this moves no end."""
        for victim in switched(self.scheduler, self.now)[1]:
            self._stop(victim.record, "PREEMPTED", again=victim.again)

    def on_preempt(self, about: tuple[Record, int, bool]) -> None:
        record, attempt, again = about
        if record.state == "RUNNING" and record.attempt == attempt:
            self._stop(record, "PREEMPTED", again=again)

    def _send(self, record: Record, gone: Allocation | None = None) -> None:
        number = record.number
        self.began[number] = self.ms
        names = self.scheduler.machine.names
        given = gone or self.scheduler.occupancy.given[number]
        nodes = tuple(names[n] for n in given.nodes.tolist())
        self.starts[number] = (self.ms, nodes)
        real = self.real_starts.get(number)
        if (
            real is not None
            and 0 <= (at := min(real, key=lambda each: abs(each - self.ms))) - self.ms <= 3
        ):
            self.starts[number] = (at, nodes)  # a pass may go on into the next second
        if gone is not None:
            return
        end = next_after(self.real_ends.get(number), self.ms)
        if end > self.ms and (real is None or any(abs(each - self.ms) < 300 for each in real)):
            line = self.logged.get((number, end))
            self.push(end, "end", (record, self.ms), line=line)
        elif self.where.get(number) and not (
            self.real_ends.get(number) or number in self.preempted
        ):
            return  # it runs beyond the end of the record
        else:  # how long a preempted job would have run is not known
            seconds = record.limit if number in self.preempted else record.left
            self.push(self.ms + seconds * 1000, "end", (record, self.ms))

    def _stop(self, record: Record, state: Any, *, again: bool = False) -> None:
        given = self.scheduler.end(record, self.now, state, again=again)
        self._after_end(record, given)

    def _after_end(self, record: Record, given: Allocation) -> None:
        scheduler = self.scheduler
        for resumed in resumable(scheduler, self.now):
            self._send(resumed)
        scheduler.occupancy.complete(given)
        for place, node in enumerate(given.nodes.tolist()):
            name = scheduler.machine.names[node]
            free = self._free(record.number, name)
            one = given._replace(nodes=given.nodes[place : place + 1])
            self.push(free, "release", (record.job, one), 2)

    def _free(self, number: int, node: str) -> int:
        """When a node of a job that ends now takes another one, ms.

        It says so by the message that its epilogue is over, or that it does not know the job any
        more; the log has such an answer only some ms after it came in. If the next job was given
        the node in a pass before that, it was free by then.
        """
        soon = next_after(self.taken.get(node), self.ms)
        found = self._said_free(number, node)
        if soon >= 0 and found - SLOW <= soon < found:
            return soon
        closed = next_after(self.closed.get(node), self.ms)
        return max(found, closed + 1) if 0 <= closed - self.ms <= CLOSED else found

    def _said_free(self, number: int, node: str) -> int:
        until = self.ms + 3000
        told = [at for at in self.epilogs.get((number, node), ()) if 0 <= at - self.ms <= 6000]
        answered = [at for at in self.answers.get(node, ()) if self.ms <= at <= until]
        if told or self.jobs[number].batch:
            return min(told or answered, default=self.ms + 2 * SOON)
        if answered and min(answered) > self.ms + QUICK:
            return min(answered) - 2
        return self.ms + SOON

    def _admit(self, *, timed: bool) -> None:
        scheduler = self.scheduler
        if not scheduler.waiting.asleep:
            return
        for record in scheduler.ready(self.now, timed=timed):
            if record.reason != "BadConstraints":
                scheduler.make_eligible(record, self.now)
        if scheduler.machine.cluster.main.kill_invalid_depend:
            for record in list(scheduler.waiting.asleep.values()):
                if record.reason == NEVER_HOLDS:
                    scheduler.withdraw(record, self.now)


def replay(name: str, period: float) -> tuple[Compared, Lockstep]:
    case = recorded.load(name)
    made = recorded.ready(name, exact=True)
    where = {number: nodes for number, (_, nodes) in made.real.items()}
    steps = Lockstep(case, made.cluster, made.jobs, period, where)
    steps.run()
    equal = one = three = nodes = 0
    differences = []
    for number, (start, where) in made.real.items():
        ms, on = steps.starts.get(number, (NEVER, ()))
        mine = NEVER if ms == NEVER else made.zero + ms // 1000
        if mine > made.horizon:
            mine, on = NEVER, ()
        apart, same = abs(mine - start), set(on) == set(where)
        equal += apart == 0
        one += apart <= 1
        three += apart <= 3
        nodes += same
        if apart or not same:
            differences.append((number, start, mine, ",".join(where), ",".join(on)))
    return Compared(name, len(made.real), equal, one, three, nodes, differences), steps


def first_tick(name: str) -> int:
    """The second of the first pass or cycle, about when the clock of priorities began."""
    events = recorded.load(name)["events"]
    return int(next(at for at, what, *_ in events if what in ("backfill", "pass")) // 1000)


def best(name: str) -> tuple[Compared, float]:
    """Replay with each likely phase of the clock of priorities, which no log says."""
    first = first_tick(name)
    multi = any("multifactor" in line for line in recorded.load(name)["case"]["conf"])
    phases = (-1, -2, -3, 0, 1, -0.5, -1.5, -2.5, 0.5, 2, 3)
    tries = [(replay(name, first + n)[0], n) for n in (phases if multi else (0,))]
    return max(tries, key=lambda each: each[0].equal + each[0].nodes)

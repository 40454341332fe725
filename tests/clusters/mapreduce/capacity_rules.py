"""Checks the decisions of a Capacity Scheduler against its rules.

Nothing of the scheduler is used but its settings: everything is counted anew from what was recorded
(see `recorded_capacity`), slowly and plainly. What is checked:

- jobs are accepted and initialised as the limits allow, in their order, and none waits needlessly;
- no queue gets more than its maximum capacity, no user more than the limit of the moment, nor more
  than the capacity of the queue times the user limit factor;
- the queue that has the least of its capacity goes first, or the one with most tasks that wait, as
  the settings say, if it can use the slot;
- within a queue, nobody is passed over for a later job;
- a heartbeat gives a reduce at most, maps as the hidden parameters say, and none from another rack
  before the job has had its chances;
- no slot stays free that a task could use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import singledispatchmethod
from math import ceil

from rebecsim.clusters.mapreduce.job import JobInProgress, Locality, MapReduceJob, SlotKind
from rebecsim.clusters.mapreduce.schedulers.capacity_settings import (
    CapacityQueueSettings,
    CapacitySettings,
    CappedSlots,
    OffSwitchRule,
    QueueOrder,
)
from rebecsim.clusters.mapreduce.schedulers.scheduler import Assignment
from tests.clusters.mapreduce.recorded_capacity import (
    AttemptEnded,
    Completed,
    Configured,
    Decision,
    Heartbeat,
    Polled,
    Submitted,
    WaitsAgain,
)


def broken_rules(decisions: Iterable[Decision], slow_start: float = 0.05) -> Iterator[str]:
    """Give each rule that was broken, in words; jobs have this slow start of reduces."""
    checker = _Checker(slow_start)
    for decision in decisions:
        checker.problems.clear()
        checker.check(decision)
        yield from checker.problems


class _Held:
    """What is known of a job."""

    def __init__(self, job: JobInProgress) -> None:
        self.job: MapReduceJob = job.job
        self.hosts = job.hosts
        self.is_initialised = False
        self.waiting = set(range(job.job.maps)), set(range(job.job.reduces))
        self.running = [0, 0]
        self.finished_maps = 0
        self.chances = 0  # at most so many since a map was given in its rack


class _Checker:
    def __init__(self, slow_start: float) -> None:
        self.problems: list[str] = []
        self._slow_start = slow_start
        self._jobs: dict[JobInProgress, _Held] = {}
        self._cluster = Configured(CapacitySettings(), 0, (0, 0), ())

    @property
    def _settings(self) -> CapacitySettings:
        return self._cluster.settings

    @singledispatchmethod
    def check(self, decision: Decision) -> None:
        raise TypeError(f"{decision!r} is no decision")

    @check.register
    def _configured(self, now: Configured) -> None:
        self._cluster = now

    @check.register
    def _submitted(self, decision: Submitted) -> None:
        job = _Held(decision.job)
        settings = self._settings.queues[job.job.queue]
        queue = list(self._of_queue(job.job.queue))
        of_user = [each for each in queue if each.job.user == job.job.user]
        may = (
            job.job.tasks <= settings.maximum_initialized_active_tasks_per_user
            and len(queue) < self._jobs_of(settings) * settings.init_accept_jobs_factor
            and len(of_user) < self._jobs_of_user(settings) * settings.init_accept_jobs_factor
        )
        if may == (decision.reason is not None):
            verb = "was rejected" if may else "was accepted"
            self._say(f"{job.job.name} {verb}, against the limits of queue {job.job.queue}")
        if decision.reason is None:
            self._jobs[decision.job] = job

    @check.register
    def _polled(self, decision: Polled) -> None:
        fresh = [self._jobs[job] for job in decision.jobs]
        for name, settings in self._settings.queues.items():
            of_queue = [job for job in fresh if job.job.queue == name]
            expected = self._to_initialise(name, settings)
            if of_queue != expected:
                self._say(f"queue {name} initialised {_names(of_queue)}, not {_names(expected)}")
            for job in of_queue:
                job.is_initialised = True

    @check.register
    def _heartbeat(self, beat: Heartbeat) -> None:
        maps = [each for each in beat.given if each.kind is SlotKind.MAP]
        reduces = [each for each in beat.given if each.kind is SlotKind.REDUCE]
        near = furthest = Locality.OFF_SWITCH
        after = 0
        for step, each in enumerate(maps):
            self._chance()
            self._check_step(beat, each, furthest)
            if furthest is not near:
                after += 1
            if each.is_far:
                if furthest is not near:
                    self._say(f"node {beat.node} got a second map from another rack at once")
                furthest = Locality.RACK
            self._begin(each)
            if step >= self._settings.maximum_tasks_per_heartbeat:
                self._say(f"node {beat.node} got {step + 1} maps at once")
        if after > self._settings.maximum_tasks_after_offswitch:
            self._say(f"node {beat.node} got {after} maps after one from another rack")
        goes_on = len(maps) < self._settings.maximum_tasks_per_heartbeat and (
            furthest is near or after < self._settings.maximum_tasks_after_offswitch
        )
        if goes_on and len(maps) < beat.free[SlotKind.MAP]:
            self._chance()
            self._check_none_left(beat, SlotKind.MAP)
        if len(reduces) > 1 or len(reduces) > beat.free[SlotKind.REDUCE]:
            self._say(f"node {beat.node} got {len(reduces)} reduces at once")
        for each in reduces:
            self._check_step(beat, each, furthest)
            self._begin(each)
        if beat.free[SlotKind.REDUCE] and not reduces:
            self._check_none_left(beat, SlotKind.REDUCE)
        if len(maps) > beat.free[SlotKind.MAP]:
            self._say(f"node {beat.node} got more maps than it has free slots")

    @check.register
    def _ended(self, decision: AttemptEnded) -> None:
        job = self._jobs[decision.job]
        job.running[decision.kind] -= 1
        job.finished_maps = decision.finished_maps

    @check.register
    def _waits(self, decision: WaitsAgain) -> None:
        job = self._jobs[decision.job]
        job.waiting[decision.kind].add(decision.number)
        job.finished_maps = decision.finished_maps

    @check.register
    def _completed(self, decision: Completed) -> None:
        job = self._jobs.pop(decision.job)
        if any(job.running) or any(job.waiting):
            self._say(f"{job.job.name} is said to be done, and is not")

    def _check_step(self, beat: Heartbeat, given: Assignment, furthest: Locality) -> None:
        """Check one task that was given, before it is counted."""
        job, kind = self._jobs[given.job], given.kind
        name, queue = job.job.name, job.job.queue
        if not job.is_initialised:
            self._say(f"{name} got a slot before it was initialised")
        if not given.speculative and given.number not in job.waiting[kind]:
            self._say(f"{name} got a slot for {kind.name.lower()} {given.number} again")
        if not self._queue_may(queue, kind):
            self._say(f"queue {queue} got a {kind.name.lower()} slot above its maximum")
        if not self._user_may(job, kind):
            self._say(f"user {job.job.user} of queue {queue} got a slot above the limit")
        if kind is SlotKind.REDUCE and not given.speculative and not self._may_reduce(job):
            self._say(f"{name} got a slot for a reduce before enough of its maps had ended")
        if kind is SlotKind.MAP and not given.speculative:
            self._check_locality(beat, given, job)
        for other in self._ahead_of(job, kind):
            if self._could_use(other, kind, beat):
                self._say(f"{name} was given a {kind.name.lower()} slot before {other.job.name}")

    def _check_locality(self, beat: Heartbeat, given: Assignment, job: _Held) -> None:
        actual = self._locality(job, given.number, beat.node)
        if actual is not given.locality:
            self._say(f"{job.job.name}: map {given.number} is {actual.name}, not as it was said")
        if any(self._locality(job, each, beat.node) < actual for each in job.waiting[0]):
            self._say(f"{job.job.name}: map {given.number} was not the nearest one")
        if actual is Locality.OFF_SWITCH and job.chances <= self._chances_before(job):
            self._say(f"{job.job.name} was given a map from another rack too early")
        if actual is Locality.RACK and job.chances <= self._settings.node_locality_delay:
            self._say(f"{job.job.name} was given a map from another node too early")

    def _ahead_of(self, job: _Held, kind: SlotKind) -> Iterator[_Held]:
        """Give the jobs that would have to go before a job, if they could use a slot."""
        own = job.job.queue
        place = self._place_of(own, kind)
        for name in self._settings.queues:
            if name != own and self._place_of(name, kind) < place:
                yield from self._of_queue(name)
        heeded = self._settings.queues[own].supports_priority
        for other in self._of_queue(own):
            if _place(other.job, heeded) < _place(job.job, heeded):
                yield other

    def _check_none_left(self, beat: Heartbeat, kind: SlotKind) -> None:
        for job in self._jobs.values():
            if self._could_use(job, kind, beat):
                what = f"a free {kind.name.lower()} slot of node {beat.node}"
                self._say(f"{job.job.name} was not given {what}")

    def _could_use(self, job: _Held, kind: SlotKind, beat: Heartbeat) -> bool:
        """Whether a job could certainly run something on a node."""
        if not job.is_initialised or not job.waiting[kind]:
            return False
        if not self._queue_may(job.job.queue, kind) or not self._user_may(job, kind):
            return False
        if kind is SlotKind.REDUCE:
            return self._may_reduce(job)
        furthest = Locality.NODE if self._settings.node_locality_delay else Locality.RACK
        return any(self._locality(job, each, beat.node) <= furthest for each in job.waiting[0])

    def _chance(self) -> None:
        """Count that each job may have been asked."""
        for job in self._jobs.values():
            job.chances += 1

    def _begin(self, given: Assignment) -> None:
        job = self._jobs[given.job]
        job.running[given.kind] += 1
        job.waiting[given.kind].discard(given.number)
        if given.kind is SlotKind.MAP and not given.is_far:
            job.chances = 0

    def _queue_may(self, queue: str, kind: SlotKind) -> bool:
        most = self._settings.queues[queue].maximum_capacity
        if kind is SlotKind.REDUCE and self._settings.capped_slots is CappedSlots.MAPS:
            return True
        return most < 0 or self._occupied(queue, kind) < max(self._slots(most, kind), 1)

    def _user_may(self, job: _Held, kind: SlotKind) -> bool:
        """Whether a user may have one slot more."""
        settings = self._settings.queues[job.job.queue]
        jobs = list(self._of_queue(job.job.queue))
        has = sum(each.running[kind] for each in jobs if each.job.user == job.job.user)
        capacity = max(self._slots(settings.capacity, kind), 1)
        occupied = self._occupied(job.job.queue, kind)
        shared = capacity if occupied < capacity else occupied + 1
        users = {each.job.user for each in jobs if each.is_initialised and each.waiting[kind]}
        equal = ceil(Fraction(shared, max(1, len(users))))
        least = ceil(Fraction(settings.minimum_user_limit_percent * shared, 100))
        hard = int(capacity * Fraction(str(settings.user_limit_factor)))
        return has + 1 <= min(max(equal, least), max(hard, 1))

    def _may_reduce(self, job: _Held) -> bool:
        return job.finished_maps >= ceil(self._slow_start * job.job.maps)

    def _locality(self, job: _Held, number: int, node: int) -> Locality:
        if node in job.hosts[number]:
            return Locality.NODE
        racks = self._cluster.racks
        is_near = racks[node] in {racks[host] for host in job.hosts[number]}
        return Locality.RACK if is_near else Locality.OFF_SWITCH

    def _chances_before(self, job: _Held) -> float:
        settings, nodes = self._settings, self._cluster.nodes
        if settings.off_switch_rule is OffSwitchRule.CLUSTER:
            return settings.node_locality_delay + nodes
        left = min(job.job.maps - job.finished_maps, nodes)
        return settings.node_locality_delay + left * settings.locality_wait_factor

    def _to_initialise(self, name: str, settings: CapacityQueueSettings) -> list[_Held]:
        """Give the jobs that should be initialised now."""
        begun = [job for job in self._of_queue(name) if job.is_initialised]
        jobs = Counter(job.job.user for job in begun)
        tasks = Counter[str]()
        for job in begun:
            tasks[job.job.user] += job.job.tasks
        chosen: list[_Held] = []
        held: set[str] = set()
        waiting = [job for job in self._of_queue(name) if not job.is_initialised]
        for job in sorted(waiting, key=lambda each: _place(each.job, settings.supports_priority)):
            user, size = job.job.user, job.job.tasks
            if len(begun) + len(chosen) == max(self._jobs_of(settings), len(begun)):
                break
            if user in held or jobs[user] >= self._jobs_of_user(settings):
                continue
            if tasks.total() + size > settings.maximum_initialized_active_tasks:
                break
            if tasks[user] + size > settings.maximum_initialized_active_tasks_per_user:
                held.add(user)
                continue
            jobs[user] += 1
            tasks[user] += size
            chosen.append(job)
        return chosen

    def _jobs_of(self, settings: CapacityQueueSettings) -> int:
        share = Fraction(str(settings.capacity)) * self._settings.maximum_system_jobs / 100
        return ceil(share)

    def _jobs_of_user(self, settings: CapacityQueueSettings) -> int:
        share = Fraction(str(settings.capacity)) * self._settings.maximum_system_jobs / 100
        return ceil(share * settings.minimum_user_limit_percent / 100)

    def _of_queue(self, name: str) -> Iterator[_Held]:
        return (job for job in self._jobs.values() if job.job.queue == name)

    def _occupied(self, queue: str, kind: SlotKind) -> int:
        return sum(job.running[kind] for job in self._of_queue(queue))

    def _place_of(self, queue: str, kind: SlotKind) -> Fraction:
        """Give what is least for the queue that goes first."""
        if self._settings.queue_order is QueueOrder.BACKLOG:
            jobs = (job for job in self._of_queue(queue) if job.is_initialised)
            return Fraction(-sum(len(job.waiting[kind]) for job in jobs))
        capacity = self._slots(self._settings.queues[queue].capacity, kind)
        return Fraction(self._occupied(queue, kind), capacity) if capacity else Fraction(1)

    def _slots(self, percent: float, kind: SlotKind) -> int:
        return int(Fraction(str(percent)) * self._cluster.slots[kind] / 100)

    def _say(self, problem: str) -> None:
        self.problems.append(problem)


def _place(job: MapReduceJob, heeded: bool) -> tuple[int, int, int]:
    return -job.priority if heeded else 0, job.submit, job.number


def _names(jobs: Iterable[_Held]) -> str:
    return ", ".join(job.job.name for job in jobs) or "none"

"""The Fair Scheduler: pools below their minimum share first, then the least slots per weight."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from pathlib import Path

from rebecsim.actors import StatePart
from rebecsim.clusters.kit.hadoop import Claim, fair_shares
from rebecsim.clusters.mapreduce.job import (
    MILLISECOND,
    SECOND,
    JobInProgress,
    JobPriority,
    Locality,
    SlotKind,
    TrackerSlots,
)
from rebecsim.clusters.mapreduce.schedulers.fair_settings import (
    FairSettings,
    FairSettingsError,
    PoolSettings,
    changed,
    read_fair_settings,
)
from rebecsim.clusters.mapreduce.schedulers.scheduler import (
    Assignment,
    OfferingJobs,
    Preemption,
    SchedulerSetup,
    TaskScheduler,
    by_priority,
    map_of,
    reduce_of,
)

_WEIGHTS = {
    JobPriority.VERY_HIGH: 4.0,
    JobPriority.HIGH: 2.0,
    JobPriority.NORMAL: 1.0,
    JobPriority.LOW: 0.5,
    JobPriority.VERY_LOW: 0.25,
}

Urgency = tuple[bool, float, int, str]
"""Sort key, lowest first: whether above minimum share, the used share, the time of waiting."""


def demand_of(job: JobInProgress, kind: SlotKind) -> int:
    """Return how many slots a job holds or wants; 0 for reduces before the slow start."""
    running, waiting = job.running[kind], job.waiting(kind)
    if kind is SlotKind.MAP or running or job.offers_reduce():
        return running + waiting
    return 0


class PoolShare(StatePart):
    """Slots of a kind that a pool holds and wants.

    Attributes:
        running: slots that its tasks hold.
        demand: slots that its jobs hold or want, no more than it may have.
        least: slots that it is sure of while it wants them.
        offering: its jobs that have something to run.
        fair_share: what it should have, as it was last computed.
        at_least: when it last had its minimum share (microseconds).
        at_half: when it last had half its fair share.
    """

    def __init__(self, name: str, kind: SlotKind, settings: PoolSettings, now: int) -> None:
        self.name = name
        self.kind = kind
        self.running = 0
        self.offering = OfferingJobs(kind, by_priority=True)
        self.fair_share = 0.0
        self.at_least = self.at_half = now
        self._demands: dict[JobInProgress, int] = {}
        self._demand = 0
        self.change(settings)

    def change(self, settings: PoolSettings) -> None:
        """Change the settings."""
        is_map = self.kind is SlotKind.MAP
        self.least = settings.min_maps if is_map else settings.min_reduces
        self.most = settings.max_maps if is_map else settings.max_reduces
        self.weight = settings.weight
        self.is_fifo = settings.scheduling_mode == "fifo"
        timeout = settings.min_share_preemption_timeout
        self.timeout = math.inf if timeout is None else timeout

    @property
    def demand(self) -> int:
        """Slots that its jobs hold or want, up to its maximum."""
        return min(self._demand, self.most)

    @property
    def wanted_least(self) -> int:
        """Its minimum share, up to its demand."""
        return min(self.least, self.demand)

    def urgency(self) -> Urgency:
        """Return the sort key of the pool."""
        least = self.wanted_least
        if self.running < least:
            return False, self.running / max(least, 1), 0, self.name
        return True, self.running / self.weight, 0, self.name

    def is_full(self) -> bool:
        """Whether the pool is at its maximum."""
        return self.running >= self.most

    def review(self, job: JobInProgress) -> None:
        """Update the demand of a running job."""
        demand = demand_of(job, self.kind)
        self._demand += demand - self._demands.get(job, 0)
        self._demands[job] = demand
        self.offering.review(job)

    def withdraw(self, job: JobInProgress) -> None:
        """Remove a job that has ended or must wait."""
        self._demand -= self._demands.pop(job, 0)
        self.offering.remove(job)

    def in_order(self, by_size: bool) -> list[JobInProgress]:
        """Give its jobs that have something to run in the order in which they are asked."""
        jobs = self.offering.jobs
        if self.is_fifo or len(jobs) <= 1:
            return list(jobs)
        return sorted(jobs, key=lambda job: self._job_urgency(job, by_size))

    def look(self, now: int) -> None:
        """Record whether the pool has its minimum share and half its fair share."""
        if self.running >= self.wanted_least:
            self.at_least = now
        if self.running >= math.floor(min(self.fair_share / 2, self.demand)):
            self.at_half = now

    def _job_urgency(self, job: JobInProgress, by_size: bool) -> tuple[float, int, int]:
        weight = _WEIGHTS[job.job.priority]
        if by_size:
            weight *= math.log2(1 + max(self._demands[job], 1))
        return job.running[self.kind] / weight, job.job.submit, job.job.number


@dataclass(slots=True)
class _Wait(StatePart):
    """How near its last map was, and how long it has been passed over since (microseconds)."""

    last: Locality = Locality.NODE
    waited: int = 0


@dataclass(slots=True)
class LocalityWaits(StatePart):
    """How long jobs have waited; those count that were asked and gave nothing.

    Attributes:
        node: how long they wait for a node (microseconds).
        rack: how long they then wait for a rack (microseconds).
    """

    node: int
    rack: int
    _waits: dict[JobInProgress, _Wait] = field(default_factory=dict)
    _skipped: dict[JobInProgress, None] = field(default_factory=dict)
    _last: int = 0

    def pass_time(self, now: int) -> None:
        """Count the time since the last heartbeat for jobs that were passed over then."""
        for job in self._skipped:
            self._waits[job].waited += now - self._last
        self._skipped.clear()
        self._last = now

    def allowed(self, job: JobInProgress) -> Locality:
        """Say how far from its split the next map of a job may run."""
        wait = self._waits.setdefault(job, _Wait())
        if wait.last is Locality.NODE:
            if wait.waited < self.node:
                return Locality.NODE
            return Locality.RACK if wait.waited < self.node + self.rack else Locality.OFF_SWITCH
        if wait.last is Locality.RACK and wait.waited < self.rack:
            return Locality.RACK
        return Locality.OFF_SWITCH

    def launched(self, job: JobInProgress, locality: Locality) -> None:
        """Take note of where a map of a job runs."""
        self._waits[job] = _Wait(locality)

    def skip(self, job: JobInProgress) -> None:
        """Take note that a job was asked at this heartbeat, and was given nothing."""
        self._waits.setdefault(job, _Wait())
        self._skipped[job] = None

    def forget(self, job: JobInProgress) -> None:
        """Take note that a job has ended."""
        self._waits.pop(job, None)
        self._skipped.pop(job, None)


_PARTS = 1000  # of a slot: fair shares are no whole slots


def set_fair_shares(pools: Collection[PoolShare], slots: int) -> None:
    """Compute what each pool should have now."""
    claims = [
        Claim(pool.weight, pool.wanted_least * _PARTS, pool.demand * _PARTS) for pool in pools
    ]
    for pool, share in zip(pools, fair_shares(slots * _PARTS, claims), strict=True):
        pool.fair_share = share / _PARTS


def missing(pool: PoolShare, fair_timeout: float, now: int) -> int:
    """Give how many slots are to be freed for a pool."""
    due = 0
    if now - pool.at_least > pool.timeout * SECOND:
        due = pool.wanted_least - pool.running
    if now - pool.at_half > fair_timeout * SECOND:
        due = max(due, int(min(pool.fair_share, pool.demand)) - pool.running)
    return max(due, 0)


Task = tuple[JobInProgress, SlotKind, int]


def to_kill(
    pools: Mapping[str, PoolShare], kind: SlotKind, starts: Mapping[Task, Sequence[int]], due: int
) -> list[Preemption]:
    """Choose tasks of pools that have more than their fair share, the youngest first.

    `starts` says when the attempts of running tasks began. No pool is brought below its share.
    """
    left = {name: pool.running for name, pool in pools.items()}
    young = sorted(
        (-begun, job.job.number, number, job)
        for (job, of, number), begins in starts.items()
        if of is kind
        for begun in begins[-1:]
    )
    chosen: list[Preemption] = []
    for _, _, number, job in young:
        if len(chosen) == due:
            break
        name = job.job.queue
        if left[name] > pools[name].fair_share:
            left[name] -= 1
            chosen.append(Preemption(job, kind, number))
    return chosen


class FairTaskScheduler(TaskScheduler):
    """Hadoop 1's `FairScheduler`: each pool and each job has its share of the slots.

    Demands are always up to date, while Hadoop updates them periodically.

    Attributes:
        settings: that count now.
        pools: what each has of the slots, of maps and of reduces, by name.
    """

    def __init__(
        self, trackers: Sequence[TrackerSlots], settings: FairSettings | None = None
    ) -> None:
        super().__init__(trackers)
        self.settings = settings or FairSettings()
        self.pools: tuple[dict[str, PoolShare], dict[str, PoolShare]] = {}, {}
        self._jobs: list[JobInProgress] = []
        self._may_run: dict[JobInProgress, None] = {}
        self._waits = LocalityWaits(0, 0)
        self._starts: dict[Task, list[int]] = {}
        self._last_preemption = 0
        self._set_up()
        self.trackers_changed()

    @classmethod
    def with_parameters(cls, parameters: Mapping[str, object]) -> SchedulerSetup:
        """Set the scheduler up with settings by their names in the files."""
        return _set_up(changed(FairSettings(), parameters))

    @classmethod
    def from_file(cls, path: Path, name: str = "") -> SchedulerSetup:
        """Set the scheduler up as an allocations file, `fair-scheduler.xml`, says."""
        settings, without_effect = read_fair_settings(path, name)
        return _set_up(settings, without_effect, name or str(path))

    def submit(self, job: JobInProgress, now: int) -> str | None:
        """Take a job into its pool; it may have to wait for others to end."""
        name = job.job.queue
        if name not in self.settings.pools and not self.settings.allow_undeclared_pools:
            return f"there is no pool {name}"
        for kind, pools in zip(SlotKind, self.pools, strict=True):
            if name not in pools:
                pools[name] = PoolShare(name, kind, self.settings.pool(name), now)
        self._jobs.append(job)
        self._jobs.sort(key=by_priority)
        self._choose_jobs()
        return None

    def assign(self, tracker: TrackerSlots, now: int) -> Sequence[Assignment]:
        """Give tasks of the kind of which the node runs less, one after the other."""
        self.withheld = False
        self._waits.pass_time(now)
        left = {kind: self._room(tracker, kind) for kind in SlotKind}
        given: list[Assignment] = []
        skipped: dict[JobInProgress, None] = {}
        counts = list(tracker.busy)
        while kinds := [kind for kind in SlotKind if left[kind] > 0]:
            kind = min(kinds, key=lambda each: (counts[each], each))
            found = self._find(kind, tracker, now, skipped)
            if found is None:
                left[kind] = 0
                continue
            left[kind] -= 1
            counts[kind] += 1
            given.append(found)
            self._started(found, now)
            if not self.settings.assign_multiple:
                break
        mapped = {each.job for each in given if each.kind is SlotKind.MAP}
        for job in skipped:
            if job not in mapped:
                self._waits.skip(job)
        return given

    def ended(self, job: JobInProgress, kind: SlotKind, number: int) -> None:
        """Count the slot as free."""
        self.pools[kind][job.job.queue].running -= 1
        self._review(job)
        starts = self._starts.get((job, kind, number))
        if starts:
            starts.pop()
            if not starts:
                del self._starts[job, kind, number]

    def waits_again(self, job: JobInProgress, kind: SlotKind, number: int) -> None:
        """Update the counts after a task waits again."""
        self._review(job)

    def completed(self, job: JobInProgress) -> None:
        """Remove a job, and start the next one that waits for its pool or user."""
        self._jobs.remove(job)
        self._waits.forget(job)
        self._withdraw(job)
        self._choose_jobs()

    def trackers_changed(self) -> None:
        """Count the slots of the nodes that are alive."""
        alive = [tracker.slots for tracker in self.trackers if tracker.alive]
        self._slots = [sum(slots[kind] for slots in alive) for kind in SlotKind]

    def poll(self, now: int) -> Sequence[Preemption]:
        """Update starved pools; at each preemption interval, return tasks of others to kill."""
        interval = self.settings.preemption_interval * MILLISECOND
        is_due = now - self._last_preemption >= interval
        if is_due:
            self._last_preemption = now
        killed: list[Preemption] = []
        for kind, pools in zip(SlotKind, self.pools, strict=True):
            set_fair_shares(pools.values(), self._slots[kind])
            for pool in pools.values():
                pool.look(now)
            if is_due:
                timeout = self.settings.fair_share_preemption_timeout
                due = sum(missing(pool, timeout, now) for pool in pools.values())
                killed.extend(to_kill(pools, kind, self._starts, due))
        return killed

    def change(self, parameters: Mapping[str, object], now: int) -> None:
        """Change settings, by their names in the files.

        Raises FairSettingsError, also for preemption, since polling must start with the run.
        """
        settings = changed(self.settings, parameters)
        if settings.preemption is not self.settings.preemption:
            raise FairSettingsError("preemption", "cannot change while the cluster runs")
        self.settings = settings
        for pools in self.pools:
            for name, pool in pools.items():
                pool.change(self.settings.pool(name))
        self._set_up()
        self._choose_jobs()

    def _set_up(self) -> None:
        settings = self.settings
        preempts = settings.preemption
        self.poll_interval = settings.update_interval * MILLISECOND if preempts else None
        self._waits.node = settings.locality_delay_node * MILLISECOND
        self._waits.rack = settings.locality_delay_rack * MILLISECOND

    def _choose_jobs(self) -> None:
        """Start waiting jobs in their order, within the limits of pools and users."""
        settings = self.settings
        of_pool: Counter[str] = Counter()
        of_user: Counter[str] = Counter()
        for job in self._jobs:
            pool, user = job.job.queue, job.job.user
            most = settings.pool(pool).max_running_jobs
            most_of_user = settings.max_jobs_of.get(user, settings.user_max_jobs_default)
            if of_user[user] < most_of_user and (most is None or of_pool[pool] < most):
                of_pool[pool] += 1
                of_user[user] += 1
                if job not in self._may_run:
                    self._may_run[job] = None
                    self._review(job)
            elif job in self._may_run:
                self._withdraw(job)

    def _review(self, job: JobInProgress) -> None:
        if job in self._may_run:
            for pools in self.pools:
                pools[job.job.queue].review(job)

    def _withdraw(self, job: JobInProgress) -> None:
        self._may_run.pop(job, None)
        for pools in self.pools:
            pools[job.job.queue].withdraw(job)

    def _room(self, tracker: TrackerSlots, kind: SlotKind) -> int:
        """Return how many tasks of a kind a node may get at this heartbeat.

        A node fills no more of its slots than all would if tasks were spread equally.
        """
        settings, free = self.settings, tracker.free(kind)
        pools = self.pools[kind].values()
        if free <= 0 or not any(pool.offering.jobs for pool in pools):
            return 0
        load = sum(pool.demand for pool in pools) / self._slots[kind]
        cap = ceil(tracker.slots[kind] * min(1.0, load + settings.load_max_diff))
        most = (settings.assign_multiple_maps, settings.assign_multiple_reduces)[kind]
        return min(free, cap - tracker.busy[kind], free if most < 0 else most)

    def _find(
        self, kind: SlotKind, tracker: TrackerSlots, now: int, skipped: dict[JobInProgress, None]
    ) -> Assignment | None:
        pools = [pool for pool in self.pools[kind].values() if pool.offering.jobs]
        for pool in sorted(pools, key=PoolShare.urgency):
            if pool.is_full():
                continue
            for job in pool.in_order(self.settings.size_based_weight):
                found = self._ask(job, kind, tracker, now)
                if found is not None:
                    return found
                self.withheld = True  # time alone may bring it a slot
                if kind is SlotKind.MAP:
                    skipped[job] = None
        return None

    def _ask(
        self, job: JobInProgress, kind: SlotKind, tracker: TrackerSlots, now: int
    ) -> Assignment | None:
        if kind is SlotKind.REDUCE:
            return reduce_of(job, tracker, now)
        is_starved = self.settings.preemption and self._is_starved(job.job.queue, now)
        furthest = Locality.OFF_SWITCH if is_starved else self._waits.allowed(job)
        return map_of(job, tracker, furthest, now)

    def _is_starved(self, pool: str, now: int) -> bool:
        share = self.pools[SlotKind.MAP][pool]
        return missing(share, self.settings.fair_share_preemption_timeout, now) > 0

    def _started(self, given: Assignment, now: int) -> None:
        job, kind, number, locality, _ = given
        self.pools[kind][job.job.queue].running += 1
        self._review(job)
        if locality is not None:
            self._waits.launched(job, locality)
        if self.settings.preemption:
            self._starts.setdefault((job, kind, number), []).append(now)


def _set_up(
    settings: FairSettings, without_effect: tuple[str, ...] = (), source: str = "scheduler"
) -> SchedulerSetup:
    queues = None if settings.allow_undeclared_pools else tuple(settings.pools)
    build = partial(FairTaskScheduler, settings=settings)
    return SchedulerSetup(build, queues, without_effect, source)

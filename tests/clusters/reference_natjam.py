"""A second, independent simulator of the preemptive cluster, to check models and engines against.

It shares no code with the package: plain objects and a small message loop of its own. What happens
at one time unit is ordered as RMC's trace generator does it: again and again one actor is drawn
among those that have a message, and then one of its messages.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction

import numpy as np

Draw = Callable[[int], int]
"""Draws a position 0 .. k - 1 of k alternatives."""

Workload = Callable[[int, Draw], int]
"""The value of a pattern at a time unit."""

PRODUCTION, RESEARCH = "production", "research"


@dataclass
class Outcome:
    """What became of the jobs of one run."""

    production_queue_misses: int = 0
    research_queue_misses: int = 0
    production_job_misses: int = 0
    research_job_misses: int = 0
    checkpoint_queue_misses: int = 0
    checkpoint_overflow: int = 0
    production_completions: int = 0
    research_completions: int = 0
    checkpoints: int = 0
    margin: int = 0
    drops: int = 0
    production_drops: int = 0
    arrived: int = 0

    @property
    def app_master_misses(self) -> int:
        """Misses of jobs that an AppMaster has run."""
        return (
            self.production_job_misses
            + self.research_job_misses
            + self.checkpoint_queue_misses
            + self.checkpoint_overflow
        )

    @property
    def misses(self) -> int:
        return self.production_queue_misses + self.research_queue_misses + self.app_master_misses

    @property
    def completions(self) -> int:
        return self.production_completions + self.research_completions


COUNTS = tuple(field.name for field in fields(Outcome))


@dataclass
class Job:
    time: int
    deadline: int
    priority: int | None = None
    kind: str = RESEARCH
    part: Fraction = Fraction(0)
    """Of a unit of work: what is done already of the one that is not done."""

    def work(self, speed: Fraction) -> None:
        """Take what a time unit does off the work left, which is counted in whole units."""
        done = self.part + speed
        self.time -= math.floor(done)
        self.part = done - math.floor(done)
        self.deadline -= 1


@dataclass
class Mirror:
    """What the manager believes about an AppMaster."""

    job: Job | None = None
    locked: bool = False

    @property
    def idle(self) -> bool:
        return self.job is None and not self.locked


@dataclass(frozen=True)
class Cluster:
    policy: str
    app_masters: int
    arrivals: Workload
    lengths: Workload
    epsilon: float = 1.0
    overhead: int = 0
    as_published: bool = False
    queue_size: int = 12
    high_probability: int = 0
    high_length: int = 0
    ticks: int = 99
    speeds: tuple[str, ...] = ("1",)

    def speed(self, worker: int) -> Fraction:
        return Fraction(self.speeds[worker % len(self.speeds)])

    def key(self, job: Job) -> int:
        """Small: to be run; large: to be evicted."""
        return job.deadline if self.policy == "MDF" else job.deadline - job.time

    def is_high(self, job: Job | None) -> bool:
        return bool(job and job.priority is not None and job.priority <= self.high_probability)

    def is_low(self, job: Job | None) -> bool:
        return bool(job and job.priority is not None and job.priority > self.high_probability)

    def deadline(self, length: int) -> int:
        return int(np.float32(length) * (np.float32(1.0) + np.float32(self.epsilon))) + 1


def fair(generator: random.Random) -> Draw:
    """Every alternative is equally likely."""
    return generator.randrange


def rmc(generator: random.Random) -> Draw:
    """The last alternative comes twice among k + 1 equally likely results."""
    return lambda count: min(generator.randrange(count + 1), count - 1)


def one_job(time: int, draw: Draw) -> int:
    return 1


def simulate(
    cluster: Cluster, draw: Draw, generator: random.Random, redraw: Draw | None = None
) -> Outcome:
    """Run the cluster once; `draw` makes the choices, `generator` orders what happens at once.

    `redraw` draws the priorities that take the place of spent ones; like `draw` if not given.
    """
    return _Run(cluster, draw, generator, redraw or draw).result()


class _Run:
    def __init__(
        self, cluster: Cluster, draw: Draw, generator: random.Random, redraw: Draw
    ) -> None:
        self.cluster, self.draw, self.generator, self.redraw = cluster, draw, generator, redraw
        self.outcome = Outcome()
        self.incoming: list[Job | None] = [None] * cluster.queue_size
        self.saved: list[Job | None] = [None] * cluster.queue_size
        self.mirrors = [Mirror() for _ in range(cluster.app_masters)]
        self.running: list[Job | None] = [None] * cluster.app_masters
        # Messages as closures: those of this time unit and those of the next, by actor (0: manager)
        self.now: list[list[Callable[[], None]]] = [[] for _ in range(cluster.app_masters + 1)]
        self.next: list[list[Callable[[], None]]] = [[] for _ in range(cluster.app_masters + 1)]
        self.time = 0

    def result(self) -> Outcome:
        self.now[0].append(self.tick)
        while self.time < self.cluster.ticks:
            while busy := [bag for bag in self.now if bag]:
                bag = self.generator.choice(busy)
                bag.pop(self.generator.randrange(len(bag)))()
            self.now, self.next = self.next, self.now
            self.time += 1
        return self.outcome

    # --- the AppMasters ---------------------------------------------------------------------

    def run_job(self, worker: int, job: Job) -> None:
        old = self.running[worker]
        if old is None:
            self.next[worker + 1].append(lambda: self.process(worker))
        elif old.kind == RESEARCH:
            self.now[0].append(lambda: self.checkpoint(worker, old, Job(**vars(job))))
        self.running[worker] = Job(job.time, job.deadline, kind=job.kind)

    def process(self, worker: int) -> None:
        job = self.running[worker]
        job.work(self.cluster.speed(worker))
        if self.cluster.speeds != ("1",):
            job.time = max(job.time, 0)
        if job.time <= 0 or job.deadline <= 0:
            self.running[worker] = None
            self.now[0].append(lambda: self.update(worker, job))
        else:
            self.next[worker + 1].append(lambda: self.process(worker))

    # --- the manager ------------------------------------------------------------------------

    def update(self, worker: int, job: Job) -> None:
        self.count(job.kind, "completions" if job.time <= 0 else "job_misses")
        self.outcome.margin += job.deadline - job.time
        self.mirrors[worker].job = None

    def checkpoint(self, worker: int, old: Job, new: Job) -> None:
        empty = [slot for slot, job in enumerate(self.saved) if job is None]
        if empty:
            self.saved[empty[-1]] = Job(old.time + self.cluster.overhead, old.deadline)
            self.outcome.checkpoints += 1
        else:
            self.outcome.checkpoint_overflow += 1
        if self.cluster.as_published:  # also one whose update came before
            self.mirrors[worker].job = new

    def count(self, kind: str, what: str) -> None:
        name = f"{kind}_{what}"
        setattr(self.outcome, name, getattr(self.outcome, name) + 1)

    def tick(self) -> None:
        self.age()
        self.incoming.sort(key=lambda job: -999 if job is None else job.deadline)
        self.place_high()
        self.resume()
        self.place_low()
        for mirror in self.mirrors:
            mirror.locked = False
        self.arrive()
        self.next[0].append(self.tick)

    def age(self) -> None:
        for slot, job in enumerate(self.incoming):
            if job:
                job.deadline -= 1
                if job.deadline <= 0:
                    kind = PRODUCTION if self.cluster.is_high(job) else RESEARCH
                    self.count(kind, "queue_misses")
                    self.incoming[slot] = None
        for slot, job in enumerate(self.saved):
            if job:
                job.deadline -= 1
                if job.deadline <= 0:
                    self.outcome.checkpoint_queue_misses += 1
                    self.saved[slot] = None
        for worker, mirror in enumerate(self.mirrors):
            if mirror.job and (mirror.job.time > 0 or mirror.job.deadline > 0):
                mirror.job.work(self.cluster.speed(worker))

    def give(self, worker: int, queue: list[Job | None], slot: int, kind: str) -> None:
        job, queue[slot] = queue[slot], None
        sent = Job(job.time, job.deadline, kind=kind)
        self.now[worker + 1].append(lambda: self.run_job(worker, sent))
        self.mirrors[worker] = Mirror(Job(job.time, job.deadline, kind=kind), locked=True)

    def first_idle(self) -> int | None:
        return next((worker for worker, mirror in enumerate(self.mirrors) if mirror.idle), None)

    def victim(self, least_deadline: int) -> int | None:
        """The AppMaster whose job is evicted; of equal keys the lowest index."""
        able = [
            worker
            for worker, mirror in enumerate(self.mirrors)
            if not mirror.locked
            and mirror.job
            and mirror.job.kind == RESEARCH
            and mirror.job.time > mirror.job.part + self.cluster.speed(worker)
            and mirror.job.deadline >= least_deadline
        ]
        return max(able, key=lambda w: (self.cluster.key(self.mirrors[w].job), -w), default=None)

    def place_high(self) -> None:
        for find in (
            self.first_idle,
            lambda: self.victim(-(10**9) if self.cluster.as_published else 2),
        ):
            for slot, job in enumerate(self.incoming):
                if self.cluster.is_high(job):
                    worker = find()
                    if worker is not None:
                        self.give(worker, self.incoming, slot, PRODUCTION)

    def smallest(self, queue: list[Job | None], slots: list[int]) -> int | None:
        return min(slots, key=lambda s: (self.cluster.key(queue[s]), s), default=None)

    def resume(self) -> None:
        def waiting() -> list[int]:
            return [slot for slot, job in enumerate(self.saved) if job]

        def allowed() -> list[int]:
            if not self.cluster.as_published:
                return waiting()
            return [slot for slot in waiting() if self.cluster.is_low(self.incoming[slot])]

        def taken(slot: int) -> None:
            if self.cluster.as_published:
                self.incoming[slot].priority = None

        for worker, mirror in enumerate(self.mirrors):
            if mirror.idle:
                slot = self.smallest(self.saved, waiting())
                if slot is not None:
                    self.give(worker, self.saved, slot, RESEARCH)
        self.preempt(self.saved, allowed, taken)

    def place_low(self) -> None:
        def low() -> list[int]:
            return [slot for slot, job in enumerate(self.incoming) if self.cluster.is_low(job)]

        for slot in low():
            worker = self.first_idle()
            if worker is not None:
                self.give(worker, self.incoming, slot, RESEARCH)
        self.preempt(self.incoming, low, lambda slot: None)

    def preempt(self, queue, candidates, taken) -> None:
        while True:
            slot, worker = self.smallest(queue, candidates()), self.victim(2)
            if slot is None or worker is None:
                return
            if self.cluster.key(self.mirrors[worker].job) - self.cluster.key(queue[slot]) <= 0:
                return
            self.give(worker, queue, slot, RESEARCH)
            taken(slot)

    def arrive(self) -> None:
        for _ in range(self.cluster.arrivals(self.time, self.draw)):
            self.outcome.arrived += 1
            length = self.cluster.lengths(self.time, self.draw)
            job = Job(length, self.cluster.deadline(length))
            self.give_priority(job, self.draw)
            if None in self.incoming:
                self.incoming[self.incoming.index(None)] = job
            else:
                self.outcome.drops += 1
                self.outcome.production_drops += self.cluster.is_high(job)
        # Those of which a mistake of the published models has taken it.
        for job in self.incoming:
            if job and job.priority is None:
                self.give_priority(job, self.redraw)

    def give_priority(self, job: Job, draw: Draw) -> None:
        job.priority = 10 * (draw(10) + 1)
        if self.cluster.high_length > 0 and self.cluster.is_high(job):
            job.time = self.cluster.high_length
            job.deadline = self.cluster.deadline(job.time)

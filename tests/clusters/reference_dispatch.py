"""A second, independent simulator of the dispatch cluster, to check models and engines against.

It shares no code with the package: plain lists, no messages, no templates. It relies on the fact
that only the ResourceManager's order of events matters: at each time unit the updates that arrive
and the tick are served in a uniformly random order.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import numpy as np

Draw = Callable[[int], int]
"""Draws a position 0 .. k - 1 of k alternatives."""

Workload = Callable[[int, Draw], int]
"""The value of a pattern at a time unit."""


@dataclass
class Outcome:
    """What became of the jobs of one run."""

    queue_misses: int = 0
    update_misses: int = 0
    completions: int = 0
    dropped: int = 0
    arrived: int = field(default=0, compare=False)
    high: dict[str, int] = field(default_factory=dict, compare=False)
    """How many of a counter are jobs of high priority, where priorities are drawn."""
    busy: dict[int, int] = field(default_factory=dict, compare=False)
    """Time units before the end in which each AppMaster was busy, from 0."""

    @property
    def misses(self) -> int:
        return self.queue_misses + self.update_misses

    def count(self, counter: str, is_high: bool) -> None:
        setattr(self, counter, getattr(self, counter) + 1)
        if is_high:
            self.high[counter] = self.high.get(counter, 0) + 1


@dataclass(eq=False, slots=True)
class Job:
    time_left: int
    length: int
    priority: int | None = None


@dataclass(frozen=True)
class Cluster:
    policy: str
    app_masters: int
    arrivals: Workload
    lengths: Workload
    epsilon: float
    queue_size: int = 12
    high_probability: int = 0
    high_length: int = 0
    ticks: int = 99
    speeds: tuple[str, ...] = ("1",)
    same_jobs: bool = False
    """Whether jobs have priorities under all policies; in the original, under PRIORITY."""

    def is_high(self, job: Job) -> bool:
        return job.priority is not None and job.priority <= self.high_probability


def fair(generator: random.Random) -> Draw:
    """Every alternative is equally likely."""
    return generator.randrange


def rmc(generator: random.Random) -> Draw:
    """The last alternative comes twice among k + 1 equally likely results."""
    return lambda count: min(generator.randrange(count + 1), count - 1)


def one_job(time: int, draw: Draw) -> int:
    return 1


def drawn_between(minimum: int, maximum: int) -> Workload:
    return lambda time, draw: minimum + draw(maximum - minimum + 1)


def deadline_of(length: int, epsilon: float) -> int:
    """The deadline of a new job in single precision."""
    return int(np.float32(length) * (np.float32(1.0) + np.float32(epsilon))) + 1


def simulate(cluster: Cluster, draw: Draw, generator: random.Random) -> Outcome:
    """Run the cluster once; `draw` makes the choices, `generator` orders what happens at once."""
    outcome = Outcome()
    queue: list[Job | None] = [None] * cluster.queue_size
    free = [True] * cluster.app_masters
    due: dict[int, list[tuple[int, bool, bool]]] = {}
    for time in range(cluster.ticks):
        happening: list[tuple[int, bool, bool] | None] = [None, *due.pop(time, ())]
        generator.shuffle(happening)
        for update in happening:
            if update is None:
                _tick(cluster, time, queue, free, due, outcome, draw)
                continue
            app_master, missed, is_high = update
            free[app_master] = True
            outcome.count("update_misses" if missed else "completions", is_high)
    return outcome


def _tick(cluster, time, queue, free, due, outcome, draw) -> None:
    _age(cluster, queue, outcome)
    for app_master in range(cluster.app_masters):
        if free[app_master]:
            job = _take(cluster, queue)
            if job is not None:
                free[app_master] = False
                needed = _needed(job.length, cluster.speeds[app_master % len(cluster.speeds)])
                missed = needed > job.time_left
                end = time + min(needed, job.time_left)
                before = outcome.busy.get(app_master, 0)
                outcome.busy[app_master] = before + min(end, cluster.ticks) - time
                due.setdefault(end, []).append((app_master, missed, cluster.is_high(job)))
    for _ in range(cluster.arrivals(time, draw)):
        outcome.arrived += 1
        job = _drawn_job(cluster, time, draw)
        if None in queue:
            queue[queue.index(None)] = job
        else:
            outcome.count("dropped", cluster.is_high(job))


@cache
def _needed(length: int, speed: str) -> int:
    """The time units that a job takes."""
    return math.ceil(length / Fraction(speed))


def _age(cluster, queue, outcome) -> None:
    for index, job in enumerate(queue):
        if job is not None:
            job.time_left -= 1
            if job.time_left <= 0:
                outcome.count("queue_misses", cluster.is_high(job))
                queue[index] = None
    if cluster.policy == "FIFO":  # the others move up
        waiting = [job for job in queue if job is not None]
        queue[:] = waiting + [None] * (len(queue) - len(waiting))


def _take(cluster, queue):
    """Remove the job that the policy chooses; None when no job waits."""
    if cluster.policy == "FIFO":
        queue.append(None)
        return queue.pop(0)
    waiting = [index for index, job in enumerate(queue) if job is not None]
    if not waiting:
        return None
    if cluster.policy == "PRIORITY":
        high = [index for index in waiting if queue[index].priority <= cluster.high_probability]
        waiting = high or waiting
    rank = _RANKS[cluster.policy]
    chosen = min(waiting, key=lambda index: rank(queue[index]))
    job, queue[chosen] = queue[chosen], None
    return job


_RANKS = {
    "EDF": lambda job: job.time_left,
    "PRIORITY": lambda job: job.time_left,
    "MDF": lambda job: -job.time_left,
    "LLF": lambda job: job.time_left - job.length,
    "MLF": lambda job: job.length - job.time_left,
    "SJF": lambda job: job.length,
}
"""What the chosen job has the least of; of equals it is the one at the front, as `min` has it."""


def _drawn_job(cluster, time, draw) -> Job:
    length, priority = cluster.lengths(time, draw), None
    if cluster.policy == "PRIORITY" or cluster.same_jobs:
        priority = 10 * (draw(10) + 1)
        if cluster.high_length > 0 and priority <= cluster.high_probability:
            length = cluster.high_length
    return Job(_deadline(cluster, length), length, priority)


_DEADLINES: dict[tuple[int, float], int] = {}


def _deadline(cluster, length) -> int:
    key = (length, cluster.epsilon)
    if key not in _DEADLINES:
        _DEADLINES[key] = deadline_of(*key)
    return _DEADLINES[key]

"""Allocations: which processors are free, and when more will be."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Any

from rebecsim.clusters.batch.job import Job
from rebecsim.clusters.batch.machine import Machine


class Allocations:
    """What runs on a machine, by the estimates.

    Nothing runs longer than its estimate. A job whose estimate expires now therefore counts as
    ended, though the message that says so may still wait to be served.
    """

    __slots__ = ("free", "given_back", "machine", "processors", "running")

    def __init__(self, machine: Machine[Any]) -> None:
        self.machine = machine
        self.free: Any = machine.empty
        """The level of the machine now."""
        self.processors = machine.processors
        """How many of them are free; a job that takes more does not fit."""
        self.given_back = 0
        """How often something has become free."""
        self.running: list[tuple[int, int, int, Job]] = []
        """Expected end, position in the workload, processors and job, of what runs; in that
        order."""

    def expire(self, now: int) -> None:
        """Take back what jobs have whose estimate is over at the time `now`."""
        running = self.running
        if running and running[0][0] <= now:
            count = bisect_left(running, (now + 1,))
            ended = running[:count]
            self.free = sum([job.amount for _, _, _, job in ended], self.free)
            self.processors += sum([processors for _, _, processors, _ in ended])
            del running[:count]
            self.given_back += 1

    def start(self, job: Job, amount: Any, now: int) -> None:
        """Note that a job takes an amount from now on."""
        processors = job.processors
        self.free = self.free - amount
        self.processors -= processors
        job.amount = amount
        job.expected_end = end = now + job.estimate
        insort(self.running, (end, job.index, processors, job))

    def finish(self, job: Job, now: int) -> bool:
        """Note that a job has ended; tell whether it did so before its estimate was over."""
        running = self.running
        if running and running[0][0] <= now:
            self.expire(now)
        place = bisect_left(running, (job.expected_end, job.index))
        if place == len(running) or running[place][3] is not job:
            return False
        del running[place]
        self.free = self.free + job.amount
        self.processors += job.processors
        self.given_back += 1
        return True

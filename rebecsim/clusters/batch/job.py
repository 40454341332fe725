"""A job as the rebecs of a cluster pass it on."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, eq=False)
class Job:
    """A rigid parallel job: so many processors, for so long.

    A policy may look at everything but `run`, which only shows when the job ends; a scheduler
    that knew it would have exact estimates, and those are `estimate` then.

    Attributes:
        index: its position in the workload, from 0, in the order of submission.
        number: its number in the log.
        submit: when it is submitted, seconds.
        run: how long it will run, seconds; not longer than its limit, at which it is killed.
        processors: how many it takes, at least 1.
        estimate: how long the resource manager believes that it runs, seconds, at least `run`.
        user, group, queue: numbers of the log; -1 is unknown.
        chunk: processors that must be on one node; a divisor of `processors`.
        demand: what one processor takes of each resource of a node beside the processors.
        expected_end: when it ends by its estimate, or was planned to; the manager notes it.
        amount: what it has been given of the machine; the manager notes it.
    """

    index: int
    number: int
    submit: int
    run: int
    processors: int
    estimate: int
    user: int = -1
    group: int = -1
    queue: int = -1
    chunk: int = 1
    demand: tuple[int, ...] = ()
    expected_end: int = field(default=-1, init=False)
    amount: Any = field(default=None, init=False)

    @property
    def area(self) -> int:
        """Processor seconds, by the estimate."""
        return self.processors * self.estimate

    def __deepcopy__(self, memo: object) -> Job:
        """Copy the job; its amount is never changed, only replaced."""
        return copy(self)

    def __str__(self) -> str:
        return f"job {self.number}"

    def __repr__(self) -> str:
        return f"<job {self.number}: {self.processors} x {self.estimate} s>"

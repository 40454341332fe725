"""What is written down of a run: stretches in which jobs ran, and why watched jobs waited."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from rebecsim.actors import StatePart

By = Literal["SchedSubmit", "SchedMain", "SchedBackfill", ""]
"""Which scheduler started a job, as the column Flags of sacct says it."""

RunState = Literal[
    "COMPLETED", "FAILED", "TIMEOUT", "PREEMPTED", "NODE_FAIL", "CANCELLED", "REFUSED"
]


class JobRun(NamedTuple):
    """A stretch in which a job ran, or the job that never did (`start` is -1 then).

    Attributes:
        position: of the job among all.
        start, end: seconds.
        nodes, cpus: numbers of its nodes, and CPUs on each.
        state: how it ended.
        by: which scheduler started it.
        place: the number of its partition; -1: none.
        reason: the last reason for which it waited, other than Priority and Resources.
        eligible: from when on it could have started, seconds.
    """

    position: int
    start: int
    end: int
    nodes: tuple[int, ...]
    cpus: tuple[int, ...]
    state: RunState
    by: By
    place: int
    reason: str
    eligible: int


class Journal(StatePart):
    """Why jobs that are watched wait: a line each time that a reason is found for one.

    Attributes:
        watched: their numbers; where there are some, passes leave nothing out.
        lines: time, number of the job, who looked, and the reason.
        at: when priorities are written down, seconds; None: never, or they have been.
        terms: number, priority and its terms of the jobs that waited then, in their order.
    """

    def __init__(self, watched: Iterable[int] = (), at: int | None = None) -> None:
        self.watched: tuple[int, ...] = tuple(watched)
        self.lines: list[tuple[int, int, str, str]] = []
        self.at = at
        self.terms: list[tuple[int, int, tuple[float, ...]]] = []

    def note(self, now: int, number: int, who: str, reason: str) -> None:
        """Write down a reason, if the job is watched."""
        if number in self.watched:
            self.lines.append((now, number, who, reason))

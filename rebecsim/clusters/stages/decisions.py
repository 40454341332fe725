"""Decisions of a resource manager: what they cost in time, and what is kept of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from time import perf_counter
from typing import NamedTuple

from rebecsim.clusters.stages.job import StageJob
from rebecsim.clusters.stages.managers.manager import StageManager
from rebecsim.clusters.stages.schedule import Assignment, Schedule


class ChargedBy(StrEnum):
    """What says how long a resource manager is busy with a decision."""

    RATE = "rate"
    CLOCK = "clock"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class DecisionCost:
    """How long a resource manager is busy with a decision, on the clock of the cluster.

    By rate it decides at the end of that time, about the tasks that have not started then. By the
    wall clock nobody knows before how long it takes: it decides at once, and is busy afterwards;
    runs are then not repeatable.

    Attributes:
        charged_by: what says how long.
        constant: of each decision, if charged by rate (ms).
        per_task: for each task of the jobs that have arrived, likewise (ms).
    """

    charged_by: ChargedBy = ChargedBy.RATE
    constant: float = 1.0
    per_task: float = 0.1

    def before(self, tasks: int) -> int:
        """Give how long a decision about so many tasks takes until it is made (whole ms)."""
        if self.charged_by is not ChargedBy.RATE:
            return 0
        return ceil(self.constant + self.per_task * tasks)

    def after(self, clock: float) -> int:
        """Give how long the manager is busy after it, by the time it took (s) (whole ms)."""
        return ceil(1000 * clock) if self.charged_by is ChargedBy.CLOCK else 0


class MadeDecision(NamedTuple):
    """A decision.

    Attributes:
        began: when the resource manager was asked (ms).
        made: when it had decided (ms).
        jobs: that had arrived.
        tasks: of these, without dummies.
        placed: tasks that had no place before.
        moved: tasks that had one, and have another now.
        charged: for how long the manager was busy (ms).
        clock: how long it took by the wall clock (s); not repeatable.
        limited: whether it ran into a limit of time, and used the best that was found.
    """

    began: int
    made: int
    jobs: int
    tasks: int
    placed: int
    moved: int
    charged: int
    clock: float
    limited: bool

    @property
    def busy(self) -> int:
        """How long the manager is busy after it has decided (ms)."""
        return self.charged - (self.made - self.began)


def decided(
    manager: StageManager,
    jobs: Sequence[StageJob],
    schedule: Schedule,
    cost: DecisionCost,
    times: tuple[int, int],
) -> tuple[Sequence[Assignment], MadeDecision]:
    """Ask a manager what to change in a schedule, which is left as it is, as jobs have arrived.

    `times` are when it was asked and when it decides, which is now (ms).
    """
    began, now = times
    limits, clock = manager.limits_reached, perf_counter()
    arrived = [manager.adjusted(job) for job in jobs]
    changes = manager.plan(now, arrived, schedule.running, schedule.scheduled)
    clock = perf_counter() - clock
    moved = sum(each.key in schedule.scheduled for each in changes)
    return changes, MadeDecision(
        *(began, now, len(jobs), sum(len(job.real_tasks) for job in jobs)),
        *(len(changes) - moved, moved),
        charged=now - began + cost.after(clock),
        clock=clock,
        limited=manager.limits_reached > limits,
    )

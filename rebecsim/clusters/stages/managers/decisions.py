"""Decisions of resource managers: their records, and the time that they cost.

`benchmarks/decision_times.py` measured the recorded times, as processor time on one core, over
synthetic MapReduce, CyberShake and LIGO, and for MILP over small closed problems. Their sums agree
with each of these measurements within a factor of 2.5; managers differ by factors of hundreds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from time import perf_counter
from types import MappingProxyType
from typing import NamedTuple

from rebecsim.actors import Constant, StatePart
from rebecsim.clusters.stages.job import StageJob
from rebecsim.clusters.stages.managers.manager import StageManager
from rebecsim.clusters.stages.resources import Assignment, Schedule


class ChargedBy(StrEnum):
    """What determines how long a resource manager is busy with a decision."""

    RECORDED = "recorded"
    RATE = "rate"
    CLOCK = "clock"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class DecisionWork(Constant):
    """The size of a decision, which is repeatable.

    Attributes:
        tasks: real tasks of the jobs that had arrived.
        waiting: planned tasks that had not started.
        searched: work of solvers, in the unit of `StageManager.searched`.
    """

    tasks: int
    waiting: int
    searched: float

    @property
    def modelled(self) -> int:
        """Number of tasks in the solver's model; 0 without a search."""
        return self.tasks + self.waiting if self.searched > 0 else 0


@dataclass(frozen=True, slots=True)
class DecisionTimes:
    """Recorded decision times of a manager.

    Attributes:
        constant: for each decision (ms).
        per_task: for each task of the jobs that have arrived (ms).
        per_waiting: for each planned task that has not started (ms).
        per_modelled: for each task in a solver's model (ms).
        per_search: for each unit of `StageManager.searched` (ms).
    """

    constant: float
    per_task: float
    per_waiting: float = 0.0
    per_modelled: float = 0.0
    per_search: float = 0.0

    def of(self, work: DecisionWork) -> float:
        """Return how long a decision takes (ms)."""
        return (
            self.constant
            + self.per_task * work.tasks
            + self.per_waiting * work.waiting
            + self.per_modelled * work.modelled
            + self.per_search * work.searched
        )


@dataclass(frozen=True, slots=True)
class DecisionCost(Constant):
    """How long a resource manager is busy with a decision, in simulated time.

    Charged by rate, it decides at the end of that time, about the tasks that have not started then.
    Otherwise the time is unknown beforehand: it decides at once, and is busy afterwards. Only runs
    charged by the wall clock are not repeatable.

    Attributes:
        charged_by: what determines the time.
        constant: for each decision, if charged by rate (ms).
        per_task: for each task of the jobs that have arrived, if charged by rate (ms).
        recorded: recorded times of the manager, if charged by these.
    """

    charged_by: ChargedBy = ChargedBy.RATE
    constant: float = 1.0
    per_task: float = 0.1
    recorded: DecisionTimes | None = None

    def before(self, tasks: int) -> int:
        """Return the time before a decision about this many tasks is made (whole ms)."""
        if self.charged_by is not ChargedBy.RATE:
            return 0
        return ceil(self.constant + self.per_task * tasks)

    def after(self, work: DecisionWork, clock: float) -> float:
        """Return how long the manager is busy afterwards (ms); `clock` is wall-clock time (s)."""
        if self.charged_by is ChargedBy.CLOCK:
            return 1000 * clock
        if self.charged_by is ChargedBy.RECORDED:
            assert self.recorded is not None
            return self.recorded.of(work)
        return 0.0


class MadeDecision(NamedTuple):
    """The record of a decision.

    Attributes:
        began: when the decision began (ms).
        made: when it was made (ms).
        jobs: number of jobs that had arrived.
        tasks: number of their real tasks.
        placed: number of tasks that got their first place.
        moved: number of tasks that were moved.
        charged: how long the manager was busy (ms).
        clock: wall-clock time (s). It is not repeatable, so it stays 0 until the run is over.
        limited: whether it reached a time limit and used the best schedule found.
        work: its size.
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
    work: DecisionWork

    def __str__(self) -> str:
        return f"decision at {self.made}"

    @property
    def busy(self) -> int:
        """How long the manager is busy afterwards (ms)."""
        return self.charged - (self.made - self.began)


class Stopwatch(Constant):
    """Measures decisions by the wall clock; it is not part of the cluster's state.

    Attributes:
        readings: time of each decision (s).
    """

    def __init__(self) -> None:
        self.readings: list[float] = []

    def timed(self, decisions: Iterable[MadeDecision]) -> list[MadeDecision]:
        """Return all decisions of a run with their measured times."""
        pairs = zip(decisions, self.readings, strict=True)
        return [made._replace(clock=clock) for made, clock in pairs]


class DecisionClock(StatePart):
    """Asks a manager for decisions, and computes how long each keeps it busy."""

    def __init__(self, cost: DecisionCost, watch: Stopwatch | None) -> None:
        self._cost, self._watch = cost, watch
        self._remainder = 0.0  # a fraction of a ms, charged with later decisions

    def before(self, tasks: int) -> int:
        """Return the time before a decision about this many tasks is made (whole ms)."""
        return self._cost.before(tasks)

    def decided(
        self,
        manager: StageManager,
        jobs: Sequence[StageJob],
        schedule: Schedule,
        times: tuple[int, int],
    ) -> tuple[Sequence[Assignment], MadeDecision]:
        """Ask a manager for changes of a schedule, given new jobs; changes nothing itself.

        `times` are when the decision began, and now (ms).
        """
        began, now = times
        limits, searched = manager.limits_reached, manager.searched
        waiting, clock = len(schedule.scheduled), perf_counter()
        arrived = [manager.adjusted(job) for job in jobs]
        running, scheduled = (
            MappingProxyType(schedule.running),
            MappingProxyType(schedule.scheduled),
        )
        changes = manager.plan(now, arrived, running, scheduled)
        clock = perf_counter() - clock
        if self._watch is not None:
            self._watch.readings.append(clock)
        moved = sum(each.key in schedule.scheduled for each in changes)
        work = DecisionWork(
            sum(len(job.real_tasks) for job in jobs), waiting, manager.searched - searched
        )
        return changes, MadeDecision(
            *(began, now, len(jobs), work.tasks),
            *(len(changes) - moved, moved),
            charged=now - began + self._whole(self._cost.after(work, clock)),
            clock=0.0,
            limited=manager.limits_reached > limits,
            work=work,
        )

    def _whole(self, busy: float) -> int:
        """Round a time down to whole ms, and carry the fraction over."""
        whole, self._remainder = divmod(self._remainder + busy, 1.0)
        return int(whole)


DECISION_TIMES: Mapping[str, DecisionTimes] = {
    "WFBB_PD_SL_TSP1": DecisionTimes(0.0739, 0.00711, 0.000392),
    "WFBB_PD_SL_TSP2": DecisionTimes(0.165, 0.00832, 0.000242),
    "WFBB_PD_TL_TSP1": DecisionTimes(0.12, 0.0134, 0.000714),
    "WFBB_PD_TL_TSP2": DecisionTimes(0.153, 0.0161, 0.000426),
    "WFBB_ED_SL_TSP1": DecisionTimes(0.121, 0.00445, 0.000668),
    "WFBB_ED_SL_TSP2": DecisionTimes(0.163, 0.00647, 0.000399),
    "WFBB_ED_TL_TSP1": DecisionTimes(0.086, 0.0121, 0.000707),
    "WFBB_ED_TL_TSP2": DecisionTimes(0.175, 0.0127, 0.000273),
    "EDF": DecisionTimes(0.0062, 0.000996, 0),
    "MINEDF_WC": DecisionTimes(0.0104, 0.00164, 0),
    "MLF": DecisionTimes(0.017, 0.00218, 0),
    "FIFO": DecisionTimes(0.00675, 0.00113, 0),
    "MRCP_RM": DecisionTimes(0.205, 0.0204, 0.0163, 0.208, 19_900),
    "MRCP_RM_AHEAD": DecisionTimes(0.291, 0.0181, 0.0142, 0.205, 20_000),
    "MRCP_RM_MATCHING": DecisionTimes(0.421, 0.0132, 0.0141, 1.26, 5_980),
    "MRCP_RM_MATCHING_AHEAD": DecisionTimes(0.396, 0.0131, 0.0135, 1.24, 5_270),
    "MILP": DecisionTimes(524, 0, 0, 0, 40_500),
    "HCP_RM": DecisionTimes(0, 0, 0.00974, 0.255, 6_470),
}
"""Recorded times by manager."""

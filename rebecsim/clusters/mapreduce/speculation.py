"""Choosing running tasks for a second attempt: Hadoop's rule, and LATE.

Both use the progress of attempts, from 0 to 1. For a map it is the finished share of its steps,
weighted by their times on unshared devices. For a reduce, fetched outputs make up the first third,
and its later steps the rest. The current step counts by elapsed time, up to its share.

LATE is that of Zaharia et al., Improving MapReduce Performance in Heterogeneous Environments,
2008."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rebecsim.actors import StatePart
from rebecsim.clusters.mapreduce.attempts import DONE, Attempt, AttemptOutcome
from rebecsim.clusters.mapreduce.cluster_state import ClusterPlan, JobRun
from rebecsim.clusters.mapreduce.configuration import Speculation
from rebecsim.clusters.mapreduce.job import SECOND, JobInProgress, SlotKind, TrackerSlots

if TYPE_CHECKING:
    from rebecsim.clusters.mapreduce.jobtracker_state import JobTrackerState

_OF_USE = (AttemptOutcome.RUNNING, *DONE)


class _Look(NamedTuple):
    """The last look at a job: tasks for backups, and nodes that should run none."""

    time: int
    numbers: Sequence[int]
    slow_nodes: Sequence[int]


class BackupRule(StatePart, ABC):
    """Finds tasks for backups, once in each heartbeat period.

    A task gets one backup, on a node where it does not run yet.
    """

    def __init__(self, settings: Speculation, plan: ClusterPlan, state: JobTrackerState) -> None:
        self.settings = settings
        self.state = state
        self._heartbeat = plan.configuration.cluster.beat
        self._looks: dict[tuple[JobInProgress, SlotKind], _Look] = {}

    def backup_for(
        self, job: JobInProgress, kind: SlotKind, tracker: TrackerSlots, now: int
    ) -> int | None:
        """Return the most urgent task for a backup on a node."""
        run = self.state.active.get(job)
        if run is None or not self.allows(kind):
            return None
        look = self._looks.get((job, kind))
        if look is None or now - look.time >= self._heartbeat:
            look = self._looks[job, kind] = self._look(run, kind, now)
        if tracker.number in look.slow_nodes:
            return None
        for number in look.numbers:
            attempts = run.live[kind].get(number, ())
            if len(attempts) != 1 or run.done[kind][number]:
                continue  # meanwhile it has a backup, or has ended
            if attempts[0].end is None and attempts[0].node.slots is not tracker:
                return number
        return None

    def tidy(self) -> None:
        """Drop finished jobs, and the order of looks."""
        active = self.state.active
        looks = sorted(self._looks.items(), key=lambda each: (each[0][0].job.number, each[0][1]))
        self._looks = {key: look for key, look in looks if key[0] in active}

    def _look(self, run: JobRun, kind: SlotKind, now: int) -> _Look:
        """Find tasks of a job for backups, and nodes that should have none."""
        alone = [
            attempts[0]
            for number, attempts in run.live[kind].items()
            if len(attempts) == 1 and not run.done[kind][number]
        ]
        patience = round(self.settings.patience * SECOND)
        patient = [each for each in alone if each.end is None and now - each.start >= patience]
        if not patient:
            return _Look(now, [], [])
        numbers = [each.number for each in self.laggards(run, kind, patient, now)]
        return _Look(now, numbers, self.slow_nodes(run, kind, now))

    def allows(self, kind: SlotKind) -> bool:
        """Whether there may be one more backup."""
        return True

    def slow_nodes(self, run: JobRun, kind: SlotKind, now: int) -> Sequence[int]:
        """Give the nodes that should run no backups of a job."""
        return []

    @abstractmethod
    def laggards(
        self, run: JobRun, kind: SlotKind, patient: Sequence[Attempt], now: int
    ) -> list[Attempt]:
        """Return a job's attempts that should have a backup, the most urgent first.

        Attempts in `patient` have run long enough, without another attempt of their task.
        """

    def progress(self, attempt: Attempt, now: int) -> float:
        """Return the progress of an attempt."""
        if attempt.outcome in DONE:
            return 1.0
        steps = 0.0 if attempt.progress is None else attempt.progress.at(now)
        if attempt.kind is SlotKind.MAP:
            return steps
        if attempt.progress is None:
            return len(attempt.fetched) / attempt.run.job.maps / 3
        return (1 + 2 * steps) / 3


class HadoopRule(BackupRule):
    """Hadoop's rule: attempts whose progress lags behind the mean of their job by a gap."""

    def laggards(
        self, run: JobRun, kind: SlotKind, patient: Sequence[Attempt], now: int
    ) -> list[Attempt]:
        """Give those that lag, the last first."""
        tasks = run.job.maps if kind is SlotKind.MAP else run.job.reduces
        running = sum(
            max(self.progress(attempt, now) for attempt in attempts)
            for attempts in run.live[kind].values()
        )
        mean = (sum(run.done[kind]) + running) / tasks
        lagging = [(self.progress(attempt, now), attempt.number, attempt) for attempt in patient]
        limit = mean - self.settings.lag
        return [attempt for progress, _, attempt in sorted(lagging) if progress <= limit]


class LateRule(BackupRule):
    """LATE: of the slowest attempts, the one with the longest remaining time, up to a cap.

    Backups do not run on slow nodes, where the job's running and succeeded attempts have made the
    least progress.
    """

    def allows(self, kind: SlotKind) -> bool:
        """Whether there are few backups."""
        slots = sum(node.slots.slots[kind] for node in self.state.nodes)
        return self.state.backups[kind] < self.settings.cap * slots

    def slow_nodes(self, run: JobRun, kind: SlotKind, now: int) -> Sequence[int]:
        """Return the nodes whose attempts together have made the least progress."""
        done = [0.0] * len(self.state.nodes)
        for attempt in run.attempts[kind]:
            if attempt.outcome in _OF_USE:
                done[attempt.node.number] += self.progress(attempt, now)
        least = percentile(done, self.settings.slow_node)
        return [node for node, progress in enumerate(done) if progress < least]

    def laggards(
        self, run: JobRun, kind: SlotKind, patient: Sequence[Attempt], now: int
    ) -> list[Attempt]:
        """Return slow attempts, the longest remaining time first."""
        rates: dict[Attempt, float] = {}
        for attempt in run.attempts[kind]:
            if attempt.outcome in _OF_USE:
                end = now if attempt.end is None else attempt.end
                rates[attempt] = self.progress(attempt, now) / max(end - attempt.start, 1)
        limit = percentile(list(rates.values()), self.settings.slow_task)
        slow = [attempt for attempt in patient if rates[attempt] < limit]
        left = [
            (-(1.0 - self.progress(attempt, now)) / max(rates[attempt], 1e-30), attempt.number)
            for attempt in slow
        ]
        order = sorted(range(len(slow)), key=left.__getitem__)
        return [slow[place] for place in order]


def percentile(values: Sequence[float], part: float) -> float:
    """Return the smallest value with at least a share of the values below it, or the largest."""
    ordered = sorted(values)
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)] if ordered else 0.0


def backup_rule(settings: Speculation, plan: ClusterPlan, state: JobTrackerState) -> BackupRule:
    """Make the rule of a configuration."""
    made = HadoopRule if settings.rule == "hadoop" else LateRule
    return made(settings, plan, state)

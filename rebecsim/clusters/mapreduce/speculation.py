"""Choosing running tasks for a second attempt: Hadoop's rule, and LATE.

Both go by the progress of attempts, a number from 0 to 1. Of a map it is the part of its steps that
it has done, weighted by how long they take where nobody else asks anything of their devices; of a
reduce, the part of the outputs that it has fetched is a third of it, and what comes then the rest.
A step counts by the time that it has taken, up to its share.

LATE is that of Zaharia et al., Improving MapReduce Performance in Heterogeneous Environments,
2008."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rebecsim.actors import StatePart
from rebecsim.clusters.mapreduce.attempts import DONE, Attempt, AttemptOutcome
from rebecsim.clusters.mapreduce.cluster_state import ClusterPlan, JobRun
from rebecsim.clusters.mapreduce.configuration import SECOND, Speculation
from rebecsim.clusters.mapreduce.job import JobInProgress, SlotKind, TrackerSlots

if TYPE_CHECKING:
    from rebecsim.clusters.mapreduce.jobtracker_state import JobTrackerState

_OF_USE = (AttemptOutcome.RUNNING, *DONE)


class _Look(NamedTuple):
    """What was seen of a job at some time: tasks for backups, and nodes that should have none."""

    time: int
    numbers: Sequence[int]
    slow_nodes: Sequence[int]


class BackupRule(StatePart, ABC):
    """Finds tasks for backups. It looks again only once in each period of heartbeats.

    A task that has a backup gets no other, and none on a node where it already runs.
    """

    def __init__(self, settings: Speculation, plan: ClusterPlan, state: JobTrackerState) -> None:
        self.settings = settings
        self.state = state
        self._heartbeat = plan.configuration.hadoop.heartbeat
        self._looks: dict[tuple[JobInProgress, SlotKind], _Look] = {}

    def backup_for(
        self, job: JobInProgress, kind: SlotKind, tracker: TrackerSlots, now: int
    ) -> int | None:
        """Give the task that most deserves a backup on a node."""
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
        """Forget what was seen of jobs that have ended, and in which order jobs were looked at."""
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
        """Give those of a job's attempts that should have a backup, the most urgent first.

        `patient` ones have run for long enough, and no other attempt of their task runs.
        """

    def progress(self, attempt: Attempt, now: int) -> float:
        """Give how far an attempt is."""
        if attempt.outcome in DONE:
            return 1.0
        steps = 0.0 if attempt.progress is None else attempt.progress.at(now)
        if attempt.kind is SlotKind.MAP:
            return steps
        if attempt.progress is None:
            return len(attempt.fetched) / attempt.run.job.maps / 3
        return (1 + 2 * steps) / 3


class HadoopRule(BackupRule):
    """Hadoop's: whose progress lies by a gap below the mean of all tasks of its kind in its job."""

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
    """LATE: of those whose rate is among the lowest, who has most time left, up to a cap.

    Backups do not run on slow nodes: those whose progress for the job, of all attempts that run
    there or have succeeded there, is among the lowest.
    """

    def allows(self, kind: SlotKind) -> bool:
        """Whether there are few backups."""
        slots = sum(node.slots.slots[kind] for node in self.state.nodes)
        return self.state.backups[kind] < self.settings.cap * slots

    def slow_nodes(self, run: JobRun, kind: SlotKind, now: int) -> Sequence[int]:
        """Give those whose attempts have made least progress, together."""
        done = [0.0] * len(self.state.nodes)
        for attempt in run.attempts[kind]:
            if attempt.outcome in _OF_USE:
                done[attempt.node.number] += self.progress(attempt, now)
        least = percentile(done, self.settings.slow_node)
        return [node for node, progress in enumerate(done) if progress < least]

    def laggards(
        self, run: JobRun, kind: SlotKind, patient: Sequence[Attempt], now: int
    ) -> list[Attempt]:
        """Give the slow ones, those first that have most time left."""
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
    """Give the least of the values that has at least a part of them below it, or is the largest."""
    ordered = sorted(values)
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)] if ordered else 0.0


def backup_rule(settings: Speculation, plan: ClusterPlan, state: JobTrackerState) -> BackupRule:
    """Make the rule of a configuration."""
    made = HadoopRule if settings.rule == "hadoop" else LateRule
    return made(settings, plan, state)

"""MinEDF-WC: each job gets the fewest slots that meet its deadline, then slots that are left.

After Verma, Cherkasova, Kumar and Campbell (2012), for jobs of any number of phases. How long a
phase of n tasks takes on s slots lies between n * mean / s and (n - 1) * mean / s + longest; the
mean of both bounds is taken. For MapReduce on typed slots the least sum of map and reduce slots is
found by the slots being proportional to the square roots of the phases' work.

A task that has started is never stopped here: slots that others got beyond their least ones come
back as their tasks end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, sqrt

from rebecsim.clusters.stages.job import StageJob, TaskKey, TaskKind
from rebecsim.clusters.stages.managers.dispatching import ActiveJob, DispatchingManager
from rebecsim.clusters.stages.resources import StageResource, slot_count
from rebecsim.clusters.stages.schedule import Assignment


@dataclass(frozen=True, slots=True)
class PhaseWork:
    """A phase: its sort of slots, how many tasks it has, their sum, and the longest (ms)."""

    kind: TaskKind
    count: int
    work: int
    longest: int

    @property
    def parallel(self) -> float:
        """What takes less with more slots, on one slot: the mean of both bounds (ms)."""
        return (2 * self.count - 1) * self.work / self.count / 2

    @property
    def fixed(self) -> float:
        """What takes as long on any number of slots (ms)."""
        return self.longest / 2


def least_slots(phases: Sequence[PhaseWork], time: float) -> dict[TaskKind, float]:
    """Give how many slots of each sort do the phases, one after the other, within a time (ms).

    The sum over the sorts is the least; infinite where no number will do. Slots of one sort are the
    same for all phases that take it.
    """
    left = time - sum(each.fixed for each in phases)
    work: dict[TaskKind, float] = {}
    for each in phases:
        work[each.kind] = work.get(each.kind, 0.0) + each.parallel
    if left <= 0:
        return dict.fromkeys(work, inf)
    roots = sum(sqrt(each) for each in work.values())
    return {kind: ceil(sqrt(each) * roots / left) for kind, each in work.items()}


class MinimumSlots(DispatchingManager):
    """Jobs get their least slots in the order of deadlines, and then what is left."""

    def __init__(self, resources: Sequence[StageResource]) -> None:
        super().__init__(resources)
        self._least: dict[int, dict[TaskKind, float]] = {}
        self._slots = {kind: slot_count(resources, kind) for kind in self._free}

    def plan(
        self,
        now: int,
        arrived: Sequence[StageJob],
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> Sequence[Assignment]:
        """Reckon how many slots the jobs that have arrived need at least."""
        for job in arrived:
            needed = least_slots(self._phases(job), job.deadline - max(now, job.start))
            self._least[job.number] = {
                kind: min(count, self._slots[kind]) for kind, count in needed.items()
            }
        return super().plan(now, arrived, running, scheduled)

    def ended(self, job: StageJob, assignment: Assignment) -> None:
        """Forget a job that has ended."""
        super().ended(job, assignment)
        if job.number not in self._active:
            del self._least[job.number]

    def place(self, active: ActiveJob) -> tuple[int, ...]:
        """Order by deadlines."""
        return active.job.deadline, active.job.number

    def dispatched(self, now: int, queue: Sequence[ActiveJob]) -> Iterator[Assignment]:
        """Give jobs what they need, and then what is left."""
        for active in queue:
            least = self._least[active.job.number]
            for kind, ready in active.ready.items():
                while ready and self._free[kind] and active.running[kind] < least.get(kind, 0):
                    yield self.start(now, active, kind)
        yield from super().dispatched(now, queue)

    def _phases(self, job: StageJob) -> list[PhaseWork]:
        found: dict[tuple[int, TaskKind], list[int]] = {}
        for task in job.real_tasks:
            found.setdefault((task.phase, self._pools[task.kind]), []).append(task.expected)
        return [
            PhaseWork(kind, len(times), sum(times), max(times))
            for (_, kind), times in sorted(found.items())
        ]

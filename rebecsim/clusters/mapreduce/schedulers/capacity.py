"""The Capacity Scheduler: at each heartbeat, queues in their order get slots within their limits.

Delay scheduling: a job skips a limited number of offers that are too far from its data. Offers of
free map slots count from the last map that the job ran in the rack of its split.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rebecsim.actors import Constant
from rebecsim.clusters.mapreduce.job import (
    MILLISECOND,
    JobInProgress,
    Locality,
    SlotKind,
    TrackerSlots,
)
from rebecsim.clusters.mapreduce.schedulers.capacity_file import (
    changed,
    is_idle,
    read_capacity_settings,
    settings_from,
)
from rebecsim.clusters.mapreduce.schedulers.capacity_queues import CapacityQueue, SlotUsage
from rebecsim.clusters.mapreduce.schedulers.capacity_settings import (
    CapacitySettings,
    OffSwitchRule,
    QueueOrder,
    require_slots,
)
from rebecsim.clusters.mapreduce.schedulers.scheduler import (
    Assignment,
    Preemption,
    SchedulerSetup,
    TaskScheduler,
    map_of,
    reduce_of,
)


@dataclass(frozen=True, slots=True)
class Delay(Constant):
    """How long jobs wait for slots near their data.

    Attributes:
        nodes: number of live nodes.
        in_rack: offers that a job skips before a map may run on another node of its rack.
        factor: factor of the offers that it skips before a map may run anywhere.
        counts_remaining: whether a job with few remaining maps waits less.
    """

    nodes: int
    in_rack: int = 0
    factor: float = 1.0
    counts_remaining: bool = False

    @classmethod
    def of(cls, settings: CapacitySettings, nodes: int) -> Delay:
        """Take the delay from the settings."""
        remaining = settings.off_switch_rule is OffSwitchRule.REMAINING
        factor = settings.locality_wait_factor if remaining else 1.0
        return cls(nodes, settings.node_locality_delay, factor, remaining)

    def offer(
        self, job: JobInProgress, tracker: TrackerSlots, furthest: Locality, now: int
    ) -> Assignment | None:
        """Ask a job for a map on a node, within the allowed locality level."""
        job.opportunities += 1
        level = self._allowed(job, furthest)
        found = map_of(job, tracker, level, now)
        if found is not None and not found.is_far:
            job.opportunities = 0
        return found

    def _allowed(self, job: JobInProgress, furthest: Locality) -> Locality:
        if job.opportunities <= self.in_rack:
            return Locality.NODE
        if furthest is Locality.OFF_SWITCH and job.opportunities > self.in_rack + self._wait(job):
            return Locality.OFF_SWITCH
        return Locality.RACK

    def _wait(self, job: JobInProgress) -> float:
        if not self.counts_remaining:
            return self.nodes
        left = job.job.maps - job.finished[SlotKind.MAP]
        return min(left, self.nodes) * self.factor


PLACES: dict[QueueOrder, Callable[[SlotUsage], float]] = {
    QueueOrder.CAPACITY: lambda usage: usage.ratio(),
    QueueOrder.BACKLOG: lambda usage: -usage.backlog,
}
"""Sort keys of queues, by their order."""


class CapacityTaskScheduler(TaskScheduler):
    """Hadoop 1's `CapacityTaskScheduler`.

    Attributes:
        settings: that count now.
        queues: by name.
    """

    def __init__(
        self, trackers: Sequence[TrackerSlots], settings: CapacitySettings | None = None
    ) -> None:
        super().__init__(trackers)
        self.settings = settings or CapacitySettings()
        slots = _slots(self._alive())
        require_slots(self.settings, slots)
        self.queues = {
            name: CapacityQueue(name, self.settings, slots) for name in self.settings.queues
        }
        # one order for each kind: among equals, that of the last time stands
        self._orders = tuple(
            [queue.usage[kind] for queue in self.queues.values()] for kind in SlotKind
        )
        self._set_up()

    @classmethod
    def with_parameters(cls, parameters: Mapping[str, object]) -> SchedulerSetup:
        """Set the scheduler up with parameters by their names in the file."""
        idle = tuple(f"{key} has no effect" for key in parameters if is_idle(key))
        return replace(_set_up(settings_from(parameters)), without_effect=idle)

    @classmethod
    def from_file(cls, path: Path, name: str = "") -> SchedulerSetup:
        """Set the scheduler up as a `capacity-scheduler.xml` says."""
        settings, without_effect = read_capacity_settings(path, name)
        return replace(_set_up(settings), without_effect=without_effect, source=name or str(path))

    def submit(self, job: JobInProgress, now: int) -> str | None:
        """Add a job to be initialised, if its queue accepts it."""
        queue = self.queues.get(job.job.queue)
        if queue is None:
            return f"there is no queue {job.job.queue}"
        return queue.submit(job)

    def poll(self, now: int) -> Sequence[Preemption]:
        """Initialise jobs; only then do they get slots."""
        for queue in self.queues.values():
            queue.initialise()
        return ()

    def assign(self, tracker: TrackerSlots, now: int) -> Sequence[Assignment]:
        """Give maps, then a reduce."""
        self.withheld = False
        given: list[Assignment] = []
        free = tracker.free(SlotKind.MAP)
        if free > 0:
            self._give_maps(tracker, free, now, given)
        if tracker.free(SlotKind.REDUCE) > 0:
            self._give_reduce(tracker, now, given)
        return given

    def ended(self, job: JobInProgress, kind: SlotKind, number: int) -> None:
        """Count the slot as free."""
        usage = self.queues[job.job.queue].usage
        usage[kind].ended(job)
        if kind is SlotKind.MAP:  # enough maps may have ended for reduces to begin
            usage[SlotKind.REDUCE].review(job)

    def waits_again(self, job: JobInProgress, kind: SlotKind, number: int) -> None:
        """Ask the job again."""
        for usage in self.queues[job.job.queue].usage:
            usage.review(job)

    def completed(self, job: JobInProgress) -> None:
        """Make room for other jobs."""
        self.queues[job.job.queue].completed(job)

    def trackers_changed(self) -> None:
        """Compute the capacities from the slots of live nodes."""
        self._change(self.settings)

    def change(self, parameters: Mapping[str, object], now: int) -> None:
        """Change parameters, by their names in the file, with or without the prefix.

        Running tasks and initialised jobs stay, even above a new limit. Raises
        CapacitySettingsError for an unknown parameter or queue, and for an invalid value.
        """
        settings = changed(self.settings, parameters)
        require_slots(settings, _slots(self.trackers))
        self._change(settings)

    def _change(self, settings: CapacitySettings) -> None:
        self.settings = settings
        slots = _slots(self._alive())
        for queue in self.queues.values():
            queue.change(settings, slots)
        self._set_up()

    def _set_up(self) -> None:
        self.poll_interval = self.settings.init_poll_interval * MILLISECOND
        self._delay = Delay.of(self.settings, len(self._alive()))

    def _alive(self) -> list[TrackerSlots]:
        return [tracker for tracker in self.trackers if tracker.alive]

    def _give_maps(
        self, tracker: TrackerSlots, free: int, now: int, given: list[Assignment]
    ) -> None:
        settings = self.settings
        furthest = Locality.OFF_SWITCH
        left = settings.maximum_tasks_after_offswitch
        for _ in range(min(free, settings.maximum_tasks_per_heartbeat)):
            found = self._find_map(tracker, furthest, now)
            if found is None:
                return
            given.append(found)
            if found.is_far:
                furthest = Locality.RACK
            if furthest is Locality.RACK:
                if not left:
                    return
                left -= 1

    def _find_map(self, tracker: TrackerSlots, furthest: Locality, now: int) -> Assignment | None:
        for usage in self._sorted(SlotKind.MAP):
            if usage.stuck or usage.is_full():
                continue
            limit, by_user = usage.user_limit(), usage.by_user
            usage.stuck = True
            for job in usage.offering.jobs:
                if by_user.get(job.job.user, 0) >= limit:
                    continue
                usage.stuck = False  # another chance, or another node, may do
                found = self._delay.offer(job, tracker, furthest, now)
                if found is not None:
                    usage.started(job)
                    return found
                self.withheld = True
        return None

    def _give_reduce(self, tracker: TrackerSlots, now: int, given: list[Assignment]) -> None:
        for usage in self._sorted(SlotKind.REDUCE):
            if usage.stuck or usage.is_full():
                continue
            limit, by_user = usage.user_limit(), usage.by_user
            usage.stuck = True
            for job in usage.offering.jobs:
                if by_user.get(job.job.user, 0) >= limit:
                    continue
                found = reduce_of(job, tracker, now)
                if found is not None:
                    usage.started(job)
                    given.append(found)
                    return
                usage.stuck = False  # there may be something to back up later
                self.withheld = True

    def _sorted(self, kind: SlotKind) -> Sequence[SlotUsage]:
        order = self._orders[kind]
        order.sort(key=PLACES[self.settings.queue_order])
        return order


def _set_up(settings: CapacitySettings) -> SchedulerSetup:
    return SchedulerSetup(partial(CapacityTaskScheduler, settings=settings), tuple(settings.queues))


def _slots(trackers: Sequence[TrackerSlots]) -> tuple[int, int]:
    return sum(each.slots[0] for each in trackers), sum(each.slots[1] for each in trackers)

"""The Capacity Scheduler: at each heartbeat a queue goes first, and gives what its limits allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from rebecsim.clusters.mapreduce.job import SlotKind
from rebecsim.clusters.mapreduce.progress import JobInProgress, Locality
from rebecsim.clusters.mapreduce.schedulers.asking import reduce_of
from rebecsim.clusters.mapreduce.schedulers.capacity.delay import Delay
from rebecsim.clusters.mapreduce.schedulers.capacity.limits import require_slots
from rebecsim.clusters.mapreduce.schedulers.capacity.parameters import (
    changed,
    is_idle,
    settings_from,
)
from rebecsim.clusters.mapreduce.schedulers.capacity.queue import CapacityQueue
from rebecsim.clusters.mapreduce.schedulers.capacity.reading import read_capacity_settings
from rebecsim.clusters.mapreduce.schedulers.capacity.settings import CapacitySettings, QueueOrder
from rebecsim.clusters.mapreduce.schedulers.capacity.usage import SlotUsage
from rebecsim.clusters.mapreduce.schedulers.scheduler import (
    Assignment,
    Preemption,
    SchedulerSetup,
    TaskScheduler,
)
from rebecsim.clusters.mapreduce.tracker import TrackerSlots

_MICROSECONDS = 1000  # of a millisecond
PLACES: dict[QueueOrder, Callable[[SlotUsage], float]] = {
    QueueOrder.CAPACITY: lambda usage: usage.ratio(),
    QueueOrder.BACKLOG: lambda usage: -usage.backlog,
}
"""What is least for the queue that goes first, by the order of queues."""


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
        """Let a job wait to be initialised, if its queue accepts it."""
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
        """Take the capacities from the slots of the nodes that are alive."""
        self._change(self.settings)

    def change(self, parameters: Mapping[str, object], now: int) -> None:
        """Go on with other parameters, by their names in the file, with or without the prefix.

        What runs goes on, and what was initialised stays so, even above a new limit. Raises
        CapacitySettingsError for an unknown parameter or queue, and for what cannot be meant.
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
        self.poll_interval = self.settings.init_poll_interval * _MICROSECONDS
        self._delay = Delay.of(self.settings, len(self._alive()))
        self._place = PLACES[self.settings.queue_order]

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
        order.sort(key=self._place)
        return order


def _set_up(settings: CapacitySettings) -> SchedulerSetup:
    return SchedulerSetup(partial(CapacityTaskScheduler, settings=settings), tuple(settings.queues))


def _slots(trackers: Sequence[TrackerSlots]) -> tuple[int, int]:
    return sum(each.slots[0] for each in trackers), sum(each.slots[1] for each in trackers)

"""A queue: jobs that wait to be initialised, initialised jobs, and the limits on both."""

from __future__ import annotations

from bisect import insort
from collections import Counter

from rebecsim.actors import StatePart
from rebecsim.clusters.mapreduce.job import JobInProgress, SlotKind
from rebecsim.clusters.mapreduce.schedulers.capacity_settings import (
    CapacitySettings,
    SlotLimits,
    job_limits,
    slot_limits,
)
from rebecsim.clusters.mapreduce.schedulers.scheduler import (
    OfferingJobs,
    Order,
    order_of,
)


class SlotUsage(StatePart):
    """Slots of a kind that a queue uses.

    Attributes:
        limits: its limits.
        occupied: slots held by its tasks.
        by_user: slots held by each user with any.
        backlog: waiting tasks, with reduces before the slow start.
        offering: jobs with tasks to run, in their order.
        stuck: whether no job can get a slot on any node until the state changes.
    """

    __slots__ = (
        "_active",
        "_waiting",
        "backlog",
        "by_user",
        "kind",
        "limits",
        "occupied",
        "offering",
        "stuck",
    )

    def __init__(self, kind: SlotKind, limits: SlotLimits, *, by_priority: bool) -> None:
        self.kind = kind
        self.limits = limits
        self.occupied = 0
        self.by_user: Counter[str] = Counter()
        self.offering = OfferingJobs(kind, by_priority=by_priority)
        self.stuck = False
        self.backlog = 0
        self._waiting: dict[JobInProgress, int] = {}
        self._active: Counter[str] = Counter()

    def ratio(self) -> float:
        """Return the used share of the queue's capacity."""
        return self.occupied / self.limits.capacity if self.limits.capacity else 1.0

    def user_limit(self) -> int:
        """Return the limit of slots of one user."""
        return self.limits.user_limit(self.occupied, len(self._active))

    def is_full(self) -> bool:
        """Whether the queue is at its limit."""
        return self.occupied >= self.limits.maximum

    def started(self, job: JobInProgress) -> None:
        """Count a task that was given a slot."""
        self.occupied += 1
        self.by_user[job.job.user] += 1
        self.stuck = False
        self.review(job)

    def ended(self, job: JobInProgress) -> None:
        """Count a slot that was given back."""
        user = job.job.user
        self.occupied -= 1
        self.by_user[user] -= 1
        if not self.by_user[user]:
            del self.by_user[user]
        self.stuck = False
        self.review(job)

    def review(self, job: JobInProgress) -> None:
        """Update the waiting tasks of an initialised job."""
        self._set_waiting(job, job.waiting(self.kind))
        if self.offering.review(job):
            self.stuck = False

    def remove(self, job: JobInProgress) -> None:
        """Remove a job without running tasks."""
        self._set_waiting(job, 0)
        self.offering.remove(job)

    def change(self, limits: SlotLimits, *, by_priority: bool) -> None:
        """Change the limits, and perhaps the order of jobs."""
        self.limits = limits
        self.offering.sort(by_priority)
        self.stuck = False

    def _set_waiting(self, job: JobInProgress, tasks: int) -> None:
        before = self._waiting.get(job, 0)
        self.backlog += tasks - before
        if tasks:
            self._waiting[job] = tasks
        elif before:
            del self._waiting[job]
        if bool(tasks) == bool(before):
            return
        user = job.job.user
        self.stuck = False
        if tasks:
            self._active[user] += 1
            return
        self._active[user] -= 1
        if not self._active[user]:
            del self._active[user]


class CapacityQueue(StatePart):
    """A queue of the Capacity Scheduler.

    Attributes:
        waiting: jobs that are not initialised, in their order.
        initialised: those that are and have not ended, in the order of their initialisation.
        usage: what it has of the slots, of maps and of reduces.
    """

    def __init__(self, name: str, settings: CapacitySettings, slots: tuple[int, int]) -> None:
        self.name = name
        self.waiting: list[JobInProgress] = []
        self.initialised: list[JobInProgress] = []
        self._set(settings)
        self.usage = tuple(
            SlotUsage(
                kind, self._slot_limits(kind, slots), by_priority=self._settings.supports_priority
            )
            for kind in SlotKind
        )
        self._jobs: Counter[str] = Counter()  # that wait or are initialised, by user
        self._initialised: Counter[str] = Counter()
        self._tasks: Counter[str] = Counter()  # of initialised jobs

    @property
    def _order(self) -> Order:
        return order_of(self._settings.supports_priority)

    @property
    def active_tasks(self) -> int:
        """Number of tasks of its initialised jobs, with ended ones."""
        return sum(self._tasks.values())

    def change(self, settings: CapacitySettings, slots: tuple[int, int]) -> None:
        """Change the settings or the size of the cluster."""
        self._set(settings)
        heeds = self._settings.supports_priority
        for usage in self.usage:
            usage.change(self._slot_limits(usage.kind, slots), by_priority=heeds)
        self.waiting.sort(key=self._order)

    def submit(self, job: JobInProgress) -> str | None:
        """Accept a job, or return why it is rejected."""
        reason = self._refusal(job)
        if reason is None:
            insort(self.waiting, job, key=self._order)
            self._jobs[job.job.user] += 1
        return reason

    def initialise(self) -> None:
        """Initialise jobs in their order, within the limits.

        A job at the limit of its user lets other users' jobs pass. A job at the limit of the queue
        lets none pass, which prevents its starvation.
        """
        limits = self._limits
        tasks = self.active_tasks
        held: set[str] = set()
        for job in tuple(self.waiting):
            user, size = job.job.user, job.job.tasks
            if len(self.initialised) >= limits.initialised:
                break
            if user in held or self._initialised[user] >= limits.initialised_of_user:
                continue
            if tasks + size > limits.active_tasks:
                break
            if self._tasks[user] + size > limits.active_tasks_of_user:
                held.add(user)
                continue
            tasks += size
            self._begin(job)

    def completed(self, job: JobInProgress) -> None:
        """Forget a job that has ended."""
        user = job.job.user
        self.initialised.remove(job)
        for usage in self.usage:
            usage.remove(job)
        for counter, number in (
            (self._jobs, 1),
            (self._initialised, 1),
            (self._tasks, job.job.tasks),
        ):
            counter[user] -= number
            if not counter[user]:
                del counter[user]

    def _set(self, settings: CapacitySettings) -> None:
        self._settings = settings.queues[self.name]
        self._capped = settings.capped_slots
        self._limits = job_limits(settings, self.name)

    def _slot_limits(self, kind: SlotKind, slots: tuple[int, int]) -> SlotLimits:
        return slot_limits(self._settings, slots[kind], is_capped=self._capped.has(kind))

    def _refusal(self, job: JobInProgress) -> str | None:
        limits, user, size = self._limits, job.job.user, job.job.tasks
        if size > limits.active_tasks_of_user:
            return (
                f"it has {size:,} tasks, and a user of queue {self.name} at most "
                f"{limits.active_tasks_of_user:,} (maximum-initialized-active-tasks-per-user)"
            )
        jobs = len(self.initialised) + len(self.waiting)
        if jobs >= limits.accepted:
            return f"queue {self.name} has {jobs:,} jobs, all that it accepts"
        if self._jobs[user] >= limits.accepted_of_user:
            return (
                f"user {user} has {self._jobs[user]:,} jobs in queue {self.name}, "
                "all that it accepts of one user"
            )
        return None

    def _begin(self, job: JobInProgress) -> None:
        user = job.job.user
        self.waiting.remove(job)
        self.initialised.append(job)
        self._initialised[user] += 1
        self._tasks[user] += job.job.tasks
        for usage in self.usage:
            usage.review(job)

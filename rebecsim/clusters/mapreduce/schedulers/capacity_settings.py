"""Settings of the Capacity Scheduler, and the limits that follow from them.

Parameters have their names in `capacity-scheduler.xml`, with `_` for `-`. Percentages are taken
exactly, as they are written: 33.34 percent of 120 is 40.008.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from math import ceil, floor
from types import MappingProxyType
from typing import NamedTuple

from rebecsim.actors import Constant
from rebecsim.clusters.mapreduce.job import SlotKind
from rebecsim.errors import UserError

PREFIX = "mapred.capacity-scheduler."
NO_MAXIMUM = -1.0

_ROUNDING = 1e-6  # of a sum of percentages


class CapacitySettingsError(UserError):
    """Invalid settings; `key` is the property of the file to correct."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key = key
        self.problem = problem


class OffSwitchRule(Enum):
    """How many offers a job skips before a map may run in another rack than its split.

    CLUSTER: as many as there are nodes. REMAINING: the number of the job's unfinished maps or of
    nodes, if these are fewer, times `locality_wait_factor`.
    """

    CLUSTER = "cluster"
    REMAINING = "remaining"


class QueueOrder(Enum):
    """The order of queues for a free slot.

    CAPACITY: the smallest used share of capacity first, as in Hadoop. BACKLOG: the most waiting
    tasks first, whatever the capacity; not in Hadoop.
    """

    CAPACITY = "capacity"
    BACKLOG = "backlog"


class CappedSlots(Enum):
    """The slots that a queue's maximum capacity limits.

    BOTH: map and reduce slots, as in Hadoop. MAPS: map slots only; not in Hadoop.
    """

    BOTH = "both"
    MAPS = "maps"

    def has(self, kind: SlotKind) -> bool:
        """Whether slots of a kind are limited."""
        return self is CappedSlots.BOTH or kind is SlotKind.MAP


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityQueueSettings(Constant):
    """The parameters of a queue.

    Attributes:
        capacity: the part of all slots that the queue is sure of (percent).
        maximum_capacity: the part that it never exceeds (percent); -1: all of them.
        minimum_user_limit_percent: the part of the queue that a user can have, however many others
            compete (percent).
        user_limit_factor: how many times the capacity of the queue one user can have.
        supports_priority: whether jobs of higher priority go first.
        maximum_initialized_active_tasks: tasks of the jobs that are initialised.
        maximum_initialized_active_tasks_per_user: the same for one user; larger jobs are rejected.
        init_accept_jobs_factor: jobs accepted for each that can be initialised.
    """

    capacity: float
    maximum_capacity: float = NO_MAXIMUM
    minimum_user_limit_percent: int = 100
    user_limit_factor: float = 1.0
    supports_priority: bool = False
    maximum_initialized_active_tasks: int = 200_000
    maximum_initialized_active_tasks_per_user: int = 100_000
    init_accept_jobs_factor: int = 10


def _one_queue() -> Mapping[str, CapacityQueueSettings]:
    return MappingProxyType({"default": CapacityQueueSettings(capacity=100.0)})


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacitySettings(Constant):
    """The parameters of the scheduler. Raises CapacitySettingsError for invalid values.

    Attributes:
        queues: by name, in the order in which they are served when nothing runs.
        maximum_system_jobs: jobs that are initialised at a time, of all queues.
        init_poll_interval: from one initialisation of jobs to the next (milliseconds).
        init_worker_threads: who initialises; without effect here, since that takes no time.
        maximum_tasks_per_heartbeat: maps given to a node at a heartbeat, where a reduce may come
            on top.
        maximum_tasks_after_offswitch: maps given after one from another rack, at one heartbeat.
        off_switch_rule: how long a job waits for its rack.
        locality_wait_factor: of the second rule.
        node_locality_delay: how many chances a job lets pass before a map may run in the rack of
            its split, but on another node; 0: none.
        queue_order: which queue goes first.
        capped_slots: of what a queue has no more than its maximum capacity.
    """

    queues: Mapping[str, CapacityQueueSettings] = field(default_factory=_one_queue)
    maximum_system_jobs: int = 3000
    init_poll_interval: int = 5000
    init_worker_threads: int = 5
    maximum_tasks_per_heartbeat: int = 1
    maximum_tasks_after_offswitch: int = 0
    off_switch_rule: OffSwitchRule = OffSwitchRule.CLUSTER
    locality_wait_factor: float = 1.0
    node_locality_delay: int = 0
    queue_order: QueueOrder = QueueOrder.CAPACITY
    capped_slots: CappedSlots = CappedSlots.BOTH

    def __hash__(self) -> int:
        return hash(tuple(self.queues))

    def __post_init__(self) -> None:
        for name, least in (
            ("maximum_system_jobs", 1),
            ("init_poll_interval", 1),
            ("init_worker_threads", 1),
            ("maximum_tasks_per_heartbeat", 1),
            ("maximum_tasks_after_offswitch", 0),
            ("locality_wait_factor", 0),
            ("node_locality_delay", 0),
        ):
            _require_least(key_of(name), getattr(self, name), least)
        if not self.queues:
            raise CapacitySettingsError(queue_key("default", "capacity"), "there are no queues")
        for queue, settings in self.queues.items():
            _check_queue(queue, settings)
        self._check_sum()

    def _check_sum(self) -> None:
        """Refuse capacities that are not all slots; 33.34 three times passes, as with Hadoop."""
        total = sum(each.capacity for each in self.queues.values())
        if floor(total + _ROUNDING) != 100:
            raise CapacitySettingsError(
                queue_key(next(iter(self.queues)), "capacity"),
                f"the capacities of the queues are {total:g} percent together, "
                "and should be 100 (at least 100, and less than 101)",
            )


def key_of(parameter: str) -> str:
    """Give the name that a parameter of the scheduler has in the file."""
    return PREFIX + parameter.replace("_", "-")


def queue_key(queue: str, parameter: str) -> str:
    """Give the name that a parameter of a queue has in the file."""
    return f"{PREFIX}queue.{queue}.{parameter.replace('_', '-')}"


def _require_least(key: str, value: float, least: float) -> None:
    if not value >= least:
        raise CapacitySettingsError(key, f"should be at least {least:g}, not {value:g}")


def _check_queue(queue: str, settings: CapacityQueueSettings) -> None:
    def wrong(parameter: str, problem: str) -> CapacitySettingsError:
        return CapacitySettingsError(queue_key(queue, parameter), problem)

    capacity, maximum = settings.capacity, settings.maximum_capacity
    if not 0 < capacity <= 100:
        raise wrong("capacity", f"should be above 0 and at most 100, not {capacity:g}")
    if maximum != NO_MAXIMUM and not 0 < maximum <= 100:
        raise wrong("maximum_capacity", f"should be above 0 and at most 100, or -1: {maximum:g}")
    if maximum != NO_MAXIMUM and maximum < capacity:
        raise wrong(
            "maximum_capacity",
            f"{maximum:g} is below the capacity of the queue, {capacity:g}; "
            "write the capacity at least, or -1 for no maximum",
        )
    percent = settings.minimum_user_limit_percent
    if not 0 < percent <= 100:
        raise wrong("minimum_user_limit_percent", f"should be 1 to 100, not {percent:g}")
    if not settings.user_limit_factor > 0:
        raise wrong("user_limit_factor", f"should be above 0, not {settings.user_limit_factor:g}")
    tasks = settings.maximum_initialized_active_tasks
    of_user = settings.maximum_initialized_active_tasks_per_user
    for parameter, value in (
        ("maximum_initialized_active_tasks", tasks),
        ("maximum_initialized_active_tasks_per_user", of_user),
        ("init_accept_jobs_factor", settings.init_accept_jobs_factor),
    ):
        _require_least(queue_key(queue, parameter), value, 1)
    if of_user > tasks:
        raise wrong(
            "maximum_initialized_active_tasks_per_user",
            f"{of_user:,} is more than the whole queue may have, {tasks:,}",
        )


UNLIMITED = 2**63 - 1


def exact(number: float) -> Fraction:
    """Give the number that somebody wrote, not the one next to it that a float can hold."""
    return Fraction(str(number))


class JobLimits(NamedTuple):
    """How many jobs and tasks a queue takes.

    Attributes:
        initialised: jobs that are initialised, of the queue and of one of its users.
        accepted: jobs that wait or are initialised, of the queue and of one of its users.
        active_tasks: tasks of initialised jobs, of the queue and of one of its users.
    """

    initialised: int
    initialised_of_user: int
    accepted: int
    accepted_of_user: int
    active_tasks: int
    active_tasks_of_user: int


def job_limits(settings: CapacitySettings, queue: str) -> JobLimits:
    """Derive the limits of a queue."""
    of = settings.queues[queue]
    share = settings.maximum_system_jobs * exact(of.capacity) / 100
    initialised = ceil(share)
    initialised_of_user = ceil(share * of.minimum_user_limit_percent / 100)
    return JobLimits(
        initialised,
        initialised_of_user,
        initialised * of.init_accept_jobs_factor,
        initialised_of_user * of.init_accept_jobs_factor,
        of.maximum_initialized_active_tasks,
        of.maximum_initialized_active_tasks_per_user,
    )


class SlotLimits(NamedTuple):
    """How many slots of a kind are a queue's.

    Attributes:
        capacity: slots that it is sure of.
        maximum: slots that it never exceeds.
        of_user: slots that one user never exceeds.
        percent: of what the queue has, a user can have that much.
    """

    capacity: int
    maximum: int
    of_user: int
    percent: int

    def user_limit(self, occupied: int, users: int) -> int:
        """Give how many slots a user can have while `users` want some.

        What is shared is the capacity, or more if the queue has more.
        """
        shared = max(self.capacity, 1)
        if occupied >= shared:
            shared = occupied + 1
        equal = -(-shared // max(users, 1))
        return min(max(equal, -(-self.percent * shared // 100)), self.of_user)


def slot_limits(
    settings: CapacityQueueSettings, slots: int, *, is_capped: bool = True
) -> SlotLimits:
    """Derive the limits of a queue in a cluster with so many slots of a kind, capped or not.

    One slot is always allowed: a cluster that has lost nodes goes on, if slowly. That limits leave
    a slot to begin with is what `require_slots` looks after.
    """
    return SlotLimits(
        _part(settings.capacity, slots),
        max(_maximum(settings, slots), 1) if is_capped else UNLIMITED,
        max(_of_user(settings, slots), 1),
        settings.minimum_user_limit_percent,
    )


def require_slots(settings: CapacitySettings, slots: tuple[int, int]) -> None:
    """Refuse limits under which no task of a queue could run in a cluster of this size.

    Raises CapacitySettingsError.
    """
    for name, queue in settings.queues.items():
        for kind in SlotKind:
            what = f"the {slots[kind]} {kind.name.lower()} slots of the cluster"
            is_capped = settings.capped_slots.has(kind)
            if slots[kind] and is_capped and not _maximum(queue, slots[kind]):
                raise CapacitySettingsError(
                    queue_key(name, "maximum_capacity"),
                    f"is less than one of {what}: no job of the queue could ever run",
                )
            if slots[kind] and not _of_user(queue, slots[kind]):
                raise CapacitySettingsError(
                    queue_key(name, "user_limit_factor"),
                    f"leaves a user none of {what}: no job of the queue could ever run",
                )


def _part(percent: float, slots: int) -> int:
    return int(exact(percent) * slots / 100)


def _maximum(settings: CapacityQueueSettings, slots: int) -> int:
    if settings.maximum_capacity == NO_MAXIMUM:
        return UNLIMITED
    return _part(settings.maximum_capacity, slots)


def _of_user(settings: CapacityQueueSettings, slots: int) -> int:
    return int(max(_part(settings.capacity, slots), 1) * exact(settings.user_limit_factor))

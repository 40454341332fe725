"""Settings of `capacity-scheduler.xml`: parameters by their names in the file, `_` for `-`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import floor
from types import MappingProxyType

from rebecsim.clusters.mapreduce.job import SlotKind
from rebecsim.errors import UserError

PREFIX = "mapred.capacity-scheduler."
NO_MAXIMUM = -1.0

_ROUNDING = 1e-6  # of a sum of percentages


class CapacitySettingsError(UserError):
    """Settings that cannot be used; `key` is the property of the file to be mended."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key = key
        self.problem = problem


class OffSwitchRule(Enum):
    """After how many chances in vain a job may run a map in another rack than its split.

    CLUSTER: after as many as there are nodes. REMAINING: after as many as the job has maps to end,
    or as there are nodes if these are fewer, times `locality_wait_factor`.
    """

    CLUSTER = "cluster"
    REMAINING = "remaining"


class QueueOrder(Enum):
    """Which queue is asked first for a task for a free slot.

    CAPACITY: the one that has the smallest part of its capacity, as with Hadoop. BACKLOG: the one
    of which most tasks wait, whatever its capacity; not in Hadoop.
    """

    CAPACITY = "capacity"
    BACKLOG = "backlog"


class CappedSlots(Enum):
    """Of which slots a queue never exceeds its maximum capacity.

    BOTH: of maps and of reduces, as with Hadoop. MAPS: of maps only; not in Hadoop.
    """

    BOTH = "both"
    MAPS = "maps"

    def has(self, kind: SlotKind) -> bool:
        """Whether slots of a kind are meant."""
        return self is CappedSlots.BOTH or kind is SlotKind.MAP


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityQueueSettings:
    """The parameters of a queue.

    Attributes:
        capacity: the part of all slots that the queue is sure of (percent).
        maximum_capacity: the part that it never exceeds (percent); -1: all of them.
        minimum_user_limit_percent: the part of the queue that a user can have, however many others
            compete (percent).
        user_limit_factor: how many times the capacity of the queue one user can have.
        supports_priority: whether jobs of higher priority go first.
        maximum_initialized_active_tasks: tasks of the jobs that are initialised.
        maximum_initialized_active_tasks_per_user: the same of one user; larger jobs are rejected.
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
class CapacitySettings:
    """The parameters of the scheduler. Raises CapacitySettingsError for what cannot be meant.

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
        raise CapacitySettingsError(key, f"should be {least:g} at least, not {value:g}")


def _check_queue(queue: str, settings: CapacityQueueSettings) -> None:
    def wrong(parameter: str, problem: str) -> CapacitySettingsError:
        return CapacitySettingsError(queue_key(queue, parameter), problem)

    capacity, maximum = settings.capacity, settings.maximum_capacity
    if not 0 < capacity <= 100:
        raise wrong("capacity", f"should be above 0 and 100 at most, not {capacity:g}")
    if maximum != NO_MAXIMUM and not 0 < maximum <= 100:
        raise wrong("maximum_capacity", f"should be above 0 and 100 at most, or -1: {maximum:g}")
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

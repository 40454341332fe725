"""Limits that follow from the settings: accepted jobs, and slots of a queue or a user.

Percentages are taken exactly, as they are written: 33.34 percent of 120 is 40.008.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import NamedTuple

from rebecsim.clusters.mapreduce.job import SlotKind
from rebecsim.clusters.mapreduce.schedulers.capacity.settings import (
    NO_MAXIMUM,
    CapacityQueueSettings,
    CapacitySettings,
    CapacitySettingsError,
    queue_key,
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
    """Refuse limits under which no task of a queue could run in a cluster of so many slots.

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

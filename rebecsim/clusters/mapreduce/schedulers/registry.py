"""The schedulers of MapReduce clusters by name; plug-ins can add some."""

from __future__ import annotations

from dataclasses import dataclass

from rebecsim.clusters.kit.plugins import NamedPolicy, Registry
from rebecsim.clusters.mapreduce.schedulers.capacity import CapacityTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.fair import FairTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.fifo import JobQueueTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.scheduler import TaskScheduler


@dataclass(frozen=True, slots=True)
class SlotScheduler(NamedPolicy):
    """A way to share the slots of a cluster."""

    scheduler: type[TaskScheduler]
    """What does it; set up by its `with_parameters` or `from_file`."""


BUILTIN_SLOT_SCHEDULERS = (
    SlotScheduler(
        "CAPACITY",
        "Capacity",
        "the queue that has the least part of its capacity goes first; users have limits",
        CapacityTaskScheduler,
    ),
    SlotScheduler(
        "FIFO",
        "First in, first out",
        "jobs by priority, then by submission; what the first leaves is for the next",
        JobQueueTaskScheduler,
    ),
    SlotScheduler(
        "FAIR",
        "Fair between pools",
        "pools below their minimum share first, then those with the fewest slots for their weight",
        FairTaskScheduler,
    ),
)
slot_schedulers: Registry[SlotScheduler] = Registry("MapReduce scheduler", BUILTIN_SLOT_SCHEDULERS)
SLOT_SCHEDULERS = slot_schedulers.entries
slot_scheduler = slot_schedulers.find
"""Return the scheduler of a name. Raises UnknownNameError when there is none."""

"""The schedulers of YARN clusters by name; plug-ins can add some."""

from __future__ import annotations

from dataclasses import dataclass

from rebecsim.clusters.kit.plugins import NamedPolicy, Registry
from rebecsim.clusters.yarn.schedulers.elastic import Greedy, Peek, RaceInLockstep, SmartGreedy
from rebecsim.clusters.yarn.schedulers.fair import DominantFair, Fair, Regular
from rebecsim.clusters.yarn.schedulers.scheduler import (
    ContainerScheduler,
    FirstInFirstOut,
    ShortestRemaining,
)


@dataclass(frozen=True, slots=True)
class YarnScheduler(NamedPolicy):
    """A way to share the containers of a cluster."""

    scheduler: type[ContainerScheduler]
    """What does it."""


BUILTIN_YARN_SCHEDULERS = (
    YarnScheduler(
        "REGULAR",
        "Fair by memory",
        "the job with the least memory goes first; a task gets what it asks for, or waits",
        Regular,
    ),
    YarnScheduler(
        "GREEDY",
        "Elastic, all that is left",
        "as REGULAR, but a task that does not fit gets all memory that the node has left",
        Greedy,
    ),
    YarnScheduler(
        "SMARTG",
        "Elastic, the best of what is left",
        "as REGULAR, but a task that does not fit gets the least memory in which it is fastest",
        SmartGreedy,
    ),
    YarnScheduler(
        "PEEK",
        "Elastic with a look ahead",
        "as SMARTG, but only where the task then ends before its job would end otherwise",
        Peek,
    ),
    YarnScheduler(
        "SRTF",
        "Shortest remaining time first",
        "the job whose waiting tasks have the least durations in sum goes first",
        ShortestRemaining,
    ),
    YarnScheduler(
        "RACE_LOCKSTEP",
        "The foreseen winner of two",
        "as REGULAR or as SMARTG, whichever of both is foreseen to do better for the jobs at work",
        RaceInLockstep,
    ),
    YarnScheduler(
        "FIFO",
        "First in, first out",
        "the job that was submitted first gets all that fits on a node, then the next one",
        FirstInFirstOut,
    ),
    YarnScheduler(
        "FAIR",
        "Fair between pools, by memory",
        "as REGULAR, but between queues or users first, by their memory, weights and least shares",
        Fair,
    ),
    YarnScheduler(
        "DRF",
        "Fair between pools, by the dominant resource",
        "as FAIR, but what counts is the resource of which a job or pool has the largest part",
        DominantFair,
    ),
)
yarn_schedulers: Registry[YarnScheduler] = Registry("YARN scheduler", BUILTIN_YARN_SCHEDULERS)
SCHEDULERS = yarn_schedulers.entries
yarn_scheduler = yarn_schedulers.find
"""Return the scheduler of a name. Raises UnknownNameError when there is none."""

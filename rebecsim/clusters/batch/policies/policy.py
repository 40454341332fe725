"""Batch scheduling policies by name: an order of the queue, and a way to backfill."""

from __future__ import annotations

from dataclasses import dataclass

from rebecsim.clusters.batch.policies.backfilling import Backfilling, EasyBackfilling, NoBackfilling
from rebecsim.clusters.batch.policies.conservative import ConservativeBackfilling
from rebecsim.clusters.batch.policies.orders import (
    BySubmission,
    Fairshare,
    LargestArea,
    LongestJob,
    QueueOrder,
    QueuePriority,
    ShortestJob,
    SmallestArea,
)
from rebecsim.clusters.kit.plugins import NamedPolicy, Registry


@dataclass(frozen=True, slots=True)
class BatchPolicy(NamedPolicy):
    """One way to run the jobs of a batch queue."""

    order: type[QueueOrder] = BySubmission
    """The order of the waiting jobs."""

    backfilling: type[Backfilling] = NoBackfilling
    """Which of them start."""


BUILTIN_BATCH_POLICIES = (
    BatchPolicy(
        "FCFS",
        "First come, first served",
        "jobs start in the order of submission; nothing overtakes",
    ),
    BatchPolicy(
        "SJF",
        "Shortest job first",
        "the shortest estimate is the head of the queue; nothing overtakes it",
        ShortestJob,
    ),
    BatchPolicy(
        "LJF",
        "Longest job first",
        "the longest estimate is the head of the queue; nothing overtakes it",
        LongestJob,
    ),
    BatchPolicy(
        "SMALLEST_AREA",
        "Smallest area first",
        "the fewest processor seconds, by the estimate, are the head; nothing overtakes it",
        SmallestArea,
    ),
    BatchPolicy(
        "LARGEST_AREA",
        "Largest area first",
        "the most processor seconds, by the estimate, are the head; nothing overtakes it",
        LargestArea,
    ),
    BatchPolicy(
        "PRIORITY",
        "Queue priority",
        "jobs of the queue of the lowest rank go first, in the order of submission",
        QueuePriority,
    ),
    BatchPolicy(
        "EASY",
        "EASY backfilling",
        "a job overtakes if that does not delay the head of the queue",
        BySubmission,
        EasyBackfilling,
    ),
    BatchPolicy(
        "CONSERVATIVE",
        "Conservative backfilling",
        "a job overtakes if that delays no job ahead of it",
        BySubmission,
        ConservativeBackfilling,
    ),
    BatchPolicy(
        "FAIR_FCFS",
        "Fairshare without backfilling",
        "the job of the user with the least usage is the head; nothing overtakes it",
        Fairshare,
    ),
    BatchPolicy(
        "FAIR_EASY",
        "EASY backfilling with fairshare",
        "the job of the user with the least usage is the head; a job overtakes if that does not "
        "delay it",
        Fairshare,
        EasyBackfilling,
    ),
    BatchPolicy(
        "FAIR_CONSERVATIVE",
        "Conservative backfilling with fairshare",
        "reservations are made in the order of the users' usage, anew at every refresh",
        Fairshare,
        ConservativeBackfilling,
    ),
)
batch_policies: Registry[BatchPolicy] = Registry("batch policy", BUILTIN_BATCH_POLICIES)
BATCH_POLICIES = batch_policies.entries
batch_policy = batch_policies.find
"""Return the batch policy of a name. Raises UnknownNameError when there is none."""

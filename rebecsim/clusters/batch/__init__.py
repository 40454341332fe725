"""Batch scheduling of parallel jobs: machines, policies, the cluster as rebecs, validation.

Running: `run_schedule` runs a workload under a policy and gives its `Schedule`; `cluster_model`
is the model behind it, of a `Client`, a `ResourceManager` and `Node`s that hand `Job`s around.

Machines: `Pool` of processors, or `Nodes` made of `NodeGroup`s, with one of the `PLACEMENTS`; both
are a `Machine`.

Policies: a `BatchPolicy` is a `QueueOrder` (`BySubmission`, `ShortestJob`, `LongestJob`,
`SmallestArea`, `LargestArea`, `QueuePriority`, `Fairshare`) and a `Backfilling` (`NoBackfilling`,
`EasyBackfilling`, `ConservativeBackfilling`), which keeps the books in `Allocations`;
`batch_policy` finds one of the `BATCH_POLICIES` by name. `PolicySettings` are their numbers,
`BACKFILL_ORDERS` the orders in which EASY backfills; `Usage` is what fairshare remembers.

Estimates: `ESTIMATES` by name, or `InflatedEstimates` with an error; `Estimates` is either.

Validation: `check_submissions`, `check_capacity`, `check_start_order` and
`check_head_reservations` give a `Check` each.
"""

from rebecsim.clusters.batch.allocations import Allocations
from rebecsim.clusters.batch.backfilling import Backfilling, EasyBackfilling, NoBackfilling
from rebecsim.clusters.batch.conservative import ConservativeBackfilling
from rebecsim.clusters.batch.estimates import ESTIMATES, Estimates, InflatedEstimates
from rebecsim.clusters.batch.job import Job
from rebecsim.clusters.batch.machine import PLACEMENTS, Machine, NodeGroup, Nodes, Pool
from rebecsim.clusters.batch.orders import (
    BySubmission,
    Fairshare,
    LargestArea,
    LongestJob,
    QueueOrder,
    QueuePriority,
    ShortestJob,
    SmallestArea,
)
from rebecsim.clusters.batch.policy import BATCH_POLICIES, BatchPolicy, batch_policy
from rebecsim.clusters.batch.rebecs import Client, Node, ResourceManager, cluster_model
from rebecsim.clusters.batch.run import run_schedule
from rebecsim.clusters.batch.settings import BACKFILL_ORDERS, PolicySettings
from rebecsim.clusters.batch.usage import Usage
from rebecsim.clusters.batch.validation import (
    Check,
    check_capacity,
    check_head_reservations,
    check_start_order,
    check_submissions,
)

__all__ = [
    "BACKFILL_ORDERS",
    "BATCH_POLICIES",
    "ESTIMATES",
    "PLACEMENTS",
    "Allocations",
    "Backfilling",
    "BatchPolicy",
    "BySubmission",
    "Check",
    "Client",
    "ConservativeBackfilling",
    "EasyBackfilling",
    "Estimates",
    "Fairshare",
    "InflatedEstimates",
    "Job",
    "LargestArea",
    "LongestJob",
    "Machine",
    "NoBackfilling",
    "Node",
    "NodeGroup",
    "Nodes",
    "PolicySettings",
    "Pool",
    "QueueOrder",
    "QueuePriority",
    "ResourceManager",
    "ShortestJob",
    "SmallestArea",
    "Usage",
    "batch_policy",
    "check_capacity",
    "check_head_reservations",
    "check_start_order",
    "check_submissions",
    "cluster_model",
    "run_schedule",
]

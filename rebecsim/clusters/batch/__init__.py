"""Batch scheduling of parallel jobs: machines, policies, the cluster as rebecs, validation.

Running: `run_schedule` runs a workload under a policy and gives its `Schedule`; `cluster_model`
is the model behind it, of a `Client`, a `ResourceManager` and a `ComputeNode` for each node, which
hand `Job`s around.

Machines: `Pool` of processors, or nodes made of `NodeGroup`s by `machine_of`, with one of the
`PLACEMENTS`: `Nodes`, or `SingleNodes` of one processor each. All are a `Machine`.

Policies: a `BatchPolicy` is a `QueueOrder` (`BySubmission`, `ShortestJob`, `LongestJob`,
`SmallestArea`, `LargestArea`, `QueuePriority`, `Fairshare`) and a `Backfilling` (`NoBackfilling`,
`EasyBackfilling`, `ConservativeBackfilling`), which keeps the books in `Allocations`;
`batch_policy` finds one of the `BATCH_POLICIES` by name. `PolicySettings` are their numbers;
`Usage` is what fairshare remembers.

Estimates: `ESTIMATES` by name, or `InflatedEstimates` with an error; `Estimates` is either.

Validation: `check_submissions`, `check_capacity`, `check_start_order` and
`check_head_reservations` give a `Check` each.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

"""What plug-ins may bring to the kind `batch`: policies, which are tried on a few jobs."""

from __future__ import annotations

from functools import partial

from rebecsim.clusters.batch.machine import Pool
from rebecsim.clusters.batch.policies.backfilling import Backfilling
from rebecsim.clusters.batch.policies.orders import QueueOrder
from rebecsim.clusters.batch.policies.policy import BatchPolicy, batch_policies
from rebecsim.clusters.batch.run import run_schedule
from rebecsim.clusters.batch.validation import check_capacity, check_submissions
from rebecsim.clusters.kit.plugins import PluginPart, require_policy
from rebecsim.workloads import Workload


def _try(policy: BatchPolicy) -> None:
    """Run six jobs of two users on four processors, over which they have to wait.

    Raises what the policy raises, and RuntimeError when jobs are never started or the machine is
    overfull.
    """
    workload = Workload.of(
        submit=[0, 0, 1, 2, 3, 3],
        run=[5, 3, 4, 1, 2, 6],
        processors=[2, 1, 4, 1, 2, 3],
        requested_time=[6, 3, 5, 2, 2, 9],
        user=[1, 2, 1, 2, 1, 2],
        group=[1, 1, 1, 1, 1, 1],
        queue=[0, 1, 1, 0, 1, 0],
        capacity=4,
    )
    schedule = run_schedule(workload, Pool(4), policy)
    for check in (check_submissions(schedule), check_capacity(schedule, 4)):
        if not check.holds:
            raise RuntimeError(
                f"of six jobs on 4 processors, job {check.offenders[0] + 1} {check.first}"
            )


PLUGIN_PARTS = (
    PluginPart(
        "batch_policies",
        batch_policies,
        partial(require_policy, kind=BatchPolicy, order=QueueOrder, backfilling=Backfilling),
        attempt=_try,
    ),
)
"""Ways to run the jobs of a batch queue."""

"""Trying a policy on a few jobs, before it is accepted."""

from __future__ import annotations

from rebecsim.clusters.batch.machine import Pool
from rebecsim.clusters.batch.policies.policy import BatchPolicy
from rebecsim.clusters.batch.run import run_schedule
from rebecsim.clusters.batch.validation import check_capacity, check_submissions
from rebecsim.workloads import Workload


def try_policy(policy: BatchPolicy) -> None:
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

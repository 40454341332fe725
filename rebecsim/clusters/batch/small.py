"""A batch cluster of a few jobs and processors, which asserts what its scheduler promises."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rebecsim.actors import Model, require
from rebecsim.clusters.batch.machine import Job, Machine, NodeGroup, Pool, machine_of
from rebecsim.clusters.batch.policies.backfilling import Backfilling, EasyBackfilling
from rebecsim.clusters.batch.policies.orders import PolicySettings
from rebecsim.clusters.batch.policies.policy import (
    BatchPolicy,
    ConservativeBackfilling,
    batch_policy,
)
from rebecsim.clusters.batch.rebecs import MANAGER, ResourceManager, cluster_model
from rebecsim.errors import UserError
from rebecsim.studies.study import Cut, SmallCluster, in_any_order
from rebecsim.wording import counted
from rebecsim.workloads import Workload

PROMISES = (
    "jobs never take more of the machine than it has",
    "a reservation never moves to a later time for a job that is behind in the queue",
    "every job starts",
)


class WatchedManager(ResourceManager):
    """A resource manager that says when it breaks a promise."""

    jobs: ClassVar[tuple[Job, ...]]

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.reserved: list[tuple[int, int]] = []

    def check_promises(self) -> None:
        """Raise AssertionFailedError if jobs have too much, or one is to start later than it was.

        Under EASY backfilling only the head of the queue has a reservation. It may have to wait for
        a job of which the manager hears later, and which is ahead in the order of the queue.
        """
        allocations = self.backfilling.allocations
        taken = sum(processors for _, _, processors, _ in allocations.running)
        free = self.machine.processors - taken
        level = allocations.free
        lowest = level if isinstance(level, int) else int(level.min())
        is_within = free >= 0 and lowest >= 0 and self.machine.free(level) == free
        require(is_within, f"{taken} of {self.machine.processors} processors are taken")
        before = dict(self.reserved)
        self.reserved = _reservations(self.backfilling, self._now)
        for job, start in self.reserved:
            if self._gave_way(job):
                continue
            was = before.get(job, start)
            require(
                start <= was,
                f"job {job + 1} had a reservation at {was} s, and now has it at {start} s",
            )

    def _gave_way(self, waiting: int) -> bool:
        """Whether a job that is ahead of one in the order of the queue has just started."""
        now = self._now
        order = self.backfilling.order
        place = order.key(self.jobs[waiting], now), waiting
        begun = (each for each, start in enumerate(self.starts) if start == now)
        return any((order.key(self.jobs[each], now), each) < place for each in begun)


def _reservations(backfilling: Backfilling, now: int) -> list[tuple[int, int]]:
    """Give the positions of waiting jobs and their reserved starts, seconds."""
    if backfilling.order.refresh is not None:
        return []  # the order changes by itself
    if isinstance(backfilling, ConservativeBackfilling):
        return [(job.index, backfilling.reservation(job)) for job in backfilling.waiting]
    if isinstance(backfilling, EasyBackfilling) and backfilling.waiting:
        return [(backfilling.waiting.head.index, max(now, backfilling.shadow_time()))]
    return []


def small_cluster(
    workload: Workload,
    machine: Machine[Any] | None,
    policy: BatchPolicy | str,
    settings: PolicySettings | None = None,
    cut: Cut | None = None,
) -> SmallCluster:
    """Cut a cluster to the first jobs of a workload and as many processors or nodes.

    Jobs keep their times. On pooled processors, a job takes the same share of the small machine as
    of the large one, rounded up. Raises UserError for a job that does not fit on the nodes left.
    """
    cut = cut or Cut()
    large = machine or Pool(workload.capacity)
    small = _cut_machine(large, cut.nodes)
    jobs = _cut_jobs(workload, large, small, cut.jobs)
    if isinstance(policy, str):
        policy = batch_policy(policy)
    model = cluster_model(jobs, small, policy, settings or PolicySettings())
    manager = type("WatchedManager", (WatchedManager,), {"jobs": jobs})
    watched = tuple(
        each
        if each.reactive_class is not ResourceManager
        else type(each)(each.name, manager, each.knows, each.arguments)
        for each in model.instances
    )
    noun = "processor" if isinstance(small, Pool) else "node"
    return SmallCluster(
        in_any_order(Model(policy.name, watched)),
        f"{MANAGER}.starts",
        f"{MANAGER}.waiting == 0",
        tuple(map(str, jobs)),
        "s",
        PROMISES,
        f"{counted(len(jobs), 'job')} on {counted(cut.nodes, noun)}",
    )


def _cut_machine(machine: Machine[Any], nodes: int) -> Machine[Any]:
    if isinstance(machine, Pool):
        return Pool(min(nodes, machine.processors))
    groups: list[NodeGroup] = []
    left = nodes
    for group in getattr(machine, "groups", ()):
        if left:
            count = min(left, group.count)
            groups.append(NodeGroup(count, group.processors, group.resources))
            left -= count
    return machine_of(*groups, placement=getattr(machine, "placement", "first-fit"))


def _cut_jobs(
    workload: Workload, large: Machine[Any], small: Machine[Any], count: int
) -> tuple[Job, ...]:
    run = np.minimum(workload.run, workload.estimate)
    first = int(workload.submit[0]) if len(workload) else 0
    jobs = []
    for index in range(min(count, len(workload))):
        wanted = int(workload.processors[index])
        if isinstance(small, Pool):
            wanted = -(-wanted * small.processors // large.processors)
        job = Job(
            index,
            int(workload.job[index]),
            int(workload.submit[index]) - first,
            int(run[index]),
            wanted,
            int(workload.estimate[index]),
            int(workload.user[index]),
            int(workload.group[index]),
            int(workload.queue[index]),
            demand=(0,) * len(small.resources),
        )
        if small.place(job, small.empty) is None:
            raise UserError(
                f"{job} takes {wanted} processors and does not fit on the "
                f"{counted(small.node_count, 'node')} that are left; leave more"
            )
        jobs.append(job)
    return tuple(jobs)

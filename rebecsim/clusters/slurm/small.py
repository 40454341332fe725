"""A cluster of a few jobs and nodes, which asserts what its controller promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rebecsim.actors import Model, require
from rebecsim.clusters.slurm.configuration import Cluster
from rebecsim.clusters.slurm.jobs import NO_EXTRAS, Job
from rebecsim.clusters.slurm.rebecs import CONTROLLER, Controller, cluster_model
from rebecsim.clusters.slurm.run import make_scheduler
from rebecsim.errors import UserError
from rebecsim.studies.study import Cut, SmallCluster, in_any_order
from rebecsim.wording import counted

PROMISES = (
    "jobs never take more CPUs or memory of a node than it has",
    "a job only runs on nodes of its partition",
    "every job starts",
)


class WatchedController(Controller):
    """A controller that says when it breaks a promise."""

    def check_promises(self) -> None:
        """Raise AssertionFailedError if a node has too many jobs, or a job is where it must not be.

        What was only kept so as not to find it again is dropped: it is no part of the state.
        """
        scheduler = self.scheduler
        scheduler.forget()
        level = scheduler.occupancy.level
        for number, name in enumerate(scheduler.machine.names):
            require(int(level.cpus[number]) >= 0, f"jobs take too many CPUs of {name}")
            require(int(level.memory[number]) >= 0, f"jobs take too much memory of {name}")
        for record in scheduler.running.values():
            entry = record.entry
            given = scheduler.occupancy.given[record.number]
            inside = entry is not None and not given.bits & ~entry.place.nodes
            require(inside, f"{record} runs outside its partition")


def small_cluster(
    cluster: Cluster, jobs: Sequence[Job], name: str, cut: Cut | None = None
) -> SmallCluster:
    """Cut a cluster to the first jobs of a log and the first nodes.

    Jobs keep their times; of more nodes than are left they ask for all that are. Raises UserError
    for a partition without a node, and for a job that fits on no node.
    """
    cut = cut or Cut()
    small = _cut_cluster(cluster, cut.nodes)
    first = jobs[0].submit if jobs else 0
    chosen = [_cut_job(each, small, first) for each in jobs[: cut.jobs]]
    scheduler = make_scheduler(small, chosen)
    for each in chosen:
        record, refusal = scheduler.record(each, 0, 0)
        if refusal or not scheduler.is_runnable(record.entries[0].need):
            raise UserError(
                f"{each} does not fit on the {counted(cut.nodes, 'node')} that are left; leave more"
            )
    model = cluster_model(chosen, make_scheduler(small, chosen), WatchedController)
    return SmallCluster(
        in_any_order(Model(name, model.instances)),
        f"{CONTROLLER}.starts",
        f"{CONTROLLER}.waiting == 0",
        tuple(map(str, chosen)),
        "s",
        PROMISES,
        f"{counted(len(chosen), 'job')} on {counted(len(small.nodes), 'node')}",
    )


def _cut_cluster(cluster: Cluster, count: int) -> Cluster:
    nodes = cluster.nodes[:count]
    names = {each.name for each in nodes}
    partitions = tuple(
        replace(each, nodes=tuple(name for name in each.nodes if name in names))
        for each in cluster.partitions
    )
    for each in partitions:
        if not each.nodes:
            raise UserError(
                f"partition {each.name} has none of the {counted(count, 'node')} that are left; "
                "leave more"
            )
    return replace(
        cluster, nodes=nodes, partitions=partitions, reservations=(), changes=(), switches=()
    )


def _cut_job(job: Job, cluster: Cluster, first: int) -> Job:
    asked, count = job.request, len(cluster.nodes)
    room = sum(each.cpus for each in cluster.nodes)
    most = None if asked.max_nodes is None else min(asked.max_nodes, count)
    tasks = None
    if asked.tasks is not None:
        tasks = min(asked.tasks, max(room // (asked.cpus_per_task or 1), 1))
    request = replace(
        asked,
        min_nodes=min(asked.min_nodes, count),
        max_nodes=most,
        tasks=tasks,
        required=(),
        excluded=(),
        reservation="",
    )
    return replace(
        job,
        request=request,
        submit=job.submit - first,
        begin=max(job.begin - first, 0),
        extras=NO_EXTRAS,
    )

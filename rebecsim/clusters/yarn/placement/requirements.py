"""Checks that every task fits on a node on which the rules of placement allow it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rebecsim.clusters.yarn.configuration import PlacementRules
from rebecsim.clusters.yarn.node import NodeSize
from rebecsim.clusters.yarn.placement.hosts import Hosts
from rebecsim.clusters.yarn.placement.labels import may_use
from rebecsim.errors import UserError
from rebecsim.workloads.container_jobs import ContainerJob


def require_allowed(
    jobs: Sequence[ContainerJob],
    sizes: Sequence[NodeSize],
    rules: PlacementRules,
    masters: tuple[int, int],
) -> None:
    """Raise UserError for rules without sense, and for tasks that they keep from all nodes.

    `masters` are MB and cores of AppMasters of which the jobs do not say that.
    """
    for name, value, least in (
        ("the delay for a node", rules.node_delay, 0),
        ("the delay for a rack", rules.rack_delay, 0),
        ("the most tasks of a job on a node", rules.most_per_node, 1),
    ):
        if value is not None and value < least:
            raise UserError(f"{name}: should be {least} at least, not {value}")
    hosts = Hosts(sizes)
    for job in jobs:
        where = f"{job.source}: {job.name}" if job.source else job.name
        usable = [size for size in sizes if may_use(size, job.label)]
        if not usable:
            label = f"with the label {job.label}" if job.label else "without an exclusive label"
            raise UserError(f"{where} needs nodes {label}, and there are none")
        for what, host, memory, cores in _asked(job, masters):
            nodes = [size for size in usable if _is_reached(hosts, size, host, rules)]
            if not any(memory <= size.memory and cores <= size.cores for size in nodes):
                raise UserError(
                    f"{where}, {what} asks for {memory} MB and {cores} cores, and fits on no node "
                    f"on which it may run{f', for it waits for {host}' if host else ''}"
                )


def _asked(job: ContainerJob, masters: tuple[int, int]) -> Iterator[tuple[str, str, int, int]]:
    """Give what a job asks for: for what, where, MB and cores."""
    memory, cores = job.master_memory or masters[0], job.master_cores or masters[1]
    yield "its AppMaster", "", memory, cores
    for place, each in enumerate(job.classes, start=1):
        yield f"task {place}", each.host, each.memory, each.cores


def _is_reached(hosts: Hosts, size: NodeSize, host: str, rules: PlacementRules) -> bool:
    """Whether tasks that would rather run on a host take a node in the end."""
    preferred, locality = hosts.preference(host), hosts.locality(size, host)
    if preferred is None or locality is None or locality == "node":
        return True
    waits_for_node = preferred.node is not None and rules.node_delay is None
    waits_for_rack = locality == "any" and rules.rack_delay is None
    return not (waits_for_node or waits_for_rack)

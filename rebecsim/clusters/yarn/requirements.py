"""Checks of a run before it starts, so that it ends and its results have a meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rebecsim.clusters.yarn.configuration import (
    InjectedError,
    PlacementRules,
    YarnConfiguration,
)
from rebecsim.clusters.yarn.containers import ANY_CORES, NodeSize, hundreds
from rebecsim.clusters.yarn.durations import master_size
from rebecsim.clusters.yarn.penalties import Penalty, penalty_named
from rebecsim.clusters.yarn.placement import Hosts, may_use
from rebecsim.clusters.yarn.schedulers.elastic import Peek
from rebecsim.clusters.yarn.schedulers.scheduler import ContainerScheduler
from rebecsim.errors import UserError
from rebecsim.wording import first_repeated
from rebecsim.workloads.container_jobs import ContainerJob, TaskClass


def require_sense(configuration: YarnConfiguration) -> None:
    """Raise UserError for settings that exclude each other."""
    elasticity = configuration.elasticity
    for name, value in (
        ("heartbeats of nodes", configuration.node_heartbeat),
        ("heartbeats of AppMasters", configuration.master_heartbeat),
        ("the memory of an AppMaster", configuration.master_memory),
        ("the cores of an AppMaster", configuration.master_cores),
    ):
        if value < 1:
            raise UserError(f"{name}: should be at least 1, not {value}")
    for name, error in (
        ("durations", elasticity.duration_error),
        ("memory", elasticity.memory_error),
        ("bumps", elasticity.bump_error),
    ):
        _require_possible(name, error)
    if (twice := first_repeated(pool.name for pool in configuration.pools)) is not None:
        raise UserError(f"two pools have the name {twice}; rename one of them")
    memory = elasticity.memory_error
    if memory and memory.sign != "NEGATIVE" and elasticity.penalty is None:
        raise UserError(
            f"an error of memory that is {memory.sign.lower()} needs a penalty, "
            "which says how long a task runs in too little memory"
        )


def _require_possible(name: str, error: InjectedError) -> None:
    if error.percent is None:
        return
    if error.percent < 0:
        raise UserError(f"the error of {name}: should be at least 0 %, not {error.percent} %")
    if error.mode == "CONSTANT" and error.sign == "MIXED":
        raise UserError(
            f"the error of {name} is constant, so it is POSITIVE or NEGATIVE, and not MIXED"
        )
    if error.sign != "POSITIVE" and error.percent >= 100:
        raise UserError(
            f"the error of {name} may be negative, so it is less than 100 %, not {error.percent} %"
        )


def require_placeable(
    jobs: Sequence[ContainerJob],
    sizes: Sequence[NodeSize],
    configuration: YarnConfiguration,
    scheduler: type[ContainerScheduler],
) -> None:
    """Raise UserError for nodes that are none, and jobs of which a task fits on no empty node.

    `elastic` says whether the scheduler gives tasks less memory than they ask for.
    """
    if not sizes:
        raise UserError("the cluster has no nodes; give at least one")
    if not jobs:
        raise UserError("there are no jobs to run; give at least one")
    for node in sizes:
        if node.memory < 1 or node.cores < 1:
            raise UserError(
                f"node {node.name}: {node.memory} MB and {node.cores} cores; give 1 or more of each"
            )
    for master, job in {master_size(job, configuration): job for job in reversed(jobs)}.items():
        if not _fits(sizes, *master):
            where = f"{job.source}: {job.name}" if job.source else job.name
            raise UserError(f"{_asking(f'{where}, its AppMaster', *master)}; {_largest(sizes)}")
    for job in jobs:
        for place, each in enumerate(job.classes, start=1):
            penalty = _penalty(each, configuration)
            where = f"{job.source}: {job.name}" if job.source else job.name
            if issubclass(scheduler, Peek) and not (penalty and penalty.has_bump):
                raise UserError(
                    f"{where}, task {place}: PEEK has to know the longest that a task can take; "
                    "give it a penalty with a bump: STEP, SAWTOOTH or SPARKWC"
                )
            is_elastic = scheduler.elastic and penalty is not None
            least = hundreds(each.memory * 10 // 100) if is_elastic else each.memory
            if not _fits(sizes, min(least, each.memory), each.cores):
                asking = _asking(f"{where}, task {place}", each.memory, each.cores)
                raise UserError(f"{asking}; {_largest(sizes)}")


def _penalty(task_class: TaskClass, configuration: YarnConfiguration) -> Penalty | None:
    if task_class.penalty is None:
        return configuration.elasticity.penalty
    return penalty_named(task_class.penalty, task_class.bump or 1.0)


def _fits(sizes: Sequence[NodeSize], memory: int, cores: int) -> bool:
    return any(memory <= node.memory and cores <= node.cores for node in sizes)


def _asking(who: str, memory: int, cores: int) -> str:
    return f"{who} asks for {memory} MB and {cores} cores, and fits on no node"


def _largest(sizes: Sequence[NodeSize]) -> str:
    node = max(sizes, key=lambda each: (each.memory, each.cores))
    cores = "" if node.cores == ANY_CORES else f" and {node.cores} cores"
    return f"{node.name}, the largest, has {node.memory} MB{cores}"


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
            raise UserError(f"{name}: should be at least {least}, not {value}")
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

"""A cluster at work: its rebecs are made, and their messages served until all jobs have ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebecsim.actors import Instance, Model, RebecNamed
from rebecsim.clusters.common.plugin_errors import blaming
from rebecsim.clusters.common.queued import QueuedSystem, rarely_collecting, serve
from rebecsim.clusters.yarn.accounts import Accounts
from rebecsim.clusters.yarn.application import Application
from rebecsim.clusters.yarn.configuration import Configuration
from rebecsim.clusters.yarn.container import Killed
from rebecsim.clusters.yarn.elasticity.durations import applications_of
from rebecsim.clusters.yarn.foreseeing.peeker import Peeker
from rebecsim.clusters.yarn.foreseeing.racer import Racer
from rebecsim.clusters.yarn.monitor import Monitor
from rebecsim.clusters.yarn.node import ClusterNode, NodeSize
from rebecsim.clusters.yarn.placement.requirements import require_allowed
from rebecsim.clusters.yarn.queues.choice import killing_period, normalised, scheduler_of
from rebecsim.clusters.yarn.queues.requirements import require_queues
from rebecsim.clusters.yarn.rebecs import (
    SECOND,
    AppMaster,
    NodeManager,
    ResourceManager,
    StuckError,
)
from rebecsim.clusters.yarn.requirements import require_placeable, require_sense
from rebecsim.clusters.yarn.sampler import Occupancy, Sampler
from rebecsim.clusters.yarn.schedulers.peek import Peek
from rebecsim.clusters.yarn.schedulers.race import RaceInLockstep
from rebecsim.clusters.yarn.schedulers.registry import yarn_schedulers
from rebecsim.workloads.containers.jobs import ContainerJob


@dataclass(frozen=True, eq=False)
class Finished:
    """What became of a run: applications in the order of the trace, nodes in theirs.

    Attributes:
        killed: containers that a scheduler chose to kill.
    """

    configuration: Configuration
    applications: Sequence[Application]
    nodes: Sequence[ClusterNode]
    accounts: Accounts
    occupancy: Sequence[Occupancy]
    messages: int
    killed: Sequence[Killed] = ()


def run_cluster(
    jobs: Sequence[ContainerJob], sizes: Sequence[NodeSize], configuration: Configuration
) -> Finished:
    """Run jobs on a cluster of nodes.

    Raises UserError, with the file, the line and the job where there is one, for what can never
    run, and StuckError, which is one, when jobs wait for containers that nobody will ever give up.
    """
    scheduler = scheduler_of(configuration)
    require_sense(configuration)
    if configuration.queues is not None:
        jobs, configuration = normalised(jobs, configuration, sizes)
        require_queues(jobs, sizes, configuration)
    require_placeable(jobs, sizes, configuration, elastic=scheduler.elastic)
    if configuration.placement is not None:
        masters = configuration.master_memory, configuration.master_cores
        require_allowed(jobs, sizes, configuration.placement, masters)
    applications = applications_of(jobs, configuration)
    nodes = [ClusterNode(size) for size in sizes]
    accounts = Accounts()
    samples: list[Occupancy] = []
    system = QueuedSystem(cluster_model(applications, nodes, configuration, accounts, samples))
    manager = system.rebecs[0]
    assert isinstance(manager, ResourceManager)
    suspects = () if configuration.queues else yarn_schedulers.suspects(configuration.scheduler)
    with blaming(*suspects), rarely_collecting():
        served = serve(system, manager)
    if not manager.closed:
        raise StuckError(list(manager.running.values()))
    killed = manager.scheduler.killed
    return Finished(configuration, applications, nodes, accounts, samples, served, killed)


def cluster_model(
    applications: Sequence[Application],
    nodes: Sequence[ClusterNode],
    configuration: Configuration,
    accounts: Accounts,
    samples: list[Occupancy],
) -> Model:
    """Make the model of a cluster."""
    scheduler = scheduler_of(configuration)
    looks = issubclass(scheduler, Peek | RaceInLockstep)
    seer = RebecNamed("seer") if looks else None
    arguments = (configuration, nodes, scheduler, accounts, applications, seer)
    instances = [Instance("manager", ResourceManager, (), arguments)]
    spread = SECOND if configuration.quirks.one_second else configuration.node_heartbeat
    gap, beat = spread / len(nodes), 0.0
    for node in nodes:
        first = int(beat + 0.5)
        name = f"node_{node.size.number}"
        instances.append(Instance(name, NodeManager, ("manager",), (node, first)))
        beat += gap
    period = configuration.master_heartbeat
    for application in applications:
        name = f"master_{application.number}"
        instances.append(Instance(name, AppMaster, ("manager",), (application, period)))
    if configuration.occupancy_interval:
        interval = configuration.occupancy_interval
        instances.append(Instance("sampler", Sampler, ("manager",), (interval, samples)))
    if period := killing_period(configuration):
        instances.append(Instance("monitor", Monitor, ("manager",), (period,)))
    if issubclass(scheduler, Peek):
        period = configuration.node_heartbeat
        instances.append(Instance("seer", Peeker, ("manager",), (period,)))
    elif looks:
        instances.append(Instance("seer", Racer, ("manager",)))
    return Model("cluster", tuple(instances))

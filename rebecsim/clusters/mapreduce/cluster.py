"""A cluster at work: its rebecs are made, and their messages served until all jobs have ended."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from rebecsim.actors import Instance, Model, RebecNamed
from rebecsim.clusters.kit.queued import QueuedSystem, rarely_collecting, serve
from rebecsim.clusters.mapreduce.attempts import Rates
from rebecsim.clusters.mapreduce.cluster_state import (
    ClusterPlan,
    MapReduceCluster,
    WorkerNode,
    racks_of,
)
from rebecsim.clusters.mapreduce.configuration import MapReduceConfiguration, VariationTable
from rebecsim.clusters.mapreduce.devices import Device, Switch
from rebecsim.clusters.mapreduce.executions import Demand
from rebecsim.clusters.mapreduce.job import MapReduceJob
from rebecsim.clusters.mapreduce.jobtracker import Client, JobTracker
from rebecsim.clusters.mapreduce.network import FlowNetwork, RackTopology
from rebecsim.clusters.mapreduce.records import (
    DeviceUse,
    FinishedRun,
    record_of_attempt,
    record_of_job,
)
from rebecsim.clusters.mapreduce.requirements import require_runnable
from rebecsim.clusters.mapreduce.schedulers.scheduler import SchedulerFactory
from rebecsim.clusters.mapreduce.shared_server import SharedServer
from rebecsim.clusters.mapreduce.tasktracker import Fate, TaskTracker
from rebecsim.clusters.mapreduce.watch import DeviceSampler, Watchdog, stuck, uses_until


def run_mapreduce(
    jobs: Sequence[MapReduceJob],
    configuration: MapReduceConfiguration,
    scheduler: SchedulerFactory,
    seed: int,
) -> FinishedRun:
    """Run jobs on a cluster until all have ended that are accepted.

    Raises UserError, with the key, for what can never run, and StuckJobsError, which is one, when
    jobs wait for what never happens.
    """
    require_runnable(jobs, configuration)
    cluster = make_cluster(configuration, seed)
    topology = topology_of(configuration)
    uses: list[DeviceUse] = []
    system = QueuedSystem(cluster_model(cluster, jobs, topology, scheduler, uses))
    jobtracker, switch = system.rebecs[:2]
    assert isinstance(jobtracker, JobTracker)
    assert isinstance(switch, Switch)
    with rarely_collecting():
        served = serve(system, jobtracker)
    desk = jobtracker.desk
    if not jobtracker.closed:
        raise stuck(desk)
    end = jobtracker._now
    uses.append(uses_until(end, cluster, switch))
    return FinishedRun(
        configuration,
        cluster.plan.racks,
        topology.capacities,
        [record_of_job(run) for run in desk.runs.values()],
        [
            record_of_attempt(attempt, cluster.nodes[attempt.node.number].tracker, end)
            for attempt in desk.attempts.values()
        ],
        uses,
        [node.number for node in cluster.nodes if node.slowdown != 1.0],
        cluster.outages,
        served,
    )


def make_cluster(configuration: MapReduceConfiguration, seed: int) -> MapReduceCluster:
    """Make the nodes of a cluster, and say which of them are slow."""
    slow = slow_nodes(configuration.hardware.nodes, configuration.variation, seed)
    slowdown = configuration.variation.node_slowdown
    nodes = [
        WorkerNode(number, slowdown if number in slow else 1.0, Rates.of(of.hardware))
        for number, of in enumerate(configuration.class_of_nodes)
    ]
    return MapReduceCluster(ClusterPlan(configuration, seed), nodes)


def slow_nodes(nodes: int, variation: VariationTable, seed: int) -> frozenset[int]:
    """Draw the nodes that are slow: the nearest number to their share."""
    slow = round(nodes * variation.slow_nodes)
    return frozenset(Random(f"{seed} slow nodes").sample(range(nodes), slow))


def topology_of(configuration: MapReduceConfiguration) -> RackTopology:
    """Give the links of a cluster."""
    hardware = configuration.hardware
    racks = racks_of(hardware.nodes, hardware.racks)
    return RackTopology(racks, hardware.link / 1e6, hardware.oversubscription)


def cluster_model(
    cluster: MapReduceCluster,
    jobs: Sequence[MapReduceJob],
    topology: RackTopology,
    scheduler: SchedulerFactory,
    uses: list[DeviceUse],
) -> Model:
    """Make the model of a cluster: first the JobTracker, then the network, then the nodes."""
    plan = cluster.plan
    network: FlowNetwork[Demand] = FlowNetwork(topology.capacities)
    trackers = [RebecNamed(f"node_{node.number}") for node in cluster.nodes]
    instances = [
        Instance("jobtracker", JobTracker, (), (plan, jobs, scheduler, *trackers)),
        Instance("network", Switch, (), (topology, network)),
    ]
    for node, of in zip(cluster.nodes, plan.configuration.class_of_nodes, strict=True):
        name, hardware = f"node_{node.number}", of.hardware
        cycles, read = node.rates.cycles / node.slowdown, node.rates.read / node.slowdown
        processors: SharedServer[Demand] = SharedServer(hardware.cores, cycles)
        disks: SharedServer[Demand] = SharedServer(hardware.disks, read)
        instances.append(Instance(f"{name}_processor", Device, (), (node, processors, "processor")))
        instances.append(Instance(f"{name}_disk", Device, (), (node, disks, "disk")))
        instances.append(Instance(name, TaskTracker, ("jobtracker", "network"), (node, cluster)))
    instances.append(Instance("client", Client, ("jobtracker",), (jobs,)))
    instances.append(Instance("fate", Fate, (), (cluster,)))
    instances.append(Instance("watchdog", Watchdog, ("jobtracker", "network"), (cluster,)))
    sampling = plan.configuration.sampling
    if sampling:
        instances.append(
            Instance("sampler", DeviceSampler, ("network",), (cluster, sampling, uses))
        )
    return Model("mapreduce", tuple(instances))

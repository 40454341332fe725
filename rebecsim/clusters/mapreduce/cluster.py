"""A cluster at work: its rebecs are made, and their messages served until all jobs have ended."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from random import Random

from rebecsim.actors import Instance, Model
from rebecsim.clusters.kit.queued import QueuedSystem, rarely_collecting, serve
from rebecsim.clusters.mapreduce.attempts import Demand, Rates
from rebecsim.clusters.mapreduce.cluster_state import (
    JobRun,
    MapReduceCluster,
    SlotBeats,
    WorkerNode,
    racks_of,
)
from rebecsim.clusters.mapreduce.configuration import (
    HadoopSettings,
    MapReduceConfiguration,
    VariationTable,
)
from rebecsim.clusters.mapreduce.devices import Device, Switch
from rebecsim.clusters.mapreduce.job import MapReduceJob, TrackerSlots
from rebecsim.clusters.mapreduce.jobtracker import Client, JobTracker
from rebecsim.clusters.mapreduce.network import FlowNetwork, RackTopology
from rebecsim.clusters.mapreduce.records import (
    DeviceSampler,
    DeviceUse,
    FinishedRun,
    record_of_attempt,
    record_of_job,
    uses_until,
)
from rebecsim.clusters.mapreduce.requirements import require_runnable
from rebecsim.clusters.mapreduce.schedulers.scheduler import SchedulerFactory
from rebecsim.clusters.mapreduce.shared_server import SharedServer
from rebecsim.clusters.mapreduce.tasktracker import Fate, TaskTracker


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
    runs = [JobRun(job) for job in jobs]
    topology = topology_of(configuration)
    uses: list[DeviceUse] = []
    system = QueuedSystem(cluster_model(cluster, runs, topology, scheduler, uses))
    jobtracker, switch = system.rebecs[:2]
    assert isinstance(jobtracker, JobTracker)
    assert isinstance(switch, Switch)
    with rarely_collecting():
        served = serve(system, jobtracker)
    if not jobtracker.closed:
        raise jobtracker.stuck()
    end = jobtracker._now
    uses.append(uses_until(end, cluster, switch))
    return FinishedRun(
        configuration,
        cluster.racks,
        topology.capacities,
        [record_of_job(run) for run in runs],
        [record_of_attempt(attempt, end) for attempt in cluster.attempts],
        uses,
        [node.number for node in cluster.nodes if node.slowdown != 1.0],
        cluster.outages,
        served,
    )


def make_cluster(configuration: MapReduceConfiguration, seed: int) -> MapReduceCluster:
    """Make the nodes of a cluster: which of them are slow, and when they first send heartbeats."""
    hardware, hadoop = configuration.hardware, configuration.hadoop
    racks = racks_of(hardware.nodes, hardware.racks)
    draws = Random(f"{seed} heartbeats")
    slow = slow_nodes(hardware.nodes, configuration.variation, seed)
    nodes = []
    for number, (rack, of) in enumerate(zip(racks, configuration.class_of_nodes, strict=True)):
        slots = TrackerSlots(number, rack, of.map_slots, of.reduce_slots)
        slowdown = configuration.variation.node_slowdown if number in slow else 1.0
        beats = _slot_beats(slots, hadoop, draws)
        nodes.append(WorkerNode(slots, slowdown, beats, Rates.of(of.hardware)))
    return MapReduceCluster(configuration, seed, racks, nodes)


def _slot_beats(slots: TrackerSlots, hadoop: HadoopSettings, draws: Random) -> SlotBeats:
    """Draw when a node sends its first heartbeat, or when each of its slots does."""
    firsts: Iterator[int] = (
        int(draws.random() * hadoop.first_heartbeats) for _ in itertools.count()
    )
    if hadoop.heartbeats_of == "node":
        firsts = itertools.repeat(next(firsts))
    return SlotBeats(hadoop.heartbeat, slots.slots, firsts)


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
    runs: Sequence[JobRun],
    topology: RackTopology,
    scheduler: SchedulerFactory,
    uses: list[DeviceUse],
) -> Model:
    """Make the model of a cluster: first the JobTracker, then the network, then the nodes."""
    made = scheduler([node.slots for node in cluster.nodes])
    network: FlowNetwork[Demand] = FlowNetwork(topology.capacities)
    instances = [
        Instance("jobtracker", JobTracker, ("network",), (cluster, runs, made)),
        Instance("network", Switch, (), (topology, network)),
    ]
    for node, of in zip(cluster.nodes, cluster.configuration.class_of_nodes, strict=True):
        name, hardware = f"node_{node.number}", of.hardware
        cycles, read = node.rates.cycles / node.slowdown, node.rates.read / node.slowdown
        processors: SharedServer[Demand] = SharedServer(hardware.cores, cycles)
        disks: SharedServer[Demand] = SharedServer(hardware.disks, read)
        instances.append(Instance(f"{name}_processor", Device, (), (node, processors, "processor")))
        instances.append(Instance(f"{name}_disk", Device, (), (node, disks, "disk")))
        instances.append(Instance(name, TaskTracker, ("jobtracker", "network"), (node, cluster)))
    instances.append(Instance("client", Client, ("jobtracker",), (runs,)))
    instances.append(Instance("fate", Fate, (), (cluster,)))
    sampling = cluster.configuration.sampling
    if sampling:
        instances.append(
            Instance("sampler", DeviceSampler, ("network",), (cluster, sampling, uses))
        )
    return Model("mapreduce", tuple(instances))

"""Runs of a cluster: makes its rebecs, and serves their messages until all jobs have ended."""

from __future__ import annotations

from collections.abc import Sequence

from rebecsim.actors import Instance, Model, RebecNamed
from rebecsim.clusters.kit.queued import QueuedSystem, rarely_collecting
from rebecsim.clusters.mapreduce.cluster_state import ClusterPlan
from rebecsim.clusters.mapreduce.configuration import GIGABIT, MapReduceConfiguration
from rebecsim.clusters.mapreduce.devices import Device, Switch
from rebecsim.clusters.mapreduce.job import SECOND, MapReduceJob
from rebecsim.clusters.mapreduce.jobtracker import Client, JobTracker
from rebecsim.clusters.mapreduce.network import RackTopology
from rebecsim.clusters.mapreduce.records import FinishedRun, record_of_attempt, record_of_job
from rebecsim.clusters.mapreduce.requirements import require_runnable
from rebecsim.clusters.mapreduce.schedulers.scheduler import SchedulerFactory
from rebecsim.clusters.mapreduce.tasktracker import FailureInjector, TaskTracker
from rebecsim.clusters.mapreduce.watch import WatchedRun


def run_mapreduce(
    jobs: Sequence[MapReduceJob],
    configuration: MapReduceConfiguration,
    scheduler: SchedulerFactory,
    seed: int,
) -> FinishedRun:
    """Run jobs on a cluster until all accepted jobs have ended.

    Raises UserError, with the key, for an invalid configuration, and StuckJobsError if jobs would
    wait for ever.
    """
    require_runnable(jobs, configuration)
    plan = ClusterPlan(configuration, seed)
    system = QueuedSystem(cluster_model(plan, jobs, scheduler))
    with rarely_collecting():
        watched = WatchedRun(system, configuration.sampling)
    jobtracker, failures = system.rebec("jobtracker"), system.rebec("failures")
    assert isinstance(jobtracker, JobTracker)
    assert isinstance(failures, FailureInjector)
    state = jobtracker.state
    return FinishedRun(
        configuration,
        plan.racks,
        topology_of(plan).capacities,
        [record_of_job(run) for run in state.runs.values()],
        [
            record_of_attempt(attempt, failures.trackers[attempt.node.number], watched.end)
            for attempt in state.attempts.values()
        ],
        watched.uses,
        slow_nodes_of(plan),
        failures.outages,
        watched.served,
    )


def slow_nodes_of(plan: ClusterPlan) -> list[int]:
    """Return the slow nodes."""
    return sorted(plan.slow_nodes) if plan.configuration.variation.node_slowdown != 1.0 else []


def topology_of(plan: ClusterPlan) -> RackTopology:
    """Give the links of a cluster."""
    cluster = plan.configuration.cluster
    return RackTopology(plan.racks, cluster.link * GIGABIT / SECOND, cluster.oversubscription)


def cluster_model(
    plan: ClusterPlan, jobs: Sequence[MapReduceJob], scheduler: SchedulerFactory
) -> Model:
    """Make the model of a cluster: first the JobTracker, then the network, then the nodes."""
    names = [f"node_{number}" for number in range(len(plan.classes))]
    trackers = [RebecNamed(name) for name in names]
    ends = [RebecNamed(each) for name in names for each in (name, f"{name}_disk")]
    instances = [
        Instance("jobtracker", JobTracker, (), (plan, jobs, scheduler, *trackers)),
        Instance("network", Switch, (), (topology_of(plan), *ends)),
    ]
    for number, (name, of) in enumerate(zip(names, plan.classes, strict=True)):
        processor, disk = f"{name}_processor", f"{name}_disk"
        rates, slowdown = plan.rates[number], plan.slowdown(number)
        knows = ("jobtracker", "network", processor, disk)
        instances += [
            Instance(processor, Device, (), (of.cores, rates.cycles / slowdown)),
            Instance(disk, Device, (), (of.disks, rates.read / slowdown)),
            Instance(name, TaskTracker, knows, (number, plan)),
        ]
    instances.append(Instance("client", Client, ("jobtracker",), (jobs,)))
    instances.append(Instance("failures", FailureInjector, (), (plan, *trackers)))
    return Model("mapreduce", tuple(instances))

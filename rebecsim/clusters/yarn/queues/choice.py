"""Which scheduler a configuration asks for, and how it has jobs ask for containers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.containers import ANY_CORES, NodeSize
from rebecsim.clusters.yarn.queue_files.capacity_settings import CapacitySettings
from rebecsim.clusters.yarn.queue_files.reading import QueueSettings
from rebecsim.clusters.yarn.queue_files.resources import Resources
from rebecsim.clusters.yarn.queues.capacity.scheduler import CapacityScheduler
from rebecsim.clusters.yarn.queues.fair.scheduler import HadoopFairScheduler
from rebecsim.clusters.yarn.schedulers.registry import yarn_scheduler
from rebecsim.clusters.yarn.schedulers.scheduler import ContainerScheduler
from rebecsim.workloads.container_jobs import ContainerJob


def scheduler_of(configuration: YarnConfiguration) -> type[ContainerScheduler]:
    """Give the scheduler: that of the file, or of the name. Raises UnknownNameError."""
    queues = configuration.queues
    if queues is None:
        return yarn_scheduler(configuration.scheduler).scheduler
    return CapacityScheduler if isinstance(queues, CapacitySettings) else HadoopFairScheduler


def killing_period(configuration: YarnConfiguration) -> int:
    """Give how often it is looked what is to be killed (ms); 0: never."""
    queues = configuration.queues
    if queues is None or queues.preemption is None:
        return 0
    return queues.preemption.interval


def counted_sizes(sizes: Sequence[NodeSize], queues: QueueSettings) -> Sequence[NodeSize]:
    """Give nodes with as many cores as anybody may ask for, where only memory counts."""
    if queues.dominant:
        return sizes
    return [replace(size, cores=ANY_CORES) for size in sizes]


def normalised(
    jobs: Sequence[ContainerJob], configuration: YarnConfiguration
) -> tuple[Sequence[ContainerJob], YarnConfiguration]:
    """Let jobs ask for what they are given: multiples of the least that is."""
    queues = configuration.queues
    assert queues is not None
    given = queues.allocations.normalised
    master = given(Resources(configuration.master_memory, configuration.master_cores))
    own = []
    for job in jobs:
        classes = []
        for each in job.classes:
            memory, cores = given(Resources(each.memory, each.cores))
            classes.append(replace(each, memory=memory, cores=cores))
        memory, cores = given(
            Resources(
                master.memory if job.master_memory is None else job.master_memory,
                master.cores if job.master_cores is None else job.master_cores,
            )
        )
        own.append(replace(job, classes=tuple(classes), master_memory=memory, master_cores=cores))
    return own, replace(configuration, master_memory=master.memory, master_cores=master.cores)

"""Files of Hadoop's schedulers for tests, in few words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rebecsim.clusters.kit.hadoop import HadoopProperties, Property
from rebecsim.clusters.yarn.cluster import Finished, run_cluster
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.containers import NodeSize
from rebecsim.clusters.yarn.queue_files.capacity_reading import read_capacity_settings
from rebecsim.clusters.yarn.queue_files.capacity_settings import PREFIX, CapacitySettings
from rebecsim.clusters.yarn.queue_files.fair_reading import read_fair_settings
from rebecsim.clusters.yarn.queue_files.fair_settings import FairSettings
from rebecsim.clusters.yarn.queue_files.reading import QueueSettings
from rebecsim.workloads.container_jobs import ContainerJob, NodeLabel, TaskClass
from rebecsim.workloads.files import read_xml

MONITOR = {"yarn.resourcemanager.scheduler.monitor.enable": "true"}
PREEMPTION = "yarn.resourcemanager.monitor.capacity.preemption."

TWO_QUEUES = {
    "root.queues": "a,b",
    "root.a.capacity": "40",
    "root.a.maximum-capacity": "60",
    "root.b.capacity": "60",
}
"""Those of the worked examples."""


def properties(values: Mapping[str, str], file: str = "queues.xml") -> HadoopProperties:
    """Give a file of some keys, each on a line of its own from 2 on."""
    named = {
        key if key.startswith("yarn.") else PREFIX + key: value for key, value in values.items()
    }
    lines = enumerate(named.items(), start=2)
    return HadoopProperties(file, {key: Property(key, value, at) for at, (key, value) in lines})


def capacity(values: Mapping[str, str]) -> CapacitySettings:
    """Read a capacity-scheduler.xml of some keys."""
    return read_capacity_settings(properties(values))


def fair(text: str, site: Mapping[str, str] | None = None) -> FairSettings:
    """Read a fair-scheduler.xml, with a yarn-site.xml of some keys."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "fair.xml"
        path.write_text(text)
        return read_fair_settings(
            read_xml(path, "fair.xml"), None if site is None else properties(site, "site.xml")
        )


def nodes(count: int, memory: int = 10_240, cores: int = 16, label: str = "") -> list[NodeSize]:
    labels = (NodeLabel(label, exclusive=False),) if label else ()
    return [
        NodeSize(f"node{label}{place}", place, memory, cores, labels=labels)
        for place in range(1, count + 1)
    ]


def tasks(count: int, seconds: float, memory: int = 1024, **more: Any) -> TaskClass:
    return TaskClass("map", count, round(seconds * 1000), memory, **more)


def job(number: int, queue: str, *classes: TaskClass, at: float = 0, **more: Any) -> ContainerJob:
    return ContainerJob(number, round(at * 1000), None, classes, queue=queue, **more)


def run(
    settings: QueueSettings, jobs: list[ContainerJob], sizes: list[NodeSize], **more: Any
) -> Finished:
    return run_cluster(jobs, sizes, YarnConfiguration(queues=settings, **more))


def most_memory(run: Finished, *queues: str) -> int:
    """Give the most memory (MB) that jobs of some queues have at a time."""
    changes: list[tuple[int, int]] = []
    for application in run.applications:
        if application.job.queue in queues:
            for each in application.containers:
                assert each.finished is not None
                changes += [(each.scheduled, each.memory), (each.finished, -each.memory)]
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most

"""Small clusters for tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import assume, strategies as st

from rebecsim.clusters.yarn.cluster import Finished, run_cluster
from rebecsim.clusters.yarn.configuration import Elasticity, YarnConfiguration
from rebecsim.clusters.yarn.containers import Container, NodeSize
from rebecsim.clusters.yarn.launching import StuckError
from rebecsim.clusters.yarn.penalties import penalty_named
from rebecsim.clusters.yarn.schedulers.registry import SCHEDULERS
from rebecsim.workloads.container_jobs import ContainerJob, TaskClass

NODE_MEMORY, NODE_CORES = 4000, 4

Row = tuple[int, int, int | None, int | None, int, str]


def nodes(count: int, memory: int = NODE_MEMORY, cores: int = NODE_CORES) -> list[NodeSize]:
    return [NodeSize(f"node{place}", place, memory, cores) for place in range(1, count + 1)]


def job(number: int, start: int, *classes: TaskClass) -> ContainerJob:
    return ContainerJob(number, start, None, classes)


def tasks(count: int, memory: int, duration: int, **more: Any) -> TaskClass:
    return TaskClass("reduce", count, duration, memory, **more)


task_classes = st.builds(
    TaskClass,
    kind=st.sampled_from(["map", "reduce"]),
    count=st.integers(1, 6),
    duration=st.integers(1, 30).map(lambda seconds: seconds * 500),
    memory=st.integers(1, 40).map(lambda hundreds: hundreds * 100),
    cores=st.integers(0, NODE_CORES),
    priority=st.sampled_from([10, 20]),
)


@st.composite
def workloads(draw: st.DrawFn) -> tuple[ContainerJob, ...]:
    made: list[ContainerJob] = []
    for number in range(draw(st.integers(1, 5))):
        classes = tuple(draw(st.lists(task_classes, min_size=1, max_size=3)))
        if made and draw(st.booleans()):
            after = draw(st.sampled_from([each.number for each in made]))
            made.append(ContainerJob(number, None, after, classes))
        else:
            made.append(ContainerJob(number, draw(st.integers(0, 20)) * 500, None, classes))
    return tuple(made)


def configurations(*schedulers: str) -> st.SearchStrategy[YarnConfiguration]:
    flags = {name: st.booleans() for name in ("reservations", "gaps", "assign_multiple")}
    return st.builds(
        YarnConfiguration,
        scheduler=st.sampled_from(schedulers or tuple(SCHEDULERS)),
        node_heartbeat=st.sampled_from([250, 1000, 3000]),
        master_heartbeat=st.sampled_from([500, 1000, 1700]),
        master_memory=st.sampled_from([100, 700]),
        elasticity=st.just(Elasticity(penalty_named("STEP", 1.5))),
        **flags,
    )


def uses(containers: list[Container]) -> Iterator[tuple[int, int]]:
    """Give memory and cores in use of containers on one node, whenever that changes."""
    changes = []
    for each in containers:
        assert each.finished is not None
        changes.append((each.scheduled, 1, each.memory, each.task.cores))
        changes.append((each.finished, 0, -each.memory, -each.task.cores))
    memory = cores = 0
    for _, _, more_memory, more_cores in sorted(changes):
        memory, cores = memory + more_memory, cores + more_cores
        yield memory, cores


def rows(run: Finished) -> list[Row]:
    return [
        (
            application.number,
            container.number,
            container.launched,
            container.finished,
            container.memory,
            container.node.size.name,
        )
        for application in run.applications
        for container in application.containers
    ]


def finished(jobs, sizes, configuration) -> Finished:
    """Run a cluster; runs that end because AppMasters hold all of it are none of interest."""
    try:
        run = run_cluster(jobs, sizes, configuration)
    except StuckError:
        assume(False)
        raise
    assume(run.stuck is None)
    return run

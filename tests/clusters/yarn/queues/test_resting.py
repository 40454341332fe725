"""Nodes that rest instead of sending heartbeats to no avail: nothing else is given than without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, given, settings as budget, strategies as st

from rebecsim.clusters.yarn.cluster import run_cluster
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.containers import ClusterNode, NodeSize
from rebecsim.clusters.yarn.launching import StuckError
from rebecsim.clusters.yarn.queue_files.reading import QueueSettings
from rebecsim.clusters.yarn.queues.capacity.scheduler import CapacityScheduler
from rebecsim.clusters.yarn.queues.fair.scheduler import HadoopFairScheduler
from rebecsim.workloads.container_jobs import ContainerJob
from tests.clusters.yarn.queues.files import capacity, fair, job, tasks
from tests.examples import dear

Schedule = Callable[[Any, ClusterNode, int], bool]

FEW = budget(max_examples=dear(1000, share=50), phases=(Phase.generate,))

DOMINANT = "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator"

LEAVES = ["root.a", "root.p.x", "root.p.y"]

_RULES = {
    "reservations-continue-look-all-nodes": ["true", "false"],
    "resource-calculator": [DOMINANT],
    "node-locality-delay": ["0", "2", "40"],
    "rack-locality-additional-delay": ["-1", "0", "3"],
    "per-node-heartbeat.maximum-offswitch-assignments": ["1", "3"],
    "maximum-am-resource-percent": ["0.3", "1"],
    "user-limit-factor": ["-1", "0.5", "2"],
    "minimum-user-limit-percent": ["25", "100"],
    "root.a.ordering-policy": ["fifo", "fair"],
    "root.a.maximum-capacity": ["50", "80"],
    "root.p.max-parallel-apps": ["2"],
}


@st.composite
def capacities(draw: st.DrawFn) -> QueueSettings:
    """Draw a capacity-scheduler.xml with three leaves."""
    values = {"root.queues": "a,p", "root.p.queues": "x,y"}
    for names in (("root.a", "root.p"), ("root.p.x", "root.p.y")):
        part = draw(st.sampled_from([30, 45, 50]))
        values |= {f"{names[0]}.capacity": f"{part}", f"{names[1]}.capacity": f"{100 - part}"}
    for name, choices in _RULES.items():
        if draw(st.booleans()):
            values[name] = draw(st.sampled_from(choices))
    return capacity(values)


@st.composite
def fair_shares(draw: st.DrawFn) -> QueueSettings:
    """Draw a fair-scheduler.xml with three leaves."""
    policy = st.sampled_from(["fair", "drf", "fifo"])
    leaves = {
        name: f'<queue name="{name}"><schedulingPolicy>{draw(policy)}</schedulingPolicy>'
        f"<maxAMShare>-1</maxAMShare></queue>"
        for name in "axy"
    }
    return fair(
        "<allocations><defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>"
        f'{leaves["a"]}<queue name="p">{leaves["x"]}{leaves["y"]}</queue></allocations>',
        {
            f"yarn.scheduler.fair.locality.threshold.{level}": draw(
                st.sampled_from(["-1", "0.3", "1"])
            )
            for level in ("node", "rack")
        },
    )


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[NodeSize], list[ContainerJob]]:
    """Draw nodes in two racks, and jobs that may have hosts."""
    sizes = [
        NodeSize(
            f"n{at}",
            at,
            draw(st.sampled_from([4096, 8192, 10_240])),
            draw(st.integers(3, 8)),
            rack=f"r{at % 2}",
        )
        for at in range(1, draw(st.integers(2, 6)) + 1)
    ]
    hosts = st.sampled_from(["", *(f"/{each.rack}/{each.name}" for each in sizes)])
    jobs = [
        job(
            number,
            draw(st.sampled_from(LEAVES)),
            *(
                tasks(
                    draw(st.integers(1, 9)),
                    draw(st.integers(1, 60)),
                    draw(st.sampled_from([1024, 2048, 4096])),
                    host=draw(hosts),
                )
                for _ in range(draw(st.sampled_from([1, 1, 2])))
            ),
            at=draw(st.integers(0, 40)) + 0.013 * number,  # no two heartbeats at one time
            user=draw(st.sampled_from("uvw")),
            master_memory=1024,
        )
        for number in range(1, draw(st.integers(2, 7)))
    ]
    return sizes, jobs


def _given(cluster: tuple[list[NodeSize], list[ContainerJob]], queues: QueueSettings) -> object:
    sizes, jobs = cluster
    try:
        run = run_cluster(jobs, sizes, YarnConfiguration(queues=queues))
    except StuckError as error:
        return str(error)
    return [
        (job.number, each.task.kind, each.scheduled, each.node.size.name)
        for job in run.applications
        for each in job.containers
    ]


@FEW
@given(clusters(), st.one_of(capacities(), fair_shares()))
def test_resting_changes_nothing(
    cluster: tuple[list[NodeSize], list[ContainerJob]], queues: QueueSettings
) -> None:
    fast = _given(cluster, queues)
    with pytest.MonkeyPatch.context() as patch:
        for scheduler in (CapacityScheduler, HadoopFairScheduler):
            patch.setattr(scheduler, "schedule", _restless(scheduler.schedule))
        assert _given(cluster, queues) == fast


def _restless(schedule: Schedule) -> Schedule:
    """Let nodes send heartbeats as long as something may happen."""

    def always(scheduler: Any, node: ClusterNode, now: int) -> bool:
        schedule(scheduler, node, now)
        return scheduler.grants.hopes()

    return always

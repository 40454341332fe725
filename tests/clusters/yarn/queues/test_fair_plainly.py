"""The Fair Scheduler leaves out what comes to nothing: without that, runs are the same."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import Phase, given, settings as budget, strategies as st

from rebecsim.clusters.yarn.cluster import Finished
from rebecsim.clusters.yarn.containers import ClusterNode, NodeSize
from rebecsim.clusters.yarn.launching import StuckError
from rebecsim.clusters.yarn.queue_files.fair_settings import FairSettings
from rebecsim.clusters.yarn.queue_files.resources import Resources
from rebecsim.clusters.yarn.queues.fair.policies import in_order
from rebecsim.clusters.yarn.queues.fair.scheduler import HadoopFairScheduler
from rebecsim.clusters.yarn.queues.fair.serving import FairServing
from rebecsim.clusters.yarn.queues.fair.state import FairQueueState
from rebecsim.workloads.container_jobs import ContainerJob
from tests.clusters.yarn.queues.files import fair, job, run, tasks
from tests.examples import dear

QUEUES = ("root.p.a", "root.p.b", "root.c")
ENOUGH = 3_000_000
"""Nothing happens any more (ms)."""


def leaf_plainly(serving: FairServing, leaf: FairQueueState, node: ClusterNode) -> Resources | None:
    """Ask everybody of a leaf, in an order that is found anew."""
    asking = [each for each in leaf.applications if each.wants and each.demand != each.used]
    for each in in_order(leaf.settings.policy, asking, serving._cluster.total):
        found = serving._application(each, node)
        if found is not None:
            return found
    return None


def schedule_plainly(scheduler: HadoopFairScheduler, node: ClusterNode, now: int) -> bool:
    """Give what a node has free, and let it send another heartbeat in any case."""
    scheduler.cluster.update(now)
    scheduler._serving.serve(node, now)
    scheduler.cluster.note_free()
    return now < ENOUGH


def rows(finished: Finished) -> list[tuple[int, int, str, str]]:
    """Give when and where which job got containers."""
    return sorted(
        (each.scheduled, each.application.number, each.node.size.name, each.task.kind)
        for application in finished.applications
        for each in application.containers
    )


@st.composite
def files(draw: st.DrawFn) -> FairSettings:
    """Draw a file with three leaves."""
    site = {"yarn.scheduler.fair.update-interval-ms": draw(st.sampled_from(["1", "500", "1700"]))}
    for key in ("assignmultiple", "sizebasedweight"):
        site[f"yarn.scheduler.fair.{key}"] = draw(st.sampled_from(["true", "false"]))
    for key in ("node", "rack"):
        delay = draw(st.sampled_from(["-1", "-1", "0.5", "1"]))
        site[f"yarn.scheduler.fair.locality.threshold.{key}"] = delay
    site["yarn.scheduler.fair.reservable-nodes"] = draw(st.sampled_from(["0.05", "0.5"]))
    limits = st.sampled_from(["", "<maxResources>8192 mb, 6 vcores</maxResources>"])
    most = st.sampled_from(["", "<maxRunningApps>2</maxRunningApps>"])
    share = st.sampled_from(["", "<maxAMShare>0.2</maxAMShare>", "<maxAMShare>-1</maxAMShare>"])
    weight = st.sampled_from(["", "<weight>0</weight>", "<weight>2</weight>"])
    policy = st.sampled_from(["fair", "fifo", "drf"])
    leaves = [
        f'<queue name="{name}"><schedulingPolicy>{draw(policy)}</schedulingPolicy>'
        f"{draw(limits)}{draw(most)}{draw(share)}{draw(weight)}</queue>"
        for name in "abc"
    ]
    return fair(
        "<allocations><defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>"
        f'<queue name="p">{leaves[0]}{leaves[1]}</queue>{leaves[2]}</allocations>',
        site,
    )


@st.composite
def jobs(draw: st.DrawFn) -> list[ContainerJob]:
    """Draw jobs with hosts, priorities and several sizes.

    Nodes and AppMasters have heartbeats at different times, so that no order of messages matters.
    """
    classes = st.builds(
        tasks,
        st.integers(1, 8),
        st.integers(1, 20),
        st.sampled_from([1024, 2048, 3000]),
        cores=st.integers(1, 3),
        priority=st.sampled_from([10, 20]),
        host=st.sampled_from(["", "", "/r1/n1", "/r0/n4"]),
    )
    return [
        job(
            number,
            draw(st.sampled_from(QUEUES)),
            *draw(st.lists(classes, min_size=1, max_size=2)),
            at=draw(st.integers(0, 20)) + number / 100 + 0.005,
            application=draw(st.sampled_from(["mapreduce", "batch"])),
        )
        for number in range(1, draw(st.integers(2, 8)))
    ]


@budget(max_examples=dear(300, share=10), phases=(Phase.generate,))
@given(files(), jobs(), st.integers(2, 6))
def test_heartbeats_that_come_to_nothing_may_be_left_out(
    settings: FairSettings, some: list[ContainerJob], count: int
) -> None:
    sizes = [NodeSize(f"n{at}", at, 6144, 4 + at % 3, rack=f"r{at % 2}") for at in range(1, count)]
    sizes.append(NodeSize("n0", count, 8192, 8, rack="r0"))
    try:
        fast = rows(run(settings, some, sizes))
    except StuckError:
        fast = []
    with (
        patch.object(FairServing, "_leaf", leaf_plainly),
        patch.object(HadoopFairScheduler, "schedule", schedule_plainly),
    ):
        try:
            plain = rows(run(settings, some, sizes))
        except StuckError:
            plain = []
    assert fast == plain

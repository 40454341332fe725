"""Clusters under queue files, cut small: they keep what queues are promised, or it is found."""

from dataclasses import replace

import pytest

from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.queues.capacity.assigning import Assigning
from rebecsim.clusters.yarn.queues.capacity.monitor import CapacityMonitor
from rebecsim.clusters.yarn.queues.fair.serving import FairServing
from rebecsim.clusters.yarn.queues.fair.state import FairQueueState
from rebecsim.clusters.yarn.small import small_cluster
from rebecsim.errors import UserError
from rebecsim.exploration import Checks, explore
from rebecsim.studies.small import Cut, SmallCluster
from tests.clusters.yarn.clusters import nodes, tasks
from tests.clusters.yarn.queues.files import MONITOR, PREEMPTION, capacity, fair, job
from tests.every_order import ends_of_every_order, explored_ends

HALVES = {
    "root.queues": "a,b",
    "root.a.capacity": "50",
    "root.b.capacity": "50",
    "root.a.maximum-capacity": "75",
    "root.a.user-limit-factor": "2",
    "root.b.user-limit-factor": "2",
    "maximum-am-resource-percent": "1",
}
MINIMUM = """<allocations>
<queue name="a"><minResources>2048 mb,1 vcores</minResources>
<maxAMShare>-1.0</maxAMShare></queue>
<queue name="b"><maxAMShare>-1.0</maxAMShare></queue></allocations>"""
FILES = {"capacity": capacity(HALVES), "fair": fair(MINIMUM)}

LATE, EARLY = 500, 0
TWO = (
    job(0, "b", EARLY, tasks(2, 2048, 2000)),
    job(1, "a", LATE, tasks(1, 2048, 1000)),
)
"""The second one begins when the first one has taken what it may."""


def small(queues, jobs=TWO, memory: int = 6144) -> SmallCluster:
    plain = [replace(each, application="other") for each in jobs]
    configuration = YarnConfiguration("queues", queues=queues, master_memory=1024)
    return small_cluster(plain, nodes(1, memory, 8), configuration, Cut(len(jobs), 1))


def explored(cluster: SmallCluster, *invariants: str):
    written = tuple(map(cluster.written, invariants))
    return explore(cluster.model, checks=Checks(terminal=(cluster.done,), invariants=written))


@pytest.mark.parametrize("file", FILES)
def test_what_queues_are_promised_is_kept(file: str) -> None:
    cluster = small(FILES[file])
    assert any("guarantee" in promise for promise in cluster.promises)
    assert explored(cluster).verdict == "satisfied"


@pytest.mark.parametrize("file", FILES)
def test_brute_force_finds_the_same_ends(file: str) -> None:
    cluster = small(FILES[file])
    found = explored_ends(cluster.model, cluster.starts)
    assert found == set(ends_of_every_order(cluster.model, cluster.starts))

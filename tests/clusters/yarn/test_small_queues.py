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
from rebecsim.studies.study import Cut, SmallCluster
from tests.clusters.yarn.clusters import nodes
from tests.clusters.yarn.queues.files import MONITOR, PREEMPTION, capacity, fair, job, tasks
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

TWO = (
    job(0, "b", tasks(2, 2, 2048), user="ann"),
    job(1, "a", tasks(1, 1, 2048), at=0.5, user="bob"),
)
"""The second one begins when the first one has taken what it may."""


def small(queues, jobs=TWO, memory: int = 6144, node_heartbeat: int = 1000) -> SmallCluster:
    plain = [replace(each, application="other") for each in jobs]
    configuration = YarnConfiguration(
        "queues", queues=queues, master_memory=1024, node_heartbeat=node_heartbeat
    )
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
    cluster = small(FILES[file], node_heartbeat=1700)
    found = explored_ends(cluster.model, cluster.starts)
    assert found == set(ends_of_every_order(cluster.model, cluster.starts))


CROWDED = (
    job(0, "b", tasks(4, 2, 2048), user="ann"),
    job(1, "a", tasks(1, 4, 2048), at=0.5, user="bob"),
)
"""Queue b asks for all there is."""

PREEMPTIVE = capacity(
    HALVES
    | MONITOR
    | {
        f"{PREEMPTION}monitoring_interval": "1000",
        f"{PREEMPTION}max_wait_before_kill": "1000",
        f"{PREEMPTION}total_preemption_per_round": "1.0",
        f"{PREEMPTION}natural_termination_factor": "1.0",
    }
)


def test_queues_with_preemption_can_be_explored() -> None:
    cluster = small(PREEMPTIVE, CROWDED, 6144, 1700)
    found = explored(cluster)
    assert found.verdict == "satisfied"


def most_first(self: FairQueueState):
    return sorted(self.children, key=lambda child: -child.used.memory)


def of_newest(self: CapacityMonitor):
    running = [each for node in self._cluster.nodes for each in node.running]
    return {each: "queue" for each in running[-1:] if not each.task.is_master}


@pytest.mark.parametrize(
    ("file", "where", "what", "fault", "text"),
    [
        (
            FILES["capacity"],
            Assigning,
            "_rank",
            lambda self, child, label: (-child.used[label].memory,),
            "and is served before root.a, which asks",
        ),
        (
            FILES["fair"],
            FairQueueState,
            "in_service_order",
            most_first,
            "and is served before root.a, which asks",
        ),
        (
            fair(
                MINIMUM.replace(
                    "</minResources>",
                    "</minResources><maxResources>2048 mb,9 vcores</maxResources>",
                )
            ),
            FairServing,
            "_has_room",
            lambda self, leaf, request: True,
            "root.a has",
        ),
        (
            PREEMPTIVE,
            CapacityMonitor,
            "_pick",
            of_newest,
            "and a container of it is killed",
        ),
    ],
)
def test_a_planted_fault_is_found(monkeypatch, file, where, what, fault, text) -> None:
    monkeypatch.setattr(where, what, fault)
    found = explored(small(file, CROWDED, node_heartbeat=1700))
    assert found.verdict == "assertion failed"
    assert text in found.path.breach.text


def test_properties_may_be_said_of_queues() -> None:
    cluster = small(FILES["capacity"], node_heartbeat=1700)
    assert cluster.written('queue("root.a").used < 9') == "manager.a_used < 9"
    found = explored(
        cluster, 'queue("a").used <= queue("a").max', "queue('b').guaranteed == 3072 || true"
    )
    assert found.verdict == "satisfied"
    found = explored(cluster, 'queue("b").used <= 3072 && queue("b").asking < 9')
    assert found.verdict == "property violated"
    with pytest.raises(UserError, match=r'there is no queue\("elsewhere"\); .*queue\("a"\)'):
        cluster.written('queue("elsewhere").used > 0')

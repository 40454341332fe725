"""Where containers of queues run: labels, nodes that are near, and nodes that are kept."""

from __future__ import annotations

from collections import Counter

import pytest

from rebecsim.clusters.yarn.cluster import run_cluster
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.containers import ClusterNode, NodeSize
from rebecsim.clusters.yarn.queues.capacity.scheduler import CapacityScheduler
from rebecsim.workloads.container_jobs import NodeLabel
from tests.clusters.yarn.queues.files import (
    TWO_QUEUES,
    capacity,
    fair,
    job,
    nodes,
    run,
    tasks,
)

_LABELS = {
    **TWO_QUEUES,
    "root.a.accessible-node-labels": "gpu",
    "root.b.accessible-node-labels": "",
    "root.a.accessible-node-labels.gpu.capacity": "100",
    "root.a.user-limit-factor": "-1",
    "root.b.user-limit-factor": "-1",
}


def _labelled(exclusive: bool) -> list[NodeSize]:
    plain = nodes(2)
    labels = (NodeLabel("gpu", exclusive=exclusive),)
    return [*plain, NodeSize("gpu1", 3, 10_240, 16, labels=labels)]


def _nodes_of(found: object, number: int) -> set[str]:
    return {
        each.node.size.name
        for application in found.applications
        if application.number == number
        for each in application.containers
    }


def test_a_job_with_a_label_runs_on_nodes_that_have_it() -> None:
    jobs = [job(1, "a", tasks(5, 10), label="gpu"), job(2, "b", tasks(40, 60))]
    found = run(capacity(_LABELS), jobs, _labelled(exclusive=True))
    assert _nodes_of(found, 1) == {"gpu1"}
    assert _nodes_of(found, 2) == {"node1", "node2"}


def test_a_label_lends_what_its_own_jobs_leave() -> None:
    jobs = [job(2, "b", tasks(40, 60))]
    lent = run(capacity(_LABELS), jobs, _labelled(exclusive=False))
    assert _nodes_of(lent, 2) == {"node1", "node2", "gpu1"}
    assert lent.applications[0].own.node.size.name != "gpu1"  # AppMasters are not lent nodes


def _racks() -> list[NodeSize]:
    return [
        NodeSize(f"node{at}", at, 10_240, 16, rack=f"rack{(at + 1) // 2}") for at in range(1, 5)
    ]


def _waiting(host: str, count: int = 4) -> list:
    return [job(1, "a", tasks(count, 30, host=host))]


def test_a_job_lets_nodes_pass_for_the_one_with_its_data() -> None:
    found = run(capacity({**_LABELS}), _waiting("/rack2/node3"), _racks())
    locality = [each.locality for each in found.applications[0].containers[1:]]
    assert locality == ["node"] * 4


def test_a_job_that_cannot_wait_takes_any_node() -> None:
    rules = {**_LABELS, "node-locality-delay": "0", "rack-locality-additional-delay": "0"}
    found = run(capacity(rules), _waiting("/rack2/node3", 12), _racks())
    localities = {each.locality for each in found.applications[0].containers[1:]}
    assert localities == {"node", "rack", "any"}


def test_each_task_of_a_request_may_have_a_host_of_its_own() -> None:
    classes = [tasks(1, 30, host=f"/rack{(at + 1) // 2}/node{at}") for at in (4, 2, 3, 1)]
    waits = capacity({**_LABELS, "rack-locality-additional-delay": "40"})
    for settings in (waits, fair("<allocations/>")):
        found = run(settings, [job(1, "a", *classes)], _racks())
        own = found.applications[0].containers[1:]
        assert [each.locality for each in own] == ["node"] * 4
        assert all(each.task.host.endswith(each.node.size.name) for each in own)


def test_a_node_is_kept_for_a_container_that_does_not_fit() -> None:
    settings = capacity({**_LABELS, "root.a.maximum-capacity": "100"})
    jobs = [
        job(1, "b", tasks(24, 100)),
        job(2, "a", tasks(1, 10, 8192), at=20),
        job(3, "b", tasks(10, 50, 2048), at=40),
    ]
    found = run(settings, jobs, nodes(4, 12_288))
    kept = [each for node in found.nodes for each in node.reservations]
    first = min(kept, key=lambda each: each.start)
    assert first.application.number == 2
    large = found.applications[1].containers[1]
    assert first.start < 25_000 < large.scheduled
    assert large.scheduled in {each.end for each in kept}
    assert large.scheduled < 110_000  # smaller tasks of the third job have not taken the room


def test_under_memory_alone_a_node_has_more_tasks_than_cores() -> None:
    dominant = "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator"
    jobs = [job(1, "a", tasks(8, 100))]
    of_memory = run(capacity(_LABELS), jobs, nodes(1, 20_480, cores=2))
    of_both = run(
        capacity({**_LABELS, "resource-calculator": dominant}), jobs, nodes(1, 20_480, cores=5)
    )
    assert max(each.scheduled for each in of_memory.applications[0].containers) < 20_000
    assert max(each.scheduled for each in of_both.applications[0].containers) > 90_000


def test_a_stopped_queue_refuses_jobs() -> None:
    jobs = [job(1, "a", tasks(1, 10)), job(2, "b", tasks(1, 10))]
    found = run(capacity({**TWO_QUEUES, "root.a.state": "STOPPED"}), jobs, nodes(1))
    assert [each.refused for each in found.applications] == ["stopped", ""]
    assert found.applications[0].containers == []


def test_a_job_that_waits_for_a_refused_one_is_submitted_at_once() -> None:
    first = job(1, "a", tasks(1, 10))
    second = job(2, "b", tasks(1, 10))
    later = type(second)(2, None, 1, second.classes, queue="b")
    settings = capacity({**TWO_QUEUES, "root.a.state": "STOPPED"})
    found = run_cluster([first, later], nodes(1), YarnConfiguration(queues=settings))
    assert found.applications[1].start == 0
    assert found.applications[1].end is not None


def test_so_many_applications_run_at_a_time() -> None:
    rules = {**_LABELS, "root.b.max-parallel-apps": "2", "root.b.maximum-am-resource-percent": "1"}
    jobs = [job(n, "b", tasks(1, 60)) for n in range(1, 6)]
    found = run(capacity(rules), jobs, nodes(4))
    starts = sorted(each.containers[0].scheduled for each in found.applications)
    assert starts[1] < 5_000 < 60_000 <= starts[2]


def test_a_queue_of_higher_priority_goes_first_where_priorities_count() -> None:
    jobs = [job(1, "a", tasks(20, 60)), job(2, "b", tasks(20, 60))]
    shares = {**_LABELS, "root.a.capacity": "50", "root.b.capacity": "50"}
    for policy, first in (("utilization", "a"), ("priority-utilization", "b")):
        rules = {**shares, "root.ordering-policy": policy, "root.b.priority": "1"}
        found = run(capacity(rules), jobs, nodes(1))
        given = sorted(
            (each.scheduled, each.number, application.job.queue)
            for application in found.applications
            for each in application.containers[1:]
        )
        assert given[0][2] == first


def test_a_node_sends_one_heartbeat_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: Counter[tuple[ClusterNode, int]] = Counter()
    right = CapacityScheduler.schedule

    def schedule(scheduler: CapacityScheduler, node: ClusterNode, now: int) -> bool:
        heard[node, now] += 1
        return right(scheduler, node, now)

    monkeypatch.setattr(CapacityScheduler, "schedule", schedule)
    small = [job(number, "a", tasks(9, 3), tasks(4, 5, 2048)) for number in (1, 2, 3)]
    run(capacity(TWO_QUEUES), small, nodes(2))
    assert set(heard.values()) == {1}

"""The Fair Scheduler on examples worked out by hand."""

from __future__ import annotations

import pytest

from rebecsim.clusters.yarn.cluster import run_cluster
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.containers import NodeSize
from rebecsim.clusters.yarn.queue_files.resources import Resources
from rebecsim.clusters.yarn.queues.fair.policies import in_order
from rebecsim.clusters.yarn.queues.fair.state import FairQueueState, FairShared
from tests.clusters.yarn.queues.files import fair, job, most_memory, nodes, run, tasks

TOTAL = Resources(102_400, 100)


def _shared(name: str, memory: int, least: int = 0, weight: float = 1) -> FairShared:
    found = FairShared(name)
    found.used = Resources(memory, 0)
    found.demand = Resources(memory + 1024, 1)
    found.minimum = Resources(least, 0)
    found.weight = weight
    return found


def test_shares_of_queues_lie_between_least_and_most() -> None:
    settings = fair(
        '<allocations><queue name="A"><minResources>40960 mb, 0 vcores</minResources></queue>'
        '<queue name="B"><weight>2</weight></queue>'
        '<queue name="C"><maxResources>10240 mb, 100 vcores</maxResources></queue></allocations>'
    )
    root = FairQueueState(settings.root, None, TOTAL)
    root.steady = root.share = TOTAL
    root.update_steady()
    assert [each.steady.memory for each in root.children] == [40_960, 51_200, 10_240]
    root.update_shares()
    assert [each.share.memory for each in root.children] == [0, 0, 0]  # none is at work
    for each in root.children[:2]:
        each.running = 1
    root.update_shares()
    assert [each.share.memory for each in root.children] == [40_960, 61_440, 0]


def test_the_dominant_resource_decides_who_is_next() -> None:
    settings = fair(
        "<allocations><defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>"
        "<queueMaxAMShareDefault>-1</queueMaxAMShareDefault>"
        '<queue name="A"/><queue name="B"/></allocations>',
        {
            "yarn.scheduler.minimum-allocation-mb": "0",
            "yarn.scheduler.minimum-allocation-vcores": "0",
            "yarn.resource-types.memory-mb.increment-allocation": "1",
            "yarn.scheduler.maximum-allocation-mb": "18432",
        },
    )
    # the AppMasters have a node of their own, as all tasks are larger than that
    sizes = [NodeSize("masters", 1, 1000, 2), NodeSize("tasks", 2, 18 * 1024, 9)]
    small = {"master_memory": 500, "master_cores": 0}
    jobs = [
        job(1, "A", tasks(9, 600, 4 * 1024, cores=1), **small),
        job(2, "B", tasks(9, 600, 1024, cores=3), at=0.6, **small),
    ]
    found = run_cluster(jobs, sizes, YarnConfiguration(queues=settings))
    given = sorted(
        (each.scheduled, each.application.job.queue)
        for application in found.applications
        for each in application.containers
        if each.scheduled < 600_000 and not each.task.is_master
    )
    assert "".join(queue for _, queue in given) == "ABABA"


def test_who_needs_it_goes_first_and_then_who_has_least_for_the_weight() -> None:
    needy = _shared("needy", 9000, least=10_000)
    heavy, light = _shared("heavy", 8000, weight=4), _shared("light", 4000)
    weightless = _shared("weightless", 0, weight=0)
    idle = _shared("idle", 0)
    idle.demand = Resources(0, 0)
    members = [idle, weightless, light, heavy, needy]
    order = [each.name for each in in_order("fair", members, TOTAL)]
    assert order == ["needy", "heavy", "light", "weightless", "idle"]


def test_under_drf_who_has_nothing_and_no_weight_ties_up_to_the_name() -> None:
    weightless, heavy = _shared("b", 0, weight=0), _shared("c", 8000)
    for name, first in (("a", heavy), ("z", weightless)):
        heavy.name = name
        assert in_order("drf", [weightless, heavy], TOTAL)[0] is first
    weightless.used = Resources(1024, 1)
    assert in_order("drf", [weightless, heavy], TOTAL)[0] is heavy


def test_under_drf_part_of_no_minimum_is_without_end() -> None:
    of_both, of_memory = _shared("z", 4000, least=10_000), _shared("a", 4000, least=10_000)
    for each in (of_both, of_memory):
        each.used = Resources(4000, 1)
    of_both.minimum = Resources(10_000, 2)
    assert in_order("drf", [of_memory, of_both], TOTAL)[0] is of_both


def test_maxima_in_percent_are_cut_as_in_hadoop() -> None:
    text = '<allocations>{}<queue name="a">{}</queue></allocations>'
    settings = fair(text.format("", "<maxResources>70%</maxResources>"))
    (queue,) = settings.root.children
    # 0.7 is a little less than 7 tenths
    assert queue.maximum_of(Resources(100_000, 90)) == Resources(70_000, 62)
    default = "<queueMaxResourcesDefault>1024 mb, 2 vcores</queueMaxResourcesDefault>"
    settings = fair(text.format(default, ""))
    assert settings.root.maximum_of(TOTAL) == Resources(1024, 2)


def test_queues_get_memory_by_their_weights() -> None:
    settings = fair(
        '<allocations><queue name="a"><weight>3</weight></queue><queue name="b"/></allocations>'
    )
    jobs = [job(1, "a", tasks(90, 600)), job(2, "b", tasks(90, 600))]
    found = run(settings, jobs, nodes(10))
    first = [
        each.application.job.queue
        for application in found.applications
        for each in application.containers
        if each.scheduled < 300_000
    ]
    assert first.count("a") == 75
    assert first.count("b") == 25


def test_application_masters_leave_room_for_tasks() -> None:
    settings = fair(
        '<allocations><queue name="a"><maxAMShare>0.1</maxAMShare></queue></allocations>'
    )
    jobs = [job(n, "a", tasks(1, 60)) for n in range(1, 16)]
    found = run(settings, jobs, nodes(10))
    starts = sorted(each.containers[0].scheduled for each in found.applications)
    assert sum(start < 30_000 for start in starts) == 10


def test_so_many_applications_run_at_a_time() -> None:
    settings = fair(
        "<allocations><userMaxAppsDefault>2</userMaxAppsDefault>"
        '<queue name="a"><maxRunningApps>3</maxRunningApps></queue></allocations>'
    )
    jobs = [job(n, "a", tasks(1, 100), user=f"user{n % 2}") for n in range(1, 9)]
    found = run(settings, jobs, nodes(10))
    starts = [each.containers[0].scheduled for each in found.applications]
    assert sum(start < 50_000 for start in starts) == 3


def test_a_starved_queue_gets_containers_of_others() -> None:
    text = (
        "<allocations><defaultFairSharePreemptionTimeout>30</defaultFairSharePreemptionTimeout>"
        '<queue name="a">{}</queue><queue name="b"/></allocations>'
    )
    site = {"yarn.scheduler.fair.preemption": "true"}
    jobs = [job(1, "a", tasks(99, 300)), job(2, "b", tasks(60, 300), at=20)]
    found = run(fair(text.format(""), site), jobs, nodes(10))
    assert {each.container.application.job.queue for each in found.killed} == {"a"}
    assert min(each.killed - each.chosen for each in found.killed) >= 15_000
    assert not any(each.container.task.is_master for each in found.killed)
    assert min(each.chosen for each in found.killed) >= 50_000
    assert found.applications[1].containers[0].scheduled < 100_000
    for application in found.applications:
        whole = [each for each in application.containers if not each.killed]
        assert len(whole) == 1 + application.job.classes[0].count
    kept = "<allowPreemptionFrom>false</allowPreemptionFrom>"
    assert not run(fair(text.format(kept), site), jobs, nodes(10)).killed
    assert not run(fair(text.format("")), jobs, nodes(10)).killed


def test_an_application_master_that_is_killed_takes_what_is_killed_with_it_along() -> None:
    text = (
        "<allocations><defaultFairSharePreemptionTimeout>30</defaultFairSharePreemptionTimeout>"
        '<queue name="a"><weight>0</weight></queue>'
        '<queue name="b"><maxAMShare>-1</maxAMShare>'
        "<fairSharePreemptionThreshold>{}</fairSharePreemptionThreshold></queue></allocations>"
    )
    jobs = [job(1, "a", tasks(2, 300)), job(2, "b", tasks(1, 10), at=20, master_memory=2048)]
    sizes = [nodes(1, 2048)[0], nodes(2, 1024)[1]]
    site = {"yarn.scheduler.fair.preemption": "true"}
    # half of the share of 3072 MB is less than the container that is asked for
    assert not run(fair(text.format("0.5"), site), jobs, sizes).killed
    found = run(fair(text.format("1"), site), jobs, sizes)
    assert [each.container.task.is_master for each in found.killed] == [False, True]
    assert [each.killed for each in found.applications[0].containers] == [True] * 3 + [False] * 3


@pytest.mark.parametrize(
    ("policy", "queue", "expected"),
    [
        ("", "default", "root.someone"),
        ("", "other", "root.other"),
        ("<rule name='specified' create='false'/><rule name='default'/>", "other", "root.default"),
        ("<rule name='user'/>", "a", "root.someone"),
        ("<rule name='specified' create='false'/><rule name='reject'/>", "a", "root.a"),
        ("<rule name='default' queue='root.a'/>", "other", "root.a"),
    ],
)
def test_a_job_is_placed_by_the_first_rule_that_has_a_queue(
    policy: str, queue: str, expected: str
) -> None:
    rules = f"<queuePlacementPolicy>{policy}</queuePlacementPolicy>" if policy else ""
    settings = fair(f'<allocations><queue name="a"/>{rules}</allocations>')
    found = run(settings, [job(1, queue, tasks(3, 10), user="someone")], nodes(1))
    assert found.queue_of == {1: expected}
    assert most_memory(found, queue) == 4096


def test_a_job_that_no_rule_places_is_refused() -> None:
    settings = fair(
        '<allocations><queue name="a"/><queuePlacementPolicy>'
        '<rule name="specified" create="false"/><rule name="reject"/>'
        "</queuePlacementPolicy></allocations>"
    )
    jobs = [job(1, "a", tasks(1, 10)), job(2, "b", tasks(1, 10))]
    found = run(settings, jobs, nodes(1))
    assert [each.refused for each in found.applications] == ["", "no queue"]
    assert len(found.served) == 1

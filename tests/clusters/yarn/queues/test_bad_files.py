"""Files that Hadoop would not start with, and jobs that could never run: file, line and key."""

from __future__ import annotations

import pytest

from rebecsim.errors import UserError
from tests.clusters.yarn.queues.files import TWO_QUEUES, capacity, fair, job, nodes, run, tasks

P = "yarn.scheduler.capacity"
_NESTED = {
    "root.queues": "a",
    "root.a.capacity": "100",
    "root.a.queues": "x,y",
    "root.a.x.capacity": "50",
    "root.a.y.capacity": "50",
}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"root.b.capacity": "50"},
            f"queues.xml:5: {P}.root.b.capacity: the capacities of the children of root add up to "
            "90 %, and should to 100 %",
        ),
        (
            {"root.a.maximum-capacity": "30"},
            f"queues.xml:4: {P}.root.a.maximum-capacity: the maximum of 30 % is less than the "
            "capacity, 40 %",
        ),
        ({"root.a.capacity": "140"}, "should be 0 to 100 %, not 140"),
        (
            {"root.a.capacity": "much"},
            "queues.xml:3: " + P + ".root.a.capacity: 'much' is not a perc",
        ),
        ({"root.a.capacity": "-5"}, "should be 0 to 100 %, not -5"),
        ({"root.a.capacity": "20000w"}, "should be 0w to 10000w"),
        ({"root.a.capacity": "2w"}, "and root.a a weight; in a parent all are of one kind"),
        ({"root.a.capacity": "[memory=1024]"}, "in a parent all are of one kind"),
        ({"root.a.capacity": "[memory=1024"}, "has no closing bracket"),
        ({"root.a.capacity": "[disk=1]"}, "should be memory=... or vcores=..."),
        ({"root.a.capacity": "[memory=50%,vcores=2w]"}, "legacy-queue-mode.enabled to be false"),
        (
            {"root.a.maximum-capacity": "2w"},
            "a maximum must be a percentage or resources, not a weight",
        ),
        ({"root.a.ordering-policy": "lottery"}, "the policy 'lottery' is not known; fifo or fair"),
        (
            {"root.ordering-policy": "fifo"},
            "fifo orders the jobs of a leaf, and this queue has queues below it; Hadoop 3 refuses "
            "it, too. Use utilization or priority-utilization, or delete this property",
        ),
        ({"root.ordering-policy": "lottery"}, "not known; utilization or priority-utilization"),
        ({"root.a.state": "RESTING"}, "should be RUNNING or STOPPED, not RESTING"),
        (
            {"root.state": "STOPPED", "root.a.state": "RUNNING"},
            "it cannot be RUNNING, as root is STOPPED",
        ),
        ({"root.a.user-limit-factor": "-2"}, "should be at least 0, or -1 for no limit"),
        ({"root.a.minimum-user-limit-percent": "101"}, "should be at most 100, not 101"),
        ({"root.a.user-settings.ann.weight": "2"}, "a weight of 2 should be at most 1"),
        ({"root.a.maximum-am-resource-percent": "10"}, "should be at most 1, not 10"),
        (
            {"root.a.default-node-label-expression": "x", "root.a.accessible-node-labels": "y"},
            "use x",
        ),
        ({"resource-calculator": "Slide"}, "DefaultResourceCalculator or org.apache.hadoop"),
        ({"root.queues": "a,b,a"}, "a queue is listed twice"),
        ({"root.queues": "a,b.c"}, "'b.c' has a dot"),
        ({"yarn.scheduler.minimum-allocation-mb": "0"}, "should be at least 1, not 0"),
        (
            {"yarn.scheduler.maximum-allocation-mb": "512"},
            "512 is less than the minimum of 1024",
        ),
        ({"maximum-applications": "none"}, "should be a whole number, not 'none'"),
    ],
)
def test_a_capacity_file_that_cannot_be(changes: dict[str, str], problem: str) -> None:
    with pytest.raises(UserError) as raised:
        capacity({**TWO_QUEUES, **changes})
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"root.a.capacity": "0"}, "the capacities of the children of root add up to 0 %"),
        (
            {"root.a.capacity": "[memory=10240]", "root.a.x.capacity": "50"},
            "resources are for both or for none",
        ),
        (
            {
                "root.a.capacity": "[memory=10240]",
                "root.a.x.capacity": "[memory=8192]",
                "root.a.y.capacity": "[memory=8192]",
            },
            "its children have memory=16384 together, and it has memory=10240",
        ),
    ],
)
def test_nested_queues_that_do_not_fit(changes: dict[str, str], problem: str) -> None:
    with pytest.raises(UserError) as raised:
        capacity({**_NESTED, **changes})
    assert problem in str(raised.value)


def test_almost_thirds_are_enough() -> None:
    thirds = {"root.queues": "a,b,c", **{f"root.{q}.capacity": "33.33" for q in "abc"}}
    capacity(thirds)
    with pytest.raises(UserError, match=r"add up to 99\.9 %"):
        capacity({**thirds, **{f"root.{q}.capacity": "33.3" for q in "abc"}})


@pytest.mark.parametrize(
    ("values", "queue", "memory", "problem"),
    [
        ({}, "c", 1024, "the queue c, and queues.xml has no such leaf; it has root.a, root.b"),
        ({}, "root", 1024, "has no such leaf"),
        ({}, "a", 11_000, "and fits on no node"),
        ({"root.a.maximum-allocation-mb": "2048"}, "a", 3000, "maximum allocation of root.a"),
        (
            {"yarn.scheduler.maximum-allocation-mb": "4096"},
            "a",
            5000,
            "job_1, task 1 asks for 5120 MB and 1 cores; the maximum allocation of the cluster",
        ),
        (
            {"root.a.capacity": "10", "root.b.capacity": "90", "root.a.maximum-capacity": "10"},
            "a",
            5000,
            "the queue root.a of queues.xml may have 2048 MB and 3 cores at most",
        ),
    ],
)
def test_a_job_that_could_never_run(
    values: dict[str, str], queue: str, memory: int, problem: str
) -> None:
    settings = capacity({**TWO_QUEUES, **values})
    with pytest.raises(UserError) as raised:
        run(settings, [job(1, queue, tasks(1, 10, memory))], nodes(2))
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("inside", "problem"),
    [
        ('<queue name="a.b"/>', "fair.xml:1: a queue needs a name without dots"),
        ("<queue/>", "a queue needs a name"),
        (
            '<queue name="root"/><queue name="a"/>',
            "root stands beside other queues; put them into root",
        ),
        (
            '<queue name="a"/><queue name="a"/>',
            "the queue a is defined twice; rename or remove one",
        ),
        ('<queue name="a"><weight>heavy</weight></queue>', "queue a: weight: should be a number"),
        ('<queue name="a"><weight>-1</weight></queue>', "weight: should be 0, or"),
        ('<queue name="a"><minResources>much</minResources></queue>', "should be N mb, M vcores"),
        ('<queue name="a"><maxRunningApps>-1</maxRunningApps></queue>', "should be a whole number"),
        (
            '<queue name="a"><schedulingPolicy>x</schedulingPolicy></queue>',
            "unknown policy 'x'; use",
        ),
        (
            '<queue name="a"><schedulingPolicy>fifo</schedulingPolicy><queue name="b"/></queue>',
            "fifo is for leaf queues only; use fair or drf",
        ),
        (
            '<queue name="a"><schedulingPolicy>drf</schedulingPolicy></queue>',
            "root.a has drf, but its parent root has fair; use one for both",
        ),
        (
            '<queue name="a"><maxAMShare>0.1</maxAMShare><queue name="b"/></queue>',
            "maxAMShare: only leaf queues may have it",
        ),
        (
            "<defaultQueueSchedulingPolicy>fifo</defaultQueueSchedulingPolicy>",
            "fifo cannot be the default; set it in leaf queues",
        ),
        (
            "<queuePlacementPolicy><rule name='luck'/></queuePlacementPolicy>",
            "unknown rule 'luck'; use specified, user, default or reject",
        ),
    ],
)
def test_a_fair_file_that_cannot_be(inside: str, problem: str) -> None:
    with pytest.raises(UserError) as raised:
        fair(f"<allocations>{inside}</allocations>")
    assert problem in str(raised.value)


def test_a_job_larger_than_its_queue_under_fair_shares() -> None:
    settings = fair(
        '<allocations><queue name="a"><maxResources>2048 mb, 4 vcores</maxResources></queue>'
        "</allocations>"
    )
    with pytest.raises(UserError, match=r"the queue root\.a of fair\.xml may have 2048 MB"):
        run(settings, [job(1, "a", tasks(1, 10, 3000))], nodes(2))


def test_what_has_no_effect_is_named() -> None:
    settings = capacity(
        {
            **TWO_QUEUES,
            "root.a.acl_submit_applications": "*",
            "root.a.capacty": "3",
            "root.c.capacity": "3",
            "yarn.resourcemanager.monitor.capacity.preemption.observe_only": "true",
            "root.capacity": "90",
        }
    )
    assert [line.split(": ", 1)[1] for line in settings.idle] == [
        f"{P}.root.capacity has no effect: root has all that there is",
        f"{P}.root.a.acl_submit_applications has no effect: rebecsim does not check permissions",
        f"{P}.root.a.capacty has no effect: there is no such queue, or no such key of a queue",
        f"{P}.root.c.capacity has no effect: there is no such queue, or no such key of a queue",
        "yarn.resourcemanager.monitor.capacity.preemption.observe_only has no effect: "
        "nothing is preempted, or not by this rule",
    ]


def test_what_is_not_modelled_is_named_if_it_is_used() -> None:
    opportunistic = "yarn.resourcemanager.opportunistic-container-allocation.enabled"
    used = {
        **TWO_QUEUES,
        "schedule-asynchronously.enable": "true",
        "queue-mappings": "u:ann:a",
        "multi-node-placement-enabled": "true",
        opportunistic: "true",
    }
    named = [line.split(" has no effect: ")[1] for line in capacity(used).idle]
    assert [reason.partition(" not modelled")[0] for reason in named] == [
        "asynchronous scheduling is",
        "placement rules are",
        "placement over several nodes is",
        "opportunistic containers are",
    ]
    off = {"schedule-asynchronously.enable": "false", opportunistic: "false"}
    assert capacity({**TWO_QUEUES, **off}).idle == ()


def test_what_has_no_effect_in_a_fair_file_is_named() -> None:
    settings = fair(
        "<allocations><colour>red</colour><queue name='a'><aclSubmitApps>*</aclSubmitApps>"
        "<minResources>10%</minResources><size>3</size></queue></allocations>",
        {"yarn.scheduler.fair.nothing": "1", "yarn.other": "1"},
    )
    assert [line.split(": ", 1)[1] for line in settings.idle] == [
        "colour has no effect: rebecsim does not know this element",
        "aclSubmitApps of a has no effect: rebecsim does not check permissions",
        "size of a has no effect: rebecsim does not know this element",
        "minResources of a has no effect: give memory and vcores, not percent",
        "yarn.scheduler.fair.nothing has no effect",
    ]


def test_cores_that_do_not_count_are_not_told() -> None:
    values = {"root.queues": "a", "root.a.capacity": "100", "root.a.maximum-capacity": "100"}
    with pytest.raises(UserError) as raised:
        run(capacity(values), [job(1, "a", tasks(1, 10, 4096))], nodes(2, 3000))
    assert str(raised.value).endswith("node1, the largest, has 3000 MB")


def test_each_idle_key_has_its_own_reason() -> None:
    keys = ("application.fail-fast", "app-fail-fast", "workflow-priority-mappings")
    idle = capacity({**TWO_QUEUES, **{f"{P}.{key}": "x" for key in keys}}).idle
    assert [line.split(f"{P}.", 1)[1] for line in idle] == [
        "application.fail-fast has no effect: applications do not fail",
        "app-fail-fast has no effect: applications do not fail",
        "workflow-priority-mappings has no effect: jobs of a trace have one priority",
    ]

"""Where containers run: labels, spreading, and waiting for a node that is near."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.yarn.cluster import run_cluster
from rebecsim.clusters.yarn.configuration import PlacementRules, YarnConfiguration
from rebecsim.clusters.yarn.containers import Container, NodeSize
from rebecsim.clusters.yarn.placement import Hosts
from rebecsim.clusters.yarn.schedulers.registry import SCHEDULERS
from rebecsim.errors import UserError
from rebecsim.workloads.container_jobs import ContainerJob, NodeLabel
from tests.clusters.yarn.clusters import (
    NODE_CORES,
    NODE_MEMORY,
    configurations,
    finished,
    job,
    nodes,
    rows,
    tasks,
    workloads,
)
from tests.examples import dear

GPU, FAST = NodeLabel("gpu"), NodeLabel("fast", exclusive=False)
NEVER_FAR = PlacementRules(None, None)


def racks(memory: int = NODE_MEMORY, cores: int = NODE_CORES) -> list[NodeSize]:
    """Give two racks of two nodes."""
    return [
        replace(size, rack=f"rack{1 + place // 2}")
        for place, size in enumerate(nodes(4, memory, cores))
    ]


def tasks_of(run) -> list[Container]:
    return [each for application in run.applications for each in application.containers[1:]]


def places(run) -> list[tuple[str, str | None]]:
    return [(each.node.size.name, each.locality) for each in tasks_of(run)]


def test_what_a_host_means():
    hosts = Hosts(racks())
    assert hosts.preference("/rack9/node3") == ("node3", "rack2")
    assert hosts.preference("node3") == ("node3", "rack2")
    assert hosts.preference("/rack2/node77") == (None, "rack2")
    assert hosts.preference("/rack9/node77") is None
    assert hosts.preference("") is None
    node1, _, _, node4 = racks()
    assert [hosts.locality(size, "node3") for size in (*racks()[2:], node1)] == [
        "node",
        "rack",
        "any",
    ]
    assert hosts.locality(node4, "/rack9/x") is None


@pytest.mark.parametrize("scheduler", sorted({*SCHEDULERS} - {"PEEK"}))
def test_tasks_wait_for_their_node_as_long_as_they_are_told(scheduler):
    """Three tasks that would rather run on node4, on which there is room for one."""
    jobs = [job(0, 0, tasks(3, 3500, 60_000, host="/rack2/node4"))]
    configuration = YarnConfiguration(scheduler, master_memory=100)

    def run(*delays: int | None) -> list[tuple[str, str | None]]:
        rules = PlacementRules(*delays)
        return places(run_cluster(jobs, racks(), replace(configuration, placement=rules)))

    assert run(None, None) == [("node4", "node")] * 3
    assert run(0, None) == [("node3", "rack"), ("node4", "node"), ("node3", "rack")]
    assert run(2, 1) == [("node3", "rack"), ("node4", "node"), ("node2", "any")]
    assert run(0, 0) == [("node1", "any"), ("node2", "any"), ("node3", "rack")]


def test_an_opportunity_is_missed_at_a_heartbeat_of_a_node_with_room():
    """Nodes send heartbeats at 0, 250, 500 and 750 ms of a second, in this order.

    The AppMaster is on node1, which has no room beside it, and is launched at 1000 ms. So node2 is
    let pass at 1250, node3 at 1500; node4 is free at 1750, and then taken for long enough.
    """
    jobs = [job(0, 0, tasks(1, 3500, 1000, host="node4"), tasks(1, 3500, 1000, host="node4"))]
    found = {}
    for delay in range(4):
        rules = PlacementRules(delay, 0)
        run = run_cluster(jobs, racks(), YarnConfiguration(placement=rules, master_memory=600))
        found[delay] = [(each.scheduled, each.node.size.name) for each in tasks_of(run)]
    assert found[0] == [(1250, "node2"), (1500, "node3")]
    assert found[1] == [(1500, "node3"), (1750, "node4")]
    assert found[2] == [(1750, "node4"), (3250, "node2")]
    assert found[3] == [(1750, "node4"), (3500, "node3")]


def test_a_job_with_a_label_runs_where_it_is_and_others_where_it_is_not():
    sizes = racks()
    sizes[3] = replace(sizes[3], labels=(GPU,))
    jobs = [
        replace(job(0, 0, tasks(3, 3000, 5000)), label="gpu"),
        job(1, 0, tasks(6, 3000, 5000)),
    ]
    run = run_cluster(jobs, sizes, YarnConfiguration(placement=PlacementRules(), master_memory=500))
    labelled, other = run.applications
    assert {each.node.size.name for each in labelled.containers} == {"node4"}
    assert {each.node.size.name for each in other.containers} == {"node1", "node2", "node3"}


def test_nodes_that_are_not_exclusive_are_lent_while_nobody_waits_for_them():
    sizes = nodes(2)
    sizes[1] = replace(sizes[1], labels=(FAST,))
    jobs = [
        job(0, 0, tasks(9, 3000, 10_000)),
        replace(job(1, 20_000, tasks(3, 3000, 10_000)), label="fast"),
    ]
    run = run_cluster(jobs, sizes, YarnConfiguration(placement=PlacementRules(), master_memory=400))
    borrowing, owner = run.applications
    assert {each.node.size.name for each in owner.containers} == {"node2"}
    on_it = [each for each in borrowing.containers if each.node.size.name == "node2"]
    assert on_it
    waiting = owner.start, owner.containers[-1].scheduled
    assert not any(waiting[0] < each.scheduled < waiting[1] for each in on_it)


def test_tasks_of_a_job_are_spread():
    jobs = [job(0, 0, tasks(6, 100, 10_000))]
    rules = PlacementRules(most_per_node=1)
    configuration = YarnConfiguration("FIFO", placement=rules, master_memory=100)
    run = run_cluster(jobs, nodes(3), configuration)
    names = [each.node.size.name for each in tasks_of(run)]
    assert sorted(names[:3]) == sorted(names[3:]) == ["node1", "node2", "node3"]
    off = run_cluster(jobs, nodes(3), replace(configuration, placement=None))
    assert len({each.node.size.name for each in tasks_of(off)[:3]}) == 1


@pytest.mark.parametrize(
    ("placed", "rules", "problem"),
    [
        (
            replace(job(0, 0), label="gpu"),
            PlacementRules(),
            "job_0 needs nodes with the label gpu, and there are none",
        ),
        (
            job(0, 0, tasks(1, 4500, 10, host="node1")),
            NEVER_FAR,
            "job_0, task 1 asks for 4500 MB and 1 cores, and fits on no node on which it may run, "
            "for it waits for node1",
        ),
        (job(0, 0), PlacementRules(-1), "the delay for a node: should be at least 0, not -1"),
        (
            job(0, 0),
            PlacementRules(most_per_node=0),
            "the most tasks of a job on a node: should be at least 1, not 0",
        ),
    ],
)
def test_rules_that_keep_a_task_from_all_nodes_are_refused(placed, rules, problem):
    sizes = [*nodes(1), NodeSize("large", 2, 9000, 9)]
    with pytest.raises(UserError) as raised:
        run_cluster([placed], sizes, YarnConfiguration(placement=rules))
    assert str(raised.value) == problem


SIZES = [
    replace(size, labels=labels)
    for size, labels in zip(racks(), ((), (), (FAST,), (GPU,)), strict=True)
]
HOSTS = ("", "node1", "/rack2/node3", "node4", "/rack1/gone", "/gone/gone")


@st.composite
def placed_workloads(draw: st.DrawFn, labels: tuple[str, ...]) -> tuple[ContainerJob, ...]:
    """Give jobs of labels, with tasks that would rather run somewhere."""
    return tuple(
        replace(
            each,
            label=draw(st.sampled_from(labels)),
            classes=tuple(
                replace(some, host=draw(st.sampled_from(HOSTS))) for some in each.classes
            ),
        )
        for each in draw(workloads())
    )


delays = st.sampled_from([0, 1, 3, 40])


@settings(max_examples=dear(120))
@given(
    jobs=placed_workloads(("", "fast", "gpu")),
    configuration=configurations(),
    rules=st.builds(PlacementRules, delays, delays, st.sampled_from([None, 1, 2])),
)
def test_labels_hold_and_tasks_are_spread(jobs, configuration, rules):
    run = finished(jobs, SIZES, replace(configuration, placement=rules))
    for application in run.applications:
        label = application.job.label
        for each in application.containers:
            names = {some.name for some in each.node.size.labels}
            assert label in names if label else "gpu" not in names
    if rules.most_per_node is not None:
        for application in run.applications:
            for node in run.nodes:
                steps = sorted(
                    step
                    for each in application.containers[1:]
                    if each.node is node
                    for step in ((each.scheduled, 1), (each.finished, -1))
                )
                held = 0
                for _, more in steps:
                    held += more
                    assert held <= rules.most_per_node


@settings(max_examples=dear(120))
@given(jobs=placed_workloads(("",)), configuration=configurations())
def test_who_waits_for_ever_runs_where_he_wants(jobs, configuration):
    configuration = replace(configuration, placement=NEVER_FAR)
    run = finished(jobs, racks(), configuration)
    hosts = Hosts(racks())
    for each in tasks_of(run):
        preferred = hosts.preference(each.task.host)
        if preferred is None:
            assert each.locality is None
        else:
            assert each.locality == ("rack" if preferred.node is None else "node")


@settings(max_examples=dear(120))
@given(jobs=placed_workloads(("",)), configuration=configurations())
def test_rules_that_rule_nothing_change_nothing(jobs, configuration):
    off = finished(jobs, racks(), configuration)
    on = finished(jobs, racks(), replace(configuration, placement=PlacementRules(0, 0)))
    assert rows(on) == rows(off)

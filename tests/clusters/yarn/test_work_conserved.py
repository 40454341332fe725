"""No node stands idle while a task waits that it may run, however it is scheduled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings

from rebecsim.clusters.yarn.cluster import Finished, run_cluster
from rebecsim.clusters.yarn.configuration import Quirks, YarnConfiguration
from rebecsim.clusters.yarn.containers import Application, ClusterNode, Container
from rebecsim.clusters.yarn.schedulers.registry import SCHEDULERS
from tests.clusters.yarn.clusters import (
    configurations,
    finished,
    job,
    nodes,
    tasks,
    workloads,
)
from tests.examples import dear


def waits(application: Application) -> Iterator[tuple[Container, int]]:
    """Give containers, and since when their tasks were the next ones to get one."""
    master, *others = application.containers
    yield master, application.start
    before = master
    for each in others:
        assert master.launched is not None
        yield each, max(master.launched, before.scheduled)
        before = each


def longest_chance(run: Finished, node: ClusterNode, container: Container, since: int) -> int:
    """Give for how long the node had room for a task that waited, and gave nothing to anybody."""
    steps = []
    for application in run.applications:
        for each in application.containers:
            if each.node is node:
                assert each.finished is not None
                steps.append((each.scheduled, 1, -each.memory, -each.task.cores))
                steps.append((each.finished, 0, each.memory, each.task.cores))
    steps.sort()
    memory, cores, begin, longest = node.size.memory, node.size.cores, None, 0
    until = container.scheduled
    for time, allocated, more_memory, more_cores in [*steps, (until, 0, 0, 0)]:
        if begin is not None:
            longest = max(longest, min(time, until) - max(begin, since))
        had_room = begin is not None
        memory, cores = memory + more_memory, cores + more_cores
        has_room = container.task.memory <= memory and container.task.cores <= cores
        if not has_room:
            begin = None
        elif allocated or not had_room:
            begin = time
        if time >= until:
            break
    return longest


def idlest(run: Finished) -> int:
    """Give for how long a node had room for a task that waited, at most."""
    return max(
        longest_chance(run, node, container, since)
        for application in run.applications
        for container, since in waits(application)
        for node in run.nodes
    )


@pytest.mark.parametrize("scheduler", sorted(SCHEDULERS))
@settings(max_examples=dear(60))
@given(jobs=workloads(), configuration=configurations())
def test_a_node_with_room_is_used_at_its_next_heartbeat(scheduler, jobs, configuration):
    configuration = replace(configuration, scheduler=scheduler, reservations=False)
    run = finished(jobs, nodes(3), configuration)
    assert idlest(run) <= configuration.node_heartbeat


def test_nodes_as_in_dss_sleep_while_smaller_tasks_wait():
    """A large and a small node; when the large tasks have run, small ones would fit on both."""
    both = [nodes(1, 1600)[0], replace(nodes(2)[1], memory=3100)]
    jobs = [job(0, 0, tasks(1, 3000, 9000, priority=10), tasks(8, 1000, 9000))]
    configuration = YarnConfiguration(master_memory=500)
    asleep = replace(configuration, quirks=Quirks(asleep=True))
    assert idlest(run_cluster(jobs, both, configuration)) <= 1000
    assert idlest(run_cluster(jobs, both, asleep)) > 1000

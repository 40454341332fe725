"""What is true of every run of a cluster, and small runs that can be done by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from rebecsim.actors import FifoScheduler
from rebecsim.clusters.yarn.cluster import Finished, cluster_model, run_cluster
from rebecsim.clusters.yarn.configuration import (
    Elasticity,
    InjectedError,
    YarnConfiguration,
    applications_of,
)
from rebecsim.clusters.yarn.containers import ClusterNode, Decisions
from rebecsim.clusters.yarn.launching import Accounts, StuckError
from rebecsim.clusters.yarn.penalties import penalty_named
from rebecsim.clusters.yarn.schedulers.fair import Regular
from rebecsim.clusters.yarn.schedulers.registry import SCHEDULERS
from rebecsim.errors import UserError
from rebecsim.simulation import simulate
from tests.clusters.yarn.clusters import (
    NODE_CORES,
    NODE_MEMORY,
    configurations,
    finished,
    job,
    nodes,
    rows,
    tasks,
    uses,
    workloads,
)
from tests.examples import dear


def test_one_task_step_by_step():
    run = run_cluster([job(0, 0, tasks(1, 1500, 5000))], nodes(1), YarnConfiguration())
    assert rows(run) == [
        (0, 1, 1000, 11_000, 1000, "node1"),
        (0, 2, 3000, 8000, 1500, "node1"),
    ]
    (application,) = run.applications
    assert (application.start, application.end) == (0, 12_000)
    assert run.accounts.utilised == 5000 * 1500 + 10_000 * 1000


def test_a_job_without_tasks_ends():
    run = run_cluster([job(0, 0)], nodes(1), YarnConfiguration())
    assert rows(run) == [(0, 1, 1000, 1000, 1000, "node1")]
    assert run.applications[0].end == 2000


def test_who_waits_for_a_job_starts_when_it_ends():
    first = job(3, 0, tasks(1, 1500, 5000))
    run = run_cluster(
        [replace(first, number=4, start=None, after=3), first], nodes(2), YarnConfiguration()
    )
    waiting, other = run.applications
    assert waiting.start == other.end == 12_000


def test_less_memory_is_given_where_the_scheduler_may():
    elasticity = Elasticity(penalty_named("STEP", 1.5))
    small = [job(0, 0, tasks(2, 2000, 4000))]
    given_memory = {
        name: [
            container.memory
            for container in run_cluster(
                small,
                nodes(1, 4000),
                YarnConfiguration(name, elasticity=elasticity, master_memory=800),
            )
            .applications[0]
            .containers
        ]
        for name in ("REGULAR", "GREEDY", "SMARTG")
    }
    assert given_memory == {
        "REGULAR": [800, 2000, 2000],
        "GREEDY": [800, 2000, 1200],
        "SMARTG": [800, 2000, 200],
    }


@settings(max_examples=dear(200))
@given(jobs=workloads(), configuration=configurations())
def test_every_task_runs_once_and_no_node_holds_more_than_it_has(jobs, configuration):
    run = finished(jobs, nodes(3), configuration)
    for application, each in zip(run.applications, jobs, strict=True):
        own = application.containers
        assert len(own) == 1 + sum(some.count for some in each.classes)
        assert [container.number for container in own] == list(range(1, len(own) + 1))
        master, *others = own
        assert application.end is not None
        for container in others:
            assert master.launched < container.launched
            assert container.scheduled < container.launched
            assert container.finished - container.launched == container.duration
            assert container.finished < master.finished < application.end
            assert container.memory <= container.task.memory
            if not SCHEDULERS[configuration.scheduler].scheduler.elastic:
                assert container.memory == container.task.memory
            assert container.memory >= min(container.task.least, container.task.memory)
    for node in run.nodes:
        on_it = [
            container
            for application in run.applications
            for container in application.containers
            if container.node is node
        ]
        assert all(memory <= NODE_MEMORY and cores <= NODE_CORES for memory, cores in uses(on_it))
        assert (node.memory, node.cores) == (NODE_MEMORY, NODE_CORES)
        assert not node.running
        assert not node.booked


@settings(max_examples=dear(200))
@given(jobs=workloads(), configuration=configurations("REGULAR", "GREEDY", "SMARTG", "PEEK"))
def test_every_look_at_a_task_has_one_result_where_nobody_looks_for_gaps(jobs, configuration):
    run = finished(jobs, nodes(2), replace(configuration, gaps=False))
    for application in run.applications:
        looks = application.decisions
        assert looks.total == looks.accepted + looks.rejected + looks.reserved
        assert looks.accepted == len(application.containers)
        assert looks.elastic == sum(each.is_elastic for each in application.containers)


@settings(max_examples=dear(200))
@given(jobs=workloads(), configuration=configurations("REGULAR", "GREEDY", "SMARTG", "FAIR"))
def test_refusing_all_at_once_is_refusing_one_after_the_other(jobs, configuration):
    run = finished(jobs, nodes(2), configuration)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Regular, "_is_too_small", lambda *_: False)
        slow = finished(jobs, nodes(2), configuration)
    assert rows(slow) == rows(run)
    for each, other in zip(run.applications, slow.applications, strict=True):
        assert counted(each.decisions) == counted(other.decisions)


def counted(looks: Decisions) -> list[int]:
    return [getattr(looks, name) for name in Decisions.__slots__]


@settings(max_examples=dear(120))
@given(jobs=workloads(), configuration=configurations())
def test_it_runs_as_the_semantics_of_rebecs_says(jobs, configuration):
    run = finished(jobs, nodes(2), configuration)
    applications = applications_of(jobs, configuration)
    its_nodes = [ClusterNode(size) for size in nodes(2)]
    model = cluster_model(applications, its_nodes, configuration, Accounts(), [])
    result = simulate(model, FifoScheduler())
    assert (result.outcome, result.detail) == ("ended", "")
    slow = Finished(configuration, applications, its_nodes, Accounts(), [], result.steps)
    assert rows(slow) == rows(run)


@pytest.mark.parametrize("scheduler", sorted(SCHEDULERS))
def test_a_run_is_the_same_when_it_is_done_again(scheduler):
    elasticity = Elasticity(
        penalty_named("STEP", 1.5), duration_error=InjectedError(30, "MIXED", "RANDOM")
    )
    configuration = YarnConfiguration(scheduler, reservations=True, elasticity=elasticity)
    jobs = [job(number, number * 700, tasks(9, 1500, 5000)) for number in range(4)]
    first, second = (run_cluster(jobs, nodes(2), configuration) for _ in range(2))
    assert rows(first) == rows(second)
    assert {each.finished - each.launched for each in first.applications[0].containers[1:]} != {
        5000
    }


def test_appmasters_that_hold_all_nodes_are_no_endless_run():
    jobs = [job(number, 0, tasks(1, 3000, 1000)) for number in range(4)]
    with pytest.raises(StuckError, match="job_0 and 3 others wait for containers, and never get"):
        run_cluster(jobs, nodes(1), YarnConfiguration(master_memory=2000, reservations=True))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"node_heartbeat": 0}, "heartbeats of nodes: should be at least 1, not 0"),
        ({"master_memory": -1}, "the memory of an AppMaster: should be at least 1, not -1"),
        (
            {"master_memory": 9000},
            "job_0, its AppMaster asks for 9000 MB and 1 cores, and fits on no node",
        ),
        (
            {"elasticity": Elasticity(duration_error=InjectedError(10))},
            "the error of durations is constant, so it is POSITIVE or NEGATIVE, and not MIXED",
        ),
        (
            {"elasticity": Elasticity(bump_error=InjectedError(100, "NEGATIVE"))},
            "the error of bumps may be negative, so it is less than 100 %, not 100 %",
        ),
        (
            {"elasticity": Elasticity(memory_error=InjectedError(10, "POSITIVE"))},
            "an error of memory that is positive needs a penalty",
        ),
        (
            {"scheduler": "PEEK", "elasticity": Elasticity(penalty_named("POWER1", 1.5))},
            "job_0, task 1: PEEK has to know the longest that a task can take",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(changes, problem):
    with pytest.raises(UserError) as raised:
        run_cluster(
            [job(0, 0, tasks(1, 500, 10))], nodes(1), replace(YarnConfiguration(), **changes)
        )
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("sizes", "problem"),
    [
        ([], "the cluster has no nodes; give at least one"),
        (nodes(1, cores=0), "node node1: 4000 MB and 0 cores; give 1 or more of each"),
        (
            nodes(2),
            "job_0, task 2 asks for 5000 MB and 1 cores, and fits on no node; "
            "node1, the largest, has 4000 MB and 4 cores",
        ),
    ],
)
def test_what_fits_nowhere_is_refused(sizes, problem):
    wanted = job(0, 0, tasks(1, 500, 10), tasks(1, 5000, 10))
    with pytest.raises(UserError) as raised:
        run_cluster([wanted], sizes, YarnConfiguration())
    assert str(raised.value) == problem

"""FIFO, FAIR and DRF: who gets what, worked out by hand, and what always holds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st
from pydantic import ValidationError

from rebecsim.clusters.yarn.cluster import run_cluster
from rebecsim.clusters.yarn.configuration import PoolTable, YarnConfiguration
from rebecsim.clusters.yarn.containers import (
    Application,
    ClusterNode,
    Container,
    NodeSize,
    Reservation,
    Task,
)
from rebecsim.clusters.yarn.schedulers.registry import SCHEDULERS
from rebecsim.errors import UserError
from rebecsim.workloads.container_jobs import ContainerJob
from tests.clusters.yarn.clusters import (
    configurations,
    finished,
    job,
    nodes,
    rows,
    tasks,
    workloads,
)
from tests.examples import dear


class Giving:
    """Grants that allocate containers, and nothing else."""

    def __init__(self) -> None:
        self.given: list[Application] = []

    def allocate(self, application: Application, node: ClusterNode, memory: int) -> None:
        task = application.head
        assert task is not None
        container = Container(application, task, node, memory)
        application.took(container)
        node.memory -= memory
        node.cores -= task.cores
        node.booked[container] = None
        self.given.append(application)

    def reserve(self, application: Application, node: ClusterNode) -> None:
        node.reservation = Reservation(application, application.head, 0)

    def give_up(self, node: ClusterNode, reservation: Reservation) -> None:
        node.reservation = None


def launched(number: int, count: int, memory: int, cores: int, **more: object) -> Application:
    """Give an application whose AppMaster takes nothing."""
    wanted = Task("reduce", memory, cores, 1000, memory)
    made = Application(ContainerJob(number, 0, None, (), **more), [(wanted, count)])  # type: ignore[arg-type]
    made.launched = True
    return made


def served(
    name: str, size: NodeSize, applications: list[Application], *pools: PoolTable
) -> list[Application]:
    """Give one node at one heartbeat, and say who got containers, in order."""
    node, giving = ClusterNode(size), Giving()
    configuration = YarnConfiguration(name, assign_multiple=True, pools=pools)
    scheduler = SCHEDULERS[name].scheduler(configuration, [node], giving)
    for each in applications:
        scheduler.submitted(each)
    scheduler.schedule(node, 0)
    return giving.given


def counts(given: list[Application], applications: list[Application]) -> list[int]:
    return [given.count(each) for each in applications]


def test_drf_of_the_paper():
    """9 cores and 18 GB; tasks of 1 core and 4 GB, and of 3 cores and 1 GB: 3 and 2 of them."""
    both = [launched(0, 9, 4, 1), launched(1, 9, 1, 3)]
    given = served("DRF", NodeSize("node", 1, 18, 9), both)
    assert counts(given, both) == [3, 2]
    assert [each.number for each in given] == [0, 1, 0, 1, 0]


def test_fair_by_memory_of_the_same_tasks():
    both = [launched(0, 9, 4, 1), launched(1, 9, 1, 3)]
    given = served("FAIR", NodeSize("node", 1, 18, 9), both)
    assert [each.number for each in given] == [0, 1, 1, 0, 0]


def test_fifo_gives_the_first_all_that_fits_and_then_the_next():
    three = [launched(0, 2, 4, 1), launched(1, 9, 15, 1), launched(2, 9, 3, 1)]
    given = served("FIFO", NodeSize("node", 1, 18, 9), three)
    assert [each.number for each in given] == [0, 0, 2, 2, 2]


def test_pools_share_before_their_applications_do():
    alone = launched(0, 20, 1, 0, user="ann")
    pair = [launched(number, 20, 1, 0, user="bob") for number in (1, 2)]
    everyone = [alone, *pair]
    for name in ("FAIR", "DRF"):
        given = served(name, NodeSize("node", 1, 12, 9), everyone)
        assert counts(given, everyone) == [6, 3, 3]
        for each in everyone:
            each.__init__(each.job, each.tasks)
            each.launched = True


def test_a_queue_that_is_named_is_the_pool():
    first = launched(0, 20, 1, 0, user="ann", queue="night")
    second = launched(1, 20, 1, 0, user="bob", queue="night")
    third = launched(2, 20, 1, 0, user="bob")
    everyone = [first, second, third]
    given = served("FAIR", NodeSize("node", 1, 12, 9), everyone)
    assert counts(given, everyone) == [3, 3, 6]


def test_weights_say_how_much_more_a_pool_gets():
    both = [launched(0, 20, 1, 0, user="ann"), launched(1, 20, 1, 0, user="bob")]
    given = served("FAIR", NodeSize("node", 1, 12, 9), both, PoolTable(name="bob", weight=3))
    assert counts(given, both) == [3, 9]


def test_who_has_less_than_promised_goes_first():
    both = [launched(0, 20, 1, 0, user="ann"), launched(1, 20, 1, 0, user="bob")]
    given = served("FAIR", NodeSize("node", 1, 12, 9), both, PoolTable(name="bob", least_memory=8))
    assert [each.number for each in given] == [1] * 8 + [0] * 4


def test_of_those_who_have_less_than_promised_the_smallest_part_counts():
    both = [launched(0, 20, 1, 0, user="ann"), launched(1, 20, 1, 0, user="bob")]
    pools = PoolTable(name="ann", least_memory=4), PoolTable(name="bob", least_memory=8)
    given = served("FAIR", NodeSize("node", 1, 12, 9), both, *pools)
    assert [each.number for each in given] == [0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1]


def test_least_cores_count_where_cores_are_dominant():
    both = [launched(0, 20, 1, 1, user="ann"), launched(1, 20, 1, 1, user="bob")]
    given = served("DRF", NodeSize("node", 1, 100, 6), both, PoolTable(name="bob", least_cores=4))
    assert [each.number for each in given] == [1, 1, 1, 1, 0, 0]


@pytest.mark.parametrize("wrong", [{"weight": 0}, {"least_memory": -1}, {"least_cores": -1}])
def test_pools_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValidationError, match=f"PoolTable\n{next(iter(wrong))}\n.*greater than"):
        PoolTable(name="ann", **wrong)


def test_two_pools_of_one_name_are_refused():
    pools = PoolTable(name="ann"), PoolTable(name="ann", weight=2)
    with pytest.raises(UserError, match="two pools have the name ann; rename one of them"):
        run_cluster([job(0, 0)], nodes(1), YarnConfiguration("FAIR", pools=pools))


@settings(max_examples=dear(200))
@given(
    sizes=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=2, max_size=4),
    pooled=st.booleans(),
)
def test_who_is_served_has_the_least_dominant_share_of_those_who_fit(sizes, pooled):
    everyone = [
        launched(number, 10**6, memory, cores, **({"user": f"user{number}"} if pooled else {}))
        for number, (memory, cores) in enumerate(sizes)
    ]
    given = served("DRF", NodeSize("node", 1, 360, 240), everyone)
    had = dict.fromkeys(everyone, Fraction(0))
    memory, cores = 360, 240

    def fitting() -> list[Application]:
        return [
            each for each in everyone if each.head.memory <= memory and each.head.cores <= cores
        ]

    for each in given:
        assert each in fitting()
        assert had[each] == min(had[other] for other in fitting())
        task = each.head
        had[each] += max(Fraction(task.memory, 360), Fraction(task.cores, 240))
        memory, cores = memory - task.memory, cores - task.cores
    assert not fitting()


@settings(max_examples=dear(100))
@given(jobs=workloads(), configuration=configurations("REGULAR"))
def test_fair_with_one_pool_is_regular(jobs, configuration):
    regular = finished(jobs, nodes(2), configuration)
    fair = finished(jobs, nodes(2), replace(configuration, scheduler="FAIR"))
    assert rows(fair) == rows(regular)


@settings(max_examples=dear(60))
@given(jobs=workloads(), configuration=configurations("FAIR"))
def test_without_cores_both_ways_to_be_fair_are_the_same(jobs, configuration):
    jobs = [
        replace(each, classes=tuple(replace(some, cores=0) for some in each.classes))
        for each in jobs
    ]
    size = nodes(2, cores=10**6)
    fair = finished(jobs, size, configuration)
    dominant = finished(jobs, size, replace(configuration, scheduler="DRF"))
    assert rows(fair) == rows(dominant)


def test_fifo_serves_in_the_order_of_submission():
    jobs = [job(0, 2000, tasks(3, 1000, 9000)), job(1, 0, tasks(3, 1000, 9000))]
    run = run_cluster(jobs, nodes(1), YarnConfiguration("FIFO", master_memory=500))
    first = {each.number: each.containers[1].scheduled for each in run.applications}
    assert first[1] < first[0]

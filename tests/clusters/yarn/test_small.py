"""YARN clusters cut small: explored, they keep their promises; a scheduler at fault does not."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.actors import enabled, execute
from rebecsim.clusters.kit.queued import under_way
from rebecsim.clusters.yarn import cluster as yarn_cluster, launching
from rebecsim.clusters.yarn.cluster import run_cluster
from rebecsim.clusters.yarn.configuration import (
    QUIRKS_OF_DSS,
    Elasticity,
    InjectedError,
    PoolTable,
    Quirks,
    YarnConfiguration,
)
from rebecsim.clusters.yarn.containers import Container, NodeSize
from rebecsim.clusters.yarn.launching import ClusterState
from rebecsim.clusters.yarn.penalties import penalty_named
from rebecsim.clusters.yarn.schedulers.fair import Regular
from rebecsim.clusters.yarn.schedulers.scheduler import FirstInFirstOut
from rebecsim.clusters.yarn.small import small_cluster
from rebecsim.exploration import Checks, explore
from rebecsim.studies.study import Cut, SmallCluster
from tests.clusters.yarn.clusters import job, nodes, tasks
from tests.every_order import ends_of_every_order, explored_ends
from tests.examples import dear

PLAIN = ("FIFO", "REGULAR", "FAIR", "DRF", "SRTF", "GREEDY", "SMARTG")

TWO = (job(0, 0, tasks(1, 3000, 2000)), job(1, 0, tasks(1, 2000, 1000)))
"""Two jobs of one second, whose tasks do not fit on one node together."""


def small(scheduler: str, jobs=TWO, count: int = 1, **more) -> SmallCluster:
    configuration = YarnConfiguration(
        scheduler, elasticity=Elasticity(penalty_named("STEP", 1.5)), master_memory=500, **more
    )
    return small_cluster(jobs, nodes(count), configuration, Cut(len(jobs), count))


def explored(cluster: SmallCluster):
    return explore(cluster.model, checks=Checks(terminal=(cluster.done,)))


def ends_of(cluster: SmallCluster) -> set[tuple[int, ...]]:
    return explored_ends(cluster.model, cluster.starts)


class Overfull(FirstInFirstOut):
    """Gives what does not fit."""

    def _serve(self, node, application):
        while (task := application.head) is not None and (application.launched or task.is_master):
            self.grants.allocate(application, node, task.memory)
        if application.head is None:
            del self._queue[application]


class Forgetful(Regular):
    """Forgets that a job has all its containers, and gives the first one again."""

    def give(self, application, node, memory):
        task = application.head
        super().give(application, node, memory)
        if application.head is None and not task.is_master:
            application._ask_for([(task, 1)])
            self._refusals_before[application] = 0
            self.queue.add(application)


class Idle(FirstInFirstOut):
    """Gives nothing."""

    def schedule(self, node, now):
        return False


@pytest.mark.parametrize("scheduler", PLAIN)
@pytest.mark.parametrize("count", [1, 2])
def test_every_scheduler_keeps_its_promises(scheduler: str, count: int) -> None:
    assert explored(small(scheduler, count=count)).verdict == "satisfied"


def test_pools_and_reservations_can_be_explored() -> None:
    pools = (PoolTable(name="default", weight=2.0),)
    found = explored(small("FAIR", pools=pools, reservations=True, assign_multiple=True))
    assert found.verdict == "satisfied"


PLAIN_STEP = Elasticity(penalty_named("STEP", 1.5))
DRAWN = InjectedError(50, mode="RANDOM")


@pytest.mark.parametrize(
    "more",
    [
        {"quirks": replace(QUIRKS_OF_DSS, fixed_draws=False)},
        {"quirks": QUIRKS_OF_DSS, "elasticity": replace(PLAIN_STEP, duration_error=DRAWN)},
        {"elasticity": replace(PLAIN_STEP, duration_error=DRAWN)},
        {"elasticity": replace(PLAIN_STEP, memory_error=DRAWN, bump_error=DRAWN)},
        {
            "quirks": QUIRKS_OF_DSS,
            "elasticity": replace(PLAIN_STEP, memory_error=DRAWN, bump_error=DRAWN),
        },
    ],
    ids=["quirks", "as DSS", "durations", "memory", "memory as DSS"],
)
def test_errors_and_what_dss_does_can_be_explored(more) -> None:
    """How long tasks really take is a function of the seed, the job and how many have begun."""
    settings = {"elasticity": PLAIN_STEP, "master_memory": 500} | more
    configuration = YarnConfiguration("SMARTG", **settings)
    jobs = (job(0, 0, tasks(2, 3000, 2000)),)
    cluster = small_cluster(jobs, nodes(1), configuration, Cut(1, 1))
    assert explored(cluster).verdict == "satisfied"
    (run,) = run_cluster(jobs, nodes(1), configuration).applications
    found = ends_of(cluster)
    assert (run.end,) in found
    assert found == set(ends_of_every_order(cluster.model, cluster.starts))


def test_dss_draws_for_who_is_submitted_first() -> None:
    """Two jobs of one time share a stream of errors: which is drawn for whom depends on who is."""
    jobs = tuple(job(number, 0, tasks(1, 3000, 2000)) for number in range(2))
    elasticity = replace(PLAIN_STEP, memory_error=DRAWN)
    seen = {}
    for quirks in (Quirks(), Quirks(fixed_draws=True)):
        more = {"elasticity": elasticity, "master_memory": 500, "quirks": quirks}
        configuration = YarnConfiguration("SMARTG", **more)
        model = small_cluster(jobs, nodes(1), configuration, Cut(2, 1)).model
        seen[quirks.fixed_draws] = {errors_of(model, order) for order in range(6)}
    assert [len(seen[shared]) for shared in (False, True)] == [1, 2]
    first, second = seen[True]
    assert first == second[::-1]


def errors_of(model, order: int) -> tuple[int, ...]:
    """Give the errors of memory of jobs that are submitted in an order that is drawn."""
    draws, system = Random(order), model.start()
    applications = system.rebec("manager").state.applications.values()
    while not all(each.awake or each.launched for each in applications):
        execute(system, draws.choice(enabled(system)))
    return tuple(each.memory_error for each in applications)


@pytest.mark.parametrize(
    ("scheduler", "text"),
    [
        (Overfull, "node1: containers have 6000 of 4000 MB"),
        (Forgetful, "job_0 asks for 2 containers, and has been given 3"),
        (Idle, "job_0 and 1 others wait for containers, and never get them"),
    ],
)
def test_a_planted_fault_is_found(monkeypatch, scheduler, text) -> None:
    monkeypatch.setattr(yarn_cluster, "scheduler_of", lambda configuration: scheduler)
    result = explored(small("FIFO"))
    assert result.verdict == "assertion failed"
    assert result.path is not None
    assert result.path.breach is not None
    assert text in result.path.breach.text


def test_who_is_heard_first_is_served_first() -> None:
    """Both jobs are submitted at once; the one that is heard of later waits for the other."""
    found = ends_of(small("FIFO"))
    assert len({first < second for first, second in found}) == 2


AHEAD = [
    ("PEEK", {}),
    ("PEEK", {"push_back": "TIMELINE_CHECK_CURRENT_JOB"}),
    ("PEEK", {"push_back": "PEEK_EACH_ELASTIC"}),
    ("PEEK", {"reservations": True, "gaps": True}),
    ("PEEK", {"quirks": replace(QUIRKS_OF_DSS, fixed_draws=False)}),
    ("RACE_LOCKSTEP", {}),
]


@pytest.mark.parametrize(("scheduler", "more"), AHEAD)
def test_schedulers_that_look_ahead_keep_their_promises(scheduler: str, more) -> None:
    cluster = small(scheduler, (job(0, 0, tasks(2, 3000, 2000)),), **more)
    assert explored(cluster).verdict == "satisfied"


@pytest.mark.parametrize("others", [(), (job(1, 3500, tasks(1, 500, 500)),)], ids=["one", "two"])
@pytest.mark.parametrize(("scheduler", "more"), AHEAD)
def test_what_is_under_way_follows_from_what_the_manager_knows(
    monkeypatch, scheduler: str, more, others
) -> None:
    """So a look ahead in exploring has the messages that one in a simulation has."""
    seen = []
    copied = ClusterState.copied

    def compared(self: ClusterState) -> ClusterState:
        found = [(each.due, *each.message) for each in self.expected()]
        manager = self.scheduler.grants
        there = [each for each in under_way(manager._system) if each[3] is manager and each[5]]
        assert sorted(found) == sorted(
            (each[0], each[4].name, each[5]) for each in there if each[4].name != "submit"
        )
        seen.append(len(found))
        return copied(self)

    monkeypatch.setattr(ClusterState, "copied", compared)
    cluster = small(scheduler, (job(0, 0, tasks(2, 3000, 2000)), *others), **more)
    ends = ends_of_some_orders(cluster, 20)
    monkeypatch.undo()
    if not others:
        assert ends <= ends_of(cluster)
    assert max(seen) > 1


class Blind(ClusterState):
    """Copies forget the tasks that run, so that no task is foreseen to end."""

    def expected(self):
        return (each for each in super().expected() if not isinstance(each, Container))


def peeking(monkeypatch, *, at_fault: bool) -> tuple[SmallCluster, int]:
    """Make PEEK's smallest cluster, and say when its job ends at the latest under REGULAR.

    The second task may begin at once in less memory, and then ends far later than after the first.
    """
    if at_fault:
        monkeypatch.setattr(launching, "ClusterState", Blind)
    job_of_two = (job(0, 0, tasks(2, 3000, 2300)),)
    more = {"master_memory": 500, "node_heartbeat": 3000, "master_heartbeat": 1700}
    peek, regular = (
        small_cluster(
            job_of_two,
            nodes(1),
            YarnConfiguration(name, elasticity=Elasticity(penalty_named("STEP", 9.0)), **more),
            Cut(1, 1),
        )
        for name in ("PEEK", "REGULAR")
    )
    ((latest,),) = sorted(ends_of(regular))[-1:]
    return peek, latest


@pytest.mark.parametrize("at_fault", [False, True])
def test_a_planted_fault_in_looking_ahead_is_found(monkeypatch, at_fault: bool) -> None:
    cluster, latest = peeking(monkeypatch, at_fault=at_fault)
    checks = Checks(invariants=(f"manager.ends[0] <= {latest}",), terminal=(cluster.done,))
    result = explore(cluster.model, checks=checks)
    assert result.verdict == ("property violated" if at_fault else "satisfied")


def test_peek_may_be_later_than_regular_as_it_foresees_one_order_only() -> None:
    jobs, elasticity = (job(0, 0, tasks(2, 3000, 2000)),), Elasticity(penalty_named("STEP", 4.0))
    peek, regular = (
        ends_of(
            small_cluster(
                jobs,
                nodes(1),
                YarnConfiguration(name, elasticity=elasticity, master_memory=500),
                Cut(1, 1),
            )
        )
        for name in ("PEEK", "REGULAR")
    )
    assert max(peek) > max(regular)


@pytest.mark.slow
@pytest.mark.parametrize("at_fault", [False, True])
def test_brute_force_agrees_about_looking_ahead(monkeypatch, at_fault: bool) -> None:
    cluster, latest = peeking(monkeypatch, at_fault=at_fault)
    found = set(ends_of_every_order(cluster.model, cluster.starts))
    assert found == ends_of(cluster)
    assert (max(found) > (latest,)) == at_fault


def ends_of_some_orders(cluster: SmallCluster, count: int) -> set[tuple[int, ...]]:
    """Run a cluster in orders that are drawn."""
    draws, ends = Random(1), set()
    for _ in range(count):
        system = cluster.model.start()
        while steps := enabled(system):
            execute(system, draws.choice(steps))
        ends.add(tuple(system.rebec("manager").ends))
    return ends


starts = st.integers(0, 4).map(lambda each: each * 500)


@settings(max_examples=dear(8))
@given(
    first=st.tuples(starts, st.integers(1, 3), st.integers(1, 3)),
    scheduler=st.sampled_from(PLAIN),
    reservations=st.booleans(),
)
def test_brute_force_finds_the_same_ends(first, scheduler, reservations) -> None:
    start, memory, seconds = first
    jobs = (job(0, start, tasks(1, memory * 1000, seconds * 1000)),)
    cluster = small(scheduler, jobs, reservations=reservations)
    assert explored(cluster).verdict == "satisfied"
    found = ends_of(cluster)
    assert found == set(ends_of_every_order(cluster.model, cluster.starts))
    # A simulation has one of these orders.
    configuration = YarnConfiguration(
        scheduler,
        elasticity=Elasticity(penalty_named("STEP", 1.5)),
        master_memory=500,
        reservations=reservations,
    )
    (run,) = run_cluster([job(0, 0, *jobs[0].classes)], nodes(1), configuration).applications
    assert (run.end,) in found


def test_jobs_keep_their_part_of_the_tasks() -> None:
    jobs = (job(4, 7000, tasks(9, 100, 1000)), job(2, 9000, tasks(1, 100, 1000)))
    cluster = small_cluster(jobs, nodes(6), YarnConfiguration(), Cut(2, 2))
    assert cluster.what == "2 jobs on 2 nodes"
    manager = cluster.model.start().rebec("manager")
    applications = manager.state.applications.values()
    assert [each.job.start for each in applications] == [0, 2000]
    assert [each.tasks[1][1] for each in applications] == [3, 1]


def test_many_tasks_are_fewer_on_smaller_nodes() -> None:
    """A task that begins at one of two heartbeats doubles the states, so few can be left."""
    jobs = (job(0, 0, tasks(40, 1000, 20_000)), job(1, 3000, tasks(30, 1000, 5000)))
    sizes = tuple(NodeSize(f"node{each}", each, 32_000, 32) for each in (1, 2))
    cluster = small_cluster(jobs, sizes, YarnConfiguration("FIFO"), Cut(2, 1))
    assert cluster.what == "2 jobs on 1 node made 7 times smaller"
    manager = cluster.model.start().rebec("manager")
    assert [each.size.memory for each in manager.nodes] == [4571]
    assert [each.tasks[1][1] for each in manager.state.applications.values()] == [3, 3]
    found = explored(cluster)
    assert found.verdict == "satisfied"
    assert found.states < 5000

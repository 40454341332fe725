"""Looking ahead only as far as an answer needs it, against looking at all of it, each time anew."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.kit.queued import TO_THE_END, QueuedSystem, serve, under_way
from rebecsim.clusters.yarn import look_ahead as look_ahead_module, look_ahead_rebecs
from rebecsim.clusters.yarn.cluster import Finished, cluster_model, run_cluster
from rebecsim.clusters.yarn.configuration import (
    QUIRKS_OF_DSS,
    Elasticity,
    InjectedError,
    Quirks,
    YarnConfiguration,
    applications_of,
)
from rebecsim.clusters.yarn.containers import Application, ClusterNode
from rebecsim.clusters.yarn.foresight import Foresight, LastFinishes
from rebecsim.clusters.yarn.launching import Accounts
from rebecsim.clusters.yarn.look_ahead import CopiedCluster, look_ahead
from rebecsim.clusters.yarn.look_ahead_rebecs import Peeker
from rebecsim.clusters.yarn.penalties import penalty_named
from rebecsim.clusters.yarn.rebecs import ResourceManager
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

MIXED = InjectedError(40, "MIXED", "RANDOM")


class LookingAtAll(Foresight):
    """Looks at everything until the end, with all messages under way, and only then answers."""

    def __init__(self, *arguments) -> None:
        original = look_ahead(*arguments)
        super().__init__(original._future, original.until)
        self._future._copy.expect(TO_THE_END[0])
        while self._future.go_on(self.until):
            pass

    def finishes_before(self, application: Application, time: int) -> bool:
        last = self.last_finish(application)
        return last is not None and last < time


elasticities = st.builds(
    Elasticity,
    penalty=st.builds(penalty_named, st.just("STEP"), st.sampled_from([1.1, 1.5, 3.0])),
    overestimated=st.sampled_from([(1.0, 1.0), (1.0, 1.0), (1.0, 2.0)]),
    memory_error=st.sampled_from([InjectedError()] * 3 + [MIXED]),
    bump_error=st.sampled_from([InjectedError()] * 3 + [MIXED]),
    duration_error=st.sampled_from([InjectedError()] * 3 + [MIXED]),
)
peeking = st.builds(
    replace,
    configurations("PEEK"),
    elasticity=elasticities,
    push_back=st.sampled_from([None, None, "TIMELINE_CHECK_CURRENT_JOB", "PEEK_EACH_ELASTIC"]),
    quirks=st.sampled_from([Quirks(), QUIRKS_OF_DSS]),
)


@settings(max_examples=dear(240))
@given(jobs=workloads(), configuration=peeking)
def test_peek_gives_the_same_when_it_looks_at_all_of_the_future_each_time(jobs, configuration):
    run = finished(jobs, nodes(2), configuration)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(look_ahead_rebecs, "look_ahead", LookingAtAll)
        patch.setattr(Peeker, "_is_true", lambda *_: False)
        slow = finished(jobs, nodes(2), configuration)
    assert decided(slow) == decided(run)


def decided(run: Finished) -> list:
    looks = [application.decisions for application in run.applications]
    return [rows(run), [(each.total, each.accepted, each.elastic) for each in looks]]


@settings(max_examples=dear(120))
@given(jobs=workloads(), configuration=peeking)
def test_what_is_expected_is_what_is_under_way_in_the_order_of_sending(jobs, configuration):
    """So a copy needs no look into the queue, and what has no error ends when it should."""
    seen = []

    def compared(manager, now, *arguments, **named):
        copy = CopiedCluster(manager, now, *arguments, **named)
        there = sorted(
            each
            for each in under_way(manager._system)
            if each[3] is manager and each[4].name in EXPECTED
        )
        errs = manager.configuration.elasticity
        if not (errs.memory_error or errs.bump_error or errs.duration_error):
            copy.expect(TO_THE_END[0])
            mine = sorted(each for each in under_way(copy.system))
            assert [(each[0], each[4].name, each[5]) for each in mine] == [
                (each[0], each[4].name, each[5]) for each in there
            ]
        assert len(under_way(copy.system)) + sum(map(len, copy._later.values())) == len(there)
        seen.append(len(there))
        return copy

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(look_ahead_module, "CopiedCluster", compared)
        finished(jobs, nodes(2), configuration)
    assert seen


EXPECTED = {"finished", "node_heartbeat", "master_heartbeat", "left"}


@settings(max_examples=dear(120))
@given(
    jobs=workloads(),
    configuration=st.builds(
        replace,
        configurations("REGULAR", "SMARTG"),
        elasticity=st.just(Elasticity(penalty_named("STEP", 1.5))),
    ),
    until=st.integers(0, 30_000),
)
def test_a_copy_goes_on_as_its_cluster_does(jobs, configuration, until):
    """All jobs are submitted first; both go on, the copy after its cluster or before it."""
    jobs = [replace(each, start=min(each.start or 0, 1000), after=None) for each in jobs]
    finished(jobs, nodes(2), configuration)  # which gives up if they never end
    applications = applications_of(jobs, configuration)
    its_nodes = [ClusterNode(size) for size in nodes(2)]
    system = QueuedSystem(cluster_model(applications, its_nodes, configuration, Accounts(), []))
    manager = system.rebecs[0]
    assert isinstance(manager, ResourceManager)
    manager.notes = True
    serve(system, manager, (1001 + until, 0, 0))
    scheduler = type(manager.scheduler)
    named = {"gaps": configuration.gaps, "closes": False}
    copies = [CopiedCluster(manager, 1000 + until, scheduler, **named) for _ in range(2)]
    running = list(manager.running.values())
    copies[0].serve()
    serve(system, manager)
    copies[1].serve()
    for copy in copies:
        assert [had(copy.manager.state.applications[each.number]) for each in running] == list(
            map(had, running)
        )


def had(application):
    given = [
        (each.node.size.number, each.memory, each.scheduled, each.launched, each.finished)
        for each in application.containers
    ]
    return application.end, given


@settings(max_examples=dear(200))
@given(jobs=workloads(), configuration=configurations("REGULAR"))
def test_last_containers_end_between_the_bounds_at_all_times(jobs, configuration):
    expected = {
        application.number: application.containers[0].finished
        for application in finished(jobs, nodes(2), configuration).applications
    }
    applications = applications_of(jobs, configuration)
    its_nodes = [ClusterNode(size) for size in nodes(2)]
    system = QueuedSystem(cluster_model(applications, its_nodes, configuration, Accounts(), []))
    manager = system.rebecs[0]
    assert isinstance(manager, ResourceManager)
    bounds = LastFinishes(configuration)
    while not manager.closed:
        reached = min(system.under_way())[0] + configuration.node_heartbeat
        serve(system, manager, (reached, 0, 0))
        for each in manager.running.values():
            last, latest = expected[each.number], bounds.latest(each, reached)
            assert bounds.earliest(each, reached) <= last
            assert latest is None or last <= latest


def test_looking_ahead_stops_when_the_answer_is_known(monkeypatch):
    """Of 60 tasks that run for 100 s two at a time, it is known early that they end too late."""
    reached = []
    answer = Foresight.finishes_before

    def noted(self, application, time):
        known = answer(self, application, time)
        reached.append((self.reached, self.until))
        return known

    monkeypatch.setattr(Foresight, "finishes_before", noted)
    elasticity = Elasticity(penalty_named("STEP", 1.5))
    jobs = [job(0, 0, tasks(60, 1900, 100_000))]
    run = run_cluster(jobs, nodes(1), YarnConfiguration("PEEK", elasticity=elasticity))
    assert run.applications[0].decisions.elastic > 0
    assert max(until - at for at, until in reached) > 150_000
    assert all(until - at > 90_000 for at, until in reached)


def test_looking_ahead_goes_on_from_before_while_all_goes_as_foreseen(monkeypatch):
    """Two jobs, and nothing smaller that could be given: the second one is the only news."""
    taken = []

    def noted(*arguments):
        taken.append(arguments[1])
        return look_ahead(*arguments)

    monkeypatch.setattr(look_ahead_rebecs, "look_ahead", noted)
    elasticity = Elasticity(penalty_named("STEP", 1.5))
    jobs = [job(0, 0, tasks(9, 4000, 5000)), job(1, 7300, tasks(9, 4000, 5000))]
    run_cluster(jobs, nodes(3, cores=1), YarnConfiguration("PEEK", elasticity=elasticity))
    assert taken == [0, 7300]


def test_gaps_are_looked_for_where_each_container_is_looked_ahead_with():
    elasticity = Elasticity(penalty_named("STEP", 1.5))
    configuration = YarnConfiguration(
        "PEEK",
        master_memory=100,
        reservations=True,
        gaps=True,
        assign_multiple=True,
        push_back="PEEK_EACH_ELASTIC",
        elasticity=elasticity,
    )
    jobs = [job(0, 3000, tasks(2, 3300, 20_000)), job(1, 500, tasks(1, 100, 4000))]
    run = run_cluster(jobs, nodes(1), configuration)
    assert all(each.end for each in run.applications)

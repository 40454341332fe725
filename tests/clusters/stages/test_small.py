"""Clusters of stages cut small: explored, they keep their promises; a manager at fault does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.stages.cluster import ManagerMaker, run_stages
from rebecsim.clusters.stages.job import StageJob, TaskKey
from rebecsim.clusters.stages.managers.decisions import ChargedBy, DecisionCost
from rebecsim.clusters.stages.managers.dispatching import EarliestDeadlineFirst
from rebecsim.clusters.stages.managers.registry import stages_policy
from rebecsim.clusters.stages.managers.wfbb import WorkflowBudgets
from rebecsim.clusters.stages.resources import Assignment, StageResource, identical, identical_typed
from rebecsim.clusters.stages.small import small_cluster
from rebecsim.errors import UserError
from rebecsim.exploration import Checks, explore
from rebecsim.studies.small import Cut, SmallCluster
from tests.clusters.stages.jobs import job, map_reduce, task
from tests.every_order import ends_of_every_order, explored_ends
from tests.examples import dear

FREE = DecisionCost(ChargedBy.NOTHING)
NAMES = ("EDF", "FIFO", "MLF", "MINEDF_WC", "WFBB_PD_SL_TSP1", "WFBB_ED_TL_TSP2", "PSEH_EDF")

CLOSE = (
    job(0, 0, 90, task(0, 10), task(1, 5, 0)),
    job(1, 0, 30, task(0, 20)),
    job(2, 5, 60, task(0, 7), task(1, 0, 0), task(2, 3, 1)),
)
"""Two jobs come at one time, and the second has the earlier deadline; the third has a dummy."""


def small(
    maker: str | ManagerMaker,
    jobs: Sequence[StageJob] = CLOSE,
    resources: Sequence[StageResource] = identical(1, 1),
    cost: DecisionCost = FREE,
) -> SmallCluster:
    manager = stages_policy(maker).manager if isinstance(maker, str) else maker
    cut = Cut(len(jobs), len(resources))
    return small_cluster("small", manager, jobs, resources, cost, cut)


def explored(cluster: SmallCluster, *invariants: str):
    return explore(
        cluster.model, checks=Checks(terminal=(cluster.done,), invariants=tuple(invariants))
    )


def starts_of(cluster: SmallCluster) -> set[tuple[int, ...]]:
    return explored_ends(cluster.model, cluster.starts)


class Overfull(EarliestDeadlineFirst):
    """EDF that thinks of one slot more than there is."""

    def __init__(self, resources: Sequence[StageResource]) -> None:
        super().__init__(resources)
        for slots in self._free.values():
            slots.append(0)


class Hasty(EarliestDeadlineFirst):
    """EDF that does not wait for parents."""

    def plan(self, now: int, arrived: Sequence[StageJob], *others: Any) -> Sequence[Assignment]:
        free = [replace(each, tasks=tuple(map(orphan, each.tasks))) for each in arrived]
        return super().plan(now, free, *others)


def orphan(each):
    return replace(each, parents=())


class Idle(EarliestDeadlineFirst):
    """EDF that leaves a slot free whenever two jobs have tasks for it."""

    def dispatched(self, now: int, queue: Sequence[Any]) -> Iterator[Assignment]:
        return super().dispatched(now, queue) if len(queue) < 2 else iter(())


class Forgetful(EarliestDeadlineFirst):
    """EDF that forgets a job that comes with another one."""

    def plan(self, now: int, arrived: Sequence[StageJob], *others: Any) -> Sequence[Assignment]:
        return super().plan(now, arrived[:1], *others)


class Deaf(EarliestDeadlineFirst):
    """EDF that forgets a job that comes while tasks run."""

    def plan(
        self, now: int, arrived: Sequence[StageJob], running: Any, scheduled: Any
    ) -> Sequence[Assignment]:
        return super().plan(now, () if running or scheduled else arrived, running, scheduled)


class Unfair(WorkflowBudgets):
    """WFBB that lets tasks of another job start later than planned, for each one that comes."""

    def plan(
        self, now: int, arrived: Sequence[StageJob], running: Any, scheduled: Any
    ) -> Sequence[Assignment]:
        own = super().plan(now, arrived, running, scheduled)
        last = max((each.end for each in (*own, *scheduled.values())), default=now)
        later = [
            each._replace(start=last + 100, end=last + 100 + each.end - each.start)
            for each in scheduled.values()
            if each.key not in {one.key for one in own}
        ]
        return [*own, *sorted(later)[-1:]]


@pytest.mark.parametrize("cost", [FREE, DecisionCost()], ids=["free", "by rate"])
@pytest.mark.parametrize("name", NAMES)
def test_every_manager_keeps_its_promises(name: str, cost: DecisionCost) -> None:
    result = explored(small(name, resources=identical(2, 1), cost=cost))
    assert result.verdict == "satisfied"
    assert result.states > 50


@pytest.mark.parametrize("name", ["MRCP_RM", "HCP_RM"])
def test_what_searches_repeats_and_can_be_explored(name: str) -> None:
    pytest.importorskip("ortools")
    assert explored(small(name, CLOSE[:2])).verdict == "satisfied"


SINGLE = tuple(job(number, 0, 90, task(0, 10)) for number in range(3))
"""Jobs of one task that come at one time."""


@pytest.mark.parametrize(
    ("manager", "jobs", "slots", "text"),
    [
        (Overfull, CLOSE, 1, "all slots there are taken"),
        (Hasty, CLOSE, 2, "a parent task ends at 10 ms"),
        (Idle, CLOSE, 1, "waits while a slot is free for it"),
        (Forgetful, CLOSE, 1, "waits while a slot is free for it"),
        (Unfair, SINGLE, 1, "was planned to be in time, but now ends at"),
    ],
)
def test_a_planted_fault_is_found(
    manager: ManagerMaker, jobs: Sequence[StageJob], slots: int, text: str
) -> None:
    result = explored(small(manager, jobs, identical(1, slots)))
    assert result.verdict == "assertion failed"
    assert result.path is not None
    assert result.path.breach is not None
    assert text in result.path.breach.text


def test_a_fault_that_only_one_order_shows_is_found() -> None:
    """In a simulation both jobs are there before the first decision."""
    jobs = [job(0, 0, 9, task(0, 2)), job(1, 0, 9, task(0, 2))]
    assert len(run_stages(jobs, identical(2, 1), Deaf, FREE).completed) == 2
    result = explored(small(Deaf, jobs, identical(2, 1)))
    assert result.verdict == "assertion failed"
    assert "waits while a slot is free for it" in result.message


def test_the_job_that_is_heard_of_first_takes_the_slot() -> None:
    """EDF would run the second job first, if it had heard of it."""
    assert starts_of(small("EDF", CLOSE[:2])) == {(0, 10), (20, 0)}
    assert explored(small("EDF", CLOSE[:2])).verdict == "satisfied"


def test_a_deadline_that_another_order_would_have_met_is_found() -> None:
    jobs = [job(0, 0, 90, task(0, 15)), job(1, 0, 30, task(0, 20))]
    cluster = small("EDF", jobs)
    result = explored(cluster, "manager.late == 0")
    assert result.verdict == "property violated"
    assert starts_of(cluster) == {(0, 15), (20, 0)}


def test_a_wrong_estimate_is_no_broken_promise() -> None:
    jobs = [
        job(0, 0, 9000, replace(task(0, 2500), estimated=2000), task(1, 400, 0)),
        job(1, 0, 9500, task(0, 50)),
    ]
    for name in ("EDF", "WFBB_PD_SL_TSP1", "PSEH_WFBB_PD_SL_TSP1"):
        assert explored(small(name, jobs)).verdict == "satisfied"


few = st.tuples(st.integers(0, 3), st.integers(0, 9), st.lists(st.integers(1, 4), max_size=2))


@settings(max_examples=dear(12))
@given(
    st.lists(few.filter(lambda each: bool(each[2])), min_size=1, max_size=2),
    st.sampled_from(NAMES),
    st.booleans(),
)
def test_brute_force_finds_the_same_starts(drawn, name: str, is_typed: bool) -> None:
    jobs = [
        job(number, arrival, arrival + spare + 9, *map_reduce(maps[:1], maps[1:]))
        if is_typed
        else job(number, arrival, arrival + spare + 9, *chain(maps))
        for number, (arrival, spare, maps) in enumerate(sorted(drawn))
    ]
    resources = identical_typed(1, 1, 1) if is_typed else identical(1, 1)
    cluster = small(name, jobs, resources)
    assert explored(cluster).verdict == "satisfied"
    found = starts_of(cluster)
    assert found == set(ends_of_every_order(cluster.model, cluster.starts))
    # A simulation has one of these orders.
    ran = run_stages(jobs, resources, stages_policy(name).manager, FREE).ran
    first = jobs[0].arrival
    assert tuple(ran[TaskKey(each.number, 0)].start - first for each in jobs) in found


def chain(durations: Sequence[int]):
    return [
        task(place, each, *range(place - 1, place) if place else ())
        for place, each in enumerate(durations)
    ]


def test_jobs_count_from_the_first_arrival() -> None:
    late = [job(7, 100, 190, task(0, 5)), job(9, 103, 190, task(0, 5))]
    cluster = small_cluster("late", EarliestDeadlineFirst, late, identical(3, 2), FREE, Cut(5, 2))
    assert cluster.what == "2 jobs on 2 resources"
    assert starts_of(cluster) == {(0, 3)}


def test_what_is_charged_by_the_wall_clock_is_refused() -> None:
    with pytest.raises(UserError, match=r'charged_by = "recorded"'):
        small("EDF", cost=DecisionCost(ChargedBy.CLOCK))


def test_a_task_that_no_resource_left_can_run_is_refused() -> None:
    with pytest.raises(UserError, match="no resource has a slot for a reduce task"):
        small("EDF", [job(0, 0, 9, *map_reduce([1], [1]))], identical_typed(1, 1, 0))

"""Nodes that fail, slow ones, and backups: no job is lost, and the first attempt to end wins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.mapreduce.attempts import AttemptOutcome
from rebecsim.clusters.mapreduce.cluster import run_mapreduce
from rebecsim.clusters.mapreduce.configuration import (
    ChangeTable,
    FailuresTable,
    MapReduceConfiguration,
    Speculation,
    SpeculationRule,
    VariationTable,
)
from rebecsim.clusters.mapreduce.job import JobInProgress, TrackerSlots
from rebecsim.clusters.mapreduce.records import AttemptRecord, FinishedRun
from rebecsim.clusters.mapreduce.requirements import StuckJobsError
from rebecsim.clusters.mapreduce.schedulers.scheduler import Assignment, Preemption
from tests.clusters.mapreduce.simple import (
    MAP,
    REDUCE,
    FirstComeFirstServed,
    cluster,
    failing,
    job,
    with_keys,
)
from tests.examples import dear

SECOND = 1_000_000
SUCCEEDED, KILLED, LOST = AttemptOutcome.SUCCEEDED, AttemptOutcome.KILLED, AttemptOutcome.LOST
JOBS = [job(1, 20, 3), job(2, 3, 0, submit=5 * SECOND), job(3, 6, 1, submit=9 * SECOND)]


def run(
    configuration: MapReduceConfiguration, jobs: Sequence[Any] = JOBS, seed: int = 1
) -> FinishedRun:
    return run_mapreduce(jobs, configuration, FirstComeFirstServed, seed)


def makespan(finished: FinishedRun) -> int:
    return max(each.end or 0 for each in finished.jobs)


def require_complete(finished: FinishedRun) -> None:
    """Raise unless every task of every job has succeeded, and no attempt ran on a failed node."""
    succeeded = {
        (each.job, each.kind, each.number)
        for each in finished.attempts
        if each.outcome is SUCCEEDED
    }
    for record in finished.jobs:
        assert record.end is not None
        wanted = {(record.job.number, MAP, number) for number in range(record.job.maps)}
        wanted |= {(record.job.number, REDUCE, number) for number in range(record.job.reduces)}
        assert wanted <= succeeded
    for each in finished.attempts:
        assert sum(each.times) <= each.end - each.start
        for outage in finished.outages:
            if outage.node == each.node:
                assert each.end <= outage.start or each.start >= (outage.end or each.start + 1)


outages = st.lists(
    st.builds(
        lambda node, start, length: (node, start, start + length),
        st.integers(0, 3),
        st.integers(0, 150),
        st.integers(1, 60),
    ),
    max_size=6,
)


@settings(max_examples=dear(25), deadline=None)
@given(outages=outages, expiry=st.integers(1, 60), seed=st.integers(0, 9))
def test_no_job_is_lost(outages: list[tuple[int, int, int]], expiry: int, seed: int) -> None:
    configuration = cluster(expiry=expiry)
    finished = run(replace(configuration, failures=failing(*outages)), seed=seed)
    require_complete(finished)
    planned = {(node, start * SECOND, end * SECOND) for node, start, end in outages}
    assert {(each.node, each.start, each.end) for each in finished.outages} <= planned


def test_maps_run_again_whose_output_is_lost_while_somebody_needs_it() -> None:
    without = run(cluster(slow_start=1.0))
    reduce = next(each for each in without.attempts if each.job == 1 and each.kind is REDUCE)
    maps = [each for each in without.attempts if each.job == 1 and each.kind is MAP]
    ended = {each.number for each in maps if each.node == 0 and each.end < reduce.start}
    assert ended
    failures = failing((0, (reduce.start + 1) / SECOND, None))
    finished = run(replace(cluster(slow_start=1.0, expiry=1), failures=failures))
    require_complete(finished)
    again = Counter(each.number for each in finished.attempts if each.job == 1 and each.kind is MAP)
    assert all(again[number] == 2 for number in ended)
    lost = [each for each in finished.attempts if each.outcome is LOST]
    assert {each.node for each in lost} <= {0}
    in_vain = [each for each in finished.attempts if each.outcome is AttemptOutcome.OUTPUT_LOST]
    assert ended <= {each.number for each in in_vain if again[each.number] == 2}
    assert {(each.kind, each.node) for each in in_vain} == {(MAP, 0)}
    assert makespan(finished) > makespan(without)


def test_an_attempt_is_lost_that_is_given_to_a_node_when_it_fails() -> None:
    given = next(each for each in run(cluster()).attempts if each.node == 2)
    start = given.start / SECOND
    failures = failing((2, start, start + 7))
    finished = run(replace(cluster(), failures=failures))
    require_complete(finished)
    (lost,) = [each for each in finished.attempts if each.outcome is LOST]
    assert lost[:3] == given[:3]
    assert lost.end == lost.start == given.start


def test_outputs_that_nobody_needs_are_not_made_again() -> None:
    only_maps = [job(1, 20, 0)]
    without = run(cluster(), only_maps)
    late = max(each.end for each in without.attempts if each.node == 0) + SECOND // 2
    failures = failing((0, late / SECOND, None))
    finished = run(replace(cluster(expiry=1), failures=failures), only_maps)
    assert len(finished.attempts) == 20


def test_a_node_that_comes_back_before_it_is_missed_begins_anew() -> None:
    failures = failing((0, 10, 12))
    finished = run(replace(cluster(), failures=failures))
    require_complete(finished)
    assert any(each.outcome is LOST for each in finished.attempts)
    assert makespan(finished) < makespan(run(cluster())) + 60 * SECOND


def test_failures_are_drawn_for_each_node() -> None:
    failures = FailuresTable(mean_time_between=50, repair=5)
    configuration = replace(cluster(nodes=5, expiry=10), failures=failures)
    finished = run(configuration)
    require_complete(finished)
    assert len(finished.outages) > 2
    assert all(each.end == each.start + 5 * SECOND for each in finished.outages)
    assert run(configuration).outages == finished.outages
    longer = run(configuration, [*JOBS, job(4, 16, 1, submit=1)])
    assert longer.outages[: len(finished.outages)] == finished.outages


def test_a_split_without_replicas_for_ever_is_an_error() -> None:
    failures = failing(*((node, 1, None) for node in (0, 1, 2)))
    configuration = replace(cluster(expiry=1), failures=failures)
    configuration = with_keys(configuration, replication=1)
    with pytest.raises(
        StuckJobsError,
        match=r"all replicas of a split of job_\d .* failures\.outages .* cluster\.replication",
    ):
        run(configuration)


def test_a_cluster_without_nodes_that_work_is_an_error() -> None:
    failures = failing(*((node, 10, None) for node in range(4)))
    with pytest.raises(
        StuckJobsError, match="job_1, job_2, job_3 never end: all nodes have failed"
    ):
        run(replace(cluster(), failures=failures))


def test_nodes_that_fail_too_often_are_an_error() -> None:
    failures = FailuresTable(mean_time_between=2, repair=1)
    with pytest.raises(StuckJobsError, match=r"200 attempts.*failures\.mean_time_between"):
        run(replace(cluster(nodes=3), failures=failures), [job(1, 1, size=1024 * 2**20)])


@pytest.mark.parametrize("rule", ["hadoop", "late"])
def test_backups_help_against_slow_nodes(rule: SpeculationRule) -> None:
    slow = VariationTable(jitter=0.1, reduce_jitter=0.1, slow_nodes=0.2, node_slowdown=8.0)
    jobs = [job(1, 30, 3), job(2, 20, 2)]
    without = run(cluster(nodes=10, variation=slow), jobs)
    rules = Speculation(rule=rule, patience=10.0, cap=0.3)
    finished = run(replace(cluster(nodes=10, variation=slow), speculation=rules), jobs)
    require_complete(finished)
    assert len(without.slow_nodes) == 2
    assert makespan(finished) < 0.7 * makespan(without)
    tasks = Counter((each.job, each.kind, each.number) for each in finished.attempts)
    assert max(tasks.values()) == 2
    won = [each for each in finished.attempts if each.outcome is SUCCEEDED]
    assert len(won) == len(tasks)
    backups = [each for each in finished.attempts if each.is_backup]
    assert any(each.outcome is SUCCEEDED for each in backups)
    for each in backups:
        first = _attempts(finished, each)[0]
        assert first.node != each.node
        assert each.start - first.start >= 10 * SECOND
        assert {first.outcome, each.outcome} == {SUCCEEDED, KILLED}
    if rule == "late":
        for kind, most in ((MAP, 12), (REDUCE, 12)):
            for each in backups:
                running = [
                    other
                    for other in backups
                    if other.kind is each.kind is kind
                    and other.start <= each.start < (other.reported or each.start + 1)
                ]
                assert len(running) <= most


def test_alike_nodes_need_no_backups() -> None:
    rules = Speculation(patience=0.0, lag=0.9)
    finished = run(replace(cluster(), speculation=rules))
    assert not any(each.is_backup for each in finished.attempts)


def test_slow_tasks_are_a_share_and_their_backups_draw_anew() -> None:
    slow = VariationTable(jitter=0.0, reduce_jitter=0.0, slow_tasks=0.2, task_slowdown=10.0)
    jobs = [job(1, 60, 0)]
    finished = run(cluster(nodes=8, variation=slow), jobs)
    times = sorted(each.times[2] for each in finished.attempts)
    assert times[-1] == pytest.approx(10 * times[0], rel=1e-3)
    assert 4 <= sum(each > 5 * times[0] for each in times) <= 20
    rules = Speculation(patience=5.0)
    helped = run(replace(cluster(nodes=8, variation=slow), speculation=rules), jobs)
    assert makespan(helped) < makespan(finished)


class Fickle(FirstComeFirstServed):
    """Has one reduce killed at the first poll, and gives nothing until it is told to."""

    poll_interval = 40 * SECOND

    def __init__(self, trackers: Sequence[TrackerSlots]) -> None:
        super().__init__(trackers)
        self.told: list[tuple[object, int]] = []
        self.polled = 0
        self.again: list[int] = []

    def assign(self, tracker: TrackerSlots, now: int) -> list[Assignment]:
        return super().assign(tracker, now) if self.told else []

    def change(self, parameters: Any, now: int) -> None:
        self.told.append((parameters["open"], now))

    def poll(self, now: int) -> list[Preemption]:
        self.polled += 1
        running = [each for each in self.jobs if each.running[REDUCE] and each.job.number == 1]
        return [Preemption(each, REDUCE, 0) for each in running if not self.again]

    def waits_again(self, job: JobInProgress, kind: Any, number: int) -> None:
        assert job.waiting(kind)
        self.again.append(number)


def test_parameters_change_and_tasks_are_killed_for_others() -> None:
    changes = (ChangeTable(at=30, settings={"open": True}),)
    made: list[Fickle] = []

    def factory(trackers: Sequence[TrackerSlots]) -> Fickle:
        made.append(Fickle(trackers))
        return made[0]

    finished = run_mapreduce(JOBS, replace(cluster(), changes=changes), factory, 1)
    require_complete(finished)
    assert made[0].told == [(True, 30 * SECOND)]
    assert min(each.start for each in finished.attempts) >= 30 * SECOND
    assert made[0].again == [0]
    killed = [each for each in finished.attempts if each.outcome is KILLED]
    assert [(each.job, each.kind, each.number) for each in killed] == [(1, REDUCE, 0)]
    assert killed[0].end % (40 * SECOND) == 0


@pytest.mark.parametrize("poll", [None, SECOND])
def test_a_scheduler_that_gives_nothing_is_an_error(poll: int | None) -> None:
    class Stubborn(Fickle):
        poll_interval = poll  # type: ignore[assignment]

    with pytest.raises(
        StuckJobsError, match="the scheduler gives them no slots although nothing runs"
    ):
        run_mapreduce(JOBS, cluster(), Stubborn, 1)


def _attempts(finished: FinishedRun, of: AttemptRecord) -> list[AttemptRecord]:
    task = of.job, of.kind, of.number
    return [each for each in finished.attempts if (each.job, each.kind, each.number) == task]

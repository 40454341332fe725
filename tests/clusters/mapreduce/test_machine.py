"""Jobs on a cluster: everything runs once, for as long as its devices take."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rebecsim.clusters.mapreduce.attempts import AttemptOutcome
from rebecsim.clusters.mapreduce.cluster import run_mapreduce
from rebecsim.clusters.mapreduce.configuration import (
    MapReduceConfiguration,
)
from rebecsim.clusters.mapreduce.job import JobInProgress, MapReduceJob
from rebecsim.clusters.mapreduce.records import FinishedRun
from tests.clusters.mapreduce.simple import (
    EXACT,
    MAP,
    NOTHING,
    REDUCE,
    ROUND,
    FirstComeFirstServed,
    cluster,
    job,
    with_keys,
)

JOBS = [job(1, 30, 4), job(2, 1, 1, submit=1_000_000), job(3, 5, 0, submit=2_000_000)]
SECOND = 1_000_000


@pytest.fixture(scope="module")
def finished() -> FinishedRun:
    return run_mapreduce(JOBS, cluster(), FirstComeFirstServed, 1)


def test_every_task_runs_once(finished: FinishedRun) -> None:
    ran = sorted((each.job, each.kind, each.number) for each in finished.attempts)
    wanted = [(one.number, MAP, number) for one in JOBS for number in range(one.maps)]
    wanted += [(one.number, REDUCE, number) for one in JOBS for number in range(one.reduces)]
    assert ran == sorted(wanted)
    assert {each.outcome for each in finished.attempts} == {AttemptOutcome.SUCCEEDED}


def test_times_of_phases_add_up(finished: FinishedRun) -> None:
    for each in finished.attempts:
        assert sum(each.times) == each.end - each.start
        assert each.reported is not None
        assert 0 <= each.reported - each.end <= 300_000


def test_slots_are_not_given_twice(finished: FinishedRun) -> None:
    for kind in (MAP, REDUCE):
        for node in range(4):
            changes = [(each.start, 1) for each in finished.attempts if _is(each, kind, node)]
            changes += [
                (each.reported or 0, -1) for each in finished.attempts if _is(each, kind, node)
            ]
            held = 0
            for _, change in sorted(changes):
                held += change
                assert held <= 4


def test_reduces_wait_for_slow_start_and_for_all_maps(finished: FinishedRun) -> None:
    maps = sorted(each.reported or 0 for each in finished.attempts if _is_of(each, 1, MAP))
    reduces = [each for each in finished.attempts if _is_of(each, 1, REDUCE)]
    assert min(each.start for each in reduces) >= maps[1]  # 5 % of 30 maps are two
    assert min(each.end for each in reduces) > maps[-1]
    assert min(each.start for each in reduces) < maps[-1]


def test_a_job_after_another_is_submitted_when_that_has_ended() -> None:
    jobs = [job(1, 4), replace(job(2, 2, submit=SECOND), after=1), replace(job(3, 1), after=2)]
    run = run_mapreduce(jobs, cluster(), FirstComeFirstServed, 1)
    first, second, third = run.jobs
    assert second.job.submit == first.end + SECOND  # type: ignore[operator]
    assert third.job.submit == second.end
    assert third.end is not None


def test_a_job_after_a_rejected_one_is_submitted_all_the_same() -> None:
    class Rejects(FirstComeFirstServed):
        def submit(self, job: JobInProgress, now: int) -> str | None:
            return "no" if job.job.number == 1 else super().submit(job, now)

    jobs = [job(1, 4), replace(job(2, 2, submit=SECOND), after=1)]
    first, second = run_mapreduce(jobs, cluster(), Rejects, 1).jobs
    assert (first.rejected, second.job.submit) == ("no", SECOND)
    assert second.end is not None


def test_a_seed_decides_everything(finished: FinishedRun) -> None:
    again = run_mapreduce(JOBS, cluster(), FirstComeFirstServed, 1)
    assert again.attempts == finished.attempts
    other = run_mapreduce(JOBS, cluster(), FirstComeFirstServed, 2)
    assert other.attempts != finished.attempts


def paired(first: int, second: int) -> list[int]:
    """Run two equal reduces on one node, ready to fetch at two times; give how long each takes.

    Their first maps end in one or two heartbeats of a millisecond.
    """
    configuration = with_keys(
        MapReduceConfiguration(ROUND, EXACT, sampling=0),
        map_slots=2,
        reduce_slots=2,
        slow_start=1.0,
    )
    # All the work of a reduce is to write 100 bytes; what it merges is written, too.
    costs = replace(NOTHING, reduce_ratio=1e8, map_ratio=1.0)
    jobs = [
        MapReduceJob(1, "first", "user", "queue", first, (1,), 1, costs),
        MapReduceJob(2, "second", "user", "queue", second, (1,), 1, costs),
    ]
    run = run_mapreduce(jobs, configuration, FirstComeFirstServed, 1)
    return [each.end - each.start for each in run.attempts if each.kind is REDUCE]


def test_reduces_of_one_node_that_start_together_take_twice_as_long() -> None:
    (alone,) = paired_alone()
    together = paired(0, 0)
    assert together == pytest.approx([2 * alone, 2 * alone], rel=1e-5)


def test_a_reduce_that_comes_at_four_fifths_stretches_another_by_a_fifth() -> None:
    (alone,) = paired_alone()
    first, second = paired(0, 80 * SECOND)
    assert first == pytest.approx(1.2 * alone, rel=1e-5)
    assert second == pytest.approx(1.2 * alone, rel=1e-5)


def paired_alone() -> list[int]:
    first, second = paired(0, 300 * SECOND)
    assert first == pytest.approx(100 * SECOND, rel=1e-6)
    assert second == first
    return [first]


def _is(each: object, kind: object, node: int) -> bool:
    return each.kind is kind and each.node == node  # type: ignore[attr-defined]


def _is_of(each: object, number: int, kind: object) -> bool:
    return each.job == number and each.kind is kind  # type: ignore[attr-defined]


def test_ends_can_be_reported_at_once_and_slots_still_wait_for_a_heartbeat() -> None:
    told = cluster(reports="at_once")
    attempts = run_mapreduce(JOBS, told, FirstComeFirstServed, 1).attempts
    assert all(each.reported == each.end for each in attempts)
    beats = {each.node: set[int]() for each in attempts}
    for each in attempts:
        beats[each.node].add(each.start % told.cluster.beat)
    assert all(len(phases) == 1 for phases in beats.values())

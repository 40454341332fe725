"""Workflows are as those of the literature, in structure and in means."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rebecsim.clusters.stages.inputs import run_quantile
from rebecsim.clusters.stages.job import SECOND, StageJob, TaskKind
from rebecsim.clusters.stages.laxity import sample_run, sequential_time, shortest_time
from rebecsim.clusters.stages.resources import identical, identical_typed
from rebecsim.clusters.stages.workflows import SIZES, WORKFLOWS, truncated_normal
from rebecsim.clusters.stages.workloads import (
    CLOSED_WORKLOADS,
    FACEBOOK_TYPES,
    FacebookMapReduce,
    JobDraws,
    SampleTime,
    Stream,
    WordCount,
    stream_of,
    with_deadline,
)
from rebecsim.errors import UserError

COUNTS = {
    "cybershake": {30: {30}, 50: {50}, 100: {100}},
    "ligo": {30: {30}, 50: {50}, 100: {100}},
    "genome": {30: {28}, 50: {47}, 100: {100}},
}
PHASES = {"cybershake": {5}, "ligo": {6}, "genome": {8, 9}}
SUMS = {"cybershake": 1551, "ligo": 13_300}  # s, of published experiments
SHORTEST = {"cybershake": 232, "ligo": 1346, "genome": 17_544}  # turnaround where nothing waits


def drawn(family: str, count: int) -> list[StageJob]:
    draws = np.random.default_rng(8)
    return [
        StageJob(number, 0, 0, 0, WORKFLOWS[family](draws.random()).tasks(draws, size))
        for size in SIZES.values()
        for number in range(count)
    ]


@pytest.mark.parametrize("family", WORKFLOWS)
def test_structures_are_those_that_are_published(family: str) -> None:
    draws = np.random.default_rng(3)
    for size in SIZES.values():
        jobs = [
            StageJob(0, 0, 0, 0, WORKFLOWS[family](draws.random()).tasks(draws, size))
            for _ in range(30)
        ]
        assert {len(each.tasks) for each in jobs} == COUNTS[family][size]
        assert {max(task.phase for task in each.tasks) for each in jobs} <= PHASES[family]
        for each in jobs:
            assert all(
                each.tasks[parent].phase < task.phase
                for task in each.tasks
                for parent in task.parents
            )


@pytest.mark.parametrize("family", SUMS)
def test_means_are_those_that_are_published(family: str) -> None:
    jobs = drawn(family, 150)
    sums = np.mean([sequential_time(each) for each in jobs]) / SECOND
    assert sums == pytest.approx(SUMS[family], rel=0.005)


@pytest.mark.parametrize("family", WORKFLOWS)
def test_jobs_alone_take_as_long_as_published_where_nothing_waits(family: str) -> None:
    shortest = np.mean([shortest_time(each) for each in drawn(family, 60)]) / SECOND
    assert shortest == pytest.approx(SHORTEST[family], rel=0.07)


def test_waveforms_of_ligo_are_compared_in_blocks_before_and_behind() -> None:
    draws = np.random.default_rng(3)
    blocks = Counter()
    for _ in range(60):
        tasks = WORKFLOWS["ligo"](draws).tasks(draws, 100)
        first, second = ([each for each in tasks if each.phase == phase] for phase in (3, 6))
        blocks[len(first)] += 1
        assert len(first) == len(second)
        assert {len(each.parents) for each in first} == {len(each.parents) for each in second}
        for phase in (2, 5):  # every analysis is compared
            made = {each.number for each in tasks if each.phase == phase}
            by = first if phase == 2 else second
            assert made == {parent for each in by for parent in each.parents}
    assert set(blocks) == {2, 3, 4}


def test_a_normal_law_that_is_cut_stays_within_half_of_its_mean() -> None:
    values = truncated_normal(np.random.default_rng(1), 100, 900, 20_000)
    assert 50 <= values.min() < values.max() <= 150
    assert values.mean() == pytest.approx(100, abs=0.6)
    assert values.std() == pytest.approx(23.9, abs=0.4)  # 30, were it not cut


def jobs_of(stream: Stream, seed: int = 2) -> list[StageJob]:
    draws = JobDraws.of(np.random.SeedSequence(seed))
    family = WORKFLOWS["cybershake"](draws.tasks)
    drawer = [("small", lambda each: family.tasks(each, 30))]
    return list(stream_of(stream, drawer, identical(50, 2), draws))


def test_what_is_drawn_for_one_purpose_leaves_the_others() -> None:
    jobs = jobs_of(Stream(30, 0.1))
    faster = jobs_of(Stream(30, 0.2, reserved_ahead=9, multiplier=2.0))
    assert [each.tasks for each in jobs] == [each.tasks for each in faster]
    assert [round(each.arrival / 2, -1) for each in jobs] == pytest.approx(
        [round(each.arrival, -1) for each in faster], abs=10
    )
    assert jobs == jobs_of(Stream(30, 0.1))
    assert jobs != jobs_of(Stream(30, 0.1), seed=3)


def test_starts_and_deadlines_lie_where_they_should() -> None:
    jobs = jobs_of(Stream(300, 0.1, reserved=0.5, reserved_ahead=400, multiplier=3.0))
    later = [each for each in jobs if each.start > each.arrival]
    assert 110 < len(later) < 190
    assert all(1000 <= each.start - each.arrival <= 400_000 for each in later)
    for each in jobs:
        alone = sample_run(each, identical(50, 2)).duration
        assert each.deadline % SECOND == 0
        assert alone <= each.deadline - each.start < 3 * alone + SECOND
    gaps = np.diff([each.arrival for each in jobs])
    assert gaps.mean() == pytest.approx(10_000, rel=0.15)


def test_jobs_that_are_not_announced_arrive_when_they_may_start() -> None:
    known, surprising = (jobs_of(Stream(40, 0.1, announced=each)) for each in (True, False))
    assert [each.arrival for each in surprising] == [each.start for each in known]
    assert [each.deadline for each in surprising] == [each.deadline for each in known]
    assert any(each.arrival < each.start for each in known)


def test_workflows_of_epigenomics_have_one_reference_in_a_run() -> None:
    """25 % to 125 % of 4 GiB: what the generator really draws, by how long it is piled up."""
    draws = np.random.default_rng(5)
    for place in (0.0, 0.25, 0.75, 0.999):
        family = WORKFLOWS["genome"](place)
        workflows = [family.tasks(draws, 30) for _ in range(200)]
        piled = [max(each, key=lambda task: task.phase).duration for each in workflows]
        size = np.mean(piled) / 4_873_000 / 1.013  # the mean of 1 / rate
        assert size == pytest.approx(0.25 + place, rel=0.05)
        assert np.std(piled) < 0.2 * np.mean(piled)  # only rates differ


@given(seed=st.integers(0, 2**63 - 1), power=st.integers(0, 7))
def test_places_of_runs_are_evenly_spread(seed: int, power: int) -> None:
    """The first 2, 4, 8, ... runs are equally far apart, wherever they begin."""
    count = 2**power
    places = sorted(run_quantile(seed, each) for each in range(count))
    assert 0 <= places[0] < 1 / count + 1e-9
    assert np.diff([*places, places[0] + 1]) == pytest.approx(1 / count)


def test_places_of_runs_begin_anywhere() -> None:
    starts = [run_quantile(seed, 5) for seed in range(400)]
    assert np.histogram(starts, bins=4, range=(0, 1))[0].min() > 70
    assert run_quantile(3, 2) == run_quantile(3, 2)


def test_deadlines_may_be_by_the_sum_of_all_tasks() -> None:
    (one,) = jobs_of(Stream(1, 1.0, reserved=0, multiplier=1.0, sample=SampleTime.SEQUENTIAL))
    assert 0 <= one.deadline - one.start - sequential_time(one) < SECOND


def test_jobs_like_those_at_facebook_have_its_types_and_times() -> None:
    draws, family = np.random.default_rng(4), FacebookMapReduce()
    sizes = Counter(family.next_type(draws) for _ in range(1000))
    assert sizes == {(few, many): count for few, many, count in FACEBOOK_TYPES}
    assert sum(few * count for (few, _), count in sizes.items()) == 216_100
    jobs = [family.tasks(draws) for _ in range(30)]
    for kind, mean, variance in ((TaskKind.MAP, 9.9511, 1.6764), (TaskKind.REDUCE, 12.375, 1.6262)):
        times = [each.duration for tasks in jobs for each in tasks if each.kind is kind]
        logarithms = np.log(times)
        assert len(times) > 500
        assert logarithms.mean() == pytest.approx(mean, abs=4 * (variance / len(times)) ** 0.5)
        assert logarithms.var() == pytest.approx(variance, rel=0.15)


def test_words_are_counted_in_three_sizes() -> None:
    draws = np.random.default_rng(4)
    jobs = [WordCount().tasks(draws) for _ in range(200)]
    assert {len([each for each in tasks if each.kind is TaskKind.MAP]) for tasks in jobs} == {
        *(8, 16, 32)
    }
    for tasks in jobs:
        maps = [each.duration for each in tasks if each.kind is TaskKind.MAP]
        reduces = [each.duration for each in tasks if each.kind is TaskKind.REDUCE]
        assert len(reduces) == 9
        assert all(57_000 <= each <= 70_000 for each in maps)
        assert all(2.7 <= each / 1000 / len(maps) <= 3.3 for each in reduces)


@pytest.mark.parametrize(
    ("name", "jobs", "tasks", "latest"),
    [("small_1", 5, 65, 50), ("medium", 10, 150, 50), ("large_1", 2, 260, 500)],
)
def test_closed_workloads_are_those_of_the_table(
    name: str, jobs: int, tasks: int, latest: int
) -> None:
    found = CLOSED_WORKLOADS[name].jobs(JobDraws.of(np.random.SeedSequence(1)))
    assert len(found) == jobs
    assert sum(len(each.real_tasks) for each in found) == tasks
    assert max(each.start for each in found) <= latest * SECOND
    assert all(each.deadline - each.start >= sequential_time(each) for each in found)


def test_the_largest_closed_workload_is_as_large_as_published() -> None:
    seeds = np.random.SeedSequence(1).spawn(4)
    found = [CLOSED_WORKLOADS["large_2"].jobs(JobDraws.of(each)) for each in seeds]
    assert {len(jobs) for jobs in found} == {50}
    sizes = [sum(len(each.real_tasks) for each in jobs) for jobs in found]
    assert np.mean(sizes) == pytest.approx(3800, rel=0.15)
    for each in found[0]:
        maps = [task.duration for task in each.tasks if task.kind is TaskKind.MAP]
        reduces = [task.duration for task in each.tasks if task.kind is TaskKind.REDUCE]
        assert set(reduces) == {-(-sum(maps) // 1000 // len(reduces)) * 1000}


def test_a_task_without_a_slot_on_any_resource_gets_no_deadline() -> None:
    tasks = WORKFLOWS["cybershake"](np.random.default_rng(1)).tasks(np.random.default_rng(1), 30)
    bare = StageJob(3, 0, 0, 0, tasks)
    with pytest.raises(UserError, match=r"job_3, .*: no resource has a slot for a generic"):
        with_deadline(bare, identical_typed(2, 1, 1), 2.0)

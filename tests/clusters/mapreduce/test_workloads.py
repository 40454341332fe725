from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rebecsim.clusters.mapreduce.attempts import Rates
from rebecsim.clusters.mapreduce.configuration import ClusterTable
from rebecsim.clusters.mapreduce.job import JobCosts
from rebecsim.clusters.mapreduce.job_families import (
    BLOCK,
    RANDOM_FAMILIES,
    drawn_jobs,
    mix_jobs,
    splits_of,
)
from rebecsim.clusters.mapreduce.workload import swim_job, workload_jobs
from rebecsim.clusters.mapreduce.workload_tables import ArrivalsTable, MapReduceWorkload
from rebecsim.workloads.swim import SwimJob

SECOND = 1_000_000


def generator() -> np.random.Generator:
    return np.random.default_rng(7)


def families(jobs, queue):
    return [int(job.family.removeprefix("type")) for job in jobs if job.queue == queue]


def test_the_mix_has_the_published_totals():
    jobs = mix_jobs("separated", ["one", "two"])
    assert len(jobs) == 100
    assert sum(job.maps for job in jobs) == 5376
    assert sum(job.reduces for job in jobs) == 342
    assert Counter(families(jobs, "one")) == {1: 4, 2: 3, 3: 2, 4: 1, 5: 24, 6: 12, 7: 4}
    assert families(jobs, "one") == families(jobs, "two")
    assert len({job.user for job in jobs}) == 100
    assert [job.number for job in jobs] == list(range(100))
    assert sum(sum(job.splits) for job in jobs) == 336 * 2**30


def test_separated_puts_all_long_jobs_first_a_second_apart_in_each_queue():
    jobs = [job for job in mix_jobs("separated", ["one", "two"]) if job.queue == "two"]
    assert (
        families(jobs, "two") == [1] * 4 + [2] * 3 + [3] * 2 + [4] + [5] * 24 + [6] * 12 + [7] * 4
    )
    assert [job.submit for job in jobs] == [place * SECOND for place in range(50)]


def test_interleaved_puts_four_small_jobs_before_each_long_one():
    order = families(mix_jobs("interleaved", ["one"]), "one")
    assert [place for place, kind in enumerate(order) if kind <= 4] == list(range(4, 50, 5))
    assert [kind for kind in order if kind <= 4] == [1] * 4 + [2] * 3 + [3] * 2 + [4]


def test_apart_sends_small_jobs_elsewhere_at_the_same_times():
    apart = mix_jobs("apart", ["long1", "long2"], ["small1", "small2"])
    together = mix_jobs("interleaved", ["one", "two"])
    assert {job.queue for job in apart if int(job.family[4:]) <= 4} == {"long1", "long2"}
    assert {job.queue for job in apart if int(job.family[4:]) > 4} == {"small1", "small2"}
    assert [(job.submit, job.family) for job in apart] == [
        (job.submit, job.family) for job in together
    ]


@given(st.integers(0, 10 * BLOCK), st.integers(1, BLOCK))
def test_splits_hold_the_input(size, block):
    if size // block > 10_000:
        return
    splits = splits_of(size, block)
    assert sum(splits) == max(size, 1)
    assert all(each == block for each in splits[:-1])
    assert 0 < splits[-1] <= block


@pytest.mark.parametrize("law", ["fixed", "poisson", "bursts", "at_once"])
def test_arrivals_come_in_order_and_not_before_the_first(law):
    times = ArrivalsTable(law=law, gap=2.0, burst=3, first=5.0).times(20, generator())
    assert len(times) == 20
    assert times == sorted(times)
    assert times[0] >= 5 * SECOND


def test_arrivals_follow_their_laws():
    assert ArrivalsTable(law="fixed", gap=0.5, first=1).times(3, generator()) == [
        SECOND,
        1_500_000,
        2 * SECOND,
    ]
    assert ArrivalsTable(law="at_once", first=3).times(3, generator()) == [3 * SECOND] * 3
    bursts = ArrivalsTable(law="bursts", gap=60, burst=4).times(10, generator())
    assert list(Counter(bursts).values()) == [4, 4, 2]
    poisson = np.diff(ArrivalsTable(law="poisson", gap=2.0).times(20_000, generator())) / SECOND
    assert poisson.mean() == pytest.approx(2.0, rel=0.03)
    assert poisson.std() == pytest.approx(2.0, rel=0.05)  # exponential: as large as the mean


def test_drawn_jobs_keep_within_their_families():
    jobs = drawn_jobs(2_000, RANDOM_FAMILIES, generator())
    assert Counter(job.family for job in jobs).keys() == set(RANDOM_FAMILIES)
    assert all(10 <= job.maps <= 400 for job in jobs)
    assert all(1 <= job.reduces <= max(job.maps // 5, 1) for job in jobs)
    for job in jobs:
        costs = job.costs
        match job.family:
            case "search":
                assert 4 <= costs.map <= 400
                assert costs.map_ratio < 0.0001
            case "compute":
                assert 400 <= costs.map <= 4000
                assert 1 <= costs.map_ratio <= 10
            case "index":
                assert 0.02 <= costs.map_ratio <= 0.5
    # Of a Zipf law with exponent 1.5 about four fifths lie at or below ten.
    assert 0.7 < np.mean([job.maps == 10 for job in jobs]) < 0.85


def test_a_line_of_a_trace_keeps_its_bytes():
    line = SwimJob(3, 17, map_input=3 * BLOCK + 1, shuffle=BLOCK, output=BLOCK // 2, source="x:1")
    job = swim_job(line, 0, ("ann", "etl"), JobCosts(), reducer=BLOCK // 2)
    assert job.splits == (BLOCK, BLOCK, BLOCK, 1)
    assert (job.submit, job.reduces, job.queue, job.family) == (17 * SECOND, 2, "etl", "2-10 maps")
    shuffled = sum(job.splits) * job.costs.map_ratio
    assert shuffled == pytest.approx(line.shuffle)
    assert shuffled * job.costs.reduce_ratio == pytest.approx(line.output)


def test_a_line_without_a_shuffle_has_maps_alone():
    line = SwimJob(3, 0, map_input=0, shuffle=0, output=BLOCK, source="x:1")
    job = swim_job(line, 0, ("ann", "etl"), JobCosts())
    assert (job.splits, job.reduces) == ((1,), 0)
    assert job.costs.map_ratio == BLOCK


def test_a_job_comes_after_the_one_before_it_of_its_user():
    def table(user: str, **keys: object) -> dict[str, object]:
        return {"family": "one", "maps": 1, "user": user, **keys}

    after = {"law": "after", "gap": 3.0, "first": 7.0}
    workload = MapReduceWorkload.model_validate(
        {
            "jobs": [
                table("ann", arrivals={"first": 5.0}),
                table("ann", count=2, arrivals=after),
                table("bob", count=2, arrivals=after),
                table("cid", arrivals={"first": 6.0}),
            ]
        }
    )
    jobs = workload_jobs(workload, Path(), 1, 0, Rates.of(ClusterTable()))
    second = 1_000_000
    assert [(job.user, job.submit, job.after) for job in jobs] == [
        ("ann", 5 * second, None),
        ("ann", 3 * second, 0),
        ("ann", 3 * second, 1),
        ("cid", 6 * second, None),
        ("bob", 7 * second, None),
        ("bob", 3 * second, 4),
    ]


def test_jobs_that_come_after_others_need_a_user():
    table = {"family": "one", "maps": 1, "arrivals": {"law": "after"}}
    with pytest.raises(ValueError, match=r'law = "after" needs user'):
        MapReduceWorkload.model_validate({"jobs": [table]})
    drawn = {"jobs": 3, "arrivals": {"law": "after"}}
    with pytest.raises(ValueError, match=r'law = "after" works only in'):
        MapReduceWorkload.model_validate({"drawn": drawn})

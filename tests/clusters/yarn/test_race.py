"""RACE_LOCKSTEP: the winner is kept until the next race."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.yarn.cluster import Finished, run_cluster
from rebecsim.clusters.yarn.configuration import (
    Elasticity,
    Quirks,
    RaceMetric,
    YarnConfiguration,
    applications_of,
)
from rebecsim.clusters.yarn.look_ahead_rebecs import cost
from rebecsim.clusters.yarn.penalties import penalty_named
from tests.clusters.yarn.clusters import (
    configurations,
    finished,
    job,
    nodes,
    rows,
    task_classes,
    tasks,
)
from tests.examples import dear

CHEAP = Elasticity(penalty_named("STEP", 1.1))
DEAR = Elasticity(penalty_named("STEP", 9.0))


def run(scheduler: str, elasticity: Elasticity, jobs: list, **more: object) -> Finished:
    configuration = YarnConfiguration(scheduler, master_memory=100, elasticity=elasticity, **more)
    return run_cluster(jobs, nodes(1, cores=20), configuration)


def total(done: Finished) -> int:
    return sum(each.end - each.start for each in done.applications)


@pytest.mark.parametrize("metric", get_args(RaceMetric))
def test_the_better_one_is_kept(metric):
    jobs = [job(0, 0, tasks(3, 2500, 20_000))]
    for elasticity, winner in ((CHEAP, "SMARTG"), (DEAR, "REGULAR")):
        race = run("RACE_LOCKSTEP", elasticity, jobs, race_metric=metric)
        assert rows(race) == rows(run(winner, elasticity, jobs))
    assert total(run("SMARTG", CHEAP, jobs)) < total(run("REGULAR", CHEAP, jobs))
    assert total(run("SMARTG", DEAR, jobs)) > total(run("REGULAR", DEAR, jobs))


def test_metrics_may_disagree():
    """In less memory the long job ends last and late, but the short ones need not wait for it."""
    jobs = [
        job(0, 0, tasks(1, 2500, 4000)),
        job(1, 0, tasks(1, 2500, 40_000)),
        *(job(number, 0, tasks(1, 2500, 4000)) for number in range(2, 6)),
    ]
    elasticity = Elasticity(penalty_named("STEP", 2.5))
    regular, elastic = (rows(run(name, elasticity, jobs)) for name in ("REGULAR", "SMARTG"))
    assert regular != elastic
    assert rows(run("RACE_LOCKSTEP", elasticity, jobs)) == elastic
    assert rows(run("RACE_LOCKSTEP", elasticity, jobs, race_metric="MAKESPAN")) == regular
    assert rows(run("RACE_LOCKSTEP", elasticity, jobs, race_metric="CDF_50")) == elastic
    assert rows(run("RACE_LOCKSTEP", elasticity, jobs, race_metric="CDF_99")) == regular


@pytest.mark.parametrize(
    ("metric", "durations", "expected"),
    [
        ("TOTAL_JRT", [5, 3, 9], 17),
        ("MAKESPAN", [5, 3, 9], 9),
        ("CDF_50", [5, 3, 9], 5),  # one and a half of the jobs, so the second
        ("CDF_50", [4, 3, 9, 8], 6),  # two of them, so between the second and the third
        ("CDF_50", [4, 3, 9, 7], 5),  # the same, cut off
        ("CDF_75", [4, 3, 9, 8], 8),  # three of them, and after them comes the longest
        ("CDF_90", [4, 3, 9, 8], 9),
        ("CDF_99", [*range(1, 201)], 198),
        ("CDF_99", [7], 7),
        ("CDF_75", [], 0),
    ],
)
def test_what_a_metric_says_of_jobs(metric, durations, expected):
    (given,) = applications_of([job(0, 0, tasks(1, 1000, 1000))], YarnConfiguration())
    ended = [given.copied() for _ in durations]
    for application, duration in zip(ended, durations, strict=True):
        application.end = duration
    assert cost(ended, metric) == expected
    assert cost([*ended, given], metric) == math.inf


def test_dss_decides_when_the_first_job_is_submitted():
    jobs = [job(0, 0, tasks(1, 2500, 20_000)), job(1, 500, tasks(3, 2500, 20_000))]
    race = run("RACE_LOCKSTEP", CHEAP, jobs)
    once = run("RACE_LOCKSTEP", CHEAP, jobs, quirks=Quirks(raced_once=True))
    assert any(
        each.is_elastic for application in race.applications for each in application.containers
    )
    assert rows(once) == rows(run("REGULAR", CHEAP, jobs))


@settings(max_examples=dear(60))
@given(
    classes=st.lists(st.lists(task_classes, min_size=1, max_size=2), min_size=1, max_size=4),
    configuration=configurations("RACE_LOCKSTEP"),
)
def test_jobs_that_start_together_take_no_longer_than_with_either(classes, configuration):
    """Nothing comes after the race, so that what was foreseen is what comes true."""
    jobs = [job(number, 0, *each) for number, each in enumerate(classes)]
    costs = {
        name: total(finished(jobs, nodes(2), replace(configuration, scheduler=name)))
        for name in ("REGULAR", "SMARTG", "RACE_LOCKSTEP")
    }
    assert costs["RACE_LOCKSTEP"] == min(costs["REGULAR"], costs["SMARTG"])


def test_an_appmaster_that_waits_for_a_task_to_end_is_no_endless_race():
    """The second job gets nothing before the only task of the first one has ended."""
    jobs = [job(0, 0, tasks(1, 3900, 60_000)), job(1, 20_000, tasks(3, 2500, 20_000))]
    race = run("RACE_LOCKSTEP", CHEAP, jobs)
    assert rows(race) == rows(run("SMARTG", CHEAP, jobs)) != rows(run("REGULAR", CHEAP, jobs))

"""What DSS does that nobody would expect: each quirk alone changes what it says."""

from __future__ import annotations

from dataclasses import fields, replace

from hypothesis import given, settings, strategies as st

from rebecsim.clusters.yarn.cluster import run_cluster
from rebecsim.clusters.yarn.configuration import (
    QUIRKS_OF_DSS,
    Elasticity,
    InjectedError,
    Quirks,
    SeededDraws,
    YarnConfiguration,
)
from rebecsim.clusters.yarn.penalties import penalty_named
from tests.clusters.yarn.clusters import job, nodes, tasks
from tests.clusters.yarn.test_cluster import rows

SMALL = [job(0, 0, tasks(3, 1500, 5000))]
STEP = penalty_named("STEP", 1.5)


def runs(configuration: YarnConfiguration, jobs=SMALL, sizes=2, **quirks: bool):
    """Run with and without some quirks."""
    return tuple(
        run_cluster(jobs, nodes(sizes), replace(configuration, quirks=each))
        for each in (Quirks(), Quirks(**quirks))
    )


def test_all_of_them_are_those_of_dss():
    assert all(getattr(QUIRKS_OF_DSS, each.name) for each in fields(Quirks))
    assert not any(getattr(Quirks(), each.name) for each in fields(Quirks))


def test_one_second_matters_for_other_periods_only():
    usual, as_dss = runs(YarnConfiguration(), one_second=True)
    assert rows(usual) == rows(as_dss)
    longer = YarnConfiguration(node_heartbeat=3000, master_heartbeat=3000)
    usual, as_dss = runs(longer, one_second=True)
    masters = [run.applications[0].containers[0].launched for run in (usual, as_dss)]
    assert masters == [3000, 1000]


def test_errors_of_memory_are_added_once():
    elasticity = Elasticity(STEP, memory_error=InjectedError(20, "POSITIVE"))
    usual, as_dss = runs(YarnConfiguration(elasticity=elasticity), errors_twice=True)
    lengths = [
        {each.finished - each.launched for each in run.applications[0].containers[1:]}
        for run in (usual, as_dss)
    ]
    assert lengths == [{7500}, {10_000}]


def test_who_gets_all_it_asked_for_is_not_elastic():
    elasticity = Elasticity(STEP, overestimated=(1.5, 1.5))
    usual, as_dss = runs(YarnConfiguration(elasticity=elasticity), full_is_ideal=True)
    assert not any(each.is_elastic for each in usual.applications[0].containers)
    assert all(each.is_elastic for each in as_dss.applications[0].containers[1:])


def test_srtf_counts_what_does_not_fit():
    jobs = [job(0, 0, tasks(2, 2500, 5000)), job(1, 0, tasks(1, 2500, 9000))]
    usual, as_dss = runs(YarnConfiguration("SRTF", master_memory=500), jobs, 1, silent=True)
    for application in usual.applications:
        looks = application.decisions
        assert looks.total == looks.accepted + looks.rejected
    assert any(
        each.decisions.total > each.decisions.accepted + each.decisions.rejected
        for each in as_dss.applications
    )


def test_draws_depend_on_the_seed_unless_they_are_fixed():
    elasticity = Elasticity(STEP, duration_error=InjectedError(30, "MIXED", "RANDOM"))
    configuration = YarnConfiguration(elasticity=elasticity)
    seeds = [replace(configuration, seed=seed) for seed in (1, 2)]
    first, second = (rows(run_cluster(SMALL, nodes(2), each)) for each in seeds)
    assert first != second
    fixed = Quirks(fixed_draws=True)
    first, second = (rows(run_cluster(SMALL, nodes(2), replace(e, quirks=fixed))) for e in seeds)
    assert first == second


@settings(max_examples=20)
@given(st.integers(0, 2**63), st.integers(0, 10**6))
def test_jobs_and_purposes_have_numbers_of_their_own(seed, number):
    draws, again = SeededDraws(seed), SeededDraws(seed)
    kinds = (
        lambda d, n: d.overestimate(n),
        lambda d, n: d.errors(n),
        lambda d, n: d.durations(n, elastic=False),
        lambda d, n: d.durations(n, elastic=True),
    )
    values = [kind(draws, each).random() for kind in kinds for each in (number, number + 1)]
    assert len(set(values)) == len(values)
    assert values == [kind(again, each).random() for kind in kinds for each in (number, number + 1)]


def test_errors_of_a_job_are_the_same_under_all_schedulers():
    elasticity = Elasticity(
        STEP,
        memory_error=InjectedError(30, "MIXED", "RANDOM"),
        duration_error=InjectedError(30, "MIXED", "RANDOM"),
    )
    jobs = [job(number, number * 300, tasks(4, 1500, 5000)) for number in range(3)]
    found = set()
    for scheduler in ("REGULAR", "SRTF"):
        run = run_cluster(
            jobs, nodes(2), YarnConfiguration(scheduler, elasticity=elasticity, seed=7)
        )
        for each in run.applications:
            lengths = tuple(
                container.finished - container.launched for container in each.containers[1:]
            )
            found.add((each.number, each.memory_error, tuple(sorted(lengths))))
    assert len(found) == 3

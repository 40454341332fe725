"""The reference simulator itself, against what the original tool chain measured."""

from __future__ import annotations

import random
from math import hypot, sqrt
from statistics import mean, stdev

import pytest

from reproductions.dispatch.comparison import MEASURED_RUNS, PUBLISHED_TABLES
from tests.clusters.measured import by_size, misses_error_of
from tests.clusters.reference_dispatch import (
    Cluster,
    Outcome,
    deadline_of,
    drawn_between,
    fair,
    one_job,
    rmc,
    simulate,
)

PARAMETERS = {
    "for_edf": (2.0, 10, 0, drawn_between(1, 6)),
    "against_edf": (0.1, 10, 0, lambda time, draw: 3),
    "against_fifo": (0.5, 10, 0, lambda time, draw: 1 + time % 6),
    "against_mdf": (1.5, 30, 0, lambda time, draw: 2 * time),
    "for_priority": (0.5, 30, 1, drawn_between(1, 6)),
    "against_priority": (0.5, 30, 9, drawn_between(1, 6)),
}
SIZES = range(1, 7)
ROUNDING = 0.01


def runs(scenario: str, policy: str, size: int, count: int, law=rmc) -> list[Outcome]:
    epsilon, probability, length, lengths = PARAMETERS[scenario]
    cluster = Cluster(
        policy,
        size,
        one_job,
        lengths,
        epsilon,
        high_probability=probability,
        high_length=length,
    )
    generator = random.Random(f"{scenario} {policy} {size}")
    return [simulate(cluster, law(generator), generator) for _ in range(count)]


def pooled(outcomes: list[Outcome]) -> tuple[float, float, float]:
    """Misses per run, request success and AppMaster success in percent."""
    completions = sum(outcome.completions for outcome in outcomes)
    misses = sum(outcome.misses for outcome in outcomes)
    updates = sum(outcome.update_misses for outcome in outcomes)
    return (
        misses / len(outcomes),
        100 * completions / (completions + misses),
        100 * completions / (completions + updates),
    )


@pytest.mark.parametrize(
    "table",
    [table for table in PUBLISHED_TABLES if table.kind == "dispatch"],
    ids=lambda table: table.scenario,
)
def test_the_reference_gives_the_misses_measured_with_the_original_tools(table):
    count = 100 if table.scenario == "for_edf" else 40
    for row in table.rows:
        outcomes = [
            outcome for size in SIZES for outcome in runs(table.scenario, row.policy, size, count)
        ]
        misses, request_success, app_master_success = pooled(outcomes)
        error = hypot(
            *(misses_error_of(table.scenario, row.policy, n) for n in (count, MEASURED_RUNS))
        )
        measured = row.measured
        expected = pytest.approx(measured["deadline_misses"], abs=4 * error + ROUNDING)
        assert misses == expected, row.policy
        assert request_success == pytest.approx(measured["job_request_success"], abs=1.5)
        assert app_master_success == pytest.approx(measured["am_job_success"], abs=2.5)


@pytest.mark.parametrize("policy", ["EDF", "PRIORITY"])
def test_the_reference_gives_the_measured_means_by_cluster_size(policy):
    means = by_size("for_edf", policy)
    for size in (1, 3, 4):
        outcomes = runs("for_edf", policy, size, 60)
        for values, measured in (
            ([outcome.misses for outcome in outcomes], means["misses"]),
            ([outcome.completions for outcome in outcomes], means["completions"]),
            ([outcome.update_misses for outcome in outcomes], means["app_master_misses"]),
            ([outcome.dropped for outcome in outcomes], means["dropped"]),
        ):
            error = stdev(values) * sqrt(1 / len(values) + 1 / MEASURED_RUNS)
            assert mean(values) == pytest.approx(measured[size - 1], abs=4 * error + 0.05)


@pytest.mark.parametrize(
    ("policy", "misses"), [("EDF", 24.44), ("FIFO", 29.20), ("MDF", 28.17), ("PRIORITY", 23.74)]
)
def test_a_fair_choice_misses_fewer_deadlines(policy, misses):
    outcomes = [outcome for size in SIZES for outcome in runs("for_edf", policy, size, 50, fair)]
    error = misses_error_of("for_edf", policy, 50)
    assert pooled(outcomes)[0] == pytest.approx(misses, abs=4 * error)


@pytest.mark.parametrize(
    ("length", "epsilon", "deadline"),
    [(3, 0.1, 4), (4, 2.0, 13), (5, 0.5, 8), (3, 1.5, 8), (6, 1.0, 13), (0, 1.5, 1)],
)
def test_deadlines_are_cut_off_in_single_precision(length, epsilon, deadline):
    assert deadline_of(length, epsilon) == deadline


def test_one_job_at_a_time_is_always_in_time():
    cluster = Cluster("EDF", 1, lambda time, draw: int(time % 10 == 0), lambda t, draw: 5, 0.0)
    outcome = simulate(cluster, fair(random.Random(1)), random.Random(1))
    # Jobs arrive at 0, 10, .., 90, start one unit later and take 5: all ten end by 96.
    assert outcome == Outcome(completions=10)

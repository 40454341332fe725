"""The reference simulator itself, against what the original tool chain measured.

Measured: the original's generated models run by RMC 2.14's trace generator, 500 runs for each of
the cluster sizes 1 to 6. Errors are standard errors of the pooled misses of 100 runs each.
"""

from __future__ import annotations

import random
from functools import cache
from math import hypot, sqrt
from statistics import mean, stdev

import pytest

from reproductions.dispatch.comparison import (
    MEASURED_RUNS,
    PUBLISHED_TABLES,
    PublishedRow,
    PublishedTable,
)
from tests.clusters.measured import by_size, misses_error_of
from tests.clusters.reference_natjam import Cluster, Outcome, fair, one_job, rmc, simulate

RUNS = 30
SIZES = range(1, 7)
ROUNDING = 0.05

TABLES = {
    "4.17": (lambda time, draw: 5 + time % 3, 1),
    "4.19": (lambda time, draw: 6 - time % 6, 0),
}
"""Lengths and checkpoint overhead."""

ROWS = [
    (table, row) for table in PUBLISHED_TABLES if table.kind == "eviction" for row in table.rows
]


@cache
def runs(table: str, policy: str, size: int) -> list[Outcome]:
    lengths, overhead = TABLES[table]
    cluster = Cluster(policy, size, one_job, lengths, 1.0, overhead, as_published=True)
    generator = random.Random(f"{table} {policy} {size}")
    return [simulate(cluster, rmc(generator), generator) for _ in range(RUNS)]


def row_name(value: PublishedTable | PublishedRow) -> str:
    return value.policy if isinstance(value, PublishedRow) else value.number


@pytest.mark.parametrize(("table", "row"), ROWS, ids=row_name)
def test_the_reference_gives_the_figures_measured_with_the_original_tools(table, row):
    outcomes = [outcome for size in SIZES for outcome in runs(table.number, row.policy, size)]
    completions = sum(outcome.completions for outcome in outcomes)
    misses = sum(outcome.misses for outcome in outcomes)
    late = sum(outcome.app_master_misses for outcome in outcomes)
    error = hypot(*(misses_error_of(table.scenario, row.policy, n) for n in (RUNS, MEASURED_RUNS)))
    assert misses / len(outcomes) == pytest.approx(row.measured["deadline_misses"], abs=4 * error)
    request_success = 100 * completions / (completions + misses)
    assert request_success == pytest.approx(row.measured["job_request_success"], abs=4.5 * error)
    app_master_success = 100 * completions / (completions + late)
    assert app_master_success == pytest.approx(row.measured["am_job_success"], abs=6 * error)


@pytest.mark.parametrize("policy", ["MDF", "MLF"])
def test_the_reference_gives_the_measured_means_by_cluster_size(policy):
    means = by_size("natjam_for_mdf", policy)
    assert len(means) == 5
    for counter, measured in means.items():
        name = "drops" if counter == "dropped" else counter
        for size in SIZES:
            values = [getattr(outcome, name) for outcome in runs("4.17", policy, size)]
            error = stdev(values) * sqrt(1 / RUNS + 1 / MEASURED_RUNS)
            expected = pytest.approx(measured[size - 1], abs=4 * error + ROUNDING)
            assert mean(values) == expected, f"{name} {size}"


@pytest.mark.parametrize("law", [fair, rmc])
def test_one_job_at_a_time_is_always_in_time_and_never_evicted(law):
    def arrivals(time, draw):
        return int(time % 10 == 0)

    generator = random.Random(1)
    cluster = Cluster("MLF", 1, arrivals, lambda time, draw: 5)
    # Jobs arrive at 0, 10, .., 90, run for 5 of the 10 time units they have from the next one on.
    expected = Outcome(research_completions=10, margin=50, arrived=10)
    assert simulate(cluster, law(generator), generator) == expected


def test_jobs_for_production_are_never_evicted():
    generator = random.Random(1)
    cluster = Cluster(
        "MDF", 2, lambda time, draw: 3, lambda time, draw: 1 + draw(6), high_probability=100
    )
    outcome = simulate(cluster, fair(generator), generator)
    assert outcome.checkpoints == outcome.checkpoint_overflow == 0
    assert outcome.research_completions == outcome.research_job_misses == 0
    assert outcome.production_completions > 0

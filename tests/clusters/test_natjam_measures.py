from __future__ import annotations

from collections import Counter

import pytest

from rebecsim.clusters.dispatch.measures import (
    CHECKPOINTS,
    NATJAM_AM_JOB_SUCCESS,
    NATJAM_CHART_METRICS,
    NATJAM_DEADLINE_MISSES,
    NATJAM_JOB_REQUEST_SUCCESS,
    NATJAM_METRICS,
    NATJAM_MISS_BREAKDOWN,
    NATJAM_SUCCESS_OF_ALL_REQUESTS,
)
from rebecsim.clusters.dispatch.source import NATJAM_COUNTERS

ALL = (*NATJAM_METRICS, *NATJAM_CHART_METRICS, *NATJAM_MISS_BREAKDOWN)


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_metrics_read_counters_of_the_model(metric):
    assert metric.counters <= set(NATJAM_COUNTERS)


def test_the_breakdown_adds_up_to_the_deadline_misses():
    total: Counter[str] = Counter()
    for metric in NATJAM_MISS_BREAKDOWN:
        total.update(metric.numerator)
    assert total == NATJAM_DEADLINE_MISSES.numerator


def test_only_misses_of_jobs_that_ran_count_against_app_masters():
    late = NATJAM_AM_JOB_SUCCESS.counters - set(NATJAM_AM_JOB_SUCCESS.numerator)
    assert late == {
        "production_job_misses",
        "research_job_misses",
        "checkpoint_queue_misses",
        "checkpoint_overflow",
    }


def test_request_success_of_charts_counts_drops_and_that_of_tables_does_not():
    table, chart = NATJAM_JOB_REQUEST_SUCCESS, NATJAM_SUCCESS_OF_ALL_REQUESTS
    assert chart.counters - table.counters == {"drops"}
    assert table.numerator == chart.numerator
    assert table.name != chart.name
    assert table.is_share
    assert chart.is_share


def test_checkpoints_are_neither_misses_nor_completions():
    used = {counter for metric in NATJAM_METRICS for counter in metric.counters}
    assert not used & CHECKPOINTS.counters

"""Means of schedules over replications, and what changes against the baseline."""

from __future__ import annotations

import pytest
from scipy import stats

from rebecsim.experiments.workload_metrics import SCHEDULE_METRICS, schedule_metrics
from rebecsim.experiments.workload_plan import ScheduleCell
from rebecsim.experiments.workload_summary import summarise_schedules

METRICS = schedule_metrics(["mean_wait", "utilisation"])


def cells(policy, rows):
    return {ScheduleCell(policy, 1.0, "exact", place): row for place, row in enumerate(rows)}


def test_means_and_paired_changes_have_student_intervals():
    first, second = [(10.0, 50.0), (14.0, 52.0), (12.0, 51.0)], [(9, 50), (11, 52), (10, 51)]
    summary = summarise_schedules(cells("A", first) | cells("B", second), METRICS, "A")
    variant = (1.0, "exact")
    waits = [row[0] for row in first]
    interval = stats.ttest_1samp(waits, 0).confidence_interval()
    found = summary.estimates["A", variant][0]
    assert (found.value, found.low, found.high) == pytest.approx((12, *interval))
    differences = [b[0] - a[0] for a, b in zip(first, second, strict=True)]
    interval = stats.ttest_1samp(differences, 0).confidence_interval()
    found = summary.changes["B", variant][0]
    assert (found.value, found.low, found.high) == pytest.approx((-2, *interval))
    assert summary.replications == {variant: 3}
    assert ("A", variant) not in summary.changes


def test_the_best_is_told_as_shown_and_nobody_where_all_are_equal():
    rows = cells("A", [(10.2, 50.04)]) | cells("B", [(10.4, 50.0)]) | cells("C", [(12.0, 50.0)])
    summary = summarise_schedules(rows, METRICS, "A")
    variant = (1.0, "exact")
    assert summary.best(variant, 0) == {"A", "B"}
    assert summary.best(variant, 1) == frozenset()
    assert summary.changes == {}
    assert summary.estimates["A", variant][0].half_width is None


def test_every_metric_has_a_name_of_its_own():
    assert len({metric.name for metric in SCHEDULE_METRICS}) == len(SCHEDULE_METRICS)
    with pytest.raises(KeyError):
        schedule_metrics(["nosuch"])

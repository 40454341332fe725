import pickle

import pytest

from rebecsim.metrics import AM_JOB_SUCCESS, DEADLINE_MISSES, JOB_REQUEST_SUCCESS, Metric


def test_misses_count_those_in_the_queue_and_those_on_app_masters() -> None:
    assert DEADLINE_MISSES.numerator == {"queue_misses": 1, "update_misses": 1}
    assert DEADLINE_MISSES.denominator is None
    assert not DEADLINE_MISSES.is_share


@pytest.mark.parametrize("metric", [JOB_REQUEST_SUCCESS, AM_JOB_SUCCESS])
def test_success_rates_are_shares_that_leave_out_drops(metric: Metric) -> None:
    assert metric.is_share
    assert "drops" not in metric.counters
    assert "dropped" in metric.note


def test_am_job_success_ignores_misses_in_the_queue() -> None:
    assert AM_JOB_SUCCESS.counters == {"completions", "update_misses"}


@pytest.mark.parametrize(
    ("numerator", "denominator", "is_share"),
    [
        ({"a": 1}, {"a": 1, "b": 1}, True),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 2}, {"a": 1}, False),
        ({"a": 1}, {"a": 1, "b": -1}, False),
        ({"a": -1}, {"a": 1}, False),
        ({"a": 1}, None, False),
    ],
)
def test_a_ratio_is_a_share_when_the_numerator_is_part_of_the_denominator(
    numerator: dict[str, int], denominator: dict[str, int] | None, is_share: bool
) -> None:
    assert Metric("m", "M", "", "higher", numerator, denominator).is_share == is_share


def test_a_metric_cannot_be_changed_through_its_weights() -> None:
    weights = {"a": 1}
    metric = Metric("m", "M", "jobs", "lower", weights)
    weights["b"] = 1
    assert metric.counters == {"a"}
    with pytest.raises(TypeError):
        metric.numerator["a"] = 2  # type: ignore[index]


def test_a_metric_survives_pickling() -> None:
    assert pickle.loads(pickle.dumps(AM_JOB_SUCCESS)) == AM_JOB_SUCCESS
    assert pickle.loads(pickle.dumps(DEADLINE_MISSES)) == DEADLINE_MISSES


def test_a_metric_needs_an_identifier_and_counters() -> None:
    with pytest.raises(ValueError, match="identifier"):
        Metric("no name", "", "", "lower", {"a": 1})
    with pytest.raises(ValueError, match="m: the numerator names no counter"):
        Metric("m", "", "", "lower", {})
    with pytest.raises(ValueError, match="m: the denominator names no counter"):
        Metric("m", "", "", "lower", {"a": 1}, {})

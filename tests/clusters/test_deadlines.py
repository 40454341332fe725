import pickle

import pytest

from rebecsim.clusters.dispatch.measures import AM_JOB_SUCCESS, DEADLINE_MISSES, JOB_REQUEST_SUCCESS
from rebecsim.metrics import Metric


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


def test_an_advantage_is_said_in_the_words_of_the_metric() -> None:
    said = DEADLINE_MISSES.says_advantage("MDF", "EDF", "3.1")
    assert said == "MDF misses 3.1 fewer deadlines than EDF per run"
    plain = Metric("m", "Checkpoints", "checkpoints per run", "lower", {"a": 1})
    assert (
        plain.says_advantage("MDF", "MLF", "2.0")
        == "Checkpoints: lower with MDF than with MLF by 2.0 checkpoints per run"
    )
    bare = Metric("b", "Load", "", "lower", {"a": 1})
    assert bare.says_advantage("MDF", "MLF", "1.8") == "Load: lower with MDF than with MLF by 1.8"
    share = Metric("s", "Success", "jobs", "higher", {"a": 1}, {"a": 1, "b": 1})
    assert (
        share.says_advantage("MDF", "{worse}", "2.0 percentage points")
        == "Success: higher with MDF than with {worse} by 2.0 percentage points"
    )
    assert DEADLINE_MISSES.says_advantage("{worse}", "EDF", "1").startswith("{worse} misses 1")


@pytest.mark.parametrize(
    "advantage",
    [
        "{better} beats {worse}",
        "{better} {worse} {amount} {amount}",
        "{better} {worse} {amount.__class__}",
        "{better} {worse} {amount!r}",
        "{better} {worse} {amount:>9}",
    ],
)
def test_an_advantage_names_both_policies_and_the_amount_and_no_more(advantage) -> None:
    with pytest.raises(ValueError, match="must name"):
        Metric("m", "", "", "lower", {"a": 1}, advantage=advantage)

from __future__ import annotations

import pytest
from pydantic import ValidationError

from rebecsim.clusters import Configuration, HighPriority, Nondet, UniformArrivals

VALUES = {
    "policy": "EDF",
    "arrivals": UniformArrivals(count=1),
    "lengths": Nondet(minimum=1, maximum=6),
    "app_masters": 3,
    "queue_size": 12,
    "epsilon": 2.0,
}


def test_the_file_stem_names_policy_workload_and_size():
    assert Configuration(**VALUES).file_stem == "edf_uniform1_nondet1to6_am3"


def test_a_configuration_survives_json():
    configuration = Configuration(**VALUES, high_priority=HighPriority(probability=30, length=9))
    assert Configuration.model_validate_json(configuration.model_dump_json()) == configuration


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("policy", "edf"),
        ("policy", "EDF'); --"),
        ("app_masters", 0),
        ("app_masters", 1001),
        ("app_masters", True),
        ("app_masters", 2.0),
        ("queue_size", 0),
        ("queue_size", -1),
        ("queue_size", 10_001),
        ("epsilon", -0.1),
        ("epsilon", 100.5),
        ("epsilon", float("nan")),
        ("epsilon", float("inf")),
        ("epsilon", "2.0"),
        ("high_priority", {"probability": 101}),
        ("workload", "published"),
        ("high_priority", {"length": -1}),
        ("colour", "red"),
    ],
)
def test_values_that_do_not_fit_are_refused(field, value):
    with pytest.raises(ValidationError) as caught:
        Configuration(**{**VALUES, field: value})
    assert caught.value.errors()[0]["loc"][0] == field


@pytest.mark.parametrize(
    ("probability", "first", "count"),
    [(0, 10, 10), (30, 10, 10), (15, 5, 20), (12, 2, 50), (7, 1, 100)],
)
def test_priorities_are_drawn_in_steps_that_fit_the_percentage(probability, first, count):
    high = HighPriority(probability=probability)
    assert (high.values[0], high.values[-1], len(high.values)) == (first, 100, count)
    share = sum(value <= probability for value in high.values) / count
    assert 100 * share == pytest.approx(probability)


def test_a_configuration_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        Configuration(**VALUES).policy = "FIFO"

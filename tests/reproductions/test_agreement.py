"""When a figure agrees with a published one."""

from __future__ import annotations

import math

import pytest

from reproductions.framework import (
    Checked,
    errors_apart,
    is_conspicuous,
    shares_within,
    within_count,
)


@pytest.mark.parametrize(
    ("apart", "errors", "found"),
    [(6.0, (3.0, 4.0), 1.2), (-2.0, (0.0, 0.0), -math.inf), (0.0, (0.0, 0.0), 0.0)],
)
def test_a_difference_is_in_standard_errors_of_both_figures(
    apart: float, errors: tuple[float, float], found: float
) -> None:
    assert errors_apart(apart, *errors) == found


def test_more_than_three_standard_errors_are_conspicuous() -> None:
    assert [is_conspicuous(each) for each in (-3.1, 3.0, None)] == [True, False, False]


def test_what_was_not_run_does_not_count_as_held() -> None:
    cells = [
        Checked("a", "1", "1", True),
        Checked("b", "1", "2", False),
        Checked("c", "1", "", None),
    ]
    assert [each.verdict for each in cells] == ["holds", "missed", "open"]
    assert within_count(cells) == (1, 3)
    assert shares_within(1, 3, "bounds") == "1 of 3 cells (33 %) are within bounds"
    assert shares_within(0, 0, "bounds") == "0 of 0 cells (0 %) are within bounds"

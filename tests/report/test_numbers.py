import math

import pytest

from rebecsim.clusters.dispatch.measures import (
    DEADLINE_MISSES,
    DISPATCH_METRICS,
    JOB_REQUEST_SUCCESS,
)
from rebecsim.report import best_rows, decimals_for, format_estimate, level_text
from rebecsim.studies.estimates import Estimate, student_estimate
from rebecsim.studies.summary import summarise

UNDEFINED = Estimate(math.nan, None, None, None, 0.95, None)
ONE_RUN = Estimate(25.0, None, None, None, 0.95, None)


def with_half_width(value: float, half_width: float) -> Estimate:
    return student_estimate(value, half_width / 1.96, 1e9)


def test_means_and_shares_are_written_with_their_half_width() -> None:
    mean, share = with_half_width(25.96, 0.27), with_half_width(0.7037, 0.0031)
    assert format_estimate(DEADLINE_MISSES, mean, 2) == "25.96 ± 0.27"
    assert format_estimate(JOB_REQUEST_SUCCESS, share, 1) == "70.4 % ± 0.3"


def test_without_interval_the_value_stands_alone_and_without_value_there_is_a_dash() -> None:
    assert format_estimate(DEADLINE_MISSES, ONE_RUN, 2) == "25.00"
    assert format_estimate(DEADLINE_MISSES, UNDEFINED, 2) == "\u2013"


def test_a_half_width_is_never_rounded_to_nothing() -> None:
    assert format_estimate(DEADLINE_MISSES, with_half_width(1, 1e-7), 4) == "1.0000 ± <0.0001"
    assert format_estimate(DEADLINE_MISSES, student_estimate(1, 0, 9), 2) == "1.00 ± 0.00"


@pytest.mark.parametrize(
    ("half_width", "decimals"), [(3.0, 2), (0.27, 2), (0.006, 2), (0.004, 3), (1e-9, 4), (0, 2)]
)
def test_a_column_has_the_digits_that_its_narrowest_interval_needs(
    half_width: float, decimals: int
) -> None:
    column = [with_half_width(5, 1), with_half_width(5, half_width), UNDEFINED, ONE_RUN]
    assert decimals_for(DEADLINE_MISSES, column) == decimals


def test_a_level_is_written_in_percent() -> None:
    assert [level_text(level) for level in (0.95, 0.999, 0.9)] == ["95 %", "99.9 %", "90 %"]


def test_policies_that_show_the_same_value_share_the_mark(make_report) -> None:
    summary = make_report().summary
    assert best_rows(summary, 0) == {"EDF", "FIFO"}  # fewer misses are better
    assert best_rows(summary, 1) == {"EDF", "FIFO"}  # more success is better


def test_nobody_is_best_alone_or_when_all_are_equal(make_cell) -> None:
    assert best_rows(summarise([make_cell("EDF")], DISPATCH_METRICS), 0) == frozenset()
    two = summarise([make_cell("EDF"), make_cell("FIFO")], DISPATCH_METRICS)
    assert best_rows(two, 0) == frozenset()

from __future__ import annotations

import pytest
import scipy  # loads its parts when they are used
from hypothesis import given, strategies as st

from rebecsim.studies.student import beta_quantile, student_quantile, student_tail

LEVELS = st.floats(0.01, 0.9999)


@given(LEVELS, st.floats(1, 1e6))
def test_quantiles_are_those_of_scipy(level: float, degrees: float) -> None:
    expected = scipy.special.stdtrit(degrees, (1 + level) / 2)
    assert student_quantile(level, degrees) == pytest.approx(expected, rel=1e-9)


@given(st.floats(0, 30), st.floats(1, 1e6))
def test_tails_are_those_of_scipy(t: float, degrees: float) -> None:
    expected = scipy.special.stdtr(degrees, -t)
    assert student_tail(degrees, t) == pytest.approx(expected, rel=1e-8, abs=1e-300)


@given(st.integers(0, 100_000), st.integers(1, 100_000), LEVELS)
def test_quantiles_of_the_beta_law_are_those_of_scipy(hits: int, rest: int, level: float) -> None:
    expected = scipy.special.betaincinv(hits + 1, rest, level)
    assert beta_quantile(hits + 1, rest, level) == pytest.approx(expected, rel=1e-9)

"""Values and their arithmetic against C's rules, as numpy implements them."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rebecsim.actors import (
    Boolean,
    Float,
    Int,
    float32,
    float_quotient,
    int8,
    int16,
    int32,
    quotient,
    remainder,
    truncate,
)

INTS = st.integers(-(2**31), 2**31 - 1)
SINGLES = st.floats(width=32, allow_nan=False)


@pytest.mark.parametrize(("wrap", "bits"), [(int8, 8), (int16, 16), (int32, 32)])
@given(value=st.integers(-(2**70), 2**70))
def test_wrapping_keeps_the_low_bits(wrap, bits, value):
    wrapped = wrap(value)
    assert -(2 ** (bits - 1)) <= wrapped < 2 ** (bits - 1)
    assert (wrapped - value) % 2**bits == 0


@given(INTS, INTS.filter(bool))
def test_division_truncates_towards_zero(dividend, divisor):
    assert quotient(dividend, divisor) == int(math.copysign(1, dividend * divisor)) * (
        abs(dividend) // abs(divisor)
    )
    assert quotient(dividend, divisor) * divisor + remainder(dividend, divisor) == dividend
    assert abs(remainder(dividend, divisor)) < abs(divisor)


def test_division_of_known_values():
    assert (quotient(-7, 2), remainder(-7, 2)) == (-3, -1)
    assert (quotient(7, -2), remainder(7, -2)) == (-3, 1)
    with pytest.raises(ZeroDivisionError):
        quotient(1, 0)


@given(SINGLES, SINGLES)
def test_single_precision_agrees_with_numpy(a, b):
    with np.errstate(all="ignore"):
        expected = [np.float32(a) + np.float32(b), np.float32(a) * np.float32(b)]
        ratio = np.float32(a) / np.float32(b)
    assert np.array_equal([float32(a + b), float32(a * b)], expected, equal_nan=True)
    assert np.array_equal(float_quotient(a, b), ratio, equal_nan=True)


def test_truncation_of_floats():
    assert [truncate(2.9), truncate(-2.9)] == [2, -2]
    for value in (math.nan, math.inf, 2.0**31):
        with pytest.raises(ArithmeticError, match="does not fit"):
            truncate(value)


def test_arrays_start_at_their_defaults_and_are_not_shared():
    grid = Int[2][3]
    first, second = grid.default(), grid.default()
    assert first == [[0, 0], [0, 0], [0, 0]]
    first[0][0] = 1
    assert second[0][0] == 0
    assert first[1][0] == 0
    assert grid.name == "int[3][2]"
    assert [Boolean.default(), Float.default()] == [False, 0.0]

"""Constant folding agrees with 32-bit machine arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from rebecsim.arithmetic import int32
from rebecsim.lang.checked import BYTE, DOUBLE, FLOAT, INT, SHORT, Type
from rebecsim.lang.checking.calls import (
    NotConstantError,
    convert,
    fold_binary,
    fold_function,
    fold_unary,
)

ints = st.one_of(
    st.integers(-(2**31), 2**31 - 1),
    st.sampled_from([-(2**31), 2**31 - 1, -1, 0, 1]),
)


@given(ints, ints)
def test_integer_operators(left: int, right: int) -> None:
    a, b = np.array([left], np.int32), np.array([right], np.int32)
    machine = {
        "+": a + b,
        "-": a - b,
        "*": a * b,
        "&": a & b,
        "|": a | b,
        "^": a ^ b,
        "<": a < b,
        "<=": a <= b,
        "==": a == b,
    }
    for operator, expected in machine.items():
        assert fold_binary(operator, left, right) == expected[0]
    assert fold_binary("<<", left, right & 31) == (a << (b & 31))[0]
    assert fold_binary(">>", left, right & 31) == (a >> (b & 31))[0]
    assert fold_unary("~", left) == (~a)[0]
    assert fold_unary("-", left) == (-a)[0]


@given(ints, ints)
def test_division_cuts_towards_zero(left: int, right: int) -> None:
    assume(right != 0)
    quotient, rest = fold_binary("/", left, right), fold_binary("%", left, right)
    assert isinstance(quotient, int)
    assert isinstance(rest, int)
    assert int32(quotient * right + rest) == left
    assert abs(rest) < abs(right)
    assert rest == 0 or (rest < 0) == (left < 0)


@given(ints)
def test_conversions(value: int) -> None:
    assert convert(value, BYTE) == np.array([value], np.int32).astype(np.int8)[0]
    assert convert(value, SHORT) == np.array([value], np.int32).astype(np.int16)[0]
    assert convert(value, FLOAT) == np.float32(value)


@given(st.floats(-1e30, 1e30), st.floats(-1e30, 1e30))
def test_floats_are_singles(left: float, right: float) -> None:
    with np.errstate(all="ignore"):
        expected = np.float32(left) + np.float32(right)
    assert fold_binary("+", left, right, FLOAT) == float(expected)
    assert fold_binary("+", left, right, DOUBLE) == left + right


def test_an_int_is_compared_with_a_float_as_a_float() -> None:
    assert fold_binary("==", 2**24 + 1, float(2**24), FLOAT) is True
    assert fold_binary("<", float(2**24), 2**24 + 1, FLOAT) is False
    assert fold_binary("<", float(2**24), 2**24 + 1, DOUBLE) is True


@pytest.mark.parametrize(
    ("operator", "left", "right", "kind"),
    [
        ("/", 1, 0, INT),
        ("%", 1, 0, INT),
        ("/", 1.0, 0.0, FLOAT),
        ("/", 1.0, 0.0, DOUBLE),
        ("*", 3e38, 3e38, FLOAT),
        ("*", 3e300, 3e300, DOUBLE),
    ],
)
def test_what_has_no_value(operator: str, left: float, right: float, kind: Type) -> None:
    with pytest.raises(NotConstantError):
        fold_binary(operator, left, right, kind)


def test_functions() -> None:
    assert fold_function("pow", 2, 10) == 1024.0
    assert fold_function("sqrt", 2) == math.sqrt(2)
    for name, arguments in [
        ("sqrt", (-1,)),
        ("pow", (-8, 0.5)),
        ("pow", (0, -1)),
        ("pow", (9, 999)),
    ]:
        with pytest.raises(NotConstantError):
            fold_function(name, *arguments)


def test_a_float_beyond_int_has_no_int_value() -> None:
    with pytest.raises(NotConstantError):
        convert(1e10, INT)

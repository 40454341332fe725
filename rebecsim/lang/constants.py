"""Constant folding with the arithmetic of C++: wrapping integers and IEEE singles."""

from __future__ import annotations

import math

from rebecsim.lang.checked import Value
from rebecsim.lang.literals import single
from rebecsim.lang.syntax import BinaryOperator, UnaryOperator
from rebecsim.lang.types import BOOLEAN, BYTE, FLOAT, INT, SHORT, Type

__all__ = ["NotConstantError", "convert", "fold_binary", "fold_unary", "wrap"]

_BITS: dict[Type, int] = {INT: 32, SHORT: 16, BYTE: 8}


class NotConstantError(Exception):
    """The operation has no value: a division by zero, or a float without bounds."""


def wrap(value: int, bits: int) -> int:
    """The two's complement value of the lowest bits."""
    half = 1 << (bits - 1)
    return ((value + half) & ((1 << bits) - 1)) - half


def convert(value: Value, kind: Type) -> Value:
    """The value as a variable of that type holds it.

    Integers wrap, floats are cut towards zero to become integers. NotConstantError for a float
    beyond the range of the type.
    """
    if value is None or isinstance(value, bool) or kind == BOOLEAN:
        return value
    if kind == FLOAT:
        return _finite(single(float(value)))
    bits = _BITS.get(kind)
    if bits is None:
        return value
    if isinstance(value, float) and not -(2**31) <= value < 2**31:
        raise NotConstantError
    return wrap(int(value), bits)


def fold_unary(operator: UnaryOperator, value: Value) -> Value:
    """The value of `operator value` for a value of a fitting type."""
    if operator == "!":
        return not value
    assert isinstance(value, (int, float))
    if operator == "~":
        return ~int(value)
    signed = -value if operator == "-" else value
    return signed if isinstance(signed, float) else wrap(signed, 32)


def fold_binary(operator: BinaryOperator, left: Value, right: Value) -> Value:
    """The value of `left operator right` for values of fitting types.

    Raises NotConstantError for a division by zero and a float without bounds.
    """
    if operator in ("==", "!="):
        if isinstance(left, float) or isinstance(right, float):
            left, right = single(left or 0), single(right or 0)
        same = left == right
        return same if operator == "==" else not same
    if isinstance(left, bool) and isinstance(right, bool):
        return _logical(operator, left, right)
    assert isinstance(left, (int, float))
    assert isinstance(right, (int, float))
    if isinstance(left, float) or isinstance(right, float):
        return _floating(operator, single(left), single(right))
    return _integral(operator, left, right)


def _logical(operator: BinaryOperator, left: bool, right: bool) -> bool:
    if operator in ("&&", "&"):
        return left and right
    if operator in ("||", "|"):
        return left or right
    return left != right


def _comparison(operator: BinaryOperator, left: float, right: float) -> bool | None:
    if operator == "<":
        return left < right
    if operator == "<=":
        return left <= right
    if operator == ">":
        return left > right
    if operator == ">=":
        return left >= right
    return None


def _floating(operator: BinaryOperator, left: float, right: float) -> Value:
    compared = _comparison(operator, left, right)
    if compared is not None:
        return compared
    if operator == "/":
        if right == 0:
            raise NotConstantError
        return _finite(single(left / right))
    if operator == "*":
        return _finite(single(left * right))
    return _finite(single(left + right if operator == "+" else left - right))


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise NotConstantError
    return value


def _integral(operator: BinaryOperator, left: int, right: int) -> Value:
    compared = _comparison(operator, left, right)
    if compared is not None:
        return compared
    if operator in ("/", "%"):
        if right == 0:
            raise NotConstantError
        quotient = abs(left) // abs(right)
        if (left < 0) != (right < 0):
            quotient = -quotient
        return wrap(quotient if operator == "/" else left - quotient * right, 32)
    return wrap(_INTEGRAL[operator](left, right), 32)


_INTEGRAL = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "&": lambda left, right: left & right,
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    # A shift by 32 or more has no meaning in C++; as in Java the lowest five bits count.
    "<<": lambda left, right: left << (right & 31),
    ">>": lambda left, right: left >> (right & 31),
}

"""Fold constants with the arithmetic of C++: wrapping integers, IEEE singles and doubles."""

from __future__ import annotations

import math
import operator as operators
from collections.abc import Callable
from typing import NamedTuple

from rebecsim.arithmetic import float32, int8, int16, int32, quotient, remainder
from rebecsim.lang.checked import Value
from rebecsim.lang.syntax import BinaryOperator, UnaryOperator
from rebecsim.lang.types import BOOLEAN, BYTE, FLOAT, INT, REAL, SHORT, Type

_WRAPPING: dict[Type, Callable[[int], int]] = {INT: int32, SHORT: int16, BYTE: int8}


class NotConstantError(Exception):
    """The operation has no value: a division by zero, or a float without bounds."""


def convert(value: Value, kind: Type) -> Value:
    """The value as a variable of that type holds it.

    Integers wrap, floats are cut towards zero to become integers. NotConstantError for a float
    beyond the range of the type.
    """
    if value is None or isinstance(value, bool) or kind == BOOLEAN:
        return value
    if kind in REAL:
        return _finite(float32(float(value)) if kind == FLOAT else float(value))
    wrap = _WRAPPING.get(kind)
    if wrap is None:
        return value
    if isinstance(value, float) and not -(2**31) <= value < 2**31:
        raise NotConstantError
    return wrap(int(value))


def fold_unary(operator: UnaryOperator, value: Value) -> Value:
    """The value of `operator value` for a value of a fitting type."""
    if operator == "!":
        return not value
    assert isinstance(value, (int, float))
    if operator == "~":
        return ~int(value)
    signed = -value if operator == "-" else value
    return signed if isinstance(signed, float) else int32(signed)


def fold_binary(operator: BinaryOperator, left: Value, right: Value, kind: Type = INT) -> Value:
    """The value of `left operator right` for values of fitting types.

    `kind` is the type that two numbers are computed or compared in. Raises NotConstantError for a
    division by zero and a float without bounds.
    """
    if kind in REAL and left is not None and right is not None:
        left, right = convert(left, kind), convert(right, kind)
    if operator in ("==", "!="):
        same = left == right
        return same if operator == "==" else not same
    if isinstance(left, bool) and isinstance(right, bool):
        return _logical(operator, left, right)
    assert isinstance(left, (int, float))
    assert isinstance(right, (int, float))
    if operator in _COMPARISONS:
        return _COMPARISONS[operator](left, right)
    if isinstance(left, float) or isinstance(right, float):
        return _floating(operator, float(left), float(right), kind)
    return _integral(operator, left, right)


def _logical(operator: BinaryOperator, left: bool, right: bool) -> bool:
    if operator in ("&&", "&"):
        return left and right
    if operator in ("||", "|"):
        return left or right
    return left != right


_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
}


def _floating(operator: BinaryOperator, left: float, right: float, kind: Type) -> Value:
    if operator == "/" and right == 0:
        raise NotConstantError
    return convert(_FLOATING[operator](left, right), kind)


_FLOATING: dict[str, Callable[[float, float], float]] = {
    "+": operators.add,
    "-": operators.sub,
    "*": operators.mul,
    "/": operators.truediv,
}


class Function(NamedTuple):
    """A mathematical function from doubles to a double."""

    parameters: tuple[str, ...]
    compute: Callable[..., float]


FUNCTIONS = {"pow": Function(("a", "b"), math.pow), "sqrt": Function(("a",), math.sqrt)}


def fold_function(name: str, *arguments: float) -> Value:
    """The value of a mathematical function; NotConstantError if it is not a finite number."""
    try:
        return _finite(FUNCTIONS[name].compute(*map(float, arguments)))
    except (ValueError, ArithmeticError):
        raise NotConstantError from None


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise NotConstantError
    return value


def _integral(operator: BinaryOperator, left: int, right: int) -> Value:
    if operator in ("/", "%"):
        if right == 0:
            raise NotConstantError
        return int32(quotient(left, right) if operator == "/" else remainder(left, right))
    return int32(_INTEGRAL[operator](left, right))


_INTEGRAL: dict[str, Callable[[int, int], int]] = {
    "+": operators.add,
    "-": operators.sub,
    "*": operators.mul,
    "&": operators.and_,
    "|": operators.or_,
    "^": operators.xor,
    # A shift by 32 or more has no meaning in C++; as in Java the lowest five bits count.
    "<<": lambda left, right: left << (right & 31),
    ">>": lambda left, right: left >> (right & 31),
}

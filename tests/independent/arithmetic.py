"""Numbers as C++ computes with them, written down a second time."""

from __future__ import annotations

import struct
from typing import Any

from tests.independent.language import BOOLEAN, BYTE, DOUBLE, FLOAT, INT, TIMER
from tests.independent.states import STOPPED, Broken


def zero(kind: str) -> Any:
    if kind.startswith("int["):
        return (0,) * int(kind[4:-1])
    return {INT: 0, BYTE: 0, BOOLEAN: False, FLOAT: 0.0, DOUBLE: 0.0, TIMER: STOPPED}[kind]


def _single(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


def convert(value: Any, kind: str) -> Any:
    if kind in (INT, BYTE):
        bits = 32 if kind == INT else 8
        return (int(value) + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
    if kind == FLOAT:
        return _single(float(value))
    return float(value) if kind == DOUBLE else value


def kind_of(node: tuple) -> str:
    """Say how wide an operand is: a double beside a single makes the operation double."""
    match node:
        case ("number", _, kind) | ("variable", _, kind) | ("cast", kind, _):
            return kind
        case ("power", *_):
            return DOUBLE
        case ("binary", operator, left, right) if operator in "+-*/%":
            kinds = {kind_of(left), kind_of(right)}
            return next((each for each in (DOUBLE, FLOAT) if each in kinds), INT)
    return INT


def operate(operator: str, left: Any, right: Any, kind: str, other: str) -> Any:
    compare = {"==", "!=", "<", "<=", ">", ">="}
    wide = next((each for each in (DOUBLE, FLOAT) if each in (kind, other)), INT)
    if wide != INT:
        left, right = convert(left, wide), convert(right, wide)
    if operator in compare:
        return {
            "==": left == right,
            "!=": left != right,
            "<": left < right,
            "<=": left <= right,
            ">": left > right,
            ">=": left >= right,
        }[operator]
    if operator == "^":
        return left != right
    result = {"+": left + right, "-": left - right, "*": left * right}.get(operator)
    if operator == "%":
        if right == 0:
            raise Broken("assertion failed")
        result = abs(left) % abs(right) * (-1 if left < 0 else 1)
    return convert(result, wide)

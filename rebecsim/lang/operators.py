"""Precedence of the operators, as in Java and C, for the parser and the printer."""

from __future__ import annotations

from rebecsim.lang.syntax import BinaryOperator

ASSIGNMENT = 1
CONDITIONAL = 2
BINARY_PRECEDENCE: dict[BinaryOperator, int] = {
    "||": 3,
    "&&": 4,
    "|": 5,
    "^": 6,
    "&": 7,
    "==": 8,
    "!=": 8,
    "<": 9,
    "<=": 9,
    ">": 9,
    ">=": 9,
    "<<": 10,
    ">>": 10,
    "+": 11,
    "-": 11,
    "*": 12,
    "/": 12,
    "%": 12,
}
"""Higher binds tighter; all of them group from the left."""
INSTANCE_OF = BINARY_PRECEDENCE["<"]
UNARY = 13
POSTFIX = 14

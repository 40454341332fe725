"""Pieces of Python code: how tightly they bind, and the range of their values.

Sums, differences and products may be computed in Python's unbounded integers and wrapped when the
value is used: they agree modulo 2**32. So each piece of code carries the range of its value, or
None where it still has to be wrapped, and no wrapping is written where the range shows that
none is needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from rebecsim.lang.types import BYTE, FLOAT, INT, SHORT, Type


class Range(NamedTuple):
    """The integers from low to high, both included."""

    low: int
    high: int

    def within(self, other: Range) -> bool:
        """Whether every value of this range lies in the other."""
        return other.low <= self.low and self.high <= other.high


RANGES: dict[Type, Range] = {
    INT: Range(-(2**31), 2**31 - 1),
    SHORT: Range(-(2**15), 2**15 - 1),
    BYTE: Range(-(2**7), 2**7 - 1),
}
# Python's precedences, loosest first.
TERNARY, OR, AND, NOT, COMPARISON, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, SIGN, ATOM = (
    range(13)
)

BITWISE = {"&": BIT_AND, "^": BIT_XOR, "|": BIT_OR}


@dataclass(frozen=True)
class Code:
    """A Python expression, how tightly it binds, and the range of an integer's value.

    The range None of an integer means: right modulo 2**32 only, wrap before use.
    """

    text: str
    precedence: int = ATOM
    range: Range | None = None

    def at(self, precedence: int) -> str:
        """Give the text, in parentheses where it stands among tighter operators."""
        return self.text if self.precedence >= precedence else f"({self.text})"


def real_arithmetic(operator: str, left: Code, right: Code, kind: Type) -> Code:
    """Write an operation of two floats or doubles."""
    if operator == "/":
        function = "float_quotient" if kind == FLOAT else "double_quotient"
        return Code(f"{function}({left.text}, {right.text})")
    result = infix(operator, left, right)
    return (
        Code(f"float32({result.text})") if kind == FLOAT else Code(result.text, result.precedence)
    )


def infix(operator: str, left: Code, right: Code) -> Code:
    """Write a sum, difference, product or bitwise operation of integers."""
    precedence = {"+": SUM, "-": SUM, "*": PRODUCT, **BITWISE}[operator]
    text = f"{left.at(precedence)} {operator} {right.at(precedence + 1)}"
    return Code(text, precedence, _combined(operator, left.range, right.range))


def integer(value: int) -> Code:
    """Write a constant."""
    return Code(repr(value), ATOM if value >= 0 else SIGN, Range(value, value))


def fitting(ends: list[int]) -> Range | None:
    """The range between the first and the last of sorted ends; None if an int cannot hold it."""
    known = Range(ends[0], ends[-1])
    return known if known.within(RANGES[INT]) else None


def hull(alternatives: Iterable[Code]) -> Range | None:
    """Give the range of a value that is one of these; None if that of one is not known."""
    low, high = [], []
    for each in alternatives:
        if each.range is None:
            return None
        low.append(each.range.low)
        high.append(each.range.high)
    return Range(min(low), max(high))


def _combined(operator: str, left: Range | None, right: Range | None) -> Range | None:
    """Give the range of a sum, difference, product or bitwise operation, None if it may wrap."""
    if left is None or right is None:
        return None
    if operator == "+":
        return fitting([left.low + right.low, left.high + right.high])
    if operator == "-":
        return fitting([left.low - right.high, left.high - right.low])
    if operator == "*":
        return fitting(sorted(a * b for a in left for b in right))
    return RANGES[INT]

"""The kinds of values that state variables hold, and their arithmetic.

Integers wrap around in two's complement, `/` and `%` truncate towards zero, and floats are IEEE
single precision after every operation, as in the C++ that Rebeca compilers generate.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_float
from dataclasses import dataclass
from math import copysign, inf, nan
from typing import Any

__all__ = [
    "Array",
    "Boolean",
    "Byte",
    "Float",
    "Int",
    "Kind",
    "Reference",
    "Short",
    "float32",
    "float_quotient",
    "int8",
    "int16",
    "int32",
    "quotient",
    "remainder",
    "truncate",
]


def int32(value: int) -> int:
    """Wrap an integer to the 32 bits of `int`."""
    return (
        value
        if -0x80000000 <= value <= 0x7FFFFFFF
        else (value + 0x80000000) % 0x100000000 - 0x80000000
    )


def int16(value: int) -> int:
    """Wrap an integer to the 16 bits of `short`."""
    return value if -0x8000 <= value <= 0x7FFF else (value + 0x8000) % 0x10000 - 0x8000


def int8(value: int) -> int:
    """Wrap an integer to the 8 bits of `byte`, which is signed."""
    return value if -0x80 <= value <= 0x7F else (value + 0x80) % 0x100 - 0x80


def float32(value: float) -> float:
    """Round a number to the nearest IEEE single; too large a value becomes infinite.

    Computing one operation in double precision and rounding the result gives the correctly
    rounded single, since a double has more than twice the digits of a single and two to spare.
    """
    return c_float(value).value


def float_quotient(dividend: float, divisor: float) -> float:
    """Divide singles as IEEE 754 does: by zero gives an infinity, or NaN for zero by zero."""
    if divisor != 0:
        return float32(dividend / divisor)
    if dividend == 0 or dividend != dividend:
        return nan
    return copysign(inf, copysign(1, dividend) * copysign(1, divisor))


def truncate(value: float) -> int:
    """Cast a float to `int`: towards zero; what does not fit (undefined in C++) is an error."""
    if value != value or not -2147483649.0 < value < 2147483648.0:
        raise ArithmeticError(f"the float {value} does not fit into an int")
    return int(value)


def quotient(dividend: int, divisor: int) -> int:
    """Divide integers, rounding towards zero. Raises ZeroDivisionError."""
    result = abs(dividend) // abs(divisor)
    return result if (dividend < 0) == (divisor < 0) else -result


def remainder(dividend: int, divisor: int) -> int:
    """Give the remainder of `quotient`: the dividend's sign. Raises ZeroDivisionError."""
    result = abs(dividend) % abs(divisor)
    return result if dividend >= 0 else -result


@dataclass(frozen=True)
class Kind:
    """A kind of value: its name in Rebeca, the value before the first assignment, the wrapping."""

    name: str
    initial: Any
    fit: Callable[[Any], Any]

    def default(self) -> Any:
        """Give the value of a variable that nobody has assigned yet."""
        return self.initial

    def __getitem__(self, length: int) -> Array:
        """`Int[3]` is an array of three ints; `Int[3][2]` has two elements of that kind."""
        return Array(self, length)


@dataclass(frozen=True)
class Array:
    """A fixed number of elements of one kind, a Python list at run time."""

    element: Kind | Array
    length: int

    def default(self) -> list[Any]:
        """Give a new list with every element at its default."""
        return [self.element.default() for _ in range(self.length)]

    def __getitem__(self, length: int) -> Array:
        return Array(self, length)

    @property
    def name(self) -> str:
        """The kind as Rebeca writes it."""
        lengths, element = f"[{self.length}]", self.element
        while isinstance(element, Array):
            lengths += f"[{element.length}]"
            element = element.element
        return element.name + lengths


Int = Kind("int", 0, int32)
Short = Kind("short", 0, int16)
Byte = Kind("byte", 0, int8)
Boolean = Kind("boolean", False, bool)
Float = Kind("float", 0.0, float32)
Reference = Kind("rebec", None, lambda rebec: rebec)

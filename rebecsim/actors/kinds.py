"""The kinds of values that state variables hold, and their arithmetic.

Integers wrap around in two's complement, `/` and `%` truncate towards zero, and floats are IEEE
single precision after every operation, doubles double precision, as in the C++ that Rebeca
compilers generate.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_float
from dataclasses import dataclass
from math import copysign, inf, isinf, nan, pow as c_pow, sqrt
from typing import Any


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
    return float32(double_quotient(dividend, divisor))


def double_quotient(dividend: float, divisor: float) -> float:
    """Divide doubles as IEEE 754 does."""
    if divisor != 0:
        return dividend / divisor
    if dividend == 0 or dividend != dividend:
        return nan
    return copysign(inf, copysign(1, dividend) * copysign(1, divisor))


def square_root(value: float) -> float:
    """Give the square root as IEEE 754 does: NaN for a negative number."""
    return sqrt(value) if value >= 0 else value if value == 0 else nan


def power(base: float, exponent: float) -> float:
    """Raise a number to a power as C does: infinities and NaN where there is no finite result.

    Squares and square roots are rounded correctly, as compilers compute them.
    """
    if exponent == 2:
        return base * base
    if exponent == 0.5 and base > 0:
        return square_root(base)
    try:
        return c_pow(base, exponent)
    except OverflowError:
        return -inf if base < 0 and exponent % 2 == 1 else inf
    except ValueError:
        return _power_without_value(base, exponent)


def _power_without_value(base: float, exponent: float) -> float:
    """Give a negative power of zero, or NaN for a root of a negative number."""
    if base != 0:
        return nan
    is_odd = not isinf(exponent) and exponent % 2 == 1
    return copysign(inf, base) if is_odd else inf


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
Double = Kind("double", 0.0, float)
Reference = Kind("rebec", None, lambda rebec: rebec)

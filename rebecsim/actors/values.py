"""The kinds of values that state variables hold, their arithmetic, and how they are written.

Integers wrap around in two's complement, `/` and `%` truncate towards zero, and floats are IEEE
single precision after every operation, doubles double precision, as in the C++ that Rebeca
compilers generate.

A timer that runs is kept as the time of its start, which does not change while time passes; what a
model and its users see is how long it has been running.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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


STOPPED = -1
"""The value of a timer that does not run."""


@dataclass(frozen=True, slots=True)
class Since:
    """A timer that runs, by its start in the local time of its rebec."""

    start: int


def duration(timer: Since | int, now: int) -> int:
    """Give how long a timer has been running at a local time, STOPPED if it does not run."""
    return now - timer.start if isinstance(timer, Since) else STOPPED


def durations(value: Any, now: int) -> Any:
    """Give the value of a variable with durations in the place of running timers."""
    if isinstance(value, Since):
        return duration(value, now)
    return [durations(each, now) for each in value] if type(value) is list else value


Timer = Kind("Timer", STOPPED, lambda timer: timer)


def plain(value: Any) -> Any:
    """Give a value as it stands in a file: what JSON has no form for, as a rebec, becomes text."""
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float and value - value == 0.0:  # neither infinite nor NaN
        return value
    return str(value)


def value_text(value: object) -> str:
    """Give a value as Rebeca writes it."""
    match value:
        case bool():
            return str(value).lower()
        case None:
            return "null"
        case list() | tuple():
            return f"[{', '.join(map(value_text, value))}]"
    return str(value)


def call_text(server: str, parameters: Sequence[str], arguments: Sequence[object]) -> str:
    """Give a message with the names of its arguments, where they are known: `buy(customer=ann)`."""
    texts = list(map(value_text, arguments))
    if len(parameters) == len(texts):
        texts = [f"{name}={text}" for name, text in zip(parameters, texts, strict=True)]
    return f"{server}({', '.join(texts)})"


def drawn_text(drawn: Sequence[object], choices: Iterable[int]) -> str:
    """Give the values that choices have drawn; without them, as in an old file, `#2` for a second.

    `choices` are the indices of the alternatives, from 0.
    """
    if drawn:
        return ", ".join(map(value_text, drawn))
    return ", ".join(f"#{index + 1}" for index in choices)


def changes_text(changed: Iterable[tuple[str, object]]) -> str:
    """Give the variables with new values."""
    return ", ".join(change_texts(changed))


def change_texts(changed: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    """Give each variable with its new value."""
    return tuple(f"{name} = {value_text(value)}" for name, value in changed)

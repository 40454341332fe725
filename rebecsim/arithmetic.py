"""The arithmetic of Rebeca, in Python.

Integers wrap around in two's complement, `/` and `%` truncate towards zero, and floats are IEEE
single precision after every operation, doubles double precision, as in the C++ that Rebeca
compilers generate.
"""

from __future__ import annotations

from ctypes import c_float
from functools import lru_cache
from itertools import accumulate
from math import copysign, fsum, inf, isinf, nan, pow as c_pow, sqrt


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


# --- weights of choices ---------------------------------------------------------------------------

TOLERANCE = 0.001
"""By how much weights may miss 1 together, about as in Rebeca's compiler."""

FRACTION_BITS = 53
"""The bits of a random number that decides between weighted alternatives: those of a double."""

Shares = tuple[float, ...]
"""How likely the alternatives of a choice are; they add up to 1."""


@lru_cache(maxsize=1 << 10)
def shares_of(weights: tuple[float, ...]) -> Shares:
    """Scale weights so that they add up to 1.

    Raises ValueError for one that is not above 0, and if they miss 1 by more than TOLERANCE.
    """
    for weight in weights:
        if not weight > 0:
            raise ValueError(f"a weight must be above 0, not {weight!r}")
    total = fsum(weights)
    if not abs(total - 1) <= TOLERANCE * (1 + 1e-9):
        raise ValueError(f"the weights add up to {total:g}, not to 1")
    return tuple(float(weight / total) for weight in weights)


@lru_cache(maxsize=1 << 10)
def limits_of(shares: Shares) -> tuple[int, ...]:
    """Give of each alternative but the last the random number at which the next one begins.

    Random numbers are whole, from 0 up to below 2**FRACTION_BITS.
    """
    whole = 1 << FRACTION_BITS
    return tuple(min(round(whole * share), whole) for share in accumulate(shares[:-1]))

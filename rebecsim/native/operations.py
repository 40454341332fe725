"""The operations of Rebeca that generated message servers call.

Those that can fail note the first failure in `ctx` and give some value; whatever would change
something afterwards does nothing, and the message server returns at the end of the statement. So
the state is left as it was at the moment of the failure, as in the Python engine, which raises an
exception there.
"""

from __future__ import annotations

import numpy as np

from rebecsim.actors import kinds
from rebecsim.native import columns as slot
from rebecsim.native.arrays import Integers, Streams, Table
from rebecsim.native.cache import compiled, is_plain
from rebecsim.native.codes import Failure
from rebecsim.native.random_words import below

NAN_BITS = 0x7FF8 << 48
"""The NaN of all states: computers make several, which nothing in Rebeca can tell apart."""


MOST_ROUNDS = 1 << (20 if is_plain() else 30)
"""The rounds of loops, while one message is served, after which compiled code gives up, since it
cannot be interrupted. That takes a second or more."""


@compiled(borrows=True, inner=True)
def _fail(ctx: Integers, kind: int, site: int, value: int) -> None:
    if ctx[slot.FAILED] == 0:
        ctx[slot.FAILED] = kind
        ctx[slot.SITE] = site
        ctx[slot.VALUE] = value


@compiled(borrows=True, inner=True)
def endless(ctx: Integers, site: int) -> bool:
    """Count a round of a loop; true, and a failure, if there have been too many."""
    ctx[slot.ROUNDS] += 1
    if ctx[slot.ROUNDS] <= MOST_ROUNDS:
        return False
    _fail(ctx, Failure.ENDLESS, site, 0)
    return True


# --- arithmetic ----------------------------------------------------------------------------------


@compiled(borrows=True, inner=True)
def int32(value: int) -> int:
    """Wrap an integer to the 32 bits of `int`."""
    return ((value + 0x80000000) & 0xFFFFFFFF) - 0x80000000


@compiled(borrows=True, inner=True)
def int16(value: int) -> int:
    """Wrap an integer to the 16 bits of `short`."""
    return ((value + 0x8000) & 0xFFFF) - 0x8000


@compiled(borrows=True, inner=True)
def int8(value: int) -> int:
    """Wrap an integer to the 8 bits of `byte`."""
    return ((value + 0x80) & 0xFF) - 0x80


@compiled(borrows=True, inner=True)
def quotient(ctx: Integers, dividend: int, divisor: int) -> int:
    """Divide integers, rounding towards zero; a division by zero fails."""
    if divisor == 0:
        _fail(ctx, Failure.QUOTIENT, 0, 0)
        return 0
    result = abs(dividend) // abs(divisor)
    return result if (dividend < 0) == (divisor < 0) else -result


@compiled(borrows=True, inner=True)
def remainder(ctx: Integers, dividend: int, divisor: int) -> int:
    """Give the remainder of `quotient`; a division by zero fails."""
    if divisor == 0:
        _fail(ctx, Failure.REMAINDER, 0, 0)
        return 0
    result = abs(dividend) % abs(divisor)
    return result if dividend >= 0 else -result


@compiled(borrows=True, inner=True)
def bits(value: float) -> int:
    """Give the bits of a double, as they are kept among integers; there is one NaN."""
    if value != value:
        return NAN_BITS
    return int(np.float64(value).view(np.int64))


@compiled(borrows=True, inner=True)
def real(cell: int) -> float:
    """Give the float that is kept as these bits."""
    return float(np.int64(cell).view(np.float64))


@compiled(borrows=True, inner=True)
def _float32(value: float) -> float:
    return np.float64(np.float32(value))


@compiled(borrows=True, inner=True)
def _float_quotient(dividend: float, divisor: float) -> float:
    return np.float64(np.float32(dividend) / np.float32(divisor))


@compiled(borrows=True, inner=True)
def _double_quotient(dividend: float, divisor: float) -> float:
    return np.float64(dividend) / np.float64(divisor)


@compiled(borrows=True, inner=True)
def _square_root(value: float) -> float:
    return np.sqrt(np.float64(value))


@compiled(borrows=True, inner=True)
def _power(base: float, exponent: float) -> float:
    if exponent == 2.0:
        return base * base
    if exponent == 0.5 and base > 0.0:
        return np.sqrt(np.float64(base))
    return np.power(np.float64(base), np.float64(exponent))


# NumPy warns of what compiled code does silently, infinities and NaN.
float32 = kinds.float32 if is_plain() else _float32
float_quotient = kinds.float_quotient if is_plain() else _float_quotient
double_quotient = kinds.double_quotient if is_plain() else _double_quotient
square_root = kinds.square_root if is_plain() else _square_root
power = kinds.power if is_plain() else _power


@compiled(borrows=True, inner=True)
def truncate(ctx: Integers, value: float) -> int:
    """Cast a float to `int`, towards zero; what does not fit fails."""
    if not (-2147483649.0 < value < 2147483648.0):
        _fail(ctx, Failure.TRUNCATION, 0, bits(value))
        return 0
    return int(value)


# --- state ---------------------------------------------------------------------------------------


@compiled(borrows=True, inner=True)
def element(ctx: Integers, index: int, length: int, site: int) -> int:
    """Give back an array index that is in range; another one fails."""
    if 0 <= index < length:
        return index
    _fail(ctx, Failure.INDEX, site, index)
    return 0


@compiled(borrows=True, inner=True)
def store(ctx: Integers, cells: Integers, place: int, value: int) -> int:
    """Assign inside an expression and give the value."""
    if ctx[slot.FAILED] == 0:
        cells[place] = value
    return value


@compiled(borrows=True, inner=True)
def refer(ctx: Integers, rebecs: Table, reference: int, classes: int, site: int) -> int:
    """Cast a reference to one of a set of classes, given as bits; another rebec fails."""
    if reference >= 0 and (classes >> rebecs[reference, slot.CLASS]) & 1 == 0:
        _fail(ctx, Failure.CAST, site, reference)
    return reference


@compiled(borrows=True, inner=True)
def is_one_of(rebecs: Table, reference: int, classes: int) -> bool:
    """Say whether a reference is to a rebec of one of a set of classes, given as bits."""
    return reference >= 0 and (classes >> rebecs[reference, slot.CLASS]) & 1 != 0


@compiled(borrows=True, inner=True)
def require(ctx: Integers, condition: bool, site: int) -> None:
    """Check an assertion."""
    if not condition:
        _fail(ctx, Failure.ASSERTION, site, 0)


# --- time, choices and messages ------------------------------------------------------------------


@compiled(borrows=True, inner=True)
def delay(ctx: Integers, duration: int) -> None:
    """Let the rebec's time pass; a negative duration fails."""
    if duration < 0:
        _fail(ctx, Failure.DELAY, 0, duration)
    if ctx[slot.FAILED] == 0:
        ctx[slot.NOW] += duration


@compiled(borrows=True, inner=True)
def timer_value(ctx: Integers, cell: int) -> int:
    """Give how long a timer has been running, -1 if it does not run."""
    return -1 if cell == slot.NO_TIME else ctx[slot.NOW] - cell


@compiled(borrows=True, inner=True)
def _follow_script(ctx: Integers, choices: Integers, count: int) -> int:
    """Take the alternative that the script says; a script that is too short fails."""
    most = choices.shape[0] // 2
    drawn = ctx[slot.CHOICES]
    if drawn == most:
        _fail(ctx, Failure.SCRIPT_ENDED, 0, 0)
        return 0
    ctx[slot.CHOICES] = drawn + 1
    choices[most + drawn] = count
    return choices[drawn]


@compiled(borrows=True, inner=True)
def choose(ctx: Integers, streams: Streams, choices: Integers, count: int, site: int) -> int:
    """Draw one of `count` alternatives under the law of the run.

    As long as there is room, it is noted, with its site above the lowest `SITE_SHIFT` bits.

    Under the law `rmc` (`ctx[LAW]` is 1) the last alternative has two chances. Under a script the
    first half of `choices` says which ones to take, and the second half is told how many there are.
    """
    if ctx[slot.FAILED] != 0:
        return 0
    if ctx[slot.LAW] == slot.SCRIPT:
        return _follow_script(ctx, choices, count)
    row = ctx[slot.STREAMS] + site - 1
    index = min(below(streams, row, count + ctx[slot.LAW]), count - 1)
    if ctx[slot.CHOICES] < choices.shape[0]:
        choices[ctx[slot.CHOICES]] = site << slot.SITE_SHIFT | index
    ctx[slot.CHOICES] += 1
    return index


@compiled(borrows=True, inner=True)
def sendable(ctx: Integers, receiver: int) -> int:
    """Give back a receiver; null fails."""
    if receiver < 0:
        _fail(ctx, Failure.NULL, 0, 0)
    return receiver


@compiled(borrows=True, inner=True)
def send(
    ctx: Integers,
    rebecs: Table,
    sends: Table,
    receiver: int,
    server: int,
    after: int,
    deadline: int,
) -> None:
    """Send a message, whose arguments are in place in the next row of `sends`.

    It fails when it would arrive before it is sent or when the receiver's queue is full; the
    message is in that row then.
    """
    if ctx[slot.FAILED] != 0:
        return
    row = ctx[slot.SENDS]
    sends[row, slot.RECEIVER] = receiver
    sends[row, slot.SERVER] = server
    sends[row, slot.SENDER] = ctx[slot.SELF]
    sends[row, slot.ARRIVAL] = ctx[slot.NOW] + after
    sends[row, slot.DEADLINE] = slot.NEVER if deadline == slot.NEVER else ctx[slot.NOW] + deadline
    if after < 0:
        _fail(ctx, Failure.PAST, row, after)
    elif rebecs[receiver, slot.ROOM] == 0:
        _fail(ctx, Failure.OVERFLOW, row, 0)
    else:
        rebecs[receiver, slot.ROOM] -= 1
        ctx[slot.SENDS] = row + 1

"""The operations of Rebeca and the random streams that compiled message servers call.

Operations that can fail note the first failure in `ctx` and give some value; whatever would change
something afterwards does nothing, and the message server returns at the end of the statement. So
the state is left as it was at the moment of the failure, as in the Python engine, which raises an
exception there.

The random streams are those of `rebecsim.actors.randomness`. A table has one row for each stream of
a replication: the cell's key, the replication, the stream's number, how many words have been drawn,
and the block of four words that the next one comes from. The words are those of NumPy's generator
Philox.

Everything also runs as plain Python.
"""

from __future__ import annotations

import numpy as np

from rebecsim import distributions
from rebecsim.arithmetic import FRACTION_BITS
from rebecsim.native import codes as slot
from rebecsim.native.arrays import Integers, Streams, Table
from rebecsim.native.cache import compiled, is_plain
from rebecsim.native.codes import Failure

KEY, REPLICATION, NUMBER, DRAWN, WORDS = 0, 2, 3, 4, 5
"""Columns of the table of streams: uint64, the key and the words take two and four of them."""
STREAM_WIDTH = WORDS + 4

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_THREE = np.uint64(3)
_TWO = np.uint64(2)
# Multipliers and Weyl constants of Philox 4x64 (Salmon et al., SC 2011, table 2 and section 3.3).
_MULTIPLY_0 = np.uint64(0xD2E7470EE14C6C93)
_MULTIPLY_1 = np.uint64(0xCA5A826395121157)
_BUMP_0 = np.uint64(0x9E3779B97F4A7C15)
_BUMP_1 = np.uint64(0xBB67AE8584CAA73B)
_ROUNDS = 10
_FIRST_BITS, _LAST_BITS = FRACTION_BITS - 32, 64 - FRACTION_BITS


if is_plain():
    np.seterr(all="ignore")  # it would warn of what compiled code does silently


def split_product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Multiply to 128 bits, without overflow: the high and the low word."""
    a_low, a_high = a & _LOW, a >> _HALF
    b_low, b_high = b & _LOW, b >> _HALF
    low = a_low * b_low
    first = a_high * b_low + (low >> _HALF)
    second = a_low * b_high + (first & _LOW)
    high = a_high * b_high + (first >> _HALF) + (second >> _HALF)
    return high, ((second & _LOW) << _HALF) | (low & _LOW)


@compiled()
def _fill(streams: Streams, row: int) -> None:
    """Compute the block of a stream that holds its next word: Philox 4x64-10."""
    key_0, key_1 = streams[row, KEY], streams[row, KEY + 1]
    # NumPy's generator counts up before it computes a block, so the first one has number 1.
    word_0 = (streams[row, DRAWN] >> _TWO) + _ONE
    word_1 = streams[row, NUMBER]
    word_2 = streams[row, REPLICATION]
    word_3 = _ZERO
    for _ in range(_ROUNDS):
        high_0, low_0 = split_product(_MULTIPLY_0, word_0)
        high_1, low_1 = split_product(_MULTIPLY_1, word_2)
        word_0 = high_1 ^ word_1 ^ key_0
        word_1 = low_1
        word_2 = high_0 ^ word_3 ^ key_1
        word_3 = low_0
        key_0 = key_0 + _BUMP_0
        key_1 = key_1 + _BUMP_1
    streams[row, WORDS] = word_0
    streams[row, WORDS + 1] = word_1
    streams[row, WORDS + 2] = word_2
    streams[row, WORDS + 3] = word_3


@compiled()
def _word(streams: Streams, row: int) -> int:
    """Draw the next 32 bits of a stream."""
    drawn = streams[row, DRAWN]
    if drawn & _THREE == _ZERO:
        _fill(streams, row)
    streams[row, DRAWN] = drawn + _ONE
    return int(streams[row, WORDS + np.int64(drawn & _THREE)] >> _HALF)


@compiled()
def _fraction(streams: Streams, row: int) -> int:
    """Draw a number of FRACTION_BITS bits."""
    first = _word(streams, row) << _FIRST_BITS
    return first | _word(streams, row) >> _LAST_BITS


@compiled()
def below(streams: Streams, row: int, count: int) -> int:
    """Draw an index from 0 to count - 1, each equally likely, for counts below 2**31."""
    if count == 1:
        return 0
    product = _word(streams, row) * count
    if product & 0xFFFFFFFF < count:
        threshold = (0x100000000 - count) % count
        while product & 0xFFFFFFFF < threshold:
            product = _word(streams, row) * count
    return product >> 32


@compiled()
def restart_streams(streams: Streams, replication: int) -> None:
    """Make all streams those of another replication, with nothing drawn yet."""
    for row in range(streams.shape[0]):
        streams[row, REPLICATION] = np.uint64(replication)
        streams[row, DRAWN] = _ZERO


NAN_BITS = 0x7FF8 << 48
"""The NaN of all states: computers make several, which nothing in Rebeca can tell apart."""


MOST_ROUNDS = 1 << (20 if is_plain() else 30)
"""The rounds of loops, while one message is served, after which compiled code gives up, since it
cannot be interrupted. That takes a second or more."""


@compiled()
def _fail(ctx: Integers, kind: int, site: int, value: int) -> None:
    if ctx[slot.FAILED] == 0:
        ctx[slot.FAILED] = kind
        ctx[slot.SITE] = site
        ctx[slot.VALUE] = value


@compiled()
def endless(ctx: Integers, site: int) -> bool:
    """Count a round of a loop; true, and a failure, if there have been too many."""
    ctx[slot.ROUNDS] += 1
    if ctx[slot.ROUNDS] <= MOST_ROUNDS:
        return False
    _fail(ctx, Failure.ENDLESS, site, 0)
    return True


# --- arithmetic ----------------------------------------------------------------------------------


@compiled()
def int32(value: int) -> int:
    """Wrap an integer to the 32 bits of `int`."""
    return ((value + 0x80000000) & 0xFFFFFFFF) - 0x80000000


@compiled()
def int16(value: int) -> int:
    """Wrap an integer to the 16 bits of `short`."""
    return ((value + 0x8000) & 0xFFFF) - 0x8000


@compiled()
def int8(value: int) -> int:
    """Wrap an integer to the 8 bits of `byte`."""
    return ((value + 0x80) & 0xFF) - 0x80


@compiled()
def quotient(ctx: Integers, dividend: int, divisor: int) -> int:
    """Divide integers, rounding towards zero; a division by zero fails."""
    if divisor == 0:
        _fail(ctx, Failure.QUOTIENT, 0, 0)
        return 0
    result = abs(dividend) // abs(divisor)
    return result if (dividend < 0) == (divisor < 0) else -result


@compiled()
def remainder(ctx: Integers, dividend: int, divisor: int) -> int:
    """Give the remainder of `quotient`; a division by zero fails."""
    if divisor == 0:
        _fail(ctx, Failure.REMAINDER, 0, 0)
        return 0
    result = abs(dividend) % abs(divisor)
    return result if dividend >= 0 else -result


@compiled()
def bits(value: float) -> int:
    """Give the bits of a double, as they are kept among integers; there is one NaN."""
    if value != value:
        return NAN_BITS
    return int(np.float64(value).view(np.int64))


@compiled()
def real(cell: int) -> float:
    """Give the float that is kept as these bits."""
    return float(np.int64(cell).view(np.float64))


@compiled()
def float32(value: float) -> float:
    """Round to a single."""
    return np.float64(np.float32(value))


@compiled()
def float_quotient(dividend: float, divisor: float) -> float:
    """Divide singles as IEEE says."""
    return np.float64(np.float32(dividend) / np.float32(divisor))


@compiled()
def double_quotient(dividend: float, divisor: float) -> float:
    """Divide doubles as IEEE says."""
    return np.float64(dividend) / np.float64(divisor)


@compiled()
def square_root(value: float) -> float:
    """Give the square root, NaN for a negative number."""
    return np.sqrt(np.float64(value))


@compiled()
def power(base: float, exponent: float) -> float:
    """Raise to a power as `rebecsim.arithmetic.power` does."""
    if exponent == 2.0:
        return base * base
    if exponent == 0.5 and base > 0.0:
        return np.sqrt(np.float64(base))
    return np.power(np.float64(base), np.float64(exponent))


@compiled()
def truncate(ctx: Integers, value: float) -> int:
    """Cast a float to `int`, towards zero; what does not fit fails."""
    if not (-2147483649.0 < value < 2147483648.0):
        _fail(ctx, Failure.TRUNCATION, 0, bits(value))
        return 0
    return int(value)


# --- state ---------------------------------------------------------------------------------------


@compiled()
def element(ctx: Integers, index: int, length: int, site: int) -> int:
    """Give back an array index that is in range; another one fails."""
    if 0 <= index < length:
        return index
    _fail(ctx, Failure.INDEX, site, index)
    return 0


@compiled()
def fitting(ctx: Integers, value: int, site: int) -> int:
    """Give back a whole number of 32 bits; another one fails."""
    if -0x80000000 <= value <= 0x7FFFFFFF:
        return value
    _fail(ctx, Failure.UNFIT, site, value)
    return 0


@compiled()
def store(ctx: Integers, cells: Integers, place: int, value: int) -> int:
    """Assign inside an expression and give the value."""
    if ctx[slot.FAILED] == 0:
        cells[place] = value
    return value


@compiled()
def refer(ctx: Integers, rebecs: Table, reference: int, classes: int, site: int) -> int:
    """Cast a reference to one of a set of classes, given as bits; another rebec fails."""
    if reference >= 0 and (classes >> rebecs[reference, slot.CLASS]) & 1 == 0:
        _fail(ctx, Failure.CAST, site, reference)
    return reference


@compiled()
def is_one_of(rebecs: Table, reference: int, classes: int) -> bool:
    """Say whether a reference is to a rebec of one of a set of classes, given as bits."""
    return reference >= 0 and (classes >> rebecs[reference, slot.CLASS]) & 1 != 0


@compiled()
def require(ctx: Integers, condition: bool, site: int) -> None:
    """Check an assertion."""
    if not condition:
        _fail(ctx, Failure.ASSERTION, site, 0)


@compiled()
def fill(cells: Integers, value: int) -> None:
    """Set all cells."""
    for place in range(cells.shape[0]):
        cells[place] = value


# --- time, choices and messages ------------------------------------------------------------------


@compiled()
def delay(ctx: Integers, duration: int) -> None:
    """Let the rebec's time pass; a negative duration fails."""
    if duration < 0:
        _fail(ctx, Failure.DELAY, 0, duration)
    if ctx[slot.FAILED] == 0:
        ctx[slot.NOW] += duration


@compiled()
def timer_value(ctx: Integers, cell: int) -> int:
    """Give how long a timer has been running, -1 if it does not run."""
    return -1 if cell == slot.NO_TIME else ctx[slot.NOW] - cell


@compiled()
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


@compiled()
def choose(
    ctx: Integers, streams: Streams, choices: Integers, count: int, site: int, stream: int
) -> int:
    """Draw one of `count` alternatives from a stream of the rebec, under the law of the run.

    It is noted with its site above the lowest `SITE_SHIFT` bits.

    Under the law `rmc` (`ctx[LAW]` is 1) the last alternative has two chances. Under a script the
    first half of `choices` says which ones to take, and the second half is told how many there are.
    """
    if ctx[slot.FAILED] != 0:
        return 0
    if ctx[slot.LAW] == slot.SCRIPT:
        return _follow_script(ctx, choices, count)
    row = ctx[slot.STREAMS] + stream - 1
    index = min(below(streams, row, count + ctx[slot.LAW]), count - 1)
    return _noted(ctx, choices, site, index)


@compiled()
def _noted(ctx: Integers, choices: Integers, site: int, index: int) -> int:
    """Note the alternative that is drawn, as long as there is room."""
    if ctx[slot.CHOICES] < choices.shape[0]:
        choices[ctx[slot.CHOICES]] = site << slot.SITE_SHIFT | index
    ctx[slot.CHOICES] += 1
    return index


@compiled()
def choose_weighted(
    ctx: Integers,
    streams: Streams,
    choices: Integers,
    params: Integers,
    limits: int,
    count: int,
    site: int,
    stream: int,
) -> int:
    """Draw one of `count` alternatives by their weights, as `choose` does without them.

    The limits between them, see `rebecsim.arithmetic.limits_of`, are in `params` from `limits` on.
    """
    if ctx[slot.FAILED] != 0:
        return 0
    if ctx[slot.LAW] == slot.SCRIPT:
        return _follow_script(ctx, choices, count)
    index = 0
    if count > 1:
        row = ctx[slot.STREAMS] + stream - 1
        fraction = _fraction(streams, row)
        while index + 1 < count and params[limits + index] <= fraction:
            index += 1
    return _noted(ctx, choices, site, index)


whole = distributions.whole if is_plain() else compiled()(distributions.whole)


@compiled()
def draw(
    ctx: Integers,
    streams: Streams,
    choices: Integers,
    params: Integers,
    about: int,
    site: int,
    stream: int,
) -> int:
    """Draw from a distribution; under a script one of the values that stand for it.

    In `params`, from `about` on: its `Numbers`, how many such values there are, they themselves,
    how many were measured, and these.
    """
    if ctx[slot.FAILED] != 0:
        return 0
    count = params[about + 4]
    if ctx[slot.LAW] == slot.SCRIPT:
        return params[about + 5 + _follow_script(ctx, choices, count)]
    fraction = _fraction(streams, ctx[slot.STREAMS] + stream - 1)
    measured = params[about + 5 + count]
    if measured > 0:
        value = params[about + 6 + count + ((fraction >> 22) * measured >> 31)]
    else:
        first, second = real(params[about + 1]), real(params[about + 2])
        value = whole(params[about], first, second, real(params[about + 3]), fraction)
    _noted(ctx, choices, site, count + value)
    return value


@compiled()
def sendable(ctx: Integers, receiver: int) -> int:
    """Give back a receiver; null fails."""
    if receiver < 0:
        _fail(ctx, Failure.NULL, 0, 0)
    return receiver


@compiled()
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

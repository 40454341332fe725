"""The random streams of `rebecsim.actors.randomness`, for compiled code.

One row of a table for each stream of a replication: the cell's key, the replication, the stream's
number, how many words have been drawn, and the block of four words that the next one comes from.

The words are those of NumPy's generator Philox. Everything also runs as plain Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rebecsim.native.arrays import Streams
from rebecsim.native.cache import compiled, is_plain

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


def _split_sum(a: np.uint64, b: np.uint64) -> np.uint64:
    """Add modulo 2**64, without overflow, of which NumPy warns."""
    low = (a & _LOW) + (b & _LOW)
    high = (a >> _HALF) + (b >> _HALF) + (low >> _HALF)
    return ((high & _LOW) << _HALF) | (low & _LOW)


def _split_product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Multiply to 128 bits, without overflow: the high and the low word."""
    a_low, a_high = a & _LOW, a >> _HALF
    b_low, b_high = b & _LOW, b >> _HALF
    low = a_low * b_low
    first = a_high * b_low + (low >> _HALF)
    second = a_low * b_high + (first & _LOW)
    high = a_high * b_high + (first >> _HALF) + (second >> _HALF)
    return high, ((second & _LOW) << _HALF) | (low & _LOW)


@compiled(borrows=True, inner=True)
def _wrapping_sum(a: np.uint64, b: np.uint64) -> np.uint64:
    return a + b


def _wide_product() -> Any:
    """Make a function like `_split_product` of the one instruction that processors have for it."""
    from llvmlite import ir
    from numba import core
    from numba.extending import intrinsic

    types: Any = core.types
    cgutils: Any = core.cgutils

    @intrinsic
    def product(typing_context: Any, a: Any, b: Any) -> Any:
        signature = types.UniTuple(types.uint64, 2)(types.uint64, types.uint64)

        def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            wide = ir.IntType(128)
            a, b = (builder.zext(each, wide) for each in arguments)
            both = builder.mul(a, b)
            high = builder.lshr(both, ir.Constant(wide, 64))
            words = [builder.trunc(each, ir.IntType(64)) for each in (high, both)]
            return cgutils.pack_array(builder, words)

        return signature, lower

    return product


_sum = _split_sum if is_plain() else _wrapping_sum
_product = _split_product if is_plain() else _wide_product()


@compiled(borrows=True, inner=True)
def _fill(streams: Streams, row: int) -> None:
    """Compute the block of a stream that holds its next word: Philox 4x64-10."""
    key_0, key_1 = streams[row, KEY], streams[row, KEY + 1]
    # NumPy's generator counts up before it computes a block, so the first one has number 1.
    word_0 = (streams[row, DRAWN] >> _TWO) + _ONE
    word_1 = streams[row, NUMBER]
    word_2 = streams[row, REPLICATION]
    word_3 = _ZERO
    for _ in range(_ROUNDS):
        high_0, low_0 = _product(_MULTIPLY_0, word_0)
        high_1, low_1 = _product(_MULTIPLY_1, word_2)
        word_0 = high_1 ^ word_1 ^ key_0
        word_1 = low_1
        word_2 = high_0 ^ word_3 ^ key_1
        word_3 = low_0
        key_0 = _sum(key_0, _BUMP_0)
        key_1 = _sum(key_1, _BUMP_1)
    streams[row, WORDS] = word_0
    streams[row, WORDS + 1] = word_1
    streams[row, WORDS + 2] = word_2
    streams[row, WORDS + 3] = word_3


@compiled(borrows=True, inner=True)
def _word(streams: Streams, row: int) -> int:
    """Draw the next 32 bits of a stream."""
    drawn = streams[row, DRAWN]
    if drawn & _THREE == _ZERO:
        _fill(streams, row)
    streams[row, DRAWN] = drawn + _ONE
    return int(streams[row, WORDS + np.int64(drawn & _THREE)] >> _HALF)


@compiled(borrows=True, inner=True)
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


@compiled(borrows=True, inner=True)
def restart_streams(streams: Streams, replication: int) -> None:
    """Make all streams those of another replication, with nothing drawn yet."""
    for row in range(streams.shape[0]):
        streams[row, REPLICATION] = np.uint64(replication)
        streams[row, DRAWN] = _ZERO

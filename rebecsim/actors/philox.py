"""Random words where NumPy is not installed, as in a browser: the same ones, much slower."""

from __future__ import annotations

from collections.abc import Callable

_WORD, _LONG = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
_ROUNDS = 10


def words_of(key: tuple[int, int], stream: int, replication: int) -> Callable[[int], list[int]]:
    """Return a function that gives the next words, as many as asked for, in reverse order.

    Philox 4x64-10, see `rebecsim.actors.randomness`; a block has four words.
    """
    block = 0

    def words(count: int) -> list[int]:
        nonlocal block
        found: list[int] = []
        while len(found) < count:
            block += 1  # as NumPy counts: before a block is computed
            found += _block((block, stream, replication, 0), key)
        return [each >> 32 for each in reversed(found)]

    return words


def _block(counter: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, int, int, int]:
    a, b, c, d = counter
    first, second = key
    for _ in range(_ROUNDS):
        one, other = 0xD2E7470EE14C6C93 * a, 0xCA5A826395121157 * c
        a, b = other >> 64 ^ b ^ first, other & _LONG
        c, d = one >> 64 ^ d ^ second, one & _LONG
        first = first + 0x9E3779B97F4A7C15 & _LONG
        second = second + 0xBB67AE8584CAA73B & _LONG
    return a, b, c, d


def seed_key(seed: int) -> tuple[int, int]:
    """Give the first two 64-bit words of NumPy's SeedSequence of a number that is not negative.

    The mixing is that of O'Neill, "Developing a seed_seq alternative" (2015).
    """
    if seed < 0:
        raise ValueError("expected non-negative integer")  # as NumPy says
    count = max(4, (seed.bit_length() + 31) // 32)
    entropy = [seed >> 32 * place & _WORD for place in range(count)]
    hashed = _hashing(0x43B0D7E5, 0x931E8875)
    pool = [hashed(each) for each in entropy[:4]]
    for source in range(4):
        for target in range(4):
            if source != target:
                pool[target] = _mixed(pool[target], hashed(pool[source]))
    for each in entropy[4:]:
        for target in range(4):
            pool[target] = _mixed(pool[target], hashed(each))
    hashed = _hashing(0x8B51F9DD, 0x58F38DED)
    one, two, three, four = map(hashed, pool)
    return two << 32 | one, four << 32 | three


def _hashing(constant: int, factor: int) -> Callable[[int], int]:
    def hashed(value: int) -> int:
        nonlocal constant
        value ^= constant
        constant = constant * factor & _WORD
        value = value * constant & _WORD
        return value ^ value >> 16

    return hashed


def _mixed(one: int, other: int) -> int:
    value = 0xCA01F9DD * one - 0x4973F715 * other & _WORD
    return value ^ value >> 16

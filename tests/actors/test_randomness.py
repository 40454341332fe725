"""The random streams are what their documentation says, so that any engine can draw them."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rebecsim.actors import ORDER_STREAM, Streams, choice_stream, drawing
from rebecsim.actors.philox import seed_key, words_of
from rebecsim.actors.randomness import key_of

MASK = 2**64 - 1


def philox(counter, key):
    """Philox 4x64-10, written from the paper (Salmon et al. 2011, section 3)."""
    c, k = list(counter), list(key)
    for _ in range(10):
        low, high = 0xD2E7470EE14C6C93 * c[0], 0xCA5A826395121157 * c[2]
        c = [(high >> 64) ^ c[1] ^ k[0], high & MASK, (low >> 64) ^ c[3] ^ k[1], low & MASK]
        k = [(k[0] + 0x9E3779B97F4A7C15) & MASK, (k[1] + 0xBB67AE8584CAA73B) & MASK]
    return c


@given(
    st.tuples(st.integers(0, MASK), st.integers(0, MASK)),
    st.integers(0, 2**40),
    st.integers(0, 2**50),
)
def test_words_are_those_of_philox(key, replication, number):
    stream = Streams(key, replication)[number]
    words = [
        word >> 32
        for block in range(1, 18)  # numpy counts up before it computes a block
        for word in philox((block, number, replication, 0), key)
    ]
    assert [stream._word() for _ in range(68)] == words


@given(
    st.tuples(st.integers(0, MASK), st.integers(0, MASK)),
    st.integers(0, 2**40),
    st.integers(0, 2**50),
)
def test_words_are_the_same_without_numpy(key, replication, number):
    stream, words = Streams(key, replication)[number], words_of(key, number, replication)
    alone = [word for count in (64, 128) for word in reversed(words(count))]
    assert [stream._word() for _ in range(192)] == alone


@given(st.one_of(st.integers(0, 2**32), st.integers(0, 2**300)))
def test_keys_are_the_same_without_numpy(seed):
    assert seed_key(seed) == key_of(seed)


def test_streams_are_kept_and_differ():
    streams = Streams((1, 2), 3)
    assert streams[0] is streams[0]
    drawn = {tuple(Streams((1, 2), r)[n]._word() for _ in range(4)) for r in (0, 1) for n in (0, 1)}
    assert len(drawn) == 4
    assert len({ORDER_STREAM, choice_stream(0, 0), choice_stream(0, 1), choice_stream(1, 0)}) == 4


@pytest.mark.parametrize("count", [2, 3, 7, 100])
def test_indices_are_equally_likely(count):
    stream = Streams((5, 6), 0)[0]
    drawn = Counter(stream.below(count) for _ in range(2_000 * count))
    assert set(drawn) == set(range(count))
    chi_square = sum((seen - 2_000) ** 2 / 2_000 for seen in drawn.values())
    assert chi_square < count + 4 * np.sqrt(2 * count)  # four standard deviations


def test_unbiased_rejection_of_words():
    """With 3 * 2**30 alternatives a quarter of the words has to be drawn again."""
    count = 3 * 2**30
    stream = Streams((1, 1), 0)[0]
    drawn = np.array([stream.below(count) for _ in range(4_000)])
    assert 0 <= drawn.min() < drawn.max() < count
    thirds = np.bincount(drawn // 2**30, minlength=3)
    assert np.all(np.abs(thirds - 4_000 / 3) < 4 * np.sqrt(4_000 * 2 / 9))


def test_one_alternative_draws_nothing():
    stream = Streams((1, 2), 3)[0]
    assert stream.below(1) == 0
    assert stream._word() == Streams((1, 2), 3)[0]._word()


def test_the_laws():
    stream = Streams((7, 8), 0)[0]
    fair, rmc = drawing(stream, "fair"), drawing(stream, "rmc")
    runs = 40_000
    for draw, expected in ((fair, (1 / 3, 1 / 3, 1 / 3)), (rmc, (1 / 4, 1 / 4, 1 / 2))):
        seen = Counter(draw(3) for _ in range(runs))
        for index, probability in enumerate(expected):
            deviation = np.sqrt(runs * probability * (1 - probability))
            assert abs(seen[index] - runs * probability) < 4 * deviation
    assert rmc(1) == 0

"""Random streams: one for each replication, rebec and choice site.

The streams are counter based (Philox 4x64-10: Salmon et al., "Parallel random numbers: as easy as
1, 2, 3", SC 2011), so a replication's numbers depend on nothing but the key of its experiment cell
and its own number. Any engine that computes Philox can draw the same ones:

* key: the two 64-bit words of the cell;
* counter, least significant word first: (block, stream, replication, 0);
* the four words of each block are used in order, the upper 32 bits of each word;
* an index below n is drawn from them without bias by Lemire's method ("Fast random integer
  generation in an interval", TOMACS 29, 2019, algorithm 5); with n = 1 nothing is drawn;
* of weighted alternatives one is drawn by two words, the second for the lowest 21 of 53 bits;
  a value of a distribution, too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from rebecsim.actors.philox import seed_key, words_of
from rebecsim.arithmetic import FRACTION_BITS, Shares, limits_of

if TYPE_CHECKING:
    import numpy as np

ChoiceLaw = Literal["fair", "rmc"]

ORDER_STREAM = 0
"""The stream that draws the order of messages."""

_FEWEST = 64  # words fetched at a time: a run of a hundred ticks needs a few hundred
_MOST = 4096  # the same in a long run


def choice_stream(rebec: int, site: int) -> int:
    """Number the stream of a choice site of the rebec with that index; sites count below 2**32."""
    return (rebec + 1 << 32) + site


class Stream:
    """One sequence of random words."""

    __slots__ = ("_block", "_fetch", "_words")

    def __init__(self, fetch: Callable[[int], list[int]]) -> None:
        self._fetch = fetch
        self._words: list[int] = []
        self._block = _FEWEST

    def _word(self) -> int:
        if not self._words:
            self._words = self._fetch(self._block)
            self._block = min(2 * self._block, _MOST)
        return self._words.pop()

    def below(self, count: int) -> int:
        """Draw an index from 0 to count - 1, each equally likely."""
        if count == 1:
            return 0
        words = self._words
        product = (words.pop() if words else self._word()) * count
        if product & 0xFFFFFFFF < count:
            threshold = (0x100000000 - count) % count
            while product & 0xFFFFFFFF < threshold:
                product = self._word() * count
        return product >> 32

    def weighted(self, shares: Shares) -> int:
        """Draw the index of an alternative, each as likely as its share says."""
        if len(shares) == 1:
            return 0
        return bisect_right(limits_of(shares), self.fraction())

    def fraction(self) -> int:
        """Draw a number of FRACTION_BITS bits."""
        return self._word() << FRACTION_BITS - 32 | self._word() >> 64 - FRACTION_BITS


def key_of(seed: int | np.random.SeedSequence) -> tuple[int, int]:
    """Give the key of the random streams of a seed: two 64-bit words."""
    try:
        import numpy as np  # what draws nothing need not load it
    except ImportError:
        assert isinstance(seed, int)
        return seed_key(seed)
    root = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    first, second = root.generate_state(2, np.uint64)
    return int(first), int(second)


class Streams:
    """The random streams of one replication of one cell.

    `key` holds two 64-bit words, as `key_of` gives them.
    """

    __slots__ = ("_key", "_replication", "_streams")

    def __init__(self, key: tuple[int, int], replication: int) -> None:
        self._key = key
        self._replication = replication
        self._streams: dict[int, Stream] = {}

    def __getitem__(self, number: int) -> Stream:
        stream = self._streams.get(number)
        if stream is None:
            stream = Stream(_fetching(self._key, number, self._replication))
            self._streams[number] = stream
        return stream


def _fetching(key: tuple[int, int], number: int, replication: int) -> Callable[[int], list[int]]:
    """Return a function that gives the next words of a stream, as many as asked for, reversed."""
    try:
        import numpy as np  # what draws nothing need not load it
    except ImportError:
        return words_of(key, number, replication)
    counter = np.array([0, number, replication, 0], dtype=np.uint64)
    raw = np.random.Philox(key=np.array(key, dtype=np.uint64), counter=counter).random_raw

    def fetch(count: int) -> list[int]:
        words: list[int] = (raw(count) >> 32)[::-1].tolist()
        return words

    return fetch


def drawing(stream: Stream, choice_law: ChoiceLaw) -> Callable[[int], int]:
    """Return the function that draws one of so many alternatives from a stream under a law.

    They have no weights. `fair` makes all of them equally likely. `rmc` is what RMC's trace
    generator does: with k alternatives the last one has probability 2 / (k + 1), every other one
    1 / (k + 1).
    """
    if choice_law == "fair":
        return stream.below
    return lambda count: min(stream.below(count + 1), count - 1)

"""Pack the numbers that make up a state into 64-bit words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

WIDEST = 62
"""The most bits of one part; more would not leave room for a sign."""

_WORD = 63


def layout_for(largest: Sequence[int]) -> NDArray[np.int64]:
    """Lay out parts of a state that take values from 0 to `largest`, at least.

    Gives an array of shape (parts, 3): word, shift and mask of each. The bits that are left in
    the last word go to the parts that may soon need them, those with the largest values first.
    Raises OverflowError for a value of more than 62 bits.
    """
    widths = [max(int(value).bit_length(), 1) for value in largest]
    if max(widths) > WIDEST:
        raise OverflowError(f"a part of a state needs {max(widths)} bits")
    words = _pack(widths)[-1][0]
    by_size = sorted(range(len(widths)), key=lambda part: -widths[part])
    for part in (*by_size, *by_size):
        widths[part] += 1
        if widths[part] > WIDEST or _pack(widths)[-1][0] > words:
            widths[part] -= 1
    return np.array(
        [
            (word, shift, (1 << width) - 1)
            for (word, shift), width in zip(_pack(widths), widths, strict=True)
        ],
        dtype=np.int64,
    )


def _pack(widths: Sequence[int]) -> list[tuple[int, int]]:
    """Give word and shift of each part: in order, none across two words."""
    places: list[tuple[int, int]] = []
    word = shift = 0
    for width in widths:
        if shift + width > _WORD:
            word, shift = word + 1, 0
        places.append((word, shift))
        shift += width
    return places


def packed(parts: NDArray[np.int64], layout: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pack states, an array of shape (states, parts), into words: shape (states, words)."""
    words = np.zeros((len(parts), words_of(layout)), dtype=np.int64)
    for part, (word, shift, _) in enumerate(layout.tolist()):
        words[:, word] |= parts[:, part] << shift
    return words


def relaid(
    states: NDArray[np.int64], old: NDArray[np.int64], layout: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Pack states of one layout, shape (states, words), into another."""
    parts = [(states[:, word] >> shift) & mask for word, shift, mask in old.tolist()]
    return packed(np.stack(parts, axis=1), layout)


def words_of(layout: NDArray[np.int64]) -> int:
    """Give how many words a state takes."""
    return int(layout[-1, 0]) + 1

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from rebecsim.native import layout_for, words_of


@given(largest=st.lists(st.integers(0, 2**62 - 1), min_size=1, max_size=40))
def test_every_part_fits_and_none_overlaps(largest: list[int]) -> None:
    layout = layout_for(largest)
    used: dict[int, int] = {}
    for (word, shift, mask), value in zip(layout.tolist(), largest, strict=True):
        assert value <= mask
        assert mask << shift < 2**63
        assert used.get(word, 0) & (mask << shift) == 0
        used[word] = used.get(word, 0) | mask << shift
    assert words_of(layout) == len(used)
    assert layout[0, 0] == 0  # an empty place is told by the first word


def test_spare_bits_are_given_to_parts_that_grow() -> None:
    layout = layout_for([1000, 3])
    assert layout[0, 2] > 1000
    assert words_of(layout) == 1


def test_a_value_too_large_for_a_word() -> None:
    with pytest.raises(OverflowError, match="63 bits"):
        layout_for([2**62])

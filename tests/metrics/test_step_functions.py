from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.metrics import count_over_time

interval = st.tuples(st.integers(0, 40), st.integers(0, 20), st.integers(0, 5))


@settings(max_examples=100)
@given(st.lists(interval, max_size=10))
def test_open_intervals_are_counted_second_by_second(rows):
    begin, length, weight = (np.array([row[k] for row in rows], dtype=np.int64) for k in range(3))
    function = count_over_time(begin, begin + length, weight)
    wanted = np.zeros(64)
    for first, lasts, units in rows:
        wanted[first : first + lasts] += units
    assert function.at(np.arange(64)).tolist() == wanted.tolist()
    assert (np.diff(function.times) > 0).all()
    assert not len(function.values) or function.values[-1] == 0
    edges = np.array([0, 3, 7, 8, 20, 64])
    means = [wanted[a:b].mean() for a, b in pairwise(edges)]
    assert function.means(edges) == pytest.approx(means)


def test_an_interval_must_not_end_before_it_begins():
    with pytest.raises(ValueError, match="ends before it begins"):
        count_over_time(np.array([3]), np.array([2]))

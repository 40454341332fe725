"""The random streams of compiled code are those of the Python engine."""

import numpy as np
import pytest

from rebecsim.actors import Streams
from rebecsim.native import compiled
from rebecsim.native.operations import KEY, NUMBER, STREAM_WIDTH, below, restart_streams

pytestmark = pytest.mark.plain


@compiled("int64(uint64[:, ::1], int64, int64)")
def draw(streams, row, count):
    return below(streams, row, count)


@compiled("void(uint64[:, ::1], int64)")
def restart(streams, replication):
    restart_streams(streams, replication)


@pytest.mark.parametrize("key", [(0, 0), (2**64 - 3, 12345678901234567890), (1, 2**63)])
def test_both_engines_draw_the_same_numbers(key):
    numbers = [0, (5 << 32) + 3]
    table = np.zeros((2, STREAM_WIDTH), np.uint64)
    table[:, KEY], table[:, KEY + 1] = key
    table[:, NUMBER] = numbers
    for replication in (0, 1, 10**9):
        restart(table, replication)
        streams = Streams(key, replication)
        for place in range(300):
            count = place % 7 + 1 if place % 3 else 2**31 - 1
            row = place % 2
            assert draw(table, row, count) == streams[numbers[row]].below(count)

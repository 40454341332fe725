"""Tables of integers: fingerprints."""

import numpy as np

from rebecsim.native import FINGERPRINT_BITS
from rebecsim.native.loops.tables import fingerprint_of


def test_fingerprints_of_states_that_are_much_alike_differ():
    """Small numbers, of which a weak mixture could cancel out."""
    with np.errstate(over="ignore"):
        found = [
            fingerprint_of(np.array([first, second, third], np.int64), time)
            for first in range(14)
            for second in range(14)
            for third in range(14)
            for time in range(14)
        ]
    assert len(set(found)) == len(found)
    assert 0 not in found


def test_each_bit_of_a_fingerprint_is_set_in_half_of_all():
    with np.errstate(over="ignore"):
        found = [int(fingerprint_of(np.array([number, 1], np.int64), 0)) for number in range(4_000)]
    assert all(each >> FINGERPRINT_BITS == 1 for each in found)
    counts = [sum(each >> bit & 1 for each in found) for bit in range(FINGERPRINT_BITS)]
    assert all(1_800 < count < 2_200 for count in counts), counts

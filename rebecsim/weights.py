"""The weights of a choice: how likely each alternative is, and which one a random number means."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import accumulate

TOLERANCE = 0.001
"""By how much weights may miss 1 together, about as in Rebeca's compiler."""

FRACTION_BITS = 53
"""The bits of a random number that decides between weighted alternatives: those of a double."""

Shares = tuple[float, ...]
"""How likely the alternatives of a choice are; they add up to 1."""


@lru_cache(maxsize=1 << 10)
def shares_of(weights: tuple[float, ...]) -> Shares:
    """Scale weights so that they add up to 1.

    Raises ValueError for one that is not above 0, and if they miss 1 by more than TOLERANCE.
    """
    for weight in weights:
        if not weight > 0:
            raise ValueError(f"a weight must be above 0, not {weight!r}")
    total = math.fsum(weights)
    if not abs(total - 1) <= TOLERANCE * (1 + 1e-9):
        raise ValueError(f"the weights add up to {total:g}, not to 1")
    return tuple(float(weight / total) for weight in weights)


@lru_cache(maxsize=1 << 10)
def limits_of(shares: Shares) -> tuple[int, ...]:
    """Give of each alternative but the last the random number at which the next one begins.

    Random numbers are whole, from 0 up to below 2**FRACTION_BITS.
    """
    whole = 1 << FRACTION_BITS
    return tuple(min(round(whole * share), whole) for share in accumulate(shares[:-1]))

"""Fair shares as Hadoop's Fair Scheduler computes them: weights between least and most.

Everybody gets the weight times a ratio, but not less than the least and not more than the most.
The ratio for which all together get what there is is found by bisection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

UNLIMITED = 2**63 - 1
"""More than anybody has."""

_BISECTIONS = 25


class Claim(NamedTuple):
    """What somebody should have of one resource, in whole units."""

    weight: float = 1.0
    least: int = 0
    most: int = UNLIMITED

    def at(self, ratio: float) -> int:
        """Give the share at a ratio, a whole number."""
        return min(max(int(self.weight * ratio), self.least), self.most)


def fair_shares(total: int, claims: Sequence[Claim]) -> list[int]:
    """Share what there is; in the order of the claims.

    Who may have nothing gets nothing, who has no weight gets the least. If no ratio gives exactly
    what there is, the sum is a few units more: after 25 steps the upper bound counts.
    """
    fixed = {
        place: 0 if claim.most <= 0 else max(0, claim.least)
        for place, claim in enumerate(claims)
        if claim.most <= 0 or claim.weight <= 0
    }
    rest = [claim for place, claim in enumerate(claims) if place not in fixed]
    shared = min(sum(each.most for each in rest), max(0, total - sum(fixed.values())))
    ratio = _ratio(shared, rest) if rest else 0.0
    return [
        fixed[place] if place in fixed else claim.at(ratio) for place, claim in enumerate(claims)
    ]


def _ratio(shared: int, claims: Sequence[Claim]) -> float:
    """Give a ratio at which claims together get what is shared, or a little more."""
    alike = Counter(claims).items()
    high = 1.0
    while sum(claim.at(high) * count for claim, count in alike) < shared:
        high *= 2
    low = 0.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        given = sum(claim.at(middle) * count for claim, count in alike)
        if given == shared:
            return middle
        if given < shared:
            low = middle
        else:
            high = middle
    return high

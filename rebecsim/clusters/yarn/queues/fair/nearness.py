"""How long a request waits for a node near to where its tasks would rather run."""

from __future__ import annotations

from rebecsim.clusters.yarn.container import Locality

NODE, RACK, ANY = 0, 1, 2
"""How far from there tasks may run: on the node, in its rack, anywhere."""

_DISTANCES: dict[Locality, int] = {"node": NODE, "rack": RACK, "any": ANY}


class Nearness:
    """How near nodes must be for one request of an application.

    Opportunities are looks at a node on which a task of the request could run.
    """

    __slots__ = ("_farthest", "_opportunities")

    def __init__(self) -> None:
        self._farthest: int | None = None
        self._opportunities = 0

    def farthest(self, for_rack: float, for_any: float) -> int:
        """Give how far tasks may run, after another opportunity.

        More opportunities than `for_rack` widen it to the rack, then more than `for_any` to any
        node. The first look never does. Only widening sets the count to 0.
        """
        self._opportunities += 1
        if self._farthest is None:
            self._farthest = NODE
        elif self._farthest < ANY and self._opportunities > (for_rack, for_any)[self._farthest]:
            self._farthest += 1
            self._opportunities = 0
        return self._farthest

    def ran(self, near: Locality) -> None:
        """Take note of how near a task runs: from then on others must be as near, but for any."""
        if self._farthest is not None and near != "any":
            self._farthest = min(self._farthest, _DISTANCES[near])

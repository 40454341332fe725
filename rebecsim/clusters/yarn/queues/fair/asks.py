"""What an application asks for under the Fair Scheduler, and how near nodes must be for it."""

from __future__ import annotations

from rebecsim.clusters.yarn.application import Task
from rebecsim.clusters.yarn.container import Locality
from rebecsim.clusters.yarn.queues.asks import Ask
from rebecsim.clusters.yarn.queues.fair.line import Request

NODE, RACK, ANY = 0, 1, 2
"""How far from where they would rather run tasks may run: on the node, in its rack, anywhere."""

_DISTANCES: dict[Locality, int] = {"node": NODE, "rack": RACK, "any": ANY}


class FairAsk(Ask):
    """Containers of one size and priority.

    Opportunities are looks at a node on which one of them could run.

    Attributes:
        request: what others may ask for, too.
    """

    __slots__ = ("_farthest", "_opportunities", "request")

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.request = Request(self.size, self.is_master)
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
        """Take note of how near a task runs: others must be as near from then on, but for any."""
        if self._farthest is not None and near != "any":
            self._farthest = min(self._farthest, _DISTANCES[near])

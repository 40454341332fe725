"""What applications ask for, and those of a leaf that do, in the order in which they are served."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rebecsim.actors import StatePart
from rebecsim.clusters.yarn.containers import Locality, Task
from rebecsim.clusters.yarn.queue_files.fair_settings import FairPolicy
from rebecsim.clusters.yarn.queue_files.resources import Resources
from rebecsim.clusters.yarn.queues.asks import Ask
from rebecsim.clusters.yarn.queues.fair.policies import is_below, place_of

if TYPE_CHECKING:
    from rebecsim.clusters.yarn.queues.fair.state import FairApplicationState


class Request(NamedTuple):
    """A size of containers that an application asks for: for many of a leaf the same."""

    size: Resources
    is_master: bool


Requests = tuple[Request, ...]
"""What an application asks for, in order."""


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


Place = tuple[Any, ...]
"""What members are ordered by; no two of a line have the same."""


class _Ordered(StatePart):
    """Applications by their places, and what each asks for."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        self.members: list[tuple[FairApplicationState, Requests]] = []

    def insert(self, place: Place, each: FairApplicationState, requests: Requests) -> None:
        at = bisect_left(self.places, place)
        self.places.insert(at, place)
        self.members.insert(at, (each, requests))

    def remove(self, place: Place) -> None:
        at = bisect_left(self.places, place)
        del self.places[at], self.members[at]


class ServiceLine(StatePart):
    """Applications in their order, which is kept and not found anew for each container.

    When no application can get a container, as at most heartbeats of a full cluster,
    that is counted once for all of them; who leaves the line takes note of it. Those that have less
    than their share stand in a line of their own, too, as only they may reserve nodes.
    """

    def __init__(self, policy: FairPolicy, total: Resources) -> None:
        self._policy = policy
        self._total = total
        self._all = _Ordered()
        self._starved = _Ordered()
        self._entered: dict[FairApplicationState, tuple[Place, Requests, int]] = {}
        self._below: dict[FairApplicationState, Place] = {}
        self._asking_for: dict[Requests, int] = {}
        self._refusals = 0

    def __iter__(self) -> Iterator[FairApplicationState]:
        return (each for each, _ in self._all.members)

    def with_requests(self) -> Sequence[tuple[FairApplicationState, Requests]]:
        """Give the applications, and what each asks for."""
        return self._all.members

    def starved(self) -> Sequence[tuple[FairApplicationState, Requests]]:
        """Give those of them that have less than their share."""
        return self._starved.members

    @property
    def requests(self) -> list[Requests]:
        """What is asked for, by anybody."""
        return list(self._asking_for)

    def requests_of(self, each: FairApplicationState) -> Requests:
        """Give what an application asks for here; nothing if it is not here."""
        return self._entered[each][1] if each in self._entered else ()

    def enter(self, each: FairApplicationState) -> bool:
        """Put an application at its place, where it may be already.

        Gives whether it asks for something now that it did not ask for here.
        """
        place, requests = place_of(self._policy, each, self._total), each.requests
        known = self._entered.get(each)
        if known is not None:
            if known[0] == place and known[1] == requests:
                self._compare(each)
                return False
            self.leave(each)
        self._all.insert(place, each, requests)
        self._asking_for[requests] = self._asking_for.get(requests, 0) + 1
        self._entered[each] = place, requests, self._refusals
        self._compare(each)
        return known is None or known[1] != requests

    def leave(self, each: FairApplicationState) -> Requests | None:
        """Take an application out, if it is there; give what it asked for."""
        known = self._entered.pop(each, None)
        if known is None:
            return None
        place, requests, before = known
        self._all.remove(place)
        if each in self._below:
            self._starved.remove(self._below.pop(each))
        self._asking_for[requests] -= 1
        if not self._asking_for[requests]:
            del self._asking_for[requests]
        each.application.decisions.reject(self._refusals - before)
        return requests

    def is_starved(self, each: FairApplicationState) -> bool:
        """Whether an application here has less than its share."""
        return each in self._below

    def compare_all(self) -> None:
        """Find out anew who has less than the share, as shares are others now."""
        for each in self._entered:
            self._compare(each)

    def _compare(self, each: FairApplicationState) -> None:
        is_starved = is_below(self._policy, each.used, each.share, self._total)
        if is_starved == (each in self._below):
            return
        if is_starved:
            place, requests, _ = self._entered[each]
            self._below[each] = place
            self._starved.insert(place, each, requests)
        else:
            self._starved.remove(self._below.pop(each))

    def refuse_all(self) -> None:
        """Record that no application could get a container."""
        self._refusals += 1

"""Those of a leaf that ask for containers, in the order in which they are served."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from rebecsim.clusters.yarn.queue_files.fair_settings import FairPolicy
from rebecsim.clusters.yarn.queue_files.resources import Resources
from rebecsim.clusters.yarn.queues.fair.policies import place_of

if TYPE_CHECKING:
    from rebecsim.clusters.yarn.queues.fair.state import FairApplicationState


class Request(NamedTuple):
    """A size of containers that an application asks for: for many of a leaf the same."""

    size: Resources
    is_master: bool


Requests = tuple[Request, ...]
"""What an application asks for, in order."""


class ServiceLine:
    """Applications in their order, which is kept and not found anew for each container.

    When nobody can be given anything, which is what most heartbeats of a full cluster end with,
    that is counted once for all of them; who leaves the line takes note of it.
    """

    def __init__(self, policy: FairPolicy, total: Resources) -> None:
        self._policy = policy
        self._total = total
        self._places: list[tuple[Any, ...]] = []
        self._members: list[tuple[FairApplicationState, Requests]] = []
        self._entered: dict[FairApplicationState, tuple[tuple[Any, ...], Requests, int]] = {}
        self._asking_for: dict[Requests, int] = {}
        self._refusals = 0

    def __iter__(self) -> Iterator[FairApplicationState]:
        return (each for each, _ in self._members)

    def with_requests(self) -> Iterable[tuple[FairApplicationState, Requests]]:
        """Give the applications, and what each asks for."""
        return self._members

    @property
    def requests(self) -> list[Requests]:
        """What is asked for, by anybody."""
        return list(self._asking_for)

    def enter(self, each: FairApplicationState) -> bool:
        """Put an application at its place, where it may be already.

        Gives whether it asks for something now that it did not ask for here.
        """
        place, requests = place_of(self._policy, each, self._total), each.requests
        known = self._entered.get(each)
        if known is not None:
            if known[0] == place and known[1] == requests:
                return False
            self.leave(each)
        at = bisect_left(self._places, place)
        self._places.insert(at, place)
        self._members.insert(at, (each, requests))
        self._asking_for[requests] = self._asking_for.get(requests, 0) + 1
        self._entered[each] = place, requests, self._refusals
        return known is None or known[1] != requests

    def leave(self, each: FairApplicationState) -> None:
        """Take an application out, if it is there."""
        known = self._entered.pop(each, None)
        if known is None:
            return
        place, requests, before = known
        at = bisect_left(self._places, place)
        del self._places[at], self._members[at]
        self._asking_for[requests] -= 1
        if not self._asking_for[requests]:
            del self._asking_for[requests]
        each.application.decisions.reject(self._refusals - before)

    def refuse_all(self) -> None:
        """Take note that everybody was looked at, and nobody could be given anything."""
        self._refusals += 1

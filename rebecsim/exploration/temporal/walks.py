"""Build runs that show that an until holds or does not hold."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from rebecsim.exploration.temporal.bounds import Comparison
from rebecsim.exploration.temporal.stretches import Stretches
from rebecsim.exploration.temporal.until_times import NEVER, UntilTimes
from rebecsim.native.arrays import Flags


class TimedUntil(NamedTuple):
    """An until, and when it is met. `negated`: it stands for the opposite."""

    left: Flags
    right: Flags
    comparison: Comparison
    universal: bool
    negated: bool
    times: UntilTimes


class Hop(NamedTuple):
    """A hop between nodes: where from, where to, which transition of the graph it belongs to."""

    source: int
    target: int
    edge: int


@dataclass(frozen=True)
class HopRun:
    """Hops from a node on; those from `loop` on are repeated for ever, if there is one."""

    hops: tuple[Hop, ...]
    loop: int | None = None

    def followed_by(self, more: HopRun) -> HopRun:
        """Go on with another run from where this one ends."""
        loop = None if more.loop is None else len(self.hops) + more.loop
        return HopRun((*self.hops, *more.hops), loop)


_SOON = 200
"""The most hops of a run until its time is over; a longer one is shown as a round instead."""

_Place = tuple[int, int]
"""A node, and the limit of the bound that is left there; NEVER - 1, if there is none."""


class UntilWalk:
    """Runs through the nodes of a system on which an until holds, or on which it does not."""

    def __init__(self, system: Stretches, until: TimedUntil) -> None:
        self._system = system
        self._until = until

    def meeting(self, start: int) -> HopRun:
        """Give a run on which it holds, of a bound from above the soonest. There must be one.

        Wherever it holds with what is left of the bound, some way on is a right one. So it goes
        from one moment to the next, with few hops at each.
        """
        here = start, self._until.times.nearest(start, holds=True)
        hops: list[Hop] = []
        while not self._is_met(here):
            way, here = self._next(here)
            hops += way
        return HopRun(tuple(hops))

    def _next(self, begin: _Place) -> tuple[list[Hop], _Place]:
        """Give a shortest way to where it is met, or to the next time with less left."""
        came: dict[_Place, tuple[_Place, Hop] | None] = {begin: None}
        pending = deque([begin])
        end: _Place | None = None
        while end is None:
            here = pending.popleft()
            if not self._until.left[here[0]]:
                continue
            for hop, left in self._hops(here):
                there = hop.target, left
                if left < 0 or there in came or not self._until.times.holds(*there):
                    continue
                came[there] = here, hop
                if left < here[1] or self._is_met(there):
                    end = there
                    break
                pending.append(there)
        way: list[Hop] = []
        at = end
        while (step := came[at]) is not None:
            at, hop = step
            way.append(hop)
        return way[::-1], end

    def _is_met(self, place: _Place) -> bool:
        """Whether what it waits for comes in this node, at a time that meets the bound."""
        node, left = place
        until = self._until
        if not until.right[node]:
            return False
        lasts = until.left[node] and left < int(self._system.length[node])
        return until.comparison == "<=" or left == 0 or bool(lasts)

    def avoiding(self, start: int) -> HopRun:
        """Give a run on which it does not hold: up to where that is decided, or round for ever.

        There must be one. Of a bound from above it goes on until the time is over, if that is soon.
        """
        times = self._until.times
        nearest = times.nearest(start, holds=False)
        soon = self._avoiding((start, times.limit), _SOON) if nearest > times.limit else None
        run = soon or self._avoiding((start, nearest), None)
        assert run is not None, "nothing keeps it from going on"
        return run

    def _avoiding(self, here: _Place, most: int | None) -> HopRun | None:
        """Give such a run of no more than so many hops."""
        hops: list[Hop] = []
        seen: dict[_Place, int] = {}
        while here[1] >= 0 and self._until.left[here[0]]:
            if here in seen:
                return HopRun(tuple(hops), seen[here])
            if len(hops) == most:
                return None
            seen[here] = len(hops)
            hop, left = next(
                (hop, left)
                for hop, left in self._hops(here)
                if left < 0 or not self._until.times.holds(hop.target, left)
            )
            hops.append(hop)
            here = hop.target, left
        return HopRun(tuple(hops))

    def _hops(self, place: _Place) -> Iterator[tuple[Hop, int]]:
        """Give the hops out of a node, with what is left of the bound behind each."""
        node, left = place
        system = self._system
        for hop in system.out_of(node):
            rest = left
            if left < NEVER - 1:
                rest -= int(system.units[hop])
                if self._until.comparison == ">=":
                    rest = max(rest, 0)
            yield Hop(node, int(system.target[hop]), int(system.edge[hop])), rest

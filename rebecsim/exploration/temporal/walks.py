"""Runs that show whether an until holds: one on which it does, or one on which it does not."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from rebecsim.exploration.temporal.bounds import TimeBound, weak
from rebecsim.exploration.temporal.moments import Flags, Moments


class LayeredUntil(NamedTuple):
    """An until with its layers; see `Layers`. `negated`: it stands for the opposite."""

    left: Flags
    right: Flags
    bound: TimeBound | None
    universal: bool
    negated: bool
    layers: list[Flags]


class Hop(NamedTuple):
    """A transition between moments: where to, which of the endless graph it belongs to."""

    target: int
    edge: int
    takes_unit: bool


@dataclass(frozen=True)
class MomentRun:
    """Hops from a moment on; those from `loop` on are repeated for ever, if there is one."""

    hops: tuple[Hop, ...]
    loop: int | None = None

    def followed_by(self, more: MomentRun) -> MomentRun:
        """Go on with another run from where this one ends."""
        loop = None if more.loop is None else len(self.hops) + more.loop
        return MomentRun((*self.hops, *more.hops), loop)


class MomentWalk:
    """A run through moments, hop by hop."""

    def __init__(self, moments: Moments, until: LayeredUntil, start: int) -> None:
        self._moments = moments
        self._until = until
        bound = None if until.bound is None else weak(until.bound)
        self._comparison = "" if bound is None else bound.comparison
        self._left = None if bound is None else bound.limit
        """Units that are left; None: there is no bound."""
        self._at = start
        self._hops: list[Hop] = []

    def _hops_from(self, node: int) -> Iterator[Hop]:
        moments = self._moments
        kinds = zip((moments.at_once, moments.later), moments.edge, (False, True), strict=True)
        for hops, edges, takes_unit in kinds:
            for place in hops.out_of(node):
                yield Hop(int(hops.target[place]), int(edges[place]), takes_unit)

    def _take(self, hop: Hop) -> None:
        self._hops.append(hop)
        self._at = hop.target
        if hop.takes_unit and self._left is not None:
            self._left -= 1

    def _layer(self, left: int | None) -> Flags:
        """Give the layer of a bound with so many units left."""
        layers = self._until.layers
        return layers[-1] if left is None else layers[min(left, len(layers) - 1)]

    def _done(self, loop: int | None = None) -> MomentRun:
        return MomentRun(tuple(self._hops), loop)


class Meeting(MomentWalk):
    """A shortest run on which an until holds."""

    def run(self) -> MomentRun:
        """Give the run. There must be one."""
        right = self._until.right
        if self._comparison == "<=" and self._left is not None:
            self._left = next(k for k in range(self._left + 1) if self._layer(k)[self._at])
        while self._comparison and self._left:
            if self._comparison == "<=" and right[self._at]:
                return self._done()
            below = self._layer(self._left - 1)
            self._go_nearest(partial(self._leads_into, below), self._now)
            self._take(next(self._hops_into(below, self._at)))
        any_time = self._comparison in ("", ">=")
        self._go_nearest(lambda node: bool(right[node]), self._all if any_time else self._now)
        return self._done()

    def _go_nearest(
        self, is_goal: Callable[[int], bool], hops: Callable[[int], Iterator[Hop]]
    ) -> None:
        """Take a shortest way to a goal."""
        start = node = self._at
        came: dict[int, tuple[int, Hop]] = {}
        pending = deque([start])
        while pending:
            node = pending.popleft()
            if is_goal(node):
                break
            for hop in hops(node):
                if hop.target not in came and hop.target != start:
                    came[hop.target] = node, hop
                    pending.append(hop.target)
        way: list[Hop] = []
        while node != start:
            node, hop = came[node]
            way.append(hop)
        for hop in reversed(way):
            self._take(hop)

    def _leads_into(self, layer: Flags, node: int) -> bool:
        return next(self._hops_into(layer, node), None) is not None

    def _hops_into(self, layer: Flags, node: int) -> Iterator[Hop]:
        if self._until.left[node]:
            hops = self._hops_from(node)
            yield from (hop for hop in hops if hop.takes_unit and layer[hop.target])

    def _now(self, node: int) -> Iterator[Hop]:
        if self._until.left[node]:
            yield from (hop for hop in self._hops_from(node) if not hop.takes_unit)

    def _all(self, node: int) -> Iterator[Hop]:
        if self._until.left[node]:
            yield from self._hops_from(node)


class Avoiding(MomentWalk):
    """A run on which an until does not hold: up to where that is decided, or round for ever."""

    def run(self) -> MomentRun:
        """Give the run. There must be one."""
        seen: dict[tuple[int, int | None], int] = {}
        while self._left is None or self._left >= 0:
            key = self._at, self._depth()
            if key in seen:
                return self._done(seen[key])
            seen[key] = len(self._hops)
            hop = self._next()
            if hop is None:
                break
            self._take(hop)
            if self._left == -1 and self._comparison == ">=":
                self._left = 0
        return self._done()

    def _depth(self) -> int | None:
        """Give which layer it is in; all that are above the last one are alike."""
        return None if self._left is None else min(self._left, len(self._until.layers))

    def _next(self) -> Hop | None:
        """Give a hop after which the until still does not hold; None: it cannot any more."""
        if not self._until.left[self._at]:
            return None
        return next(filter(self._still_fails, self._hops_from(self._at)), None)

    def _still_fails(self, hop: Hop) -> bool:
        left = self._left
        if hop.takes_unit and left is not None:
            if left == 0 and self._comparison != ">=":
                return True  # the time is over
            left = max(left - 1, 0)
        return not self._layer(left)[hop.target]

"""Nodes that send no heartbeats, as those would come to nothing until something changes.

In Hadoop nodes always send heartbeats. Those that change nothing can be left out: the next one that
matters comes at the time it would have come. So who calls `rest` must have found nothing to give
and nothing to count, and must `rouse` the nodes when something changes. They are not woken all at
once, but one moment of heartbeats after the other, so that the rest can be spared.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort

from rebecsim.actors import StatePart
from rebecsim.clusters.yarn.containers import ClusterNode
from rebecsim.clusters.yarn.schedulers.scheduler import Grants


class Resting(StatePart):
    """Nodes that rest, and are worth another look as soon as something changes.

    A node has its heartbeats at one time within each period, its phase.
    """

    def __init__(self, grants: Grants, period: int) -> None:
        self._grants = grants
        self._period = period
        self._nodes: dict[int, dict[ClusterNode, int]] = {}  # by phase; see `_roused`
        self._phases: list[int] = []
        self._roused = 0  # how often; who rests since the last time is not woken
        self._until = 0  # heartbeats up to here are worth sending
        self._next: int | None = None  # when those come that have been woken last
        self._waking = 0, 0  # since when a heartbeat is wanted, and when the woken ones come

    def rest(self, node: ClusterNode) -> None:
        """Let a node, whose heartbeat it is, send no others until it is woken."""
        phase = node.beat % self._period
        if phase not in self._nodes:
            insort(self._phases, phase)
        if node.beat + self._period <= self._waking[1]:
            self._waking = 0, 0
        self._nodes.setdefault(phase, {})[node] = self._roused

    def came(self, node: ClusterNode) -> None:
        """Take note of a heartbeat of a node, which may have been woken by something else."""
        phase = node.beat % self._period
        of_phase = self._nodes.get(phase)
        if of_phase is not None and node in of_phase:
            del of_phase[node]
            if not of_phase:
                del self._nodes[phase]
                del self._phases[bisect_left(self._phases, phase)]
        if self._next is not None and node.beat >= self._next:
            self._go_on(node.beat)

    def rouse(self) -> None:
        """Let all of them send their next heartbeats, as something has changed."""
        now, before = self._grants.clock, self._until
        self._roused += 1
        self._until = now + self._period
        if self._next is None or not now < self._next < before:  # those come first in any case
            self._go_on(now)

    def calm(self) -> None:
        """Spare the heartbeats that have not been sent, as nothing would come of them."""
        self._until = 0

    def wake_at(self, time: int) -> None:
        """Let the first heartbeat from a time on be sent, or one before it if that is far away."""
        now = self._grants.clock
        if (self._waking[0] == time and now < self._waking[1]) or not self._phases:
            return
        at = self._after(max(now, time - 1))
        if at > now + self._period:
            place = bisect_right(self._phases, now % self._period) - 1
            at = now + self._period - (now - self._phases[place]) % self._period
        elif at < now + self._period:  # not those whose heartbeat of this moment may be to come
            self._waking = time, at
        self._wake(at, self._roused + 1)

    def _go_on(self, now: int) -> None:
        """Wake those whose heartbeats are next, if they are worth it."""
        self._next, at = None, now
        while self._phases and (at := self._after(at)) <= self._until:
            if self._wake(at, self._roused):
                self._next = at
                return

    def _after(self, time: int) -> int:
        """Give when the first heartbeat after a time would be."""
        place = bisect_right(self._phases, time % self._period) % len(self._phases)
        return time + ((self._phases[place] - time) % self._period or self._period)

    def _wake(self, at: int, before: int) -> bool:
        """Wake those who rest since before some rousing; give whether there are some."""
        found = [each for each, since in self._nodes[at % self._period].items() if since < before]
        for node in found:
            self._grants.wake(node)
        return bool(found)

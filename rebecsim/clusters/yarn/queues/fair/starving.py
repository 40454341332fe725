"""Killing containers for applications that have had too little for too long.

For a container of such an application one node is looked for, on which few containers make room for
it, best without an AppMaster. They are killed after some time, and the application is the first one
on the node then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rebecsim.actors import StatePart
from rebecsim.clusters.yarn.containers import Application, ClusterNode, Container
from rebecsim.clusters.yarn.queue_files.fair_settings import FairPreemption
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources, total_of
from rebecsim.clusters.yarn.queues.fair.cluster import FairCluster
from rebecsim.clusters.yarn.queues.fair.policies import is_below
from rebecsim.clusters.yarn.queues.fair.state import FairApplicationState, FairQueueState
from rebecsim.clusters.yarn.records import Killed

SHARE = "share"
_NODE_HEARTBEATS = 4
_HEARTBEAT = 1000


class _Chosen(NamedTuple):
    """A container that will be killed, for whom, and when it was chosen (ms)."""

    taker: FairApplicationState
    at: int


class Starving(StatePart):
    """Finds who has too little, and chooses what is killed for them.

    Attributes:
        has_changed: whether the last round changed what nodes may give.
    """

    def __init__(
        self,
        rules: FairPreemption,
        cluster: FairCluster,
        nodes: Sequence[ClusterNode],
    ) -> None:
        self._rules = rules
        self._root = cluster.root
        self._states = cluster.states
        self._total = cluster.total
        self._nodes = nodes
        self.has_changed = False
        self._chosen: dict[Container, _Chosen] = {}
        self._dying: dict[Container, None] = {}
        self._first: dict[ClusterNode, dict[FairApplicationState, Resources]] = {}

    @property
    def patience(self) -> int:
        """After how long at most something is killed if nothing else happens (ms).

        Whoever starves has been hungry for one of the times of his queue, may have to wait until he
        is looked at again, and then until what is chosen for him is killed.
        """
        queues = [each.settings for each in self._root.below()]
        hungry = [time for each in queues for time in (each.minimum_timeout, each.share_timeout)]
        return max((time for time in hungry if time is not None), default=0) + self._pause

    @property
    def _pause(self) -> int:
        """How long an application is left alone for which something has been chosen (ms)."""
        return self._rules.wait + _NODE_HEARTBEATS * _HEARTBEAT + self._rules.again

    def released(self, container: Container) -> None:
        """Forget a container that has ended."""
        self._chosen.pop(container, None)
        self._dying.pop(container, None)

    def first_on(self, node: ClusterNode) -> list[tuple[FairApplicationState, Resources]]:
        """Give for whom containers of a node are killed, and how much; not for who needs none."""
        waiting = self._first.get(node, {})
        for each in [each for each in waiting if each.has_left or not self.is_starved(each)]:
            del waiting[each]
        return list(waiting.items())

    def is_first_on(self, node: ClusterNode, each: FairApplicationState) -> bool:
        """Whether containers of a node are killed for an application."""
        return each in self._first.get(node, ())

    def is_starved(self, each: FairApplicationState) -> bool:
        """Whether an application has less than its share, or its leaf less than its minimum."""
        return each.lacks != NONE or is_below(
            each.leaf.settings.policy, each.used, each.share, self._total
        )

    def given(self, each: FairApplicationState, node: ClusterNode, size: Resources) -> None:
        """Take note that somebody has got a container."""
        waiting = self._first.get(node)
        if waiting is not None and each in waiting:
            waiting[each] = waiting[each].minus(size).not_negative()
            if waiting[each] == NONE:
                del waiting[each]

    def round(self, now: int) -> list[Killed]:
        """Choose containers, and give those that are to be killed now."""
        self.has_changed = False
        if self._is_busy():
            for leaf in [queue for queue in self._root.below() if queue.applications]:
                for each, starvation in self._starved(leaf, now).items():
                    self._choose_for(each, starvation, now)
        found = []
        for container, chosen in list(self._chosen.items()):
            if chosen.at + self._rules.wait <= now:
                del self._chosen[container]
                if container.finished is None and not container.application.leaving:
                    self._dying[container] = None
                    found.append(Killed(container, chosen.at, now, SHARE))
        self.has_changed |= bool(found)
        return found

    def _is_busy(self) -> bool:
        parts = zip(self._root.used, self._total, strict=True)
        return max(used / have for used, have in parts if have) > self._rules.utilisation

    def _starved(self, leaf: FairQueueState, now: int) -> dict[FairApplicationState, Resources]:
        """Give who has had too little for too long, and how much is missing.

        An application for which something has been chosen is left alone for a while.
        """
        settings = leaf.settings
        found: dict[FairApplicationState, Resources] = {}
        asking = [each for each in leaf.line if now >= each.not_before]
        for each in asking:
            least = each.share.times(settings.threshold).least(each.demand)
            if not is_below(settings.policy, each.used, least, self._total):
                each.at_share = now
                break
            timeout = settings.share_timeout
            if timeout is None or now - each.at_share < timeout:
                break
            found[each] = least.minus(each.used).not_negative()
        missing = self._minimum_missing(leaf, now)
        for starvation in found.values():
            missing = missing.minus(starvation).not_negative()
        for each in asking:
            pending = each.demand.minus(each.used).minus(found.get(each, NONE))
            before, each.lacks = each.lacks, pending.not_negative().least(missing)
            self.has_changed |= each.lacks != before
            missing = missing.minus(each.lacks)
            if each.lacks != NONE:
                found[each] = found.get(each, NONE).plus(each.lacks)
        return found

    def _minimum_missing(self, leaf: FairQueueState, now: int) -> Resources:
        """Give how much a leaf has had too little for its minimum, or its demand, for too long."""
        missing = leaf.minimum.least(leaf.demand).minus(leaf.used).not_negative()
        if missing == NONE:
            leaf.at_minimum = now
        timeout = leaf.settings.minimum_timeout
        return NONE if timeout is None or now - leaf.at_minimum < timeout else missing

    def _choose_for(self, each: FairApplicationState, missing: Resources, now: int) -> None:
        """Choose containers that make room for as many requests as fit in what is missing."""
        for ask in each.asks.all:
            count = min(missing.memory // ask.size.memory, ask.count) if ask.size.memory else 0
            for _ in range(count):
                missing = missing.minus(ask.size).not_negative()
                best = self._best(each, ask.size)
                if best is None:
                    continue
                self.has_changed = True
                node, containers = best
                of_node = self._first.setdefault(node, {})
                for container in containers:
                    self._chosen[container] = _Chosen(each, now)
                    of_node[each] = of_node.get(each, NONE).plus(container.size)
        each.not_before = now + self._pause

    def _best(
        self, taker: FairApplicationState, size: Resources
    ) -> tuple[ClusterNode, list[Container]] | None:
        """Give a node and containers on it that make room, with as few AppMasters as possible."""
        best: tuple[ClusterNode, list[Container]] | None = None
        most_masters, doomed = None, self._doomed()
        for node in self._nodes:
            found = self._on_node(node, taker, size, doomed, most_masters)
            if found is not None:
                best = node, found
                most_masters = sum(container.task.is_master for container in found)
                if not most_masters:
                    break
        return best

    def _on_node(
        self,
        node: ClusterNode,
        taker: FairApplicationState,
        size: Resources,
        doomed: Mapping[Application, Resources],
        most_masters: int | None,
    ) -> list[Container] | None:
        """Give containers of a node that make room, with fewer AppMasters than a number.

        What is free on it and not meant for others counts; one container is looked at in any case.
        """
        free = node.free.minus(total_of(self._first.get(node, {}).values())).not_negative()
        lost: dict[FairApplicationState, Resources] = {}
        found: list[Container] = []
        masters = 0
        for container in sorted(node.running, key=lambda each: each.task.is_master):
            if container in self._chosen or container in self._dying:
                continue
            state = self._owner(container)
            if state is not None and state is not taker and not container.application.leaving:
                had = lost.get(state, doomed.get(state.application, NONE))
                after = had.plus(container.size)
                policy = state.leaf.settings.policy
                if not is_below(policy, state.used.minus(after), state.share, self._total):
                    masters += container.task.is_master
                    if most_masters is not None and masters >= most_masters:
                        return None
                    lost[state] = after
                    free = free.plus(container.size)
                    found.append(container)
            if size.within(free):
                return found
        return None

    def _doomed(self) -> dict[Application, Resources]:
        """Give what applications are going to lose anyway."""
        found: dict[Application, Resources] = {}
        for container in (*self._chosen, *self._dying):
            application = container.application
            found[application] = found.get(application, NONE).plus(container.size)
        return found

    def _owner(self, container: Container) -> FairApplicationState | None:
        """Give whose container that is; None: it may not be killed."""
        found = self._states[container.application]
        return found if found.leaf.is_preemptable else None

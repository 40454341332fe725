"""Killing containers for applications that have had too little for too long.

For a container of such an application one node is looked for, on which few containers make room for
it, best without an AppMaster. They are killed after some time, and the application is the first one
on the node then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rebecsim.clusters.yarn.application import Application
from rebecsim.clusters.yarn.container import Container, Killed
from rebecsim.clusters.yarn.node import ClusterNode
from rebecsim.clusters.yarn.queue_files.fair_settings import FairPreemption
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources
from rebecsim.clusters.yarn.queues.fair.book import FairBook
from rebecsim.clusters.yarn.queues.fair.policies import is_below
from rebecsim.clusters.yarn.queues.fair.state import FairApplicationState, FairQueueState

SHARE = "share"
_NODE_HEARTBEATS = 4
_HEARTBEAT = 1000


class _Chosen(NamedTuple):
    """A container that will be killed, for whom, and when it was chosen (ms)."""

    taker: FairApplicationState
    at: int


class Starving:
    """Finds who has too little, and chooses what is killed for him."""

    def __init__(
        self,
        rules: FairPreemption,
        book: FairBook,
        nodes: Sequence[ClusterNode],
    ) -> None:
        self._rules = rules
        self._root = book.root
        self._states = book.states
        self._total = book.total
        self._nodes = nodes
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

    def first_on(self, node: ClusterNode) -> list[FairApplicationState]:
        """Give for whom containers of a node are killed."""
        return list(self._first.get(node, ()))

    def given(self, each: FairApplicationState, node: ClusterNode, size: Resources) -> None:
        """Take note that somebody has got a container."""
        waiting = self._first.get(node)
        if waiting is not None and each in waiting:
            left = waiting[each].minus(size)
            if left.memory > 0:
                waiting[each] = left
            else:
                del waiting[each]

    def round(self, now: int) -> list[Killed]:
        """Choose containers, and give those that are to be killed now."""
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
        return found

    def _is_busy(self) -> bool:
        parts = zip(self._root.used, self._total, strict=True)
        return max(used / have for used, have in parts if have) > self._rules.utilisation

    def _starved(self, leaf: FairQueueState, now: int) -> dict[FairApplicationState, Resources]:
        """Give who has had too little for too long, and how much is missing."""
        policy, settings = leaf.settings.policy, leaf.settings
        found: dict[FairApplicationState, Resources] = {}
        asking = list(leaf.line)
        for each in asking:
            least = each.share.times(settings.threshold).least(each.demand)
            if policy != "drf":
                least = Resources(least.memory, 0)
            if not is_below(policy, each.used, least, self._total):
                each.at_share = now
                break
            timeout = settings.share_timeout
            if timeout is None or now - each.at_share < timeout:
                break
            if now >= each.not_before:
                found[each] = least.minus(each.used).not_negative()
        self._add_of_minimum(leaf, asking, found, now)
        return {each: missing for each, missing in found.items() if missing != NONE}

    def _add_of_minimum(
        self,
        leaf: FairQueueState,
        asking: Sequence[FairApplicationState],
        found: dict[FairApplicationState, Resources],
        now: int,
    ) -> None:
        """Hand what a leaf lacks of its minimum to its applications."""
        least, timeout = leaf.minimum.least(leaf.demand), leaf.settings.minimum_timeout
        if not is_below(leaf.settings.policy, leaf.used, least, self._total):
            leaf.at_minimum = now
            return
        if timeout is None or now - leaf.at_minimum < timeout:
            return
        missing = least.minus(leaf.used).not_negative()
        for starvation in found.values():
            missing = missing.minus(starvation).not_negative()
        for each in asking:
            if missing == NONE:
                return
            if now >= each.not_before and each not in found:
                some = missing.least(each.pending)
                found[each] = some
                missing = missing.minus(some).not_negative()

    def _choose_for(self, each: FairApplicationState, missing: Resources, now: int) -> None:
        """Choose containers that make room for as many requests as are missing."""
        ask = next(ask for ask in each.asks.all if ask.count)
        size, waiting = ask.size, ask.count
        chosen_any = False
        while waiting > 0:  # one at least: less than a container cannot be missing
            best = self._best(each, size)
            if best is None:
                break
            node, containers = best
            for container in containers:
                self._chosen[container] = _Chosen(each, now)
            of_node = self._first.setdefault(node, {})
            of_node[each] = of_node.get(each, NONE).plus(size)
            missing = missing.minus(size)
            waiting -= 1
            chosen_any = True
            if missing.memory < size.memory:
                break
        if chosen_any:
            each.not_before = now + self._pause

    def _best(
        self, taker: FairApplicationState, size: Resources
    ) -> tuple[ClusterNode, list[Container]] | None:
        """Give a node and containers on it that make room, with as few AppMasters as possible."""
        best: tuple[int, ClusterNode, list[Container]] | None = None
        doomed = self._doomed()
        for node in self._nodes:
            found = self._on_node(node, taker, size, doomed)
            if found is None:
                continue
            masters = sum(container.task.is_master for container in found)
            if best is None or masters < best[0]:
                best = masters, node, found
            if not masters:
                break
        return None if best is None else (best[1], best[2])

    def _on_node(
        self,
        node: ClusterNode,
        taker: FairApplicationState,
        size: Resources,
        doomed: Mapping[Application, Resources],
    ) -> list[Container] | None:
        """Give containers of a node that make room, if there are some."""
        if not size.within(Resources(node.size.memory, node.size.cores)):
            return None
        kept = NONE
        for waiting in self._first.get(node, {}).values():
            kept = kept.plus(waiting)
        coming = NONE
        for container in node.running:
            if container in self._chosen or container in self._dying:
                coming = coming.plus(_size(container))
        free = Resources(node.memory, node.cores).plus(coming).minus(kept)
        lost: dict[FairApplicationState, Resources] = {}
        found: list[Container] = []
        for container in sorted(node.running, key=lambda each: each.task.is_master):
            if size.within(free):
                break
            state = self._owner(container)
            if state is None or state is taker or container in self._chosen:
                continue
            if container in self._dying or container.application.leaving:
                continue
            after = lost.get(state, doomed.get(state.application, NONE)).plus(_size(container))
            policy = state.leaf.settings.policy
            if is_below(policy, state.used.minus(after), state.share, self._total):
                continue
            lost[state] = after
            free = free.plus(_size(container))
            found.append(container)
        return found if found and size.within(free) else None

    def _doomed(self) -> dict[Application, Resources]:
        """Give what applications are going to lose anyway."""
        found: dict[Application, Resources] = {}
        for container in (*self._chosen, *self._dying):
            application = container.application
            found[application] = found.get(application, NONE).plus(_size(container))
        return found

    def _owner(self, container: Container) -> FairApplicationState | None:
        """Give whose container that is; None: it may not be killed."""
        found = self._states[container.application]
        return found if found.leaf.is_preemptable else None


def _size(container: Container) -> Resources:
    return Resources(container.memory, container.task.cores)

"""Why applications wait under the Fair Scheduler: what refused each of them at a heartbeat."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rebecsim.clusters.yarn import records
from rebecsim.clusters.yarn.containers import ClusterNode
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources
from rebecsim.clusters.yarn.queues.fair.cluster import FairCluster
from rebecsim.clusters.yarn.queues.fair.line import Requests
from rebecsim.clusters.yarn.queues.fair.policies import FairShared, needs_minimum
from rebecsim.clusters.yarn.queues.fair.state import FairApplicationState, FairQueueState
from rebecsim.clusters.yarn.records import WaitLog

Refusal = tuple[str, str]
"""A reason, and figures."""

_Branches = tuple[FairShared, FairShared]


class FairReasons:
    """Logs what became of the applications that ask for containers.

    An application that a node had room for may get nothing as others are served first. Who that was
    is known only when the heartbeat is over.
    """

    def __init__(self, cluster: FairCluster, kept: WaitLog) -> None:
        self._cluster = cluster
        self._log = kept
        self._node: ClusterNode
        self._now = 0
        self._free = NONE
        self._refused: dict[FairApplicationState, Refusal] = {}
        self._had: dict[FairApplicationState, dict[FairShared, Resources]] = {}

    def begin(self, node: ClusterNode, now: int) -> None:
        """Begin a heartbeat of a node."""
        self._node, self._now = node, now
        self._free = node.free
        self._refused.clear()
        self._had.clear()

    def refuse(self, each: FairApplicationState, reason: str, detail: str = "") -> None:
        """Take note of what refused an application; of its requests the first one counts."""
        self._refused.setdefault(each, (reason, detail))

    def refuse_by_limits(
        self, each: FairApplicationState, size: Resources, limit: Resources | None
    ) -> None:
        """Take note that a node is too small for a request, or a queue has all it may have.

        `limit` is that of AppMasters if the request is for one.
        """
        if each in self._refused:
            return
        if not size.within(self._node.total):
            self._refuse_by(each, records.TOO_SMALL, lambda: f"it asks for {_text(size)}")
            return
        for queue in each.leaf.limited:
            if not queue.used.plus(size).within(queue.maximum):
                self._refuse_by(each, records.QUEUE, partial(_figures_of, queue))
                return
        assert limit is not None
        have = each.leaf.masters
        self._refuse_by(
            each,
            records.MASTERS,
            lambda: f"AppMasters have {_text(have)}, and may have {_text(limit)}",
        )

    def _refuse_by(
        self, each: FairApplicationState, reason: str, figures: Callable[[], str]
    ) -> None:
        """Take note of what refused an application, with figures if the reason is another one."""
        is_new = self._log.is_new(each.application, reason)
        self._refused[each] = reason, figures() if is_new else ""

    def serve(self, each: FairApplicationState, reason: str) -> None:
        """Take note that an application is about to get a container, or the node reserved."""
        before: dict[FairShared, Resources] = {queue: queue.used for queue in each.leaf.path}
        self._had.setdefault(each, {**before, each: each.used})
        self._log.note(each.application, self._now, reason, self._node)

    def end(self) -> None:
        """End the heartbeat: note why those got nothing that did not."""
        node, free = self._node, self._free
        known: dict[Requests, bool] = {}
        for each in self._cluster.wanting:
            requests = each.leaf.line.requests_of(each)
            if each in self._had or not requests:
                continue
            fits = known.get(requests)
            if fits is None:
                fits = known[requests] = any(ask.size.within(free) for ask in requests)
            refusal = self._refused.get(each)
            if fits and (refusal is None or refusal[0] == records.NO_ROOM):
                if self._had:
                    refusal = self._behind(each)
                elif node.reservation is not None:
                    refusal = records.KEPT, f"for {node.reservation.application.job.name}"
            if refusal is None:
                continue
            reason, detail = refusal
            if reason == records.NO_ROOM and each.kept:
                reason, detail = records.RESERVED, ""
            self._log.note(each.application, self._now, reason, node, detail)

    def _behind(self, each: FairApplicationState) -> Refusal:
        """Say why the application that was served first comes before another one."""
        first, had = next(iter(self._had.items()))
        mine, other = self._branches(each, first)
        policy = each.leaf.settings.policy
        if isinstance(mine, FairQueueState) and mine.parent is not None:
            policy = mine.parent.settings.policy
        if policy == "fifo":
            return records.TURN, f"{first.application.job.name} was submitted earlier"
        by_minimum = needs_minimum(policy, other, had[other], self._cluster.total)
        reason = records.MINIMUM if by_minimum else records.SHARE
        if not self._log.is_new(each.application, reason):
            return reason, ""
        text = _text if policy == "drf" else _memory
        its = f"{_name(other)} had {text(had[other])}"
        if by_minimum:
            return reason, f"{its} of its minimum of {text(other.minimum)}"
        own = f"{_name(mine)} {text(mine.used)} of {text(mine.share)}"
        return reason, f"{its} of its share of {text(other.share)}, and {own}"

    def _branches(self, each: FairApplicationState, first: FairApplicationState) -> _Branches:
        """Give the two members of a queue below which both are: queues, or applications."""
        paths = zip(reversed(each.leaf.path), reversed(first.leaf.path), strict=False)
        return next((pair for pair in paths if pair[0] is not pair[1]), (each, first))


def _name(member: FairShared) -> str:
    if isinstance(member, FairApplicationState):
        return member.application.job.name
    return str(member.name)


def _figures_of(queue: FairQueueState) -> str:
    return f"{queue.name} has {_text(queue.used)}, and may have {_text(queue.maximum)}"


def _text(some: Resources) -> str:
    return f"{some.memory} MB and {some.cores} core{'s' if some.cores != 1 else ''}"


def _memory(some: Resources) -> str:
    return f"{some.memory} MB"

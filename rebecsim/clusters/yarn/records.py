"""Why applications wait, which a run notes while it goes.

The rules that make them wait are named in the words of Hadoop's ActivitiesManager, where it
has some for them."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from rebecsim.clusters.yarn.containers import Application, ClusterNode, Container

TURN = "Waits for a node with room, and its turn"
SHARE = "Others are further below their fair share"
MINIMUM = "Another queue has less than its minimum share"
ORDER = "Others of the queue have less, and go first"
KEPT = "Node has been reserved"
GIVEN = "Gets containers"
"""Between two of them it waits its turn."""

RESERVED = "Waits for room on a node that is reserved for it"
PARALLEL = "Application is not runnable, parallel limit reached"
MASTERS = "Queue's AM resource limit exceeded"
MASTERS_OF_USER = "User's AM resource limit exceeded"
QUEUE = "Queue hits max-capacity limit"
USER = "Queue hits user max-capacity limit"
HEADROOM = "Queue does not have enough headroom for inner highest-priority request"
RESERVATIONS = "Request skipped based on reservation algo"
PARTITION = "Request skipped because non-partitioned ones use non-partitioned nodes first"
LOCALITY = "Node skipped because of off-switch delay"
TOO_SMALL = "Node's total resource is insufficient for request"
NO_ROOM = "Node does not have sufficient resource for request"
NOTHING_BACK = "Node can't find a container to be unreserved when needed"
REFUSED = "Choice refused: a queue or user would pass its limit"


class Killed(NamedTuple):
    """A container that a scheduler has killed.

    Attributes:
        chosen: when it was chosen (ms).
        killed: when it was killed (ms).
        reason: for whom: queues, users, or reservations.
    """

    container: Container
    chosen: int
    killed: int
    reason: str


class Wait(NamedTuple):
    """What became of an application at a heartbeat, where that is not as before.

    Attributes:
        time: when (ms).
        node: whose heartbeat it was; empty if none.
        reason: the rule that refused it, or `GIVEN`.
        detail: figures.
    """

    time: int
    node: str
    reason: str
    detail: str


class WaitLog:
    """The log of waits: why applications wait, and for how long.

    Attributes:
        waits: of each application, in order.
        waited: how long each has waited for each reason (ms).
    """

    def __init__(self) -> None:
        self.waits: dict[Application, list[Wait]] = {}
        self.waited: dict[Application, Counter[str]] = {}

    def note(
        self,
        application: Application,
        now: int,
        reason: str,
        node: ClusterNode | None = None,
        detail: str = "",
    ) -> None:
        """Note a reason, if it is another than before; it holds until the next one."""
        if not self.is_new(application, reason):
            return
        mine = self.waits.setdefault(application, [])
        self._close(application, now)
        mine.append(Wait(now, "" if node is None else node.size.name, reason, detail))

    def is_new(self, application: Application, reason: str) -> bool:
        """Whether an application waited for another reason before, or for none.

        Only then `note` has a use for figures.
        """
        mine = self.waits.get(application)
        return not mine or mine[-1].reason != reason

    def has_all(self, application: Application, now: int) -> None:
        """Note that an application asks for nothing any more."""
        if self.waits.get(application) and self.waits[application][-1].reason:
            self._close(application, now)
            self.waits[application].append(Wait(now, "", "", ""))

    def _close(self, application: Application, now: int) -> None:
        mine = self.waits[application]
        if mine and (reason := mine[-1].reason):
            waited = self.waited.setdefault(application, Counter())
            waited[TURN if reason == GIVEN else reason] += now - mine[-1].time

"""Looking ahead: a copy of a cluster at work goes on, with what schedulers can know."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rebecsim.actors.rebec import LOWEST_PRIORITY
from rebecsim.clusters.kit.queued import serve
from rebecsim.clusters.yarn.application import Application
from rebecsim.clusters.yarn.foreseeing.copied_cluster import CopiedCluster
from rebecsim.clusters.yarn.foreseeing.foresight import Foresight
from rebecsim.clusters.yarn.foreseeing.last_finishes import LastFinishes
from rebecsim.clusters.yarn.foreseeing.snapshot import Snapshot
from rebecsim.clusters.yarn.node import ClusterNode
from rebecsim.clusters.yarn.rebecs import ResourceManager
from rebecsim.clusters.yarn.schedulers.regular import Regular

Placement = tuple[Application, ClusterNode, int]
"""A container to be given before the copy goes on: to whom, where, and how much memory (MB)."""


def look_ahead(
    manager: ResourceManager, now: int, until: int, placement: Placement | None = None
) -> Foresight:
    """Let a copy of a cluster go on from now to a time (ms), or until its applications have ended.

    It has the applications that run, and its scheduler is REGULAR, without gaps. Errors of memory,
    of bumps, and those of containers that run already are none that it knows of. What is copied is
    the cluster as it is now; the copy is made, and goes on, when somebody asks what is foreseen.
    """
    snapshot = Snapshot(manager)
    return Foresight(lambda: _GoingOn(snapshot, now, placement), until)


def play_out(
    manager: ResourceManager, now: int, scheduler: type[Regular]
) -> Mapping[int, Application]:
    """Let a copy of a cluster go on under a scheduler until the applications that run have ended.

    What it knows is as in `look_ahead`. Gives the applications by the numbers of their jobs. Raises
    StuckError when they never end.
    """
    configuration = manager.configuration
    gaps = configuration.gaps and not configuration.quirks.no_gaps_foreseen
    copy = CopiedCluster(Snapshot(manager), now, scheduler, gaps=gaps, closes=False)
    copy.take_messages(math.inf)
    serve(copy.system, copy.manager)
    return copy.applications


class _GoingOn:
    """A copy of a cluster that goes on by the heartbeats of its nodes; see `Future`."""

    def __init__(self, snapshot: Snapshot, now: int, placement: Placement | None) -> None:
        self._copy = copy = CopiedCluster(snapshot, now, Regular, gaps=False, closes=True)
        if placement is not None:
            copy.place(*placement)
        configuration = copy.manager.configuration
        if configuration.placement is not None:  # which asks nodes for what runs on them
            copy.take_messages(math.inf)
        self.applications: Mapping[int, Application] = copy.applications
        self.reached = now
        self.finishes = LastFinishes(configuration)
        self._step = configuration.node_heartbeat
        self._last_sent = copy.system.sequence
        self._looked_until: int | None = None

    def go_on(self, until: int) -> bool:
        """Go on by a heartbeat, to a time at the most; say whether there was anything to do.

        At that time itself only those messages count that were sent before looking ahead began.
        """
        copy = self._copy
        if copy.manager.closed or self._looked_until == until:
            return False
        reached = self.reached + self._step
        if reached < until:
            end = reached, 0, 0
        else:
            reached = self._looked_until = until
            end = until, LOWEST_PRIORITY, self._last_sent + 1
        copy.take_messages(reached + 1)
        serve(copy.system, copy.manager, end)
        self.reached = reached
        return True

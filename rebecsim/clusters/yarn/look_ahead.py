"""Looking ahead: a copy of a cluster at work goes on, with what schedulers can know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any

from rebecsim.actors import Model
from rebecsim.actors.rebec import LOWEST_PRIORITY
from rebecsim.clusters.kit.queued import TO_THE_END, QueuedSystem, Until, serve
from rebecsim.clusters.yarn.configuration import Errors, InjectedError, YarnConfiguration
from rebecsim.clusters.yarn.containers import (
    Application,
    ClusterNode,
    Container,
)
from rebecsim.clusters.yarn.foresight import Foresight, LastFinishes
from rebecsim.clusters.yarn.launching import Accounts, instances_of
from rebecsim.clusters.yarn.rebecs import ResourceManager
from rebecsim.clusters.yarn.schedulers.fair import Regular


class CopiedCluster:
    """A cluster as it was, which can go on under a scheduler, with what schedulers can know.

    It has the applications that ran, and knows of no errors of memory, of bumps, and of containers
    that ran already. Messages that were under way are put into its queue in time.

    Attributes:
        manager: its resource manager.
        system: what that is in.
    """

    def __init__(
        self,
        original: ResourceManager,
        now: int,
        scheduler: type[Regular],
        *,
        gaps: bool,
        closes: bool,
    ) -> None:
        """Copy a cluster as it is now (ms); `closes` is as for `ResourceManager.resume`."""
        self._now = now
        self._state = state = original.state.copied()
        configuration = _known_of(original.configuration, gaps)
        self._period = configuration.node_heartbeat
        nodes, applications = tuple(state.nodes.values()), tuple(state.running.values())
        largest = max(node.size.memory for node in nodes)
        errors = Errors(configuration, scheduler.elastic, largest)
        arguments = (configuration, nodes, scheduler, Accounts(), errors, applications, False, None)
        beats = [None] * len(nodes)
        instances = instances_of(ResourceManager, arguments, nodes, beats, applications, errors)
        self.system = QueuedSystem(Model("foreseen", tuple(instances)))
        manager = self.system.actor = self.system.rebecs[0]
        assert isinstance(manager, ResourceManager)
        self.manager = manager
        self.system.now = manager._now = now
        queue = [state.running[each.number] for each in original.scheduler.waiting()]
        manager.resume(state, queue, original.tasks, closes=closes)
        self._later: defaultdict[int, list[Any]] = defaultdict(list)
        for each in state.expected():
            self._later[each.due // self._period].append(each)
        self._periods = sorted(self._later, reverse=True)
        self._taken = 0  # of messages, which come before all that are sent from now on
        self.system.sequence = sum(map(len, self._later.values()))

    def expect(self, until: int) -> None:
        """Put into the queue what arrives until a time (ms), and perhaps more, in its order."""
        periods, manager = self._periods, self.manager
        servers = type(manager).__servers__
        while periods and periods[-1] <= until // self._period:
            for each in sorted(self._later.pop(periods.pop()), key=attrgetter("due", "sent")):
                self._taken += 1
                name, about = each.message
                arrival = max(each.due, self._now), LOWEST_PRIORITY, self._taken
                self.system.take_over((*arrival, manager, servers[name], about))
                if isinstance(each, Container):
                    self._state.own(each)

    def serve(self, until: Until = TO_THE_END) -> None:
        """Serve what comes before the end that `until` is."""
        self.expect(until[0])
        serve(self.system, self.manager, until)


def _known_of(original: YarnConfiguration, gaps: bool) -> YarnConfiguration:
    """Give what schedulers can know of a configuration."""
    drawn = original.elasticity
    as_dss = original.quirks.errors_foreseen
    return replace(
        original,
        gaps=gaps,
        push_back=None,
        elasticity=replace(
            drawn,
            memory_error=InjectedError(),
            bump_error=InjectedError(),
            duration_error=drawn.duration_error if as_dss else InjectedError(),
        ),
    )


Placement = tuple[Application, ClusterNode, int]
"""A container to be given before the copy goes on: to whom, where, and how much memory (MB)."""


def look_ahead(
    manager: ResourceManager, now: int, until: int, placement: Placement | None = None
) -> Foresight:
    """Let a copy of a cluster go on from now to a time (ms), or until its applications have ended.

    Its scheduler is REGULAR, without gaps. It goes on when somebody asks what is foreseen.
    """
    copy = CopiedCluster(manager, now, Regular, gaps=False, closes=True)
    if placement is not None:
        application, node, memory = placement
        state, scheduler = copy.manager.state, copy.manager.scheduler
        assert isinstance(scheduler, Regular)
        own = state.nodes[node.size.number]
        scheduler.give(state.running[application.number], own, memory)
        copy.manager.wake_node(own, now)
    return Foresight(_GoingOn(copy, now), until)


def play_out(
    manager: ResourceManager, now: int, scheduler: type[Regular]
) -> Mapping[int, Application]:
    """Let a copy of a cluster go on under a scheduler until the applications that run have ended.

    Gives the applications by the numbers of their jobs. Raises StuckError when they never end.
    """
    configuration = manager.configuration
    gaps = configuration.gaps and not configuration.quirks.no_gaps_foreseen
    copy = CopiedCluster(manager, now, scheduler, gaps=gaps, closes=False)
    copy.serve()
    return copy.manager.state.applications


class _GoingOn:
    """A copy of a cluster that goes on by the heartbeats of its nodes; see `Future`."""

    def __init__(self, copy: CopiedCluster, now: int) -> None:
        self._copy = copy
        self.applications: Mapping[int, Application] = copy.manager.state.applications
        self.reached = now
        self.finishes = LastFinishes(copy.manager.configuration)
        self._step = copy.manager.configuration.node_heartbeat
        self._last_sent = copy.system.sequence
        self._looked_until: int | None = None

    def go_on(self, until: int) -> bool:
        """Go on by a heartbeat, to a time at the most; say whether there was anything to do.

        At that time itself only those messages count that were sent before looking ahead began.
        """
        if self._copy.manager.closed or self._looked_until == until:
            return False
        reached = self.reached + self._step
        if reached < until:
            end = reached, 0, 0
        else:
            reached = self._looked_until = until
            end = until, LOWEST_PRIORITY, self._last_sent + 1
        self._copy.serve(end)
        self.reached = reached
        return True

"""Looking ahead: a copy of a cluster at work goes on, with what schedulers can know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any

from rebecsim.actors import Model
from rebecsim.actors.rebec import LOWEST_PRIORITY
from rebecsim.clusters.kit.queued import NEVER, QueuedSystem, Until, serve
from rebecsim.clusters.yarn.configuration import InjectedError, YarnConfiguration
from rebecsim.clusters.yarn.containers import Application, ClusterNode, Container
from rebecsim.clusters.yarn.durations import Errors
from rebecsim.clusters.yarn.foresight import Foresight, LastFinishes
from rebecsim.clusters.yarn.launching import instances_of
from rebecsim.clusters.yarn.rebecs import ResourceManager
from rebecsim.clusters.yarn.records import Accounts
from rebecsim.clusters.yarn.schedulers.regular import Regular


class CopiedManager(ResourceManager):
    """Goes on with a copied state, whose containers are the original's until they end."""

    def begin(self, now: int) -> None:
        """Begin at a time (ms), before what is sent from now on, with all that is under way."""
        self._begun, self._taken = now, 0
        self._later: defaultdict[int, list[Any]] = defaultdict(list)
        period = self.configuration.node_heartbeat
        for each in self.state.expected():
            self._later[each.due // period].append(each)
        self._periods = sorted(self._later, reverse=True)
        self.queued.sequence = sum(map(len, self._later.values()))

    @property
    def queued(self) -> QueuedSystem:
        """The system that it is in."""
        system = self._system
        assert isinstance(system, QueuedSystem)
        return system

    def expect(self, until: int) -> None:
        """Put into the queue what arrives until a time (ms), and perhaps more, in its order."""
        periods, servers = self._periods, type(self).__servers__
        while periods and periods[-1] <= until // self.configuration.node_heartbeat:
            for each in sorted(self._later.pop(periods.pop()), key=attrgetter("due", "sent")):
                self._taken += 1
                name, about = each.message
                arrival = max(each.due, self._begun), LOWEST_PRIORITY, self._taken
                self.queued.take_over((*arrival, self, servers[name], about))

    def serve(self, until: Until = NEVER) -> None:
        """Serve what comes before the end that `until` is."""
        self.expect(until[0])
        serve(self.queued, self, until)

    def _end(self, container: Container) -> None:
        super()._end(self.state.own(container))


def copied_cluster(
    manager: ResourceManager, now: int, scheduler: type[Regular], *, gaps: bool, closes: bool
) -> CopiedManager:
    """Copy a cluster as it is now (ms), so that it can go on under a scheduler.

    It has the applications that run, and knows of no errors of memory, of bumps, and of containers
    that run already. `closes` is as for `ResourceManager.resume`.
    """
    state = manager.state.copied()
    configuration = _known_of(manager.configuration, gaps)
    nodes, applications = tuple(state.nodes.values()), tuple(state.running.values())
    largest = max(node.size.memory for node in nodes)
    errors = Errors(configuration, scheduler.elastic, largest)
    arguments = (configuration, nodes, scheduler, Accounts(), errors, applications, False, None)
    beats = [None] * len(nodes)
    instances = instances_of(CopiedManager, arguments, nodes, beats, applications, errors)
    system = QueuedSystem(Model("foreseen", tuple(instances)))
    found = system.actor = system.rebecs[0]
    assert isinstance(found, CopiedManager)
    system.now = found._now = now
    queue = [state.running[each.number] for each in manager.scheduler.waiting()]
    found.resume(state, queue, manager.tasks, closes=closes)
    found.begin(now)
    return found


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
    copy = copied_cluster(manager, now, Regular, gaps=False, closes=True)
    if placement is not None:
        application, node, memory = placement
        own = copy.state.nodes[node.size.number]
        assert isinstance(copy.scheduler, Regular)
        copy.scheduler.give(copy.running[application.number], own, memory)
        copy.wake_node(own, now)
    return Foresight(_GoingOn(copy, now), until)


def play_out(
    manager: ResourceManager, now: int, scheduler: type[Regular]
) -> Mapping[int, Application]:
    """Let a copy of a cluster go on under a scheduler until the applications that run have ended.

    Gives the applications by the numbers of their jobs. Raises StuckError when they never end.
    """
    configuration = manager.configuration
    gaps = configuration.gaps and not configuration.quirks.no_gaps_foreseen
    copy = copied_cluster(manager, now, scheduler, gaps=gaps, closes=False)
    copy.serve()
    return copy.state.applications


class _GoingOn:
    """A copy of a cluster that goes on by the heartbeats of its nodes; see `Future`."""

    def __init__(self, copy: CopiedManager, now: int) -> None:
        self._copy = copy
        self.applications: Mapping[int, Application] = copy.state.applications
        self.reached = now
        self.finishes = LastFinishes(copy.configuration)
        self._step = copy.configuration.node_heartbeat
        self._last_sent = copy.queued.sequence
        self._looked_until: int | None = None

    def go_on(self, until: int) -> bool:
        """Go on by a heartbeat, to a time at the most; say whether there was anything to do.

        At that time itself only those messages count that were sent before looking ahead began.
        """
        if self._copy.closed or self._looked_until == until:
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

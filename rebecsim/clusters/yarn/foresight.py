"""What a look ahead shows: a cluster goes on only as far as the answers need it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from rebecsim.actors import StatePart
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.containers import Application


@dataclass(slots=True)
class _Launched:
    """How many containers of an application are known to be launched, and when tasks end (ms)."""

    containers: int = 0
    last_end: int | None = None


class LastFinishes:
    """Between which times AppMasters end in a cluster that goes on without less memory for tasks.

    A node tells of a task that has ended at its next heartbeat; the AppMaster hears of that at its
    next one, and counts the task at the one after that; if it was the last, it ends. A container
    is taken by the AppMaster at a heartbeat after it was allocated, and launched at the next one.

    Where durations have errors nothing is known but that what has not happened comes later.
    """

    def __init__(self, configuration: YarnConfiguration) -> None:
        self.master_period = configuration.master_heartbeat
        self._node_period = configuration.node_heartbeat
        self._exact = not configuration.elasticity.duration_error
        self._launched: dict[Application, _Launched] = {}

    def earliest(self, application: Application, reached: int) -> int:
        """Give a time before which its last container does not end (ms).

        `reached` is a time before which nothing happens any more.
        """
        containers, period = application.containers, self.master_period
        if containers and containers[0].finished is not None:
            return containers[0].finished
        bounds = [reached]
        if self._exact:
            launched = self._look_at(application)
            if launched.last_end is not None:
                bounds.append(launched.last_end + period)
            if 0 < launched.containers < len(containers):
                bounds.append(reached + containers[launched.containers].duration + period)
            longest = _longest(application)
            if longest is not None:
                bounds.append(reached + longest + 2 * period)
        return max(bounds)

    def latest(self, application: Application, reached: int) -> int | None:
        """Give a time after which its last container does not end (ms); None: none is known."""
        if not self._exact or application.head is not None:
            return None
        launched = self._look_at(application)
        if launched.containers < len(application.containers) or launched.last_end is None:
            return None
        return max(launched.last_end, reached) + self._node_period + 2 * self.master_period

    def _look_at(self, application: Application) -> _Launched:
        """Look at the containers that were launched since; they are in the order of allocation."""
        known = self._launched.setdefault(application, _Launched())
        containers = application.containers
        while known.containers < len(containers):
            container = containers[known.containers]
            if container.launched is None:
                break
            known.containers += 1
            if not container.task.is_master:
                end = container.launched + container.duration
                known.last_end = end if known.last_end is None else max(known.last_end, end)
        return known


def _longest(application: Application) -> int | None:
    """Give how long a task at least takes that is given its container later (ms); None: none is."""
    return max(
        (
            task.duration
            for task, _ in application.left
            if not task.is_master and task.ideal <= task.memory
        ),
        default=None,
    )


class Future(Protocol):
    """A cluster that goes on step by step.

    Attributes:
        reached: what would happen before this time has happened (ms).
        finishes: when their last containers may end, as far as that is known.
    """

    reached: int
    finishes: LastFinishes

    @property
    def applications(self) -> Mapping[int, Application]:
        """Give the applications, by the numbers of their jobs."""

    def go_on(self, until: int) -> bool:
        """Go on by a step, to a time at the most (ms); say whether there was anything to do."""


class Held(NamedTuple):
    """A container that has ended: where, MB and cores, when it was allocated, and ended (ms)."""

    node: int
    memory: int
    cores: int
    scheduled: int
    finished: int


def _held(application: Application) -> tuple[Held, ...]:
    """Give the containers in full memory of an application that has ended."""
    return tuple(
        Held(each.node.size.number, each.memory, each.task.cores, each.scheduled, each.finished)
        for each in application.containers
        if not each.is_elastic and each.finished is not None
    )


class Foresight:
    """How a cluster would go on until a time (ms).

    Few answers need all of it: it goes on until the answer is known.
    """

    def __init__(self, future: Future, until: int) -> None:
        self.until = until
        self._future = future

    @property
    def reached(self) -> int:
        """Until when it has been looked at (ms)."""
        return self._future.reached

    def ended(self, application: Application) -> Application | None:
        """Give an application as it is at its end; None: that is further away."""
        found = self._future.applications.get(application.number)
        if found is None:
            return None
        while found.end is None and self._future.go_on(self.until):
            pass
        return None if found.end is None else found

    def end(self, application: Application) -> int | None:
        """Give when an application ends (ms); None as above."""
        found = self.ended(application)
        return None if found is None else found.end

    def last_finish(self, application: Application) -> int | None:
        """Give when the last container of an application ends, its AppMaster's; None as above."""
        found = self.ended(application)
        return None if found is None else found.last_finish

    def held(self, application: Application, node: int) -> Sequence[Held] | None:
        """Give the containers that it has on a node, in full memory; None as above."""
        found = self.ended(application)
        return None if found is None else [each for each in _held(found) if each.node == node]

    def scheduled(self, application: Application) -> int | None:
        """Give when an application has all its containers (ms); None as above."""
        found = self._future.applications.get(application.number)
        if found is None:
            return None
        while found.head is not None and self._future.go_on(self.until):
            pass
        if found.head is not None:
            return None
        return max(container.scheduled for container in found.containers)

    def finishes_before(self, application: Application, time: int) -> bool:
        """Whether `last_finish` is known, and before a time (ms)."""
        future = self._future
        found = future.applications.get(application.number)
        if found is None:
            return False
        finishes, master_period = future.finishes, future.finishes.master_period
        while found.end is None:
            if finishes.earliest(found, future.reached) >= time:
                return False
            latest = finishes.latest(found, future.reached)
            if latest is not None and latest < time and latest + master_period < self.until:
                return True
            if not future.go_on(self.until):
                return False
        finished = found.containers[0].finished
        return finished is not None and finished < time


class _Ended(NamedTuple):
    """What is foreseen of an application; see `Foresight`, and `_held`."""

    end: int | None
    last_finish: int | None
    scheduled: int | None
    held: tuple[Held, ...]


_NOTHING = _Ended(None, None, None, ())


def _known(foresight: Foresight, application: Application) -> _Ended:
    found, scheduled = foresight.ended(application), foresight.scheduled(application)
    if found is None:
        return _NOTHING._replace(scheduled=scheduled)
    return _Ended(found.end, found.last_finish, scheduled, _held(found))


class Foreseen(Foresight, StatePart):
    """What a look ahead has shown, as a value: all of it, until its time."""

    def __init__(self, foresight: Foresight, applications: Iterable[Application]) -> None:
        self.until = foresight.until
        self._known = {each.number: _known(foresight, each) for each in applications}

    @property
    def reached(self) -> int:
        """All of it."""
        return self.until

    def _of(self, application: Application) -> _Ended:
        return self._known.get(application.number, _NOTHING)

    def end(self, application: Application) -> int | None:
        """Give when an application ends (ms); None: not in that time."""
        return self._of(application).end

    def last_finish(self, application: Application) -> int | None:
        """Give when the last container of an application ends, its AppMaster's; None as above."""
        return self._of(application).last_finish

    def held(self, application: Application, node: int) -> Sequence[Held] | None:
        """Give the containers that it has on a node, in full memory; None as above."""
        known = self._of(application)
        return None if known.end is None else [each for each in known.held if each.node == node]

    def scheduled(self, application: Application) -> int | None:
        """Give when an application has all its containers (ms); None as above."""
        return self._of(application).scheduled

    def finishes_before(self, application: Application, time: int) -> bool:
        """Whether `last_finish` is known, and before a time (ms)."""
        last = self.last_finish(application)
        return last is not None and last < time

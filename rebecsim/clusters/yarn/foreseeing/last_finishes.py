"""When the last container of an application may end, the AppMaster's, before it has ended."""

from __future__ import annotations

from dataclasses import dataclass

from rebecsim.clusters.yarn.application import Application
from rebecsim.clusters.yarn.configuration import YarnConfiguration


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

"""The rebec that kills containers for a scheduler that has chosen them."""

from __future__ import annotations

from rebecsim.actors import Rebec, known_rebec, message_server
from rebecsim.clusters.yarn.rebecs import ResourceManager


class Monitor(Rebec, queue_size=2):
    """Asks the scheduler with a period which containers are to be killed."""

    manager: ResourceManager = known_rebec()

    def __init__(self, period: int) -> None:
        self.period = period
        self.look(after=period)

    @message_server
    def look(self) -> None:
        """Kill what is to be killed now."""
        if self.manager.closed:
            return
        for each in self.manager.scheduler.to_kill(self._now):
            self.manager.kill(each)
        self.look(after=self.period)

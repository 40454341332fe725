"""The rebec that kills containers for a scheduler that has chosen them."""

from __future__ import annotations

from rebecsim.actors import Rebec, known_rebec, message_server
from rebecsim.clusters.yarn.rebecs import ResourceManager, StuckError

_MOST_KILLS = 1000
"""Containers that are killed while no task ends, before that is taken for endless."""


class Monitor(Rebec, queue_size=2):
    """Asks the scheduler with a period which containers are to be killed, and gives up in the end.

    A run ends when there is nothing to be done, and there always is a look to be taken. So a look
    raises StuckError when nothing has happened for as long as the scheduler may need to kill, or
    when containers are killed again and again, and no task ends any more.
    """

    manager: ResourceManager = known_rebec()

    def __init__(self, period: int) -> None:
        self.period = period
        self.quiet = 0
        self.ended = 0
        self.kills = 0  # since a task has ended
        self.look(after=period)

    @message_server
    def look(self) -> None:
        """Kill what is to be killed now."""
        if self.manager.closed:
            return
        manager = self.manager
        manager.clock = self._now
        if self.ended != manager.ended:
            self.ended, self.kills = manager.ended, 0
        for each in manager.scheduler.to_kill(self._now):
            self.kills += 1
            manager.kill(each)
        if self.kills > _MOST_KILLS:
            raise StuckError(list(manager.running.values()), "containers are killed for ever")
        goes_on = manager.require_progress(self.quiet)
        self.quiet = 0 if goes_on else self.quiet + self.period
        self.look(after=self.period)

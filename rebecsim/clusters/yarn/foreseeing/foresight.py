"""What a look ahead shows: a cluster goes on only as far as the answers need it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from rebecsim.clusters.yarn.application import Application
from rebecsim.clusters.yarn.foreseeing.last_finishes import LastFinishes


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


class Foresight:
    """How a cluster would go on until a time (ms), which may be put off.

    Most of what could be foreseen nobody asks for, and few answers need all of it: `begin` is
    called at the first question, and what it gives goes on until the answer is known.
    """

    def __init__(self, begin: Callable[[], Future], until: int) -> None:
        self.until = until
        self._begin = begin
        self._begun: Future | None = None

    @property
    def reached(self) -> int | None:
        """Until when it has been looked at (ms); None: not at all."""
        return None if self._begun is None else self._begun.reached

    def end(self, application: Application) -> int | None:
        """Give when an application ends (ms); None: not as far as that is looked at."""
        found = self.ended(application)
        return None if found is None else found.end

    def last_finish(self, application: Application) -> int | None:
        """Give when the last container of an application ends, its AppMaster's; None as above."""
        found = self.ended(application)
        return None if found is None else found.containers[0].finished

    def ended(self, application: Application) -> Application | None:
        """Give an application as it is at its end; None as above."""
        future = self._future
        found = future.applications.get(application.number)
        if found is None:
            return None
        while found.end is None and future.go_on(self.until):
            pass
        return None if found.end is None else found

    def scheduled(self, application: Application) -> int | None:
        """Give when an application has all its containers (ms); None as above."""
        future = self._future
        found = future.applications.get(application.number)
        if found is None:
            return None
        while found.head is not None and future.go_on(self.until):
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

    @property
    def _future(self) -> Future:
        if self._begun is None:
            self._begun = self._begin()
        return self._begun

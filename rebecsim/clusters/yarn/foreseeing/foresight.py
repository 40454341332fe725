"""What a look ahead has shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from rebecsim.clusters.yarn.application import Application


class Foresight:
    """How a cluster would go on, as far as that is looked at.

    Most of what could be foreseen nobody asks for, so `look` is called when somebody does.
    """

    def __init__(self, look: Callable[[], Mapping[int, Application]] = dict) -> None:
        self._look = look

    @cached_property
    def applications(self) -> Mapping[int, Application]:
        """Applications as they are at its end, by the numbers of their jobs."""
        return self._look()

    def _foreseen(self, application: Application) -> Application | None:
        return self.applications.get(application.number)

    def end(self, application: Application) -> int | None:
        """Give when an application ends (ms); None: not as far as that was looked at."""
        found = self._foreseen(application)
        return None if found is None else found.end

    def last_finish(self, application: Application) -> int | None:
        """Give when the last container of an application ends, its AppMaster's; None as above."""
        found = self._foreseen(application)
        return None if found is None or found.end is None else found.containers[0].finished

    def scheduled(self, application: Application) -> int | None:
        """Give when an application has all its containers (ms); None as above."""
        found = self._foreseen(application)
        if found is None or found.head is not None:
            return None
        return max(container.scheduled for container in found.containers)

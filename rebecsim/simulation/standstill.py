"""Detect runs in which time does not advance."""

from __future__ import annotations

from collections.abc import Sequence

from rebecsim.actors import Rebec, Scheduler, System, steps
from rebecsim.actors.schedulers import Pick
from rebecsim.simulation.trace import Event, state_of

_MOST = 10_000
"""The most states that are remembered."""

_SHORT = 1_000
"""The messages of a run that Python does again in no time."""


class Recurrence:
    """Notices that a run has come back to where it was, at the same time and with no way out.

    Only what had to happen counts: where a message or a value was drawn, another run may go on.
    """

    def __init__(self, system: System) -> None:
        self._system = system
        self._seen: dict[str, int] = {}
        self._time = -1

    def look(self, steps: int, time: int, *, was_drawn: bool) -> int | None:
        """Look at what a step has led to; gives the number of steps in the circle, if there is one.

        `was_drawn`: the step, or something in it, could have been another.
        """
        if was_drawn or time != self._time:
            self._seen.clear()
            self._time = time
        state = repr([self._rebec(index) for index in range(len(self._system.rebecs))])
        before = self._seen.get(state)
        if before is None and len(self._seen) < _MOST:
            self._seen[state] = steps
        return None if before is None else steps - before

    def _rebec(self, index: int) -> object:
        """Give all that a rebec's future depends on, as values that can be written."""
        rebec = self._system.rebecs[index]
        bag = [
            (each.arrival, each.server.name, str(each.sender), str(each.arguments), each.deadline)
            for each in rebec._bag
        ]
        return rebec._now, state_of(rebec), bag


class Freedom:
    """Lets another scheduler pick, and tells whether it could have picked another step."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.is_free = False
        self.priorities = scheduler.priorities
        self.choose = scheduler.choose
        self._scheduler = scheduler

    def pick(self, rebecs: list[Rebec]) -> Pick | None:
        """Let the scheduler pick."""
        self.is_free = len(steps(rebecs)) > 1
        return self._scheduler.pick(rebecs)


def may_stand_still(events: Sequence[Event]) -> bool:
    """Whether it is worth looking if a run has come back to where it was, by its trace.

    It is for short runs, and where a rebec has served the same message twice at the last time, with
    nothing drawn in between.
    """
    if len(events) <= _SHORT:
        return True
    seen = set()
    for event in reversed(events):
        if event.time != events[-1].time or event.choices:
            break
        served = event.rebec, event.server, event.sender, repr(event.arguments)
        if served in seen:
            return True
        seen.add(served)
    return False

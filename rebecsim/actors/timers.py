"""Timers: state variables that count the local time of their rebec.

A timer that runs is kept as the time of its start, which does not change while time passes; what a
model and its users see is how long it has been running.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rebecsim.actors.kinds import Kind

STOPPED = -1
"""The value of a timer that does not run."""


@dataclass(frozen=True, slots=True)
class Since:
    """A timer that runs, by its start in the local time of its rebec."""

    start: int


def duration(timer: Since | int, now: int) -> int:
    """Give how long a timer has been running at a local time, STOPPED if it does not run."""
    return now - timer.start if isinstance(timer, Since) else STOPPED


def durations(value: Any, now: int) -> Any:
    """Give the value of a variable with durations in the place of running timers."""
    if isinstance(value, Since):
        return duration(value, now)
    return [durations(each, now) for each in value] if type(value) is list else value


Timer = Kind("Timer", STOPPED, lambda timer: timer)

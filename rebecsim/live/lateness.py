"""Measure how far a live run was behind real time. Scheduling jitter is reported, not hidden."""

from __future__ import annotations

from dataclasses import dataclass

from rebecsim.live.log import Log, Served


@dataclass(frozen=True)
class Lateness:
    """The messages of a run that were served late in real time; their order is that of model time.

    `worst` is in seconds. `late` are those beyond the tolerance. `missed` are those that met their
    deadline in model time, but were served so late that it had passed in real time.
    """

    tolerance: float
    worst: float
    late: tuple[Served, ...]
    missed: tuple[Served, ...]


def lateness(log: Log, tolerance: float) -> Lateness | None:
    """Judge a run by a tolerance in seconds of real time; None for one in virtual time."""
    if not log.speed:
        return None
    return Lateness(
        tolerance,
        max((each.late for each in log.served), default=0.0),
        tuple(each for each in log.served if each.late > tolerance),
        tuple(each for each in log.served if _misses(each, log.speed)),
    )


def _misses(served: Served, speed: float) -> bool:
    deadline = served.event.deadline
    return deadline is not None and served.event.time + served.late * speed > deadline

"""When AppMasters were busy, from the messages that a run has served.

An AppMaster of a dispatch model is busy from the moment it serves `runJob` until the `update` that
it sends arrives at the ResourceManager. All times are whole, so what it does is a step function
that is constant in each time unit; it is given as one number per time unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebecsim.simulation import Event


class ServedMessage(NamedTuple):
    """What is read of a message that was served; see `rebecsim.simulation.Event`."""

    replication: int
    rebec: str
    server: str
    sender: str
    time: int
    arrival: int


def busy_intervals(
    events: Iterable[ServedMessage | Event], ticks: int
) -> Iterator[tuple[str, int, int]]:
    """Give AppMaster, begin and end of each busy interval of a run, in the order of their ends.

    `events` are all messages of one run of a dispatch model in the order of service. Intervals are
    cut off at `ticks`; those that are open at the end of the trace end there. Empty ones, of jobs
    without work, are left out.
    """
    began: dict[str, int] = {}
    for event in events:
        if event.server == "runJob":
            began[event.rebec] = event.time
        elif event.server == "update" and event.sender in began:
            begin, end = began.pop(event.sender), min(event.arrival, ticks)
            if begin < end:
                yield event.sender, begin, end
    for app_master, begin in began.items():
        if begin < ticks:
            yield app_master, begin, ticks


def utilisation(
    runs: Iterable[Iterable[ServedMessage | Event]], app_masters: int, ticks: int
) -> NDArray[np.float64]:
    """Return the share of runs in which each AppMaster was busy in each time unit.

    The result has shape (app_masters, ticks); row k is AppMaster am(k + 1), column t the time unit
    from t to t + 1. For a single run the numbers are 0 and 1. Raises ValueError without runs, and
    KeyError when an event is of an AppMaster that the cluster does not have.
    """
    row = {f"am{number + 1}": number for number in range(app_masters)}
    changes = np.zeros((app_masters, ticks + 1), dtype=np.int64)
    count = 0
    for events in runs:
        count += 1
        for app_master, begin, end in busy_intervals(events, ticks):
            changes[row[app_master], begin] += 1
            changes[row[app_master], end] -= 1
    if count == 0:
        raise ValueError("there are no runs")
    shares: NDArray[np.float64] = np.cumsum(changes, axis=1)[:, :-1] / count
    return shares


def windows(shares: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Return the mean utilisation in windows of `width` time units; the last may be shorter.

    From shape (app_masters, ticks) to (app_masters, ceil(ticks / width)).
    """
    firsts = np.arange(0, shares.shape[1], width)
    lengths = np.diff(np.append(firsts, shares.shape[1]))
    means: NDArray[np.float64] = np.add.reduceat(shares, firsts, axis=1) / lengths
    return means

"""The rebec that lets REGULAR and SMARTG race when a job is submitted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rebecsim.actors import Rebec, known_rebec, message_server
from rebecsim.clusters.yarn.application import Application
from rebecsim.clusters.yarn.configuration import RaceMetric
from rebecsim.clusters.yarn.foreseeing.look_ahead import play_out
from rebecsim.clusters.yarn.rebecs import ResourceManager, StuckError
from rebecsim.clusters.yarn.schedulers.elastic import SmartGreedy
from rebecsim.clusters.yarn.schedulers.race import RaceInLockstep
from rebecsim.clusters.yarn.schedulers.regular import Regular


class Racer(Rebec, queue_size=2**31 - 1):
    """Tells the scheduler who wins; REGULAR does when both are as good."""

    manager: ResourceManager = known_rebec()

    def __init__(self) -> None:
        self._raced = False

    @message_server
    def look_at_start(self) -> None:
        """Let them race for a job that is submitted at time 0, when all others of that time are."""
        self._race()

    @message_server(priority=1, global_priority=1)
    def look(self) -> None:
        """Let them race at once."""
        self._race()

    def _race(self) -> None:
        manager = self.manager
        if self._raced and manager.configuration.quirks.raced_once:
            return
        self._raced = True
        scheduler = manager.scheduler
        assert isinstance(scheduler, RaceInLockstep)
        scheduler.shrinks = self._cost(SmartGreedy) < self._cost(Regular)

    def _cost(self, scheduler: type[Regular]) -> float:
        """Give what it takes until all jobs that run have ended; infinite: they never do."""
        try:
            played = play_out(self.manager, self._now, scheduler)
        except StuckError:
            return math.inf
        return cost(played.values(), self.manager.configuration.race_metric)


def cost(applications: Iterable[Application], metric: RaceMetric) -> float:
    """Give what a metric says of jobs (ms): infinite if one has not ended.

    It is the sum of their durations, when the last one ends, or a percentile of their durations.
    """
    durations, last = [], 0
    for application in applications:
        if application.end is None:
            return math.inf
        durations.append(application.end - application.start)
        last = max(last, application.end)
    if metric == "TOTAL_JRT":
        return sum(durations)
    if metric == "MAKESPAN":
        return last
    return _percentile(sorted(durations), int(metric.removeprefix("CDF_"))) if durations else 0


def _percentile(ordered: Sequence[int], percent: int) -> int:
    """Give how long so many percent of jobs take at most (ms), as DSS reckons it.

    If these are a whole number of jobs, it is the mean of the longest of them and the next one, cut
    off to a millisecond; but the longest of all is never that next one.
    """
    whole, part = divmod(percent * len(ordered), 100)
    if part:
        return ordered[whole]
    if whole < len(ordered) - 1:
        return (ordered[whole - 1] + ordered[whole]) // 2
    return ordered[whole - 1]

"""The rebecs that look ahead: for PEEK, and to let REGULAR and SMARTG race."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rebecsim.actors import Rebec, known_rebec, message_server
from rebecsim.clusters.yarn.configuration import RaceMetric, YarnConfiguration
from rebecsim.clusters.yarn.containers import Application, ClusterNode
from rebecsim.clusters.yarn.foresight import Foresight
from rebecsim.clusters.yarn.launching import StuckError
from rebecsim.clusters.yarn.look_ahead import look_ahead, play_out
from rebecsim.clusters.yarn.rebecs import SECOND, ResourceManager
from rebecsim.clusters.yarn.schedulers.elastic import Peek, RaceInLockstep, SmartGreedy
from rebecsim.clusters.yarn.schedulers.regular import Regular


class Peeker(Rebec, queue_size=2**31 - 1):
    """Tells PEEK how the cluster would go on."""

    manager: ResourceManager = known_rebec()

    def __init__(self, period: int) -> None:
        self.period = period
        self._turn = 0
        self._next = 0
        self._told: set[int] = set()
        self._foresees_all = _foresees_all(self.manager.configuration)
        self.look_again(0)
        self.manager.changed = True
        self._peek.look_ahead = self._with

    @property
    def _peek(self) -> Peek:
        scheduler = self.manager.scheduler
        assert isinstance(scheduler, Peek)
        return scheduler

    @message_server
    def look_again(self, turn: int) -> None:
        """Look ahead if something has happened; another look that was put off is left out."""
        if turn != self._turn or self.manager.closed:
            return
        self.manager.require_progress()
        self._wait()
        if self.manager.scheduler.first is None:
            return
        if self.manager.changed or self._is_news():
            self._look()

    @message_server
    def look_at_start(self) -> None:
        """Look ahead at a job that is submitted at time 0, when all others of that time are."""
        self._look_now()

    @message_server(priority=1, global_priority=1)
    def look(self) -> None:
        """Look ahead at once."""
        self._look_now()

    def _look_now(self) -> None:
        self._told.clear()
        if self._next == self._now:
            self._wait()
        self._look()
        self.manager.changed = self.manager.configuration.quirks.looks_again

    def _wait(self) -> None:
        self._turn += 1
        self._next = self._now + self.period
        self.look_again(self._turn, after=self.period)

    def _look(self) -> None:
        """Look ahead, or further if all has gone as it was foreseen."""
        manager, peek = self.manager, self._peek
        manager.changed = False
        until = self._horizon()
        foresight = peek.foresight
        if foresight is not None and self._is_true(foresight, until):
            foresight.until = until
        else:
            foresight = look_ahead(manager, self._now, until)
        peek.foresee(foresight)

    def _is_true(self, foresight: Foresight, until: int) -> bool:
        """Whether looking ahead again would show the same, but until another time.

        A look ahead from here would not have the messages that were sent before now at its end, if
        it were that short.
        """
        if not (self._foresees_all and self._peek.as_foreseen):
            return False
        reached = foresight.reached
        return until > self._now + max(self.period, SECOND) and (reached is None or reached < until)

    def _with(self, application: Application, node: ClusterNode, memory: int) -> Foresight:
        """Look ahead with one more container."""
        manager = self.manager
        now = manager.now
        return look_ahead(manager, now, self._horizon(now), (application, node, memory))

    def _horizon(self, now: int | None = None) -> int:
        """Give until when to look: a heartbeat longer than any next task can take."""
        now = self._now if now is None else now
        longest = 0
        for application in self.manager.running.values():
            task = application.first_task
            if task is not None:
                assert task.penalty is not None
                most = int(task.duration * (task.penalty.bump + 1)) + self.period
                longest = max(longest, most)
        return now + longest

    def _is_news(self) -> bool:
        """Whether a job will end before the horizon of which that was not so until now."""
        until = self._horizon()
        ending = {
            application.number
            for application in self.manager.running.values()
            if application.number not in self._told
            and application.head is None
            and all(
                container.expected_end(self.period) <= until for container in application.containers
            )
        }
        self._told |= ending
        return bool(ending)


def _foresees_all(configuration: YarnConfiguration) -> bool:
    """Whether a cluster goes on as a copy of it until it gives less memory, or gets another job."""
    elasticity = configuration.elasticity
    errs = elasticity.duration_error or elasticity.memory_error or elasticity.bump_error
    return not (configuration.gaps or configuration.placement is not None or errs)


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

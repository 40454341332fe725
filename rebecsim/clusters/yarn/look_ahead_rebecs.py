"""What looks ahead: for PEEK, and to let REGULAR and SMARTG race."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rebecsim.actors import Unordered
from rebecsim.clusters.yarn.configuration import RaceMetric, YarnConfiguration
from rebecsim.clusters.yarn.containers import Application, ClusterNode
from rebecsim.clusters.yarn.foresight import Foreseen, Foresight
from rebecsim.clusters.yarn.launching import Seer, StuckError
from rebecsim.clusters.yarn.look_ahead import Placement, look_ahead, play_out
from rebecsim.clusters.yarn.rebecs import SECOND, ResourceManager
from rebecsim.clusters.yarn.schedulers.elastic import Peek, RaceInLockstep, SmartGreedy
from rebecsim.clusters.yarn.schedulers.fair import Regular


class Peeker(Seer):
    """Tells PEEK how the cluster would go on."""

    def __init__(self, configuration: YarnConfiguration) -> None:
        self._period = configuration.node_heartbeat
        self._next = 0
        self._told: Unordered[int, None] = Unordered()
        self._foresees_all = _foresees_all(configuration)

    def look_again(self, manager: ResourceManager) -> None:
        """Look ahead if something has happened; another look that was put off is left out."""
        if manager.now != self._next or manager.closed:
            return
        manager.require_progress()
        self._wait(manager)
        if manager.scheduler.first is None:
            return
        if manager.changed or self._is_news(manager):
            self._look(manager)

    def look(self, manager: ResourceManager) -> None:
        """Look ahead at once."""
        self._told.clear()
        if self._next == manager.now:
            self._wait(manager)
        self._look(manager)
        manager.changed = manager.configuration.quirks.looks_again

    def _wait(self, manager: ResourceManager) -> None:
        self._next = manager.now + self._period
        manager.look_again(after=self._period)

    def _look(self, manager: ResourceManager) -> None:
        """Look ahead, or further if all has gone as it was foreseen."""
        peek = manager.scheduler
        assert isinstance(peek, Peek)
        manager.changed = False
        until = self._horizon(manager)
        foresight = peek.foresight
        if foresight is not None and self._is_true(peek, foresight, manager.now, until):
            foresight.until = until
        else:
            foresight = self._ahead(manager, until)
        peek.foresee(foresight)

    def _is_true(self, peek: Peek, foresight: Foresight, now: int, until: int) -> bool:
        """Whether looking ahead again would show the same, but until another time.

        A look ahead from here would not have the messages that were sent before now at its end, if
        it were that short.
        """
        if not (self._foresees_all and peek.as_foreseen):
            return False
        return until > now + max(self._period, SECOND) and foresight.reached < until

    def look_with(
        self, manager: ResourceManager, application: Application, node: ClusterNode, memory: int
    ) -> Foresight:
        """Look ahead with one more container of this memory (MB)."""
        return self._ahead(manager, self._horizon(manager), (application, node, memory))

    def _ahead(
        self, manager: ResourceManager, until: int, placement: Placement | None = None
    ) -> Foresight:
        return look_ahead(manager, manager.now, until, placement)

    def _horizon(self, manager: ResourceManager) -> int:
        """Give until when to look: a heartbeat longer than any next task can take."""
        longest = 0
        for application in manager.running.values():
            task = application.first_task
            if task is not None:
                assert task.penalty is not None
                most = int(task.duration * (task.penalty.bump + 1)) + self._period
                longest = max(longest, most)
        return manager.now + longest

    def _is_news(self, manager: ResourceManager) -> bool:
        """Whether a job will end before the horizon of which that was not so until now."""
        until = self._horizon(manager)
        ending = [
            application.number
            for application in manager.running.values()
            if application.number not in self._told
            and application.head is None
            and all(
                container.expected_end(self._period) <= until
                for container in application.containers
            )
        ]
        self._told.update(dict.fromkeys(ending))
        return bool(ending)


class WholePeeker(Peeker):
    """Looks at everything at once, so that what is foreseen is a value, as exploring needs it."""

    def _is_true(self, peek: Peek, foresight: Foresight, now: int, until: int) -> bool:
        return False

    def _ahead(
        self, manager: ResourceManager, until: int, placement: Placement | None = None
    ) -> Foresight:
        return Foreseen(super()._ahead(manager, until, placement), manager.running.values())


def _foresees_all(configuration: YarnConfiguration) -> bool:
    """Whether a cluster goes on as a copy of it until it gives less memory, or gets another job."""
    elasticity = configuration.elasticity
    errs = elasticity.duration_error or elasticity.memory_error or elasticity.bump_error
    return not (configuration.gaps or configuration.placement is not None or errs)


class Racer(Seer):
    """Tells the scheduler who wins; REGULAR does when both are as good."""

    def __init__(self, configuration: YarnConfiguration) -> None:
        self._raced = False

    def look(self, manager: ResourceManager) -> None:
        """Let them race."""
        if self._raced and manager.configuration.quirks.raced_once:
            return
        self._raced = True
        scheduler = manager.scheduler
        assert isinstance(scheduler, RaceInLockstep)
        scheduler.shrinks = _cost_under(manager, SmartGreedy) < _cost_under(manager, Regular)


def _cost_under(manager: ResourceManager, scheduler: type[Regular]) -> float:
    """Give what it takes until all jobs that run have ended; infinite: they never do."""
    try:
        played = play_out(manager, manager.now, scheduler)
    except StuckError:
        return math.inf
    return cost(played.values(), manager.configuration.race_metric)


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

"""Failures and repairs of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebecsim.actors import Rebec, Unordered
from rebecsim.clusters.mapreduce.cluster_state import ClusterPlan
from rebecsim.clusters.mapreduce.configuration import Outage
from rebecsim.clusters.mapreduce.devices import UNBOUNDED, at_once

if TYPE_CHECKING:
    from rebecsim.clusters.mapreduce.tasktracker import TaskTracker


class FailureInjector(Rebec, queue_size=UNBOUNDED):
    """Makes nodes fail, and recover after repair. Only working nodes fail.

    Attributes:
        outages: outages so far.
        repairs: number of failed nodes that will recover.
    """

    def __init__(self, plan: ClusterPlan, *trackers: TaskTracker) -> None:
        self.plan = plan
        self.trackers = trackers
        self.outages: list[Outage] = []
        self.repairs = 0
        self._down: Unordered[int, bool] = Unordered()
        self._drawn = [0] * len(trackers)
        for outage in plan.configuration.failures.outages:
            repair = None if outage.end is None else outage.end - outage.start
            self.fail(outage.node, repair, after=outage.start)
        if plan.configuration.failures.mean_time_between is not None:
            for node in range(len(trackers)):
                self._draw(node)

    @at_once
    def fail(self, node: int, repair: int | None) -> None:
        """Make a node fail, for some time or (None) for good."""
        if node not in self._down:
            self._fail(node, repair)

    def _fail(self, node: int, repair: int | None) -> None:
        now = self._now
        self._down[node] = True
        self.outages.append(Outage(node, now, None if repair is None else now + repair))
        self.trackers[node].fail()
        if repair is not None:
            self.repairs += 1
            self.recover(node, after=repair)

    @at_once
    def fail_at_random(self, node: int) -> None:
        """Make a node fail at its drawn time, unless it is down already."""
        if node in self._down:
            self._draw(node)
        else:
            self._fail(node, self.plan.configuration.failures.repair)

    @at_once
    def recover(self, node: int) -> None:
        """Recover a node."""
        del self._down[node]
        self.repairs -= 1
        self.trackers[node].recover()
        if self.plan.configuration.failures.mean_time_between is not None:
            self._draw(node)

    def _draw(self, node: int) -> None:
        """Draw the next failure of a node."""
        lifetime = self.plan.lifetime(node, self._drawn[node])
        self._drawn[node] += 1
        self.fail_at_random(node, after=lifetime)

"""Killing within a queue, for users who have less than their limits allow them.

Applications of a trace all have one priority. So containers are only taken from users who have more
than their limit, for applications of others that were submitted earlier or later.
"""

from __future__ import annotations

from collections.abc import Collection

from rebecsim.clusters.yarn.containers import Container
from rebecsim.clusters.yarn.queue_files.capacity_settings import CapacityPreemption
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources
from rebecsim.clusters.yarn.queues.capacity.cluster import CapacityCluster
from rebecsim.clusters.yarn.queues.capacity.state import ApplicationState, LeafState
from rebecsim.clusters.yarn.queues.capacity.taking import (
    Taker,
    Taking,
    newest_first,
)

INSIDE = "user"


def within_queues(
    cluster: CapacityCluster, rules: CapacityPreemption, taker: Taker, dying: Collection[Container]
) -> None:
    """Choose containers of users who have too much of their queue."""
    if rules.inside_order != "userlimit_first":
        return  # by priorities, which are all the same
    for leaf in cluster.leaves:
        if leaf.settings.inner_preemptable and len(leaf.active) > 1:
            for label in cluster.totals:
                if leaf.used[label] != NONE:
                    _Inside(cluster, rules, taker, leaf, label).choose(dying)


class _Inside:
    """One leaf, on nodes of one label."""

    def __init__(
        self,
        cluster: CapacityCluster,
        rules: CapacityPreemption,
        taker: Taker,
        leaf: LeafState,
        label: str,
    ) -> None:
        self._cluster = cluster
        self._rules = rules
        self._taker = taker
        self._leaf = leaf
        self._label = label
        self._calculator = cluster.calculator
        self._total = cluster.total(label)
        self._applications = [each for each in leaf.in_service_order() if each.label == label]
        self._picked = {
            each: taker.taken_of(each.application, label) for each in self._applications
        }

    def choose(self, dying: Collection[Container]) -> None:
        leaf, label = self._leaf, self._label
        guaranteed = leaf.limits[label].minimum
        used = leaf.used[label]
        if self._calculator.divided(self._total, used, guaranteed) < self._rules.inside_threshold:
            return
        already = NONE
        for picked in self._picked.values():
            already = already.plus(picked)
        ideal = self._ideal(used.minus(already).minus(leaf.masters[label]))
        limit = guaranteed.times(self._rules.inside_most).minus(already).not_negative()
        limit = self._calculator.lesser(self._total, limit, self._taker.allowed)
        gives: dict[ApplicationState, Resources] = {}
        for each in reversed(self._applications):
            more = self._held(each).minus(ideal[each]).minus(self._cluster.step).not_negative()
            gives[each] = self._lesser(more, limit)
            limit = limit.minus(gives[each])
        for each, obtain in self._matched(ideal, gives).items():
            self._take(each, obtain, dying)

    def _held(self, each: ApplicationState) -> Resources:
        """Give what it has beside its AppMaster, and keeps."""
        used = each.used[self._label]
        return used.minus(self._picked[each]).minus(each.master).not_negative()

    def _limit(self, each: ApplicationState) -> Resources:
        return self._leaf.users.limit_of_all(each.user, self._label)

    def _ideal(self, available: Resources) -> dict[ApplicationState, Resources]:
        """Say what applications should have beside their AppMasters, first come first."""
        of_user: dict[str, Resources] = {}
        found = {}
        for each in self._applications:
            name = each.user.name
            mine = of_user.get(name, NONE)
            masters = each.user.masters[self._label]
            room = self._limit(each).minus(masters).minus(mine)
            wanted = self._held(each).plus(each.asks.pending)
            share = self._lesser(self._lesser(available, wanted), room).not_negative()
            found[each] = share
            available = available.minus(share)
            of_user[name] = mine.plus(share)
        return found

    def _matched(
        self, ideal: dict[ApplicationState, Resources], gives: dict[ApplicationState, Resources]
    ) -> dict[ApplicationState, Resources]:
        """Say what is taken of whom, for those who have less than they should."""
        found: dict[ApplicationState, Resources] = {}
        for taking in self._applications:
            want = ideal[taking].minus(self._held(taking)).not_negative()
            for giving in reversed(self._applications):
                if not self._is_some(want):
                    break
                if giving.user is taking.user or not self._is_some(gives[giving]):
                    continue
                over = giving.user.used[self._label].minus(self._limit(giving))
                if not self._is_some(over):
                    continue
                some = self._lesser(self._lesser(want, gives[giving]), over)
                want = want.minus(some)
                gives[giving] = gives[giving].minus(some)
                found[giving] = found.get(giving, NONE).plus(some)
        return found

    def _take(
        self, each: ApplicationState, obtain: Resources, dying: Collection[Container]
    ) -> None:
        limit, rolling = self._limit(each), each.user.used[self._label]
        for other in self._applications:
            if other.user is each.user:
                rolling = rolling.minus(self._taker.taken_of(other.application, self._label))
        taking = Taking(obtain, self._taker, conservative=self._rules.inside_conservative)
        for container in newest_first(each, self._label):
            if container.task.is_master or container in dying:
                continue
            after = rolling.minus(container.size)
            if not self._calculator.less(self._total, limit, after):
                break
            if taking.take(container, INSIDE):
                rolling = after

    def _lesser(self, one: Resources, other: Resources) -> Resources:
        return self._calculator.lesser(self._total, one, other)

    def _is_some(self, some: Resources) -> bool:
        return self._calculator.less(self._total, NONE, some)

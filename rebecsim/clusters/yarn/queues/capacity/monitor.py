"""Killing containers so that queues, and users within them, get what they should have.

Now and then it is computed what queues have too much, and which containers would give it back.
They are killed when they have been chosen for some time.
"""

from __future__ import annotations

import math

from rebecsim.actors import StatePart
from rebecsim.clusters.yarn.containers import ClusterNode, Container
from rebecsim.clusters.yarn.queue_files.capacity_settings import CapacityPreemption
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources, total_of
from rebecsim.clusters.yarn.queues.capacity.cluster import CapacityCluster, label_of
from rebecsim.clusters.yarn.queues.capacity.ideal import Ideal, IdealQueue
from rebecsim.clusters.yarn.queues.capacity.inside import within_queues
from rebecsim.clusters.yarn.queues.capacity.placing import Placing
from rebecsim.clusters.yarn.queues.capacity.state import ApplicationState, LeafState, QueueState
from rebecsim.clusters.yarn.queues.capacity.taking import (
    Taker,
    Taking,
    newest_first,
)
from rebecsim.clusters.yarn.records import Killed

BETWEEN, BALANCING, RESERVED = "queue", "balance", "reservation"


class CapacityMonitor(StatePart):
    """Chooses containers, and says when they are to be killed."""

    def __init__(
        self, rules: CapacityPreemption, cluster: CapacityCluster, placing: Placing
    ) -> None:
        self._rules = rules
        self._cluster = cluster
        self._placing = placing
        self._calculator = cluster.calculator
        self._chosen: dict[Container, int] = {}
        self._dying: dict[Container, None] = {}

    @property
    def patience(self) -> int:
        """After how long at most something is killed if nothing else happens (ms).

        So long it is remembered what was chosen, and is not any more.
        """
        return 2 * max(self._rules.wait, self._rules.balance_wait if self._rules.balance else 0)

    def released(self, container: Container) -> None:
        """Forget a container that has ended."""
        self._dying.pop(container, None)
        self._chosen.pop(container, None)

    def round(self, now: int) -> list[Killed]:
        """Choose containers, and give those that are to be killed now."""
        if not self._cluster.asking:
            self._forget(now)
            return []
        picked = self._pick()
        found = []
        for container, reason in picked.items():
            chosen = self._chosen.setdefault(container, now)
            wait = self._rules.balance_wait if reason == BALANCING else self._rules.wait
            if chosen + wait <= now and not self._rules.observe_only:
                del self._chosen[container]
                self._dying[container] = None
                found.append(Killed(container, chosen, now, reason))
        self._forget(now)
        return found

    def _forget(self, now: int) -> None:
        old = now - self.patience
        for container in [each for each, at in self._chosen.items() if at < old]:
            del self._chosen[container]

    def _pick(self) -> dict[Container, str]:
        """Choose containers of all labels."""
        whole = NONE
        for total in self._cluster.totals.values():
            whole = whole.plus(total)
        taker = Taker(self._counted(whole.times(self._rules.per_round)), self._calculator)
        labels = [
            label
            for label, total in self._cluster.totals.items()
            if self._calculator.less(total, NONE, total)
        ]
        if self._rules.reserved:
            for label in labels:
                self._for_reservations(label, self._ideal(label, taker), taker)
        for reason in (BETWEEN, *([BALANCING] if self._rules.balance else [])):
            for label in labels:
                ideal = self._ideal(label, taker, balances=reason == BALANCING)
                for leaf in self._cluster.leaves:
                    self._take_of(leaf, label, ideal[leaf.settings.path], taker, reason)
        if self._rules.inside:
            within_queues(self._cluster, self._rules, taker, self._dying)
        return taker.picked

    def _ideal(self, label: str, taker: Taker, *, balances: bool = False) -> dict[str, IdealQueue]:
        """Say what leaves should have on nodes of a label, by their paths."""
        total = self._counted(self._cluster.total(label))
        root = self._snapshot(self._cluster.root, label)
        Ideal(self._calculator, total, taker.allowed, balances=balances).compute(root)
        return {each.path: each for each in root.leaves()}

    def _counted(self, some: Resources) -> Resources:
        """Leave out what does not count."""
        return some if self._cluster.settings.dominant else Resources(some.memory, 0)

    def _snapshot(self, queue: QueueState, label: str) -> IdealQueue:
        limits, settings = queue.limits[label], queue.settings
        children = [self._snapshot(child, label) for child in queue.children]
        pending = NONE
        for child in children:
            pending = pending.plus(child.pending)
        used = queue.used[label]
        if isinstance(queue, LeafState):
            pending = self._pending(queue, label)
        for container in self._dying:
            state = self._cluster.states[container.application]
            if label_of(container.node) == label and queue in state.leaf.path:
                used = used.minus(container.size)
        return IdealQueue(
            settings.path,
            self._counted(limits.minimum),
            self._counted(limits.maximum),
            self._counted(used),
            self._counted(pending),
            settings.preemptable,
            settings.priority,
            settings.parent_order == "priority-utilization",
            children,
        )

    def _pending(self, leaf: LeafState, label: str) -> Resources:
        """Give what users ask for, as far as their limits let them have it."""
        found = NONE
        wanted: dict[str, Resources] = {}
        for each in leaf.ordered():
            if each.label == label:
                reserved = each.reserved[label]
                asked = each.asks.pending.minus(reserved).not_negative()
                wanted[each.user.name] = wanted.get(each.user.name, NONE).plus(asked)
        for name, asked in wanted.items():
            user = leaf.users.by_name[name]
            limit = leaf.users.limit_of(user, label)
            room = limit.minus(user.used[label]).not_negative()
            found = found.plus(room.least(asked))
        return found

    def _take_of(
        self, leaf: LeafState, label: str, ideal: IdealQueue, taker: Taker, reason: str
    ) -> None:
        """Choose containers of a leaf, if it has more than its capacity and some tolerance."""
        tolerated = ideal.guaranteed.times(1 + self._rules.dead_zone)
        total = self._cluster.total(label)
        if not ideal.preemptable or not self._calculator.less(total, tolerated, ideal.used):
            return
        obtain = Resources(*(math.ceil(each * self._rules.natural) for each in ideal.to_take))
        for each in leaf.active:
            obtain = obtain.minus(taker.taken_of(each.application, label))
        if not self._calculator.less(total, NONE, obtain):
            return
        share = leaf.settings.master_share.get(label, leaf.settings.master_share[""])
        kept = self._cluster.total(label).times(leaf.limits[label].share * share)
        taking = Taking(obtain, taker, conservative=self._rules.conservative)
        for container in self._on_lent(leaf, label):
            taking.take(container, reason)
        masters = []
        skipped = NONE
        for each in reversed(leaf.in_service_order()):
            self._drop_reservations(each, label, taking)
            for container in newest_first(each, label):
                if container in self._dying:
                    continue
                if container.task.is_master:
                    masters.append(container)
                    skipped = skipped.plus(container.size)
                else:
                    taking.take(container, reason)
        for container in masters:
            if not self._calculator.less(total, kept, skipped):
                break
            if taking.take(container, reason):
                skipped = skipped.minus(container.size)

    def _on_lent(self, leaf: LeafState, label: str) -> list[Container]:
        """Give the containers of a leaf on nodes of a label that are lent to it, newest first."""
        found = [
            (each.order, container.number, container)
            for each in leaf.active
            if each.label != label
            for container in newest_first(each, label)
            if container not in self._dying
        ]
        return [container for *_, container in sorted(found, reverse=True)]

    def _drop_reservations(self, each: ApplicationState, label: str, taking: Taking) -> None:
        for node, ask in list(each.kept.items()):
            if label_of(node) == label and taking.wants(ask.size):
                taking.drop(ask.size)
                self._placing.unreserve(node)

    def _for_reservations(self, label: str, leaves: dict[str, IdealQueue], taker: Taker) -> None:
        """Choose what makes room on nodes that are kept, where that costs least."""
        found = []
        for node, keeper in self._cluster.keepers.items():
            if label_of(node) != label:
                continue
            chosen = self._making_room(node, keeper, leaves)
            if chosen is not None:
                size = sum(each.memory for each in chosen)
                found.append((size / max(keeper.kept[node].size.memory, 1), chosen))
        found.sort(key=lambda item: item[0])
        for _, chosen in found:
            if not taker.has_room(total_of(each.size for each in chosen)):
                continue
            for container in chosen:
                leaf = leaves[self._cluster.states[container.application].leaf.settings.path]
                leaf.to_take = leaf.to_take.minus(container.size).not_negative()
                taker.pick(container, RESERVED)

    def _making_room(
        self, node: ClusterNode, keeper: ApplicationState, leaves: dict[str, IdealQueue]
    ) -> list[Container] | None:
        """Give the newest containers of a node, of queues with too much, that make room."""
        free, chosen = node.free, []
        wanted = keeper.kept[node].size
        left = {path: each.to_take for path, each in leaves.items() if each.preemptable}
        for container in sorted(node.running, key=lambda each: each.launched or 0, reverse=True):
            if self._calculator.fits(wanted, free):
                break
            state = self._cluster.states[container.application]
            path = state.leaf.settings.path
            if container.task.is_master or container in self._dying or state is keeper:
                continue
            if path in left and self._calculator.less(self._cluster.total(""), NONE, left[path]):
                left[path] = left[path].minus(container.size)
                free = free.plus(container.size)
                chosen.append(container)
        return chosen if chosen and self._calculator.fits(wanted, free) else None

"""Letting applications in: who may be submitted, who may run, and whose AppMaster may start."""

from __future__ import annotations

from rebecsim.actors import StatePart
from rebecsim.arithmetic import float32
from rebecsim.clusters.yarn import records
from rebecsim.clusters.yarn.queue_files.capacity_settings import CapacityQueue, CapacitySettings
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources
from rebecsim.clusters.yarn.queues.capacity.amounts import Amounts
from rebecsim.clusters.yarn.queues.capacity.cluster import CapacityCluster
from rebecsim.clusters.yarn.queues.capacity.state import ApplicationState, LeafState
from rebecsim.clusters.yarn.queues.capacity.users import UserState


def most_applications(settings: CapacitySettings, queue: CapacityQueue, share: float) -> int:
    """Give how many applications a leaf may have that are not finished; `share` is its capacity."""
    if queue.most_applications is not None:
        return queue.most_applications
    common, system = settings.queue_applications, settings.system_applications
    is_absolute = queue.capacity[""].unit == "absolute"
    if common and not is_absolute:
        return min(common, system)
    return int(min(common or system, system) * share)


def most_of_user(queue: CapacityQueue, most: int) -> int:
    """Give how many of these one user may have."""
    if queue.user_factor == -1:
        return most
    return min(most, int(most * queue.user_percent / 100 * queue.user_factor))


class Activation(StatePart):
    """Lets applications of leaves in as long as their AppMasters leave room for tasks."""

    def __init__(self, cluster: CapacityCluster) -> None:
        self._cluster = cluster
        self._calculator = cluster.calculator
        self._step = cluster.step
        self._total = cluster.totals

    def master_limit(self, leaf: LeafState, label: str) -> Resources:
        """Give what AppMasters of a leaf may take together."""
        usable = minimum = leaf.limits[label].minimum if label in leaf.limits else NONE
        if not label and self._calculator.fits(minimum, leaf.limit_now):
            usable = leaf.limit_now
        return self._calculator.times_up(usable, self._share(leaf, label), self._step)

    def _share(self, leaf: LeafState, label: str) -> float:
        return float32(leaf.settings.master_share.get(label, leaf.settings.master_share[""]))

    def master_limit_of_user(self, leaf: LeafState, label: str, user: UserState) -> Resources:
        """Give what those of one user may take."""
        minimum = leaf.limits[label].minimum if label in leaf.limits else NONE
        share, factor = self._share(leaf, label), leaf.settings.user_factor
        if factor != -1:
            alike = float32(1 / max(1, leaf.users.number))
            least = max(float32(float32(leaf.settings.user_percent) / 100), alike)
            part = min(1.0, float32(least * float32(user.weight)))
            share = float32(float32(share * part) * float32(factor))
        found = self._calculator.times_up(minimum, share, self._step)
        return self._calculator.lesser(
            self._total.get(label, NONE), self.master_limit(leaf, label), found
        )

    def let_in(self, leaf: LeafState, now: int) -> list[ApplicationState]:
        """Let in who may, of those who wait, in their order; give them."""
        of_all: dict[str, Resources] = {}
        of_user: dict[str, Resources] = {}
        let_in = []
        for each in list(leaf.waiting):
            label = each.label
            if label not in of_all:
                of_all[label] = self.master_limit(leaf, label)
            alone = not leaf.active or leaf.masters[label] == NONE
            if not alone and not self._fits(leaf.masters, each, of_all[label]):
                self._note(each, now, records.MASTERS, leaf.masters, of_all[label])
                continue
            if label not in of_user:  # the limit of the first user who gets so far counts for all
                of_user[label] = self.master_limit_of_user(leaf, label, each.user)
            if alone or self._fits(each.user.masters, each, of_user[label]):
                leaf.waiting.remove(each)
                leaf.active[each] = None
                leaf.users.move(each.user, waiting=-1, let_in=1)
                _count(each, each.master)
                let_in.append(each)
            else:
                masters = each.user.masters
                self._note(each, now, records.MASTERS_OF_USER, masters, of_user[label])
        return let_in

    def _note(
        self, each: ApplicationState, now: int, reason: str, have: Amounts, limit: Resources
    ) -> None:
        if self._cluster.wait_log is not None:
            text, used = self._cluster.text, have[each.label]
            detail = f"AppMasters have {text(used)}, and may have {text(limit)}"
            self._cluster.wait_log.note(each.application, now, reason, detail=detail)

    def _fits(self, masters: Amounts, each: ApplicationState, limit: Resources) -> bool:
        return self._calculator.fits(masters[each.label].plus(each.master), limit)


def put_out(each: ApplicationState) -> None:
    """Take an application out of those that have been let in, or wait to be."""
    leaf = each.leaf
    if each in leaf.active:
        del leaf.active[each]
        leaf.users.move(each.user, let_in=-1)
        _count(each, NONE.minus(each.master))
    else:
        leaf.waiting.remove(each)
        leaf.users.move(each.user, waiting=-1)


def _count(each: ApplicationState, master: Resources) -> None:
    each.leaf.masters.add(each.label, master)
    each.user.masters.add(each.label, master)

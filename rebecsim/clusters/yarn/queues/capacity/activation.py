"""Letting applications in: who may be submitted, who may run, and whose AppMaster may start."""

from __future__ import annotations

from rebecsim.clusters.yarn.queue_files.capacity_settings import CapacityQueue, CapacitySettings
from rebecsim.clusters.yarn.queue_files.resources import NONE, Calculator, Resources
from rebecsim.clusters.yarn.queues.capacity.state import (
    ApplicationState,
    LeafState,
    UserState,
    add,
    amount,
    minus,
)


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


class Activation:
    """Lets applications of leaves in as long as their AppMasters leave room for tasks."""

    def __init__(
        self, settings: CapacitySettings, calculator: Calculator, nodes: dict[str, Resources]
    ) -> None:
        self._settings = settings
        self._calculator = calculator
        self._step = settings.allocations.minimum
        self._total = nodes

    def master_limit(self, leaf: LeafState, label: str) -> Resources:
        """Give what AppMasters of a leaf may take together."""
        minimum = leaf.limits[label].minimum if label in leaf.limits else NONE
        usable = minimum
        if not label:
            most = leaf.limit_now.least(leaf.limits[""].maximum)
            if self._calculator.fits(minimum, most):
                usable = most
        share = leaf.settings.master_share.get(label, leaf.settings.master_share[""])
        return self._calculator.times_up(usable, share, self._step)

    def master_limit_of_user(self, leaf: LeafState, label: str, user: UserState) -> Resources:
        """Give what those of one user may take."""
        minimum = leaf.limits[label].minimum if label in leaf.limits else NONE
        share = leaf.settings.master_share.get(label, leaf.settings.master_share[""])
        factor = leaf.settings.user_factor
        if factor == -1:
            part = 1.0
        else:
            active = sum(1 for each in leaf.users.values() if each.asking or each.waiting)
            least = max(leaf.settings.user_percent / 100, 1 / max(1, active))
            part = min(1.0, user.weight * least) * factor
        found = self._calculator.times_up(minimum, share * part, self._step)
        return self._calculator.lesser(
            self._total.get(label, NONE), self.master_limit(leaf, label), found
        )

    def let_in(self, leaf: LeafState) -> list[ApplicationState]:
        """Let in who may, of those who wait, in their order; give them."""
        limits: dict[str, tuple[Resources, Resources]] = {}
        let_in = []
        for each in list(leaf.waiting):
            label = each.label
            if label not in limits:  # the limit of the first one's user counts for all
                own = self.master_limit_of_user(leaf, label, each.user)
                limits[label] = self.master_limit(leaf, label), own
            of_all, of_user = limits[label]
            alone = not leaf.active or amount(leaf.masters, label) == NONE
            fits = self._fits(leaf.masters, each, of_all)
            fits = fits and self._fits(each.user.masters, each, of_user)
            if fits or alone:
                leaf.waiting.remove(each)
                leaf.active[each] = None
                each.user.waiting -= 1
                _count(each, each.master)
                let_in.append(each)
        return let_in

    def _fits(
        self, masters: dict[str, Resources], each: ApplicationState, limit: Resources
    ) -> bool:
        return self._calculator.fits(amount(masters, each.label).plus(each.master), limit)


def put_out(each: ApplicationState) -> None:
    """Take an application out of those that have been let in."""
    del each.leaf.active[each]
    _count(each, minus(each.master))


def _count(each: ApplicationState, master: Resources) -> None:
    add(each.leaf.masters, each.label, master)
    add(each.user.masters, each.label, master)

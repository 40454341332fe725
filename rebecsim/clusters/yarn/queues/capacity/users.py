"""The users of a leaf queue: what they have, who of them asks for more, and what each may have.

Limits of users are computed anew only when what they depend on has changed since: what users have,
or who asks. At the same time it is counted how many users have only applications that wait to be
let in, which limits the AppMasters of each user. So that number may be out of date, as in Hadoop.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rebecsim.actors import StatePart
from rebecsim.arithmetic import float32
from rebecsim.clusters.yarn.queue_files.capacity_settings import CapacityQueue
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources
from rebecsim.clusters.yarn.queues.capacity.amounts import Amounts, UsedByLabel
from rebecsim.clusters.yarn.queues.capacity.user_limits import (
    UserRules,
    UserShares,
    user_limit,
    weighted,
)

if TYPE_CHECKING:
    from rebecsim.clusters.yarn.queues.capacity.state import ApplicationState


class UserState(UsedByLabel):
    """A user of a leaf.

    Attributes:
        weight: multiplies his limit.
        waiting: how many of his applications wait to be let in.
        let_in: how many have been let in.
        ratios: the part of all nodes of a label that he has.
    """

    __slots__ = ("let_in", "name", "ratios", "waiting", "weight")

    def __init__(self, name: str, weight: float) -> None:
        super().__init__()
        self.name = name
        self.weight = weight
        self.waiting = self.let_in = 0
        self.ratios: dict[str, float] = {}

    @property
    def only_waits(self) -> bool:
        """Whether he has applications, and none has been let in."""
        return self.waiting > 0 and self.let_in <= 0


class Users(StatePart):
    """All users of a leaf.

    A user counts as active from when an application of his asks for containers while one of his has
    been let in, until none of those that asked then does any more.

    Attributes:
        by_name: who has applications that may run.
        version: how often what limits depend on has changed.
    """

    __slots__ = (
        "_active",
        "_asking",
        "_computed",
        "_has_moved",
        "_limits",
        "_only_waiting",
        "_ratios",
        "_rules",
        "_settings",
        "_used_by_active",
        "_weights",
        "by_name",
        "version",
    )

    def __init__(self, settings: CapacityQueue, rules: Mapping[str, UserRules]) -> None:
        self._settings = settings
        self._rules = rules  # by label
        self.by_name: dict[str, UserState] = {}
        self._asking: dict[str, dict[ApplicationState, None]] = {}
        self._active: dict[str, None] = {}
        self._used_by_active = Amounts()
        self._weights = 0.0
        self._ratios: dict[str, float] = {}
        self.version = 0
        self._limits: dict[tuple[str, bool], tuple[int, Resources]] = {}
        self._computed = -1
        self._only_waiting = 0
        self._has_moved = False  # whether that may be another number now

    def named(self, name: str) -> UserState:
        """Give a user, who may be new."""
        user = self.by_name.get(name)
        if user is None:
            weight = self._settings.user_weights.get(name, 1.0)
            user = self.by_name[name] = UserState(name, weight)
        return user

    def forget(self, user: UserState) -> None:
        """Forget a user who has no application that may run.

        Applications of his that may not run yet are not forgotten. So when he comes back because
        of them, he does not become active, and has only the least share: a fault of Hadoop's.
        """
        del self.by_name[user.name]
        self._active.pop(user.name, None)
        self._add_weights()

    def _add_weights(self) -> None:
        self._weights = sum(self.by_name[name].weight for name in self._active)

    def asks(self, each: ApplicationState) -> None:
        """Take note of an application that asks for containers, and has not before."""
        name = each.user.name
        user = self.by_name.get(name)
        if user is not None and user.let_in <= 0:
            return
        if name not in self._asking:
            self._asking[name] = {}
            self.version += 1
            user = self.named(name)
            if name not in self._active:
                self._active[name] = None
                self._add_weights()
                for label, used in user.used.items():
                    self._used_by_active.add(label, used)
        self._asking[name][each] = None

    def asks_no_more(self, each: ApplicationState) -> None:
        """Take note of an application that asks for nothing any more."""
        name = each.user.name
        mine = self._asking.get(name)
        if mine is None:
            return
        mine.pop(each, None)
        if mine:
            return
        del self._asking[name]
        self.version += 1
        user = self.by_name.get(name)
        if user is not None and name in self._active:
            del self._active[name]
            self._add_weights()
            for label, used in user.used.items():
                self._used_by_active.add(label, NONE.minus(used))

    def charge(self, user: UserState, label: str, more: Resources) -> None:
        """Count what a user has more, or less."""
        self.version += 1
        used = user.used[label] = user.used[label].plus(more)
        if user.name in self._active:
            self._used_by_active.add(label, more)
        rules = self._rules[label]
        ratio = rules.calculator.ratio(used, rules.total)
        change = float32(ratio - user.ratios.get(label, 0.0))
        user.ratios[label] = ratio
        self._ratios[label] = float32(self._ratios.get(label, 0.0) + change)

    def limit(self, label: str, *, borrowed: bool = False) -> Resources:
        """Give what a user of weight 1 may have of nodes of a label."""
        key = label, borrowed
        known = self._limits.get(key)
        if known is not None and known[0] == self.version:
            return known[1]
        found = user_limit(*self.limited_by(label), borrowed=borrowed)
        self._limits[key] = self.version, found
        self.count_waiting()
        return found

    def limited_by(self, label: str) -> tuple[UserRules, UserShares]:
        """Give what limits of users depend on."""
        ratio, used = self._ratios.get(label, 0.0), self._used_by_active[label]
        return self._rules[label], UserShares(ratio, used, self._weights)

    def limit_of(self, user: UserState, label: str, *, borrowed: bool = False) -> Resources:
        """Give what a user may have of nodes of a label."""
        limit = self.limit(label, borrowed=borrowed)
        return limit if user.weight == 1 else weighted(self._rules[label], limit, user.weight)

    def limit_of_all(self, user: UserState, label: str) -> Resources:
        """Give what a user may have if all users share the leaf, not only the active ones."""
        weights = sum(each.weight for each in self.by_name.values())
        shares = UserShares(self._ratios.get(label, 0.0), None, weights)
        rules = self._rules[label]
        return weighted(rules, user_limit(rules, shares), user.weight)

    @property
    def is_computed(self) -> bool:
        """Whether nothing that limits depend on has changed since they were computed."""
        return self._computed == self.version

    def count_waiting(self) -> None:
        """Count the users who only have applications that wait, as limits are computed."""
        self._computed = self.version
        if self._has_moved:
            self._has_moved = False
            self._only_waiting = sum(each.only_waits for each in self.by_name.values())

    def move(self, user: UserState, *, waiting: int = 0, let_in: int = 0) -> None:
        """Count applications of a user that wait to be let in, or have been, more or less."""
        user.waiting += waiting
        user.let_in += let_in
        self._has_moved = True

    @property
    def number(self) -> int:
        """How many users limits of AppMasters are for."""
        return len(self._asking) + self._only_waiting

"""Who has a share of a queue, and in which order queues, or applications, are served."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cmp_to_key, partial
from typing import Any, TypeVar

from rebecsim.actors import StatePart
from rebecsim.clusters.yarn.queue_files.fair_settings import FairPolicy
from rebecsim.clusters.yarn.queue_files.resources import (
    DOMINANT,
    MEMORY,
    NONE,
    Calculator,
    Resources,
)


class FairShared(StatePart):
    """Who has a share: a queue or an application.

    Attributes:
        used: what its containers have.
        demand: that, and what it asks for; as old as shares are.
        share: what it should have now, of those that are at work.
        minimum: what it should have in any case.
        weight: how much it should have, compared to others of its parent.
        name: by which those are ordered that are alike in all else.
        start: of an application, by which those are ordered first; 0 for queues.
    """

    def __init__(self, name: str, start: int = 0) -> None:
        self.used = self.demand = self.share = self.minimum = NONE
        self.weight = 1.0
        self.name: str | int = name
        self.start = start


_Member = TypeVar("_Member", bound=FairShared)
_Key = Callable[[FairShared, Resources], tuple[Any, ...]]


def in_order(policy: FairPolicy, members: Sequence[_Member], total: Resources) -> list[_Member]:
    """Give members of a queue in the order in which they are served."""
    if policy == "drf" and any(not each.weight for each in members):
        return sorted(members, key=cmp_to_key(partial(_compared, total)))
    return sorted(members, key=lambda each: place_of(policy, each, total))


def _compared(total: Resources, one: FairShared, other: FairShared) -> int:
    """Compare two under drf: who has neither weight nor anything ties with all, up to the name.

    Hadoop divides nothing by nothing there, and what comes of that is neither less nor more.
    """
    mine, others = _dominant(one, total), _dominant(other, total)
    nothing = any(not each.weight and each.used == NONE for each in (one, other))
    if nothing and mine[0] and others[0]:
        mine, others = mine[-2:], others[-2:]
    return -1 if mine < others else 1


def place_of(policy: FairPolicy, each: FairShared, total: Resources) -> tuple[Any, ...]:
    """Give what a member of a queue is ordered by; no two of a queue have the same."""
    return _KEYS[policy](each, total)


def is_below(policy: FairPolicy, used: Resources, share: Resources, total: Resources) -> bool:
    """Whether somebody has less than a share, by what counts most for the policy.

    Under drf only the dominant parts are compared: equal ones are not below.
    """
    calculator = calculator_of(policy)
    return calculator.key(total, used)[0] < calculator.key(total, share)[0]


def needs_minimum(policy: FairPolicy, each: FairShared, used: Resources, total: Resources) -> bool:
    """Whether somebody who has some resources goes first for having less than a minimum."""
    if policy != "drf":
        return used.memory < min(each.minimum.memory, each.demand.memory)
    memory, cores = _parts(used, total)
    first = 0 if memory >= cores else 1
    return used[first] < each.minimum[first]


def calculator_of(policy: FairPolicy) -> Calculator:
    """Give what compares resources under a policy."""
    return DOMINANT if policy == "drf" else MEMORY


def _fair(each: FairShared, total: Resources) -> tuple[Any, ...]:
    """By memory: first those below their minimum, by how far; then who has least for its weight."""
    used, least = each.used.memory, min(each.minimum.memory, each.demand.memory)
    needy = used < least
    missing = used / max(least, 1) if needy else 0.0
    has_weight = each.weight > 0
    value = used / each.weight if has_weight else used
    return not each.demand.memory, not needy, missing, not has_weight, value, each.start, each.name


def _dominant(each: FairShared, total: Resources) -> tuple[Any, ...]:
    """By the resource of which it has the largest part of the cluster."""
    parts = _parts(each.used, total)
    first = 0 if parts[0] >= parts[1] else 1
    needy = each.used[first] < each.minimum[first]
    if needy:
        parts = [_ratio(used, least) for used, least in zip(each.used, each.minimum, strict=True)]
    else:
        parts = [_ratio(part, each.weight) for part in parts]
    return not needy, parts[first], parts[1 - first], each.start, each.name


def _parts(used: Resources, total: Resources) -> list[float]:
    return [part / whole if whole else 0.0 for part, whole in zip(used, total, strict=True)]


def _ratio(part: float, of: float) -> float:
    """Divide, without end by nothing."""
    return part / of if of else math.inf if part else 0.0


def _fifo(each: FairShared, total: Resources) -> tuple[Any, ...]:
    return each.start, each.name


_KEYS: dict[FairPolicy, _Key] = {"fair": _fair, "drf": _dominant, "fifo": _fifo}

"""In which order queues, or applications, are served."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from rebecsim.clusters.yarn.queue_files.fair_settings import FairPolicy
from rebecsim.clusters.yarn.queue_files.resources import DOMINANT, MEMORY, Calculator, Resources
from rebecsim.clusters.yarn.queues.fair.member import FairShared

_Member = TypeVar("_Member", bound=FairShared)
_Key = Callable[[FairShared, Resources], tuple[Any, ...]]


def in_order(policy: FairPolicy, members: Sequence[_Member], total: Resources) -> list[_Member]:
    """Give members of a queue in the order in which they are served."""
    return sorted(members, key=lambda each: place_of(policy, each, total))


def place_of(policy: FairPolicy, each: FairShared, total: Resources) -> tuple[Any, ...]:
    """Give what a member of a queue is ordered by; no two of a queue have the same."""
    return _KEYS[policy](each, total)


def is_below(policy: FairPolicy, used: Resources, share: Resources, total: Resources) -> bool:
    """Whether somebody has less than a share, by what counts most for the policy.

    Under drf only the dominant parts are compared: equal ones are not below.
    """
    calculator = calculator_of(policy)
    return calculator.key(total, used)[0] < calculator.key(total, share)[0]


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
    parts = [part / whole if whole else 0.0 for part, whole in zip(each.used, total, strict=True)]
    first = 0 if parts[0] >= parts[1] else 1
    needy = each.used[first] < each.minimum[first]
    if needy:
        ratios = [used / least if least else 1.0 for used, least in _pairs(each)]
        return (0, 0, ratios[first], ratios[1 - first], each.start, each.name)
    if each.weight > 0:
        ratios = [part / each.weight for part in parts]
        return (1, 0, ratios[first], ratios[1 - first], each.start, each.name)
    return (1, 1, parts[first], parts[1 - first], each.start, each.name)


def _pairs(each: FairShared) -> list[tuple[int, int]]:
    return list(zip(each.used, each.minimum, strict=True))


def _fifo(each: FairShared, total: Resources) -> tuple[Any, ...]:
    return each.start, each.name


_KEYS: dict[FairPolicy, _Key] = {"fair": _fair, "drf": _dominant, "fifo": _fifo}

"""In which order queues, or applications, are served."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from rebecsim.clusters.yarn.queue_files.fair_settings import FairPolicy
from rebecsim.clusters.yarn.queue_files.resources import Resources
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
    """Whether who has something has less than a share, by what counts for the policy."""
    if policy != "drf":
        return used.memory < share.memory
    return _parts(used, total) < _parts(share, total)


def _parts(some: Resources, total: Resources) -> list[float]:
    """Give the parts of a whole, the larger one first."""
    parts = (part / whole if whole else 0.0 for part, whole in zip(some, total, strict=True))
    return sorted(parts, reverse=True)


def _fair(each: FairShared, total: Resources) -> tuple[Any, ...]:
    """By memory: needy ones first, then who has the least for the weight."""
    used, least = each.used.memory, min(each.minimum.memory, each.demand.memory)
    needy = used < least
    if needy:
        value = (0, used / max(least, 1))
    elif each.weight > 0:
        value = (0, used / each.weight)
    else:
        value = (1, used)
    return (not each.demand.memory, not needy, *value, each.start, each.name)


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

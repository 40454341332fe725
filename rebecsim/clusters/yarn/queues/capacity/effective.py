"""What capacities come to on a cluster: the resources that each queue should have, and may.

In legacy mode siblings have percent, weights or resources; otherwise each resource of each queue
has one of them: first comes what is given as resources, then percent of what that leaves of the
parent, then weights share the rest.

In legacy mode Hadoop multiplies in 32 bits and cuts: 45 % of 40960 MB are 18431 MB.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rebecsim.arithmetic import float32
from rebecsim.clusters.yarn.queue_files.amounts import Amount, Capacity, percent
from rebecsim.clusters.yarn.queue_files.capacity_settings import CapacityQueue
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources

_ALMOST = 1e-6  # what floating-point numbers are short of a whole one


class Effective(NamedTuple):
    """What a queue has of the nodes of one label.

    Attributes:
        minimum: what it should have.
        maximum: what it may have.
        share: the minimum as a part of all.
        most_share: the maximum as a part of all.
        configured: what is said of it as resources.
    """

    minimum: Resources
    maximum: Resources
    share: float
    most_share: float
    configured: Resources = NONE


Shares = Mapping[str, Effective]
"""By the path of queues."""

_Divide = Callable[[Sequence[CapacityQueue], Effective, str, Resources], list[Effective]]


def effective(root: CapacityQueue, label: str, total: Resources, *, legacy: bool) -> Shares:
    """Give what queues have of nodes of a label, which have `total`."""
    top = root.maximum.get(label)
    most = _limited(top, total, total)
    mine = Effective(total, most, 1.0, _part(most, total))
    divide = _legacy if legacy else _mixed
    return {"root": mine, **dict(_below(root, mine, label, total, divide))}


def _below(
    parent: CapacityQueue, mine: Effective, label: str, total: Resources, divide: _Divide
) -> Iterator[tuple[str, Effective]]:
    for child, found in zip(
        parent.children, divide(parent.children, mine, label, total), strict=True
    ):
        if not child.may_use(label):
            found = Effective(NONE, NONE, 0.0, 0.0)
        yield child.path, found
        yield from _below(child, found, label, total, divide)


def _legacy(
    children: Sequence[CapacityQueue], parent: Effective, label: str, total: Resources
) -> list[Effective]:
    capacities = [child.capacity.get(label, percent(0)) for child in children]
    maxima = [child.maximum.get(label) for child in children]
    if any(each is not None and each.unit == "absolute" for each in (*capacities, *maxima)):
        return _absolute(children, capacities, parent, label, total)
    weights = 0.0
    for each in capacities:
        weights = float32(weights + _weight(each))
    found = []
    for child, capacity in zip(children, capacities, strict=True):
        if capacity.unit == "weight":
            part = float32(_weight(capacity) / weights) if weights else 0.0
        else:
            part = float32(float32(capacity.percent) / 100)
        most = child.maximum.get(label)
        most_part = 1.0 if most is None else float32(float32(most.percent) / 100)
        share, most_share = float32(parent.share * part), float32(parent.most_share * most_part)
        minimum, maximum = total.times(share), total.times(most_share)
        found.append(Effective(minimum, maximum, share, most_share))
    return found


def _weight(capacity: Capacity) -> float:
    return float32(capacity.memory.value) if capacity.unit == "weight" else 0.0


def _absolute(
    children: Sequence[CapacityQueue],
    capacities: Sequence[Capacity],
    parent: Effective,
    label: str,
    total: Resources,
) -> list[Effective]:
    wanted = [each.resources if each.unit == "absolute" else NONE for each in capacities]
    scales = [
        min(1.0, float32(have / want)) if want else 1.0
        for have, want in zip(parent.minimum, map(sum, zip(*wanted, strict=True)), strict=True)
    ]
    found = []
    for child, want in zip(children, wanted, strict=True):
        minimum = Resources(
            *(int(float32(amount * scale)) for amount, scale in zip(want, scales, strict=True))
        )
        maximum = _limited(child.maximum.get(label), parent.maximum, parent.maximum)
        shares = _part(minimum, total), _part(maximum, total)
        found.append(Effective(minimum, maximum, *shares, configured=want))
    return found


def _mixed(
    children: Sequence[CapacityQueue], parent: Effective, label: str, total: Resources
) -> list[Effective]:
    capacities = [child.capacity.get(label, percent(0)) for child in children]
    memory = _amounts([each.memory for each in capacities], parent.minimum.memory)
    cores = _amounts([each.cores for each in capacities], parent.minimum.cores)
    found = []
    for child, capacity, *amounts in zip(children, capacities, memory, cores, strict=True):
        maximum = _limited(child.maximum.get(label), parent.maximum, parent.maximum)
        minimum = Resources(*amounts).least(maximum)
        if not minimum.memory:
            minimum = NONE
        configured = capacity.resources if capacity.unit == "absolute" else NONE
        shares = _part(minimum, total), _part(maximum, total)
        found.append(Effective(minimum, maximum, *shares, configured=configured))
    return found


def _amounts(given: Sequence[Amount | None], have: int) -> list[int]:
    """Divide one resource: what is given as such, then percent of the rest, then weights."""
    found = [0] * len(given)
    left = have
    for place, amount in enumerate(given):
        if amount is not None and amount.unit == "absolute":
            found[place] = min(int(amount.value), left)
            left -= found[place]
    rest = left
    for place, amount in enumerate(given):
        if amount is not None and amount.unit == "percent":
            found[place] = min(int(rest * amount.value / 100 + _ALMOST), left)
            left -= found[place]
    weights = sum(
        amount.value for amount in given if amount is not None and amount.unit == "weight"
    )
    rest = left
    for place, amount in enumerate(given):
        if amount is not None and amount.unit == "weight" and weights:
            found[place] = min(int(rest * amount.value / weights + _ALMOST), left)
            left -= found[place]
    return found


def _limited(maximum: Capacity | None, of: Resources, most: Resources) -> Resources:
    """Give a maximum, where percent are of something, and nothing is more than what may be."""
    if maximum is None:
        return most
    found = []
    for amount, whole, limit in zip((maximum.memory, maximum.cores), of, most, strict=True):
        if amount is None or (amount.unit == "absolute" and not amount.value):
            found.append(limit)
        elif amount.unit == "absolute":
            found.append(min(int(amount.value), limit))
        else:
            found.append(min(int(whole * amount.value / 100 + _ALMOST), limit))
    return Resources(*found)


def _part(some: Resources, total: Resources) -> float:
    parts = [float32(part / whole) for part, whole in zip(some, total, strict=True) if whole]
    return max(parts, default=0.0)

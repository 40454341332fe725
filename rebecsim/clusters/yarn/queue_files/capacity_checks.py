"""Which capacities Hadoop would start with."""

from __future__ import annotations

from collections.abc import Sequence

from rebecsim.clusters.kit.hadoop import HadoopProperties
from rebecsim.clusters.yarn.queue_files.amounts import Capacity, Unit
from rebecsim.clusters.yarn.queue_files.capacity_settings import PREFIX, CapacityQueue
from rebecsim.workloads.safe_xml import XmlError

_TOLERANCE = 0.0005
_UNITS: dict[Unit, str] = {
    "percent": "percent",
    "weight": "a weight",
    "absolute": "resources",
}


def require_tree(own: HadoopProperties, root: CapacityQueue, *, legacy: bool) -> None:
    """Raise XmlError, with file, line and key, for capacities that do not go together."""
    for queue in root.below():
        _require_weights(own, queue)
        if not legacy:
            continue
        for label in queue.capacity:
            _require_order(own, queue, label)
            if queue.children:
                _require_alike(own, queue, label)
                _require_sum(own, queue, label)


def _key(queue: CapacityQueue, label: str, name: str = "capacity") -> str:
    labelled = f"accessible-node-labels.{label}." if label else ""
    return f"{PREFIX}{queue.path}.{labelled}{name}"


def _require_weights(own: HadoopProperties, queue: CapacityQueue) -> None:
    """A user's weight may not give him more than the whole queue."""
    most = 100 / min(100.0, queue.user_percent) if queue.user_percent else float("inf")
    for user, weight in queue.user_weights.items():
        key = f"{PREFIX}{queue.path}.user-settings.{user}.weight"
        if not queue.children and weight > most:
            raise own.wrong(
                key,
                f"a weight of {weight:g} should be at most {most:g}, as "
                f"minimum-user-limit-percent of {queue.path} is {queue.user_percent:g}",
            )


def _require_order(own: HadoopProperties, queue: CapacityQueue, label: str) -> None:
    """A maximum is not below its capacity, and is given as that is."""
    capacity, maximum = queue.capacity[label], queue.maximum[label]
    if maximum is None or queue.path == "root":
        return
    key = _key(queue, label, "maximum-capacity")
    if capacity.unit == "absolute" or maximum.unit == "absolute":
        if capacity.unit != maximum.unit and (capacity.unit != "percent" or capacity.percent):
            raise own.wrong(
                key, f"it is {maximum}, and the capacity {capacity}; give both as resources"
            )
        below = any(
            most is not None and least is not None and 0 < most.value < least.value
            for least, most in zip(
                (capacity.memory, capacity.cores), (maximum.memory, maximum.cores), strict=True
            )
        )
        if below and capacity.unit == "absolute":
            raise own.wrong(key, f"the maximum of {maximum} is less than the capacity, {capacity}")
    elif capacity.unit == "percent" and maximum.percent + 100 * _TOLERANCE < capacity.percent:
        raise own.wrong(key, f"the maximum of {maximum} is less than the capacity, {capacity}")


def _counted(queue: CapacityQueue, label: str) -> Unit | None:
    """Give in what a capacity is, None for 0 %, which goes with all."""
    capacity = queue.capacity[label]
    return None if capacity.unit == "percent" and not capacity.percent else capacity.unit


def _require_alike(own: HadoopProperties, parent: CapacityQueue, label: str) -> None:
    """Children have percent, weights or resources; resources only under resources."""
    kinds = {child.path: _counted(child, label) for child in parent.children}
    given = {path: kind for path, kind in kinds.items() if kind is not None}
    if len(set(given.values())) > 1:
        first, second = _two_unlike(parent.children, kinds)
        raise own.wrong(
            _key(second, label),
            f"{_says(second, label)}, and {first.path} {_UNITS[_kind(kinds, first)]}; in a parent "
            f"all are of one kind, unless {PREFIX}legacy-queue-mode.enabled is false",
        )
    is_absolute = "absolute" in given.values()
    if parent.path == "root" or not given:
        return
    if is_absolute != (parent.capacity[label].unit == "absolute"):
        child = next(each for each in parent.children if each.path in given)
        raise own.wrong(
            _key(child, label),
            f"{_says(child, label)}, and its parent {parent.capacity[label]}; "
            "resources are for both or for none",
        )


def _kind(kinds: dict[str, Unit | None], queue: CapacityQueue) -> Unit:
    found = kinds[queue.path]
    assert found is not None
    return found


def _two_unlike(
    children: Sequence[CapacityQueue], kinds: dict[str, Unit | None]
) -> tuple[CapacityQueue, CapacityQueue]:
    counted = [child for child in children if kinds[child.path] is not None]
    first = counted[0]
    return first, next(child for child in counted if kinds[child.path] != kinds[first.path])


def _says(queue: CapacityQueue, label: str) -> str:
    return f"it is {queue.capacity[label]}"


def _require_sum(own: HadoopProperties, parent: CapacityQueue, label: str) -> None:
    """Percent of children make 100 %, resources no more than their parent has."""
    capacities = [child.capacity[label] for child in parent.children]
    if any(each.unit == "absolute" for each in capacities):
        _require_room(own, parent, label, capacities)
        return
    if any(each.unit == "weight" for each in capacities):
        return
    total = sum(each.percent for each in capacities)
    mine = parent.capacity[label]
    zero_allowed = own.switch(f"{PREFIX}{parent.path}.allow-zero-capacity-sum", default=False)
    key = _key(parent.children[-1], label)
    is_empty = mine.unit == "percent" and not mine.percent
    if abs(total - 100) <= 100 * _TOLERANCE:
        if is_empty and not zero_allowed and (not label or parent.path != "root"):
            raise own.wrong(
                key, f"the children of {parent.path} have 100 % of it, and it has 0 % itself"
            )
        return
    if total == 0 and (label or mine.unit == "weight" or is_empty or zero_allowed):
        return
    raise _sum_error(own, parent, key, total, label)


def _sum_error(
    own: HadoopProperties, parent: CapacityQueue, key: str, total: float, label: str
) -> XmlError:
    of_label = f" of label {label}" if label else ""
    return own.wrong(
        key,
        f"the capacities{of_label} of the children of {parent.path} add up to {total:.5g} %, "
        "and should to 100 %",
    )


def _require_room(
    own: HadoopProperties, parent: CapacityQueue, label: str, capacities: Sequence[Capacity]
) -> None:
    mine = parent.capacity[label]
    if mine.unit != "absolute":
        return  # root: what is too much is scaled to what there is
    for name, have, want in (
        ("memory", mine.resources.memory, sum(c.resources.memory for c in capacities)),
        ("vcores", mine.resources.cores, sum(c.resources.cores for c in capacities)),
    ):
        if want > have and (name == "memory" or mine.cores is not None):
            raise own.wrong(
                _key(parent, label),
                f"its children have {name}={want} together, and it has {name}={have}",
            )
    for child in parent.children:
        most, limit = child.maximum[label], parent.maximum[label]
        if most is None or limit is None or limit.unit != "absolute":
            continue
        if most.resources.memory > limit.resources.memory:
            raise own.wrong(
                _key(child, label, "maximum-capacity"),
                f"{most} is more than the maximum of {parent.path}, {limit}",
            )

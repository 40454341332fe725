"""Reading capacity-scheduler.xml: every key that has an effect, with its default."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rebecsim.clusters.kit.hadoop import HadoopProperties
from rebecsim.clusters.yarn.queue_files.amounts import (
    MOST_WEIGHT,
    Amount,
    Capacity,
    percent,
    read_capacity,
)
from rebecsim.clusters.yarn.queue_files.capacity_checks import require_tree
from rebecsim.clusters.yarn.queue_files.capacity_settings import (
    PREFIX,
    Allocations,
    CapacityPreemption,
    CapacityQueue,
    CapacitySettings,
)
from rebecsim.clusters.yarn.queue_files.idle_keys import idle_properties
from rebecsim.clusters.yarn.queue_files.resources import Resources
from rebecsim.clusters.yarn.queue_files.site import Site, maximum_allocation, minimum_allocation

_DEFAULT_CALCULATOR = "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator"
_DOMINANT_CALCULATOR = "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator"
_MONITOR = "yarn.resourcemanager.scheduler.monitor.enable"
_POLICIES = "yarn.resourcemanager.scheduler.monitor.policies"
_PREEMPTION = "yarn.resourcemanager.monitor.capacity.preemption."
_LEAF_ORDERS = ("fifo", "fair")
_LIKE_FIFO = ("fifo-with-partitions", "fifo-for-pending-apps")
_PARENT_ORDERS = ("utilization", "priority-utilization")
_FIFO_CLASS = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.FifoOrderingPolicy"
_FAIR_CLASS = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.FairOrderingPolicy"
_DEEPEST = 50


def read_capacity_settings(
    own: HadoopProperties, yarn_site: HadoopProperties | None = None
) -> CapacitySettings:
    """Read the queues of the Capacity Scheduler, and what else its files say.

    Raises XmlError, with file, line and key, for whatever Hadoop would not start with.
    """
    site = Site((own,) if yarn_site is None else (own, yarn_site), yarn_site is not None)
    minimum = minimum_allocation(site, least=1)
    allocations = Allocations(minimum, minimum, maximum_allocation(site, minimum))
    monitored = site.switch(_MONITOR, default=False)
    preemption = _preemption(site) if monitored else None
    legacy = own.switch(f"{PREFIX}legacy-queue-mode.enabled", default=True)
    reader = _Queues(own, allocations, legacy)
    root = reader.root()
    require_tree(own, root, legacy=legacy)
    settings = CapacitySettings(
        file=own.file,
        root=root,
        dominant=_is_dominant(own),
        legacy=legacy,
        allocations=allocations,
        system_applications=own.whole(f"{PREFIX}maximum-applications", 10_000, 1),
        queue_applications=_or_none(own.whole(f"{PREFIX}global-queue-max-application", -1)),
        user_parallel=_or_none(own.whole(f"{PREFIX}user.max-parallel-apps", -1)),
        parallel_of=reader.parallel_of(),
        node_delay=own.whole(f"{PREFIX}node-locality-delay", 40, -1),
        rack_delay=own.whole(f"{PREFIX}rack-locality-additional-delay", -1, -1),
        rack_reset=own.switch(f"{PREFIX}rack-locality-full-reset", default=True),
        multiple=own.switch(
            f"{PREFIX}per-node-heartbeat.multiple-assignments-enabled", default=True
        ),
        most_containers=own.whole(
            f"{PREFIX}per-node-heartbeat.maximum-container-assignments", 100, -1
        ),
        most_far=max(own.whole(f"{PREFIX}per-node-heartbeat.maximum-offswitch-assignments", 1), 1),
        looks_on=own.switch(f"{PREFIX}reservations-continue-look-all-nodes", default=True),
        preemption=preemption,
    )
    return replace(settings, idle=(*reader.idle, *idle_properties(site, own.file)))


def _or_none(value: int) -> int | None:
    return value if value >= 0 else None


def _is_dominant(own: HadoopProperties) -> bool:
    key = f"{PREFIX}resource-calculator"
    name = own.text(key) or _DEFAULT_CALCULATOR
    if name not in (_DEFAULT_CALCULATOR, _DOMINANT_CALCULATOR):
        raise own.wrong(
            key, f"should be {_DEFAULT_CALCULATOR} or {_DOMINANT_CALCULATOR}, not {name:.80}"
        )
    return name == _DOMINANT_CALCULATOR


def _preemption(site: Site) -> CapacityPreemption:
    policies = site.text(_POLICIES)
    if policies is not None and "ProportionalCapacityPreemptionPolicy" not in policies:
        raise site.wrong(
            _POLICIES, f"should name ProportionalCapacityPreemptionPolicy, not {policies:.80}"
        )
    inside = f"{_PREEMPTION}intra-queue-preemption."
    balance = f"{_PREEMPTION}preemption-to-balance-queue-after-satisfied."
    order = (site.text(f"{inside}preemption-order-policy") or "userlimit_first").lower()
    if order not in ("userlimit_first", "priority_first"):
        raise site.wrong(
            f"{inside}preemption-order-policy",
            f"should be userlimit_first or priority_first, not {order:.40}",
        )
    rules: dict[str, Any] = {
        "observe_only": site.switch(f"{_PREEMPTION}observe_only", default=False),
        "interval": site.whole(f"{_PREEMPTION}monitoring_interval", 3000, 1),
        "wait": site.whole(f"{_PREEMPTION}max_wait_before_kill", 15_000, 0),
        "per_round": site.number(f"{_PREEMPTION}total_preemption_per_round", 0.1, 0, 1),
        "dead_zone": site.number(f"{_PREEMPTION}max_ignored_over_capacity", 0.1, 0),
        "natural": site.number(f"{_PREEMPTION}natural_termination_factor", 0.2, 0, 1),
        "conservative": site.switch(f"{_PREEMPTION}conservative-drf", default=False),
        "inside": site.switch(f"{inside}enabled", default=False),
        "inside_threshold": site.number(f"{inside}minimum-threshold", 0.5, 0),
        "inside_most": site.number(f"{inside}max-allowable-limit", 0.2, 0, 1),
        "inside_order": order,
        "inside_conservative": site.switch(f"{inside}conservative-drf", default=True),
        "balance": site.switch(f"{balance}enabled", default=False),
        "balance_wait": site.whole(f"{balance}max-wait-before-kill", 300_000, 0),
        "reserved": site.switch(f"{_PREEMPTION}select_based_on_reserved_containers", default=False),
    }
    return CapacityPreemption(**rules)


@dataclass(frozen=True, slots=True)
class _Inherited:
    """What a queue has of its parent if it says nothing else."""

    parent_order: str = "utilization"
    labels: frozenset[str] | None = None
    default_label: str = ""
    stopped: bool = False
    preemptable: bool = True
    inner_preemptable: bool = True
    user_weights: Mapping[str, float] | None = None
    largest: Resources | None = None


class _Queues:
    """Reads queues one below the other.

    Attributes:
        idle: warnings of what has no effect where it stands.
    """

    def __init__(self, own: HadoopProperties, allocations: Allocations, legacy: bool) -> None:
        self._own = own
        self._allocations = allocations
        self._legacy = legacy
        self._labels = _labels_of(own)
        self._weights = _weights_of(own)
        self._read: set[str] = set()
        self.idle: dict[str, None] = {}

    def root(self) -> CapacityQueue:
        if f"{PREFIX}root.queues" not in self._own.by_name:
            raise self._own.wrong(f"{PREFIX}root.queues", "no queues: it is missing")
        return self._queue("root", _Inherited(), 0)

    def parallel_of(self) -> dict[str, int]:
        """Give how many applications of single users run at a time."""
        found = {}
        for key in self._own.by_name:
            match = re.fullmatch(rf"{re.escape(PREFIX)}user\.(.+)\.max-parallel-apps", key)
            if match is not None:
                found[match[1]] = self._own.whole(key, 0, 0)
        return found

    def _queue(self, path: str, of_parent: _Inherited, depth: int) -> CapacityQueue:
        own, key = self._own, f"{PREFIX}{path}."
        if depth > _DEEPEST:
            raise own.wrong(f"{key}queues", f"queues are nested more than {_DEEPEST} deep")
        names = own.names(f"{key}queues")
        if len(set(names)) < len(names):
            raise own.wrong(f"{key}queues", "a queue is listed twice")
        for name in names:
            if "." in name:
                raise own.wrong(f"{key}queues", f"{name!r:.60} has a dot; only paths have")
        mine = self._inherited(key, of_parent, bool(names), path)
        leaf = {} if names else self._leaf(key)
        return CapacityQueue(
            path=path,
            children=tuple(self._queue(f"{path}.{name}", mine, depth + 1) for name in names),
            capacity={label: self._capacity(path, key, label) for label in self._labels},
            maximum={label: self._maximum(path, key, label) for label in self._labels},
            parent_order="priority-utilization"
            if mine.parent_order == "priority-utilization"
            else "utilization",
            priority=own.whole(f"{key}priority", 0),
            labels=mine.labels,
            default_label=mine.default_label,
            stopped=mine.stopped,
            preemptable=mine.preemptable,
            inner_preemptable=mine.inner_preemptable and mine.preemptable,
            user_weights=mine.user_weights or {},
            largest=mine.largest,
            most_parallel=_or_none(
                own.whole(f"{key}max-parallel-apps", own.whole(f"{PREFIX}max-parallel-apps", -1))
            ),
            **leaf,
        )

    def _inherited(self, key: str, parent: _Inherited, is_parent: bool, path: str) -> _Inherited:
        own = self._own
        order = parent.parent_order
        if is_parent and (said := own.text(f"{key}ordering-policy")):
            order = self._one_of(f"{key}ordering-policy", said, _PARENT_ORDERS)
        preemptable = not own.switch(f"{key}disable_preemption", not parent.preemptable)
        inner = not own.switch(
            f"{key}intra-queue-preemption.disable_preemption", not parent.inner_preemptable
        )
        labels = self._accessible(key, parent, path)
        return _Inherited(
            order,
            labels,
            self._default_label(key, parent, labels),
            self._stopped(key, parent, path),
            preemptable,
            inner,
            {**(parent.user_weights or {}), **self._user_weights(key)},
            self._largest(key, parent),
        )

    def _leaf(self, key: str) -> dict[str, Any]:
        own = self._own
        percent_key = f"{key}minimum-user-limit-percent"
        factor_key = f"{key}user-limit-factor"
        user_percent = own.number(
            percent_key, own.number(f"{PREFIX}minimum-user-limit-percent", 100.0, 0, 100), 0, 100
        )
        factor = own.number(factor_key, own.number(f"{PREFIX}user-limit-factor", 1.0))
        if factor < 0 and factor != -1:
            raise own.wrong(factor_key, f"should be at least 0, or -1 for no limit, not {factor:g}")
        order = own.text(f"{key}ordering-policy") or "fifo"
        order = {_FIFO_CLASS: "fifo", _FAIR_CLASS: "fair"}.get(order, order)
        if order in _LIKE_FIFO:
            self._note(f"{key}ordering-policy", f"{order} is served as fifo")
            order = "fifo"
        return {
            "leaf_order": self._one_of(f"{key}ordering-policy", order, _LEAF_ORDERS),
            "by_size": own.switch(
                f"{key}ordering-policy.fair.enable-size-based-weight", default=False
            ),
            "user_percent": user_percent,
            "user_factor": factor,
            "master_share": {label: self._master_share(key, label) for label in self._labels},
            "most_applications": _or_none(own.whole(f"{key}maximum-applications", -1)),
        }

    def _one_of(self, key: str, given: str, allowed: Sequence[str]) -> str:
        if given not in allowed:
            names = " or ".join(allowed)
            said = f"the policy {given!r:.80} is not known; {names}"
            if given in _LEAF_ORDERS:
                said = (
                    f"{given} orders the jobs of a leaf, and this queue has queues below it; "
                    f"Hadoop 3 refuses it, too. Use {names}, or delete this property"
                )
            raise self._own.wrong(key, said)
        return given

    def _capacity(self, path: str, key: str, label: str) -> Capacity:
        name = f"{_labelled(key, label)}capacity"
        found = self._read_capacity(name)
        if path == "root":
            if found is not None and found != percent(100):
                self._note(name, "root has all that there is")
            return percent(100)
        if found is None:
            return percent(0)
        self._require_range(name, found)
        return found

    def _maximum(self, path: str, key: str, label: str) -> Capacity | None:
        name = f"{_labelled(key, label)}maximum-capacity"
        found = self._read_capacity(name)
        if found is None or (found.unit == "percent" and found.percent == -1):
            return None
        if any(amount is not None and amount.unit == "weight" for amount in _amounts(found)):
            raise self._own.wrong(name, "a maximum must be a percentage or resources, not a weight")
        self._require_range(name, found)
        return found

    def _read_capacity(self, name: str) -> Capacity | None:
        text = self._own.text(name)
        if text is None:
            return None
        try:
            found = read_capacity(text)
        except ValueError as error:
            raise self._own.wrong(name, str(error)) from None
        if found is None:
            self._note(name, "brackets without memory count as nothing")
        elif self._legacy and found.is_vector and found.unit != "absolute":
            raise self._own.wrong(
                name,
                "percent and weights in brackets need "
                f"{PREFIX}legacy-queue-mode.enabled to be false",
            )
        return found

    def _require_range(self, name: str, capacity: Capacity) -> None:
        for amount in _amounts(capacity):
            if amount is None:
                continue
            if amount.unit == "percent" and not 0 <= amount.value <= 100:
                raise self._own.wrong(name, f"should be 0 to 100 %, not {amount.value:g}")
            if amount.unit == "weight" and not 0 <= amount.value <= MOST_WEIGHT:
                raise self._own.wrong(
                    name, f"should be 0w to {MOST_WEIGHT}w, not {amount.value:g}w"
                )

    def _master_share(self, key: str, label: str) -> float:
        own, name = self._own, "maximum-am-resource-percent"
        value = own.number(f"{PREFIX}{name}", 0.1, 0, 1)
        value = own.number(f"{key}{name}", value, 0, 1)
        return own.number(f"{_labelled(key, label)}{name}", value, 0, 1)

    def _accessible(self, key: str, parent: _Inherited, path: str) -> frozenset[str] | None:
        name = f"{key}accessible-node-labels"
        if path == "root":
            if self._own.names(name) not in ((), ("*",)):
                self._note(name, "root may use all labels")
            return None
        if name not in self._own.by_name:
            return parent.labels
        names = self._own.names(name)
        if "*" in names:
            if parent.labels is not None:
                raise self._own.wrong(name, "its parent may not use all labels")
            return None
        found = frozenset(names)
        if parent.labels is not None and (more := sorted(found - parent.labels)):
            raise self._own.wrong(name, f"its parent may not use {', '.join(more)}")
        return found

    def _default_label(self, key: str, parent: _Inherited, labels: frozenset[str] | None) -> str:
        name = f"{key}default-node-label-expression"
        label = self._own.text(name)
        if label is None:
            return parent.default_label
        if labels is not None and label not in labels:
            raise self._own.wrong(name, f"the queue may not use {label}")
        return label

    def _stopped(self, key: str, parent: _Inherited, path: str) -> bool:
        name = f"{key}state"
        said = self._own.text(name)
        if said is None:
            return parent.stopped
        state = said.upper()
        if state not in ("RUNNING", "STOPPED"):
            raise self._own.wrong(name, f"should be RUNNING or STOPPED, not {said:.40}")
        if state == "RUNNING" and parent.stopped:
            above = path.rpartition(".")[0]
            raise self._own.wrong(name, f"it cannot be RUNNING, as {above} is STOPPED")
        return state == "STOPPED"

    def _user_weights(self, key: str) -> dict[str, float]:
        named = self._weights.get(key, ())
        return {user: self._own.number(name, 1.0, 0) for user, name in named}

    def _largest(self, key: str, parent: _Inherited) -> Resources | None:
        own, most = self._own, self._allocations.maximum
        before = parent.largest
        memory = own.whole(f"{key}maximum-allocation-mb", before.memory if before else 0, 0)
        cores = own.whole(f"{key}maximum-allocation-vcores", before.cores if before else 0, 0)
        both = self._read_capacity(f"{key}maximum-allocation")
        if both is not None and both.unit == "absolute":
            memory, cores = both.resources
        for name, said, limit in (
            (f"{key}maximum-allocation-mb", memory, most and most.memory),
            (f"{key}maximum-allocation-vcores", cores, most and most.cores),
        ):
            if limit is not None and said > limit:
                raise own.wrong(name, f"{said} is more than the cluster's maximum of {limit}")
        unlimited = 2**62
        found = Resources(memory or unlimited, cores or unlimited)
        return None if found == Resources(unlimited, unlimited) else found

    def _note(self, key: str, why: str) -> None:
        note = f"{self._own.file}:{self._own.line(key)}: {key} has no effect: {why}"
        self.idle[note] = None


def _amounts(capacity: Capacity) -> tuple[Amount | None, ...]:
    return capacity.memory, capacity.cores


def _labelled(key: str, label: str) -> str:
    return f"{key}accessible-node-labels.{label}." if label else key


def _weights_of(own: HadoopProperties) -> dict[str, list[tuple[str, str]]]:
    """Give the users that have a weight, by the key of their queue, each with the property."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name in own.by_name:
        for match in re.finditer(r"(?<=\.)user-settings\.(?=(.+)\.weight\Z)", name):
            found.setdefault(name[: match.start()], []).append((match[1], name))
    return found


def _labels_of(own: HadoopProperties) -> tuple[str, ...]:
    """Give the labels that the file says something of, that of nodes without one first."""
    pattern = re.compile(
        rf"{re.escape(PREFIX)}.+\.accessible-node-labels\.([^.]+)\."
        "(?:capacity|maximum-capacity|maximum-am-resource-percent)"
    )
    found = {match[1]: None for name in own.by_name if (match := pattern.fullmatch(name))}
    return ("", *found)

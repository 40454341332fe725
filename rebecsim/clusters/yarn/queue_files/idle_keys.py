"""Keys of Hadoop's files that have no effect here, and why; and unknown keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rebecsim.clusters.yarn.queue_files.site import Site
from rebecsim.wording import UnknownName

WITHOUT_EFFECT: tuple[tuple[str, str], ...] = (
    (r"acl[-_]\w+|acl_.*", "rebecsim does not check permissions"),
    (
        r"queue-mappings.*|mapping-rule-.*",
        "placement rules are not modelled: jobs name their queues in the trace",
    ),
    (r"app-fail-fast|application\.fail-fast", "applications do not fail"),
    (
        r"schedule-asynchronously\..*",
        "asynchronous scheduling is not modelled: containers are given at heartbeats",
    ),
    (r"lazy-preemption-enabled", "what is chosen is killed when its time has come"),
    (r"auto-(create-child-queue|queue-creation)\S*|leaf-queue-template\..*", "queues are declared"),
    (r"auto-create-child-queue\..*", "queues are declared"),
    (
        r"maximum-application-lifetime|default-application-lifetime",
        "applications end by themselves",
    ),
    (r"default-application-priority", "jobs of a trace have one priority"),
    (
        r"workflow-priority-mappings.*|.*-priority-acls?|cluster\.max-priority",
        "jobs of a trace have one priority",
    ),
    (
        r"reservable|reservation-.*|average-capacity|instantaneous-max-capacity",
        "planned reservations are not modelled",
    ),
    (
        r"multi-node-.*|offswitch-per-heartbeat-limit",
        "placement over several nodes is not modelled: they are looked at one by one",
    ),
    (r"configuration\.store\..*|scheduler\.configuration\..*", "files are read once"),
    (
        r"threads?|\S*\.maximum-threads|maximum-pending-backlogs",
        "containers are given at heartbeats",
    ),
    (
        r"skip-allocate-on-nodes-with-reserved-containers",
        "a reserved node serves no other application",
    ),
    (r"max-number-of-applications|queue-refresh.*", "files are read once"),
)
"""The last part of a key of the Capacity Scheduler, as a pattern, and why it has no effect."""

_OPPORTUNISTIC = "yarn.resourcemanager.opportunistic-container-allocation.enabled"
_CONSTRAINTS = "yarn.resourcemanager.placement-constraints.handler"

_OF_THE_MANAGER = {
    _OPPORTUNISTIC: "opportunistic containers are not modelled",
    _CONSTRAINTS: "placement constraints are not modelled",
}
"""Keys of yarn-site.xml that change what a scheduler gives, and why they have no effect."""

_OFF = {
    "app-fail-fast": "false",
    "lazy-preemption-enabled": "false",
    "multi-node-placement-enabled": "false",
    "schedule-asynchronously.enable": "false",
    _OPPORTUNISTIC: "false",
    _CONSTRAINTS: "disabled",
}
"""What is said of keys without effect where they change nothing in Hadoop either."""

_CAPACITY = "yarn.scheduler.capacity."
_MONITOR = "yarn.resourcemanager.monitor.capacity."
_OURS = (
    _CAPACITY,
    _MONITOR,
    "yarn.resourcemanager.scheduler.monitor.",
    "yarn.scheduler.",
    *_OF_THE_MANAGER,
)


def reason_of(key: str) -> str | None:
    """Say why a key has no effect; None: it is not known."""
    if key in _OF_THE_MANAGER:
        return _OF_THE_MANAGER[key]
    if not key.startswith(_CAPACITY):
        if key.startswith((f"{_MONITOR}preemption.", "yarn.resourcemanager.scheduler.monitor.")):
            return "nothing is preempted, or not by this rule"
        return None
    parts = key.removeprefix(_CAPACITY).split(".")
    for begin in range(len(parts)):
        rest = ".".join(parts[begin:])
        for pattern, reason in WITHOUT_EFFECT:
            if re.fullmatch(pattern, rest):
                return reason
    return None


def idle_properties(site: Site, own: str) -> Iterator[str]:
    """List unused keys of the scheduler's own file, and its keys in another."""
    for file in site.files:
        for each in file.unused():
            if file.file != own and not each.name.startswith(_OURS):
                continue  # the rest of yarn-site.xml is about other things
            if each.value.strip() == _OFF.get(each.name.removeprefix(_CAPACITY)):
                continue
            place = f"{file.file}:{each.line}: {each.name}"
            reason = reason_of(each.name)
            if reason is not None:
                yield f"{place} has no effect: {reason}"
            elif each.name.startswith(f"{_CAPACITY}root"):
                where = "there is no such queue, or no such key of a queue"
                yield UnknownName(f"{place} has no effect: {where}")
            else:
                yield UnknownName(f"{place} has no effect: this key is not known here")

"""Checks of a run before it starts, so that it ends and its results have a meaning."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields

from rebecsim.clusters.mapreduce.configuration import (
    FileSystem,
    HadoopSettings,
    MapReduceConfiguration,
    NodeHardware,
)
from rebecsim.clusters.mapreduce.job import MapReduceJob, SlotKind
from rebecsim.errors import UserError
from rebecsim.wording import first_repeated

_MAY_BE_ZERO = frozenset(("latency", "first_heartbeats", "map_slots", "reduce_slots", "slow_start"))


class StuckJobsError(UserError):
    """Jobs that would wait for ever."""

    def __init__(self, names: Sequence[str], why: str) -> None:
        first = ", ".join(names[:3])
        others = f" and {len(names) - 3} others" if len(names) > 3 else ""
        super().__init__(f"{first}{others} never end: {why}")


def require_runnable(jobs: Sequence[MapReduceJob], configuration: MapReduceConfiguration) -> None:
    """Raise UserError, naming the key, for an invalid cluster or jobs that cannot run on it."""
    hardware, hadoop = configuration.hardware, configuration.hadoop
    _require_positive("hardware", hardware, fields(NodeHardware))
    _require_positive("hadoop", hadoop, fields(HadoopSettings))
    if hardware.racks > hardware.nodes:
        raise UserError(
            f"hardware.racks: there are more racks ({hardware.racks}) than nodes ({hardware.nodes})"
        )
    if not 0.0 <= hadoop.slow_start <= 1.0:
        raise UserError(f"hadoop.slow_start: should be from 0 to 1, not {hadoop.slow_start}")
    _require_replicas(configuration.files, hardware.nodes)
    _require_failures(configuration)
    if configuration.sampling < 0:
        raise UserError(f"sampling: should be at least 0, not {configuration.sampling}")
    for change in configuration.changes:
        if change.at < 0:
            raise UserError(f"changes: at should be at least 0, not {change.at}")
        if change.when is not None and not any(job.queue == change.when.queue for job in jobs):
            raise UserError(f"changes: when.queue: no job goes to queue {change.when.queue}")
    _require_classes(configuration)
    if not jobs:
        raise UserError("jobs: there are none; give at least one")
    if (number := first_repeated(job.number for job in jobs)) is not None:
        raise UserError(f"jobs: two of them have the number {number}; give each its own")
    for job in jobs:
        _require_job(job, configuration.slots)


def _require_positive(section: str, settings: object, names: Iterable[object]) -> None:
    for field in names:
        name = field.name  # type: ignore[attr-defined]
        value = getattr(settings, name)
        if isinstance(value, str):
            continue
        if name in _MAY_BE_ZERO:
            if value < 0:
                raise UserError(f"{section}.{name}: should be at least 0, not {value}")
        elif not 0 < value < math.inf:
            raise UserError(f"{section}.{name}: should be more than 0, not {value}")


def _require_replicas(files: FileSystem, nodes: int) -> None:
    if files.replication < 1:
        raise UserError(
            f"files.replication: blocks without replicas cannot be read; should be at least 1, "
            f"not {files.replication}"
        )
    if files.replication > nodes:
        raise UserError(
            f"files.replication: {files.replication} replicas need as many nodes, and there are "
            f"{nodes}"
        )


def _require_failures(configuration: MapReduceConfiguration) -> None:
    failures, nodes = configuration.failures, configuration.hardware.nodes
    for outage in failures.outages:
        if not 0 <= outage.node < nodes:
            raise UserError(
                f"failures.outages: there is no node {outage.node}; nodes are 0 to {nodes - 1}"
            )
        if outage.start < 0 or (outage.end is not None and outage.end <= outage.start):
            raise UserError(
                f"failures.outages: node {outage.node} should fail at 0 or later, and work again "
                f"after that, not from {outage.start} to {outage.end}"
            )
    if failures.mean_time_between is not None and failures.mean_time_between < 1:
        raise UserError(
            f"failures.mean_time_between: should be more than 0, not {failures.mean_time_between}"
        )
    if failures.repair < 1:
        raise UserError(f"failures.repair: should be more than 0, not {failures.repair}")


def _require_classes(configuration: MapReduceConfiguration) -> None:
    classed = sum(each.count for each in configuration.classes)
    if classed > configuration.hardware.nodes:
        raise UserError(
            f"classes: have {classed} nodes, and there are {configuration.hardware.nodes}"
        )
    for place, each in enumerate(configuration.classes):
        if min(each.count - 1, each.map_slots, each.reduce_slots) < 0:
            raise UserError(f"classes[{place}]: give it at least one node, and 0 or more slots")
        _require_positive(f"classes[{place}]", each.hardware, fields(NodeHardware))


def _require_job(job: MapReduceJob, slots_of_kinds: tuple[int, int]) -> None:
    if job.submit < 0:
        raise UserError(f"{job.name}: submit should be at least 0, not {job.submit}")
    if not job.maps:
        raise UserError(f"{job.name}: has no maps, and so nothing to do; splits is empty")
    if min(job.splits) < 0:
        raise UserError(f"{job.name}: splits should have 0 bytes at least, not {min(job.splits)}")
    if job.reduces < 0:
        raise UserError(f"{job.name}: reduces should be at least 0, not {job.reduces}")
    for field in fields(job.costs):
        value = getattr(job.costs, field.name)
        if not 0.0 <= value < math.inf:
            raise UserError(f"{job.name}: costs.{field.name} should be at least 0, not {value}")
    for kind, slots in zip(SlotKind, slots_of_kinds, strict=True):
        tasks = job.maps if kind is SlotKind.MAP else job.reduces
        if tasks and not slots:
            name = kind.name.lower()
            raise UserError(
                f"hadoop.{name}_slots: {job.name} has {name}s, and there is no slot for any"
            )

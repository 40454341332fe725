"""Checks of a run before it starts, so that it ends and its results have a meaning."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields

from rebecsim.clusters.mapreduce.configuration import MapReduceConfiguration
from rebecsim.clusters.mapreduce.job import MapReduceJob, SlotKind
from rebecsim.errors import UserError
from rebecsim.wording import first_repeated


class StuckJobsError(UserError):
    """Jobs that would wait for ever."""

    def __init__(self, names: Sequence[str], why: str) -> None:
        first = ", ".join(names[:3])
        others = f" and {len(names) - 3} others" if len(names) > 3 else ""
        super().__init__(f"{first}{others} never end: {why}")


def require_runnable(jobs: Sequence[MapReduceJob], configuration: MapReduceConfiguration) -> None:
    """Raise UserError for jobs that cannot run, outages of no node, and conditions on no queue."""
    if configuration.sampling < 0:
        raise UserError(f"sampling: should be at least 0, not {configuration.sampling}")
    if problem := configuration.failures.misfit(configuration.cluster.nodes):
        raise UserError(problem)
    for change in configuration.changes:
        if change.when is not None and not any(job.queue == change.when.queue for job in jobs):
            raise UserError(f"changes: when.queue: no job goes to queue {change.when.queue}")
    if not jobs:
        raise UserError("jobs: there are none; give at least one")
    if (number := first_repeated(job.number for job in jobs)) is not None:
        raise UserError(f"jobs: two of them have the number {number}; give each its own")
    slots = configuration.cluster.slots
    for job in jobs:
        _require_job(job, slots)


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
                f"cluster.{name}_slots: {job.name} has {name}s, and there is no slot for any"
            )

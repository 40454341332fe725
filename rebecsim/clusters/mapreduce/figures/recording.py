"""Converting the records of a run to columns, from which figures and tables are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.mapreduce.configuration import MapReduceConfiguration
from rebecsim.clusters.mapreduce.figures.attempts import (
    NODE_LOCAL,
    RACK_LOCAL,
    REMOTE,
    AttemptColumns,
)
from rebecsim.clusters.mapreduce.figures.jobs import JobColumns
from rebecsim.clusters.mapreduce.figures.measures import MeasuredRun, begin_of_counted
from rebecsim.clusters.mapreduce.figures.tables import DEVICE_COLUMNS, QueueCapacity, RecordedRun
from rebecsim.clusters.mapreduce.hdfs import racks_of
from rebecsim.clusters.mapreduce.job import JobPriority
from rebecsim.clusters.mapreduce.records import AttemptRecord, DeviceUse, FinishedRun, JobRecord
from rebecsim.clusters.mapreduce.schedulers.capacity.scheduler import CapacityTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.capacity.settings import NO_MAXIMUM
from rebecsim.clusters.mapreduce.schedulers.scheduler import SchedulerSetup, TaskScheduler
from rebecsim.clusters.mapreduce.tracker import TrackerSlots

_ALL = 100.0  # percent


def recorded(run: FinishedRun, scheduler: SchedulerSetup, warm_up: float = 0.0) -> RecordedRun:
    """Give figures and tables of a run; of its jobs a share, by submission, does not count."""
    attempts = attempt_columns(run.attempts)
    ended = [each for each in run.jobs if each.end is not None]
    rejected = [each for each in run.jobs if each.rejected is not None]
    devices = device_columns(run)
    jobs = _job_columns(ended, attempts)
    measured = MeasuredRun(
        jobs=jobs,
        attempts=attempts,
        slots=run.configuration.slots,
        use=_means(devices, begin_of_counted(jobs, warm_up)),
        rejected=len(rejected),
        warm_up=warm_up,
    )
    return RecordedRun(
        measured=measured,
        names={
            "job": np.array([each.job.number for each in ended], dtype=np.int64),
            "priority": [JobPriority(each.job.priority).name.lower() for each in ended],
            "maps": np.array([each.job.maps for each in ended], dtype=np.int64),
            "reduces": np.array([each.job.reduces for each in ended], dtype=np.int64),
        },
        rejections=[
            (
                each.job.number,
                each.job.family,
                each.job.queue,
                each.job.user,
                each.rejected or "",
                each.job.submit,
            )
            for each in rejected
        ],
        capacities=queue_capacities(scheduler, run.configuration),
        devices={name: values[:-1] for name, values in devices.items()},
    )


def attempt_columns(attempts: Sequence[AttemptRecord]) -> AttemptColumns:
    """Give attempts as columns."""
    rows = np.array(
        [
            (
                each.job,
                each.kind,
                each.number,
                each.node,
                0 if each.locality is None else each.locality + 1,
                each.start,
                each.end,
                each.is_backup,
                each.outcome,
            )
            for each in attempts
        ],
        dtype=np.int64,
    ).reshape(-1, 9)
    columns: list[Any] = list(np.ascontiguousarray(rows.T))
    columns[7] = columns[7].astype(bool)
    return AttemptColumns(*columns)


def _job_columns(jobs: Sequence[JobRecord], attempts: AttemptColumns) -> JobColumns:
    numbers = [each.job.number for each in jobs]
    most = max(numbers, default=-1) + 1
    near = [
        np.bincount(attempts.ran_there(locality), minlength=most)[numbers]
        for locality in (NODE_LOCAL, RACK_LOCAL, REMOTE)
    ]

    def times(name: str, otherwise: str) -> NDArray[np.int64]:
        found = [getattr(each, name) for each in jobs]
        instead = [getattr(each, otherwise) for each in jobs]
        return np.array(
            [other if at is None else at for at, other in zip(found, instead, strict=True)],
            dtype=np.int64,
        )

    return JobColumns(
        np.array([each.job.family for each in jobs], dtype=str),
        np.array([each.job.queue for each in jobs], dtype=str),
        np.array([each.job.user for each in jobs], dtype=str),
        np.array([each.job.submit for each in jobs], dtype=np.int64),
        times("first_map", "end"),
        times("maps_end", "end"),
        times("first_reduce", "maps_end"),
        times("end", "end"),
        *near,
    )


def device_columns(run: FinishedRun) -> dict[str, NDArray[Any]]:
    """Give how much of all devices of a kind was used from each time to the next (%).

    The last row is the end, with nothing used after it.
    """
    hardware = run.configuration.hardware
    nodes = hardware.nodes
    rates = np.asarray(run.capacities, dtype=np.float64)
    of_nodes, of_racks = rates[: 2 * nodes].sum(), rates[2 * nodes :].sum()
    has_racks = hardware.racks > 1 and np.isfinite(of_racks)
    each_node = [each.hardware for each in run.configuration.class_of_nodes]
    cores, disks = sum(each.cores for each in each_node), sum(each.disks for each in each_node)
    most = (cores, disks, of_nodes, of_racks if has_racks else 0)
    uses = list(run.uses)
    found: dict[str, list[float]] = {name: [] for name in DEVICE_COLUMNS}
    for before, after in pairwise(uses):
        span = after.time - before.time
        for name, amount, each in zip(
            DEVICE_COLUMNS, _used(before, after, nodes), most, strict=True
        ):
            found[name].append(_ALL * amount / (each * span) if each and span else 0.0)
    times = np.array([each.time for each in uses], dtype=np.int64)
    ending = [0.0] if uses else []
    return {"time": times, **{name: np.array(part + ending) for name, part in found.items()}}


def _used(before: DeviceUse, after: DeviceUse, nodes: int) -> tuple[float, float, float, float]:
    links = np.subtract(after.links, before.links)
    return (
        float(np.subtract(after.processors, before.processors).sum()),
        float(np.subtract(after.disks, before.disks).sum()),
        float(links[: 2 * nodes].sum()),
        float(links[2 * nodes :].sum()),
    )


def _means(devices: Mapping[str, NDArray[Any]], begin: int) -> dict[str, float]:
    """Give means from a time on, of windows that may differ in length."""
    spans = np.diff(np.maximum(devices["time"], begin))
    if not len(spans) or not spans.sum():
        return {}
    return {
        name: float((devices[name][:-1] * spans).sum() / spans.sum()) for name in DEVICE_COLUMNS
    }


def queue_capacities(
    scheduler: SchedulerSetup, configuration: MapReduceConfiguration
) -> dict[str, QueueCapacity]:
    """Give what queues are sure of, where the scheduler is one with capacities."""
    made = built(scheduler, configuration)
    if not isinstance(made, CapacityTaskScheduler):
        return {}
    return {
        name: QueueCapacity(
            each.capacity, _ALL if each.maximum_capacity == NO_MAXIMUM else each.maximum_capacity
        )
        for name, each in made.settings.queues.items()
    }


def built(scheduler: SchedulerSetup, configuration: MapReduceConfiguration) -> TaskScheduler:
    """Make a scheduler for a cluster on which nothing runs. Raises UserError where it cannot be."""
    racks = racks_of(configuration.hardware.nodes, configuration.hardware.racks)
    nodes = zip(racks, configuration.class_of_nodes, strict=True)
    return scheduler.build(
        [
            TrackerSlots(number, rack, of.map_slots, of.reduce_slots)
            for number, (rack, of) in enumerate(nodes)
        ]
    )

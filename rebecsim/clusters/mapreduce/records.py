"""Records of a run: jobs, attempts and the use of devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rebecsim.actors import Constant
from rebecsim.clusters.mapreduce.attempts import Attempt, AttemptOutcome, Phase
from rebecsim.clusters.mapreduce.cluster_state import JobRun, locality_of
from rebecsim.clusters.mapreduce.configuration import MapReduceConfiguration
from rebecsim.clusters.mapreduce.job import Locality, MapReduceJob, SlotKind

if TYPE_CHECKING:
    from rebecsim.clusters.mapreduce.tasktracker import TaskTracker


class AttemptRecord(NamedTuple):
    """The record of an attempt. Times are microseconds.

    Attributes:
        job: its number.
        kind: of its task.
        number: of its task, among those of its kind in the job.
        earlier: how many attempts the task had before.
        node: where it ran, and `rack`, where that is.
        locality: of a map: how far it was from its split.
        is_backup: whether another attempt of the task ran when it was launched.
        start: when it was given its slot, and launched.
        end: when it ended.
        reported: when the JobTracker heard of that, and its slot was free again; None: never, as
            all jobs had ended.
        outcome: how it ended.
        times: spent on each `Phase`.
    """

    job: int
    kind: SlotKind
    number: int
    earlier: int
    node: int
    rack: int
    locality: Locality | None
    is_backup: bool
    start: int
    end: int
    reported: int | None
    outcome: AttemptOutcome
    times: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class JobRecord:
    """The record of a job. Times are microseconds, and None if they do not apply.

    Attributes:
        job: as it was submitted.
        rejected: why the scheduler did not accept it; None: it did.
        first_map: when its first map was launched.
        maps_end: when the last of its maps was reported to have ended.
        first_reduce: when its first reduce was launched.
        end: when the last of its tasks was reported to have ended.
        hosts: of each map: the nodes with a replica of its split.
    """

    job: MapReduceJob
    rejected: str | None
    first_map: int | None
    maps_end: int | None
    first_reduce: int | None
    end: int | None
    hosts: Sequence[tuple[int, ...]]


class DeviceUse(NamedTuple):
    """Use of devices from the beginning up to a time.

    Attributes:
        time: microseconds.
        processors: of each node: for how long they have been busy, all together (microseconds).
        disks: of each node: for how long they have been busy, all together (microseconds).
        links: bytes that each link has carried; see `RackTopology` for which is which.
    """

    time: int
    processors: tuple[float, ...]
    disks: tuple[float, ...]
    links: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Outage(Constant):
    """A node that failed, and worked again later (microseconds; None: never)."""

    node: int
    start: int
    end: int | None


@dataclass(frozen=True, eq=False)
class FinishedRun:
    """The outcome of a run.

    Attributes:
        configuration: configuration of the cluster.
        racks: rack of each node.
        capacities: capacity of each link (bytes per microsecond).
        jobs: jobs, in the order of the input.
        attempts: attempts, in the order of their launch.
        uses: use of devices, at regular times and at the end.
        slow_nodes: numbers of the slow nodes.
        outages: outages, in the order of their start.
        messages: number of messages served.
    """

    configuration: MapReduceConfiguration
    racks: Sequence[int]
    capacities: Sequence[float]
    jobs: Sequence[JobRecord]
    attempts: Sequence[AttemptRecord]
    uses: Sequence[DeviceUse]
    slow_nodes: Sequence[int]
    outages: Sequence[Outage]
    messages: int


def record_of_attempt(attempt: Attempt, tracker: TaskTracker, end: int) -> AttemptRecord:
    """Make the record of an attempt; an unfinished one ends with the run."""
    execution = tracker.tasks.executions.get(attempt.key)
    slots, locality = attempt.node.slots, attempt.locality
    if attempt.is_backup and attempt.kind is SlotKind.MAP and execution is not None:
        source = execution.first_source
        locality = locality_of(source, slots.number, tracker.plan.racks)
    return AttemptRecord(
        attempt.run.job.number,
        attempt.kind,
        attempt.number,
        attempt.earlier,
        slots.number,
        slots.rack,
        locality,
        attempt.is_backup,
        attempt.start,
        end if attempt.end is None else attempt.end,
        attempt.reported,
        AttemptOutcome.KILLED if attempt.end is None else attempt.outcome,
        (0,) * len(Phase) if execution is None else tuple(execution.times),
    )


def record_of_job(run: JobRun) -> JobRecord:
    """Make the record of a job."""
    hosts = run.progress.hosts if run.progress is not None else ()
    return JobRecord(
        run.job, run.rejected, run.first_map, run.maps_end, run.first_reduce, run.end, hosts
    )

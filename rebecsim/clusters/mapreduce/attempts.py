"""Attempts of tasks: what the JobTracker knows of them, and the demands of their steps on devices.

A map works on its split in pieces whose output fills the sort buffer: it reads, maps, sorts and
writes each piece before the next, then merges several pieces in one more pass. A reduce fetches its
part of each map's output, and merges its memory to disk whenever it is full. With all outputs it
merges the rest, sorts, reads, reduces and writes the result once.

Constants and order follow MRPERF's model of Hadoop, but not its network and disks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from math import ceil
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from rebecsim.actors import Constant, StatePart, Unordered
from rebecsim.clusters.mapreduce.configuration import (
    GIGABIT,
    ClusterTable,
    VariationTable,
)
from rebecsim.clusters.mapreduce.job import MEBIBYTE, SECOND, JobCosts, MapReduceJob, SlotKind

if TYPE_CHECKING:
    from rebecsim.clusters.mapreduce.cluster_state import JobRun, TrackerStatus
    from rebecsim.clusters.mapreduce.schedulers.scheduler import Assignment


class Phase(IntEnum):
    """The phases of an attempt."""

    START = 0
    READ = 1
    COMPUTE = 2
    WRITE = 3
    MERGE = 4
    SHUFFLE = 5


class DeviceKind(IntEnum):
    """The device of a step: processor or disk of the node, the disk with the split, the network."""

    PROCESSOR = 0
    DISK = 1
    SOURCE_DISK = 2
    NETWORK = 3


class TaskStep(NamedTuple):
    """A demand on a device.

    Its size is in cycles for processors, in bytes for the network, and for disks in the bytes that
    could be read in the same time.
    """

    device: DeviceKind
    phase: Phase
    size: float


Jitter = Callable[[], float]
"""Draws by what factor a demand is larger than it should be."""


@dataclass(frozen=True)
class Rates:
    """Rates of unshared devices, per microsecond, and the cost of a written byte.

    Attributes:
        cycles: cycles of a processor.
        read: bytes that a disk reads.
        link: bytes over the network.
        written: bytes that a disk could read while it writes one.
    """

    cycles: float
    read: float
    link: float
    written: float

    @staticmethod
    def of(cluster: ClusterTable) -> Rates:
        """Give the rates of a node that is not slow."""
        return Rates(
            cluster.clock * 1e9 / SECOND,
            cluster.disk_read * MEBIBYTE / SECOND,
            cluster.link * GIGABIT / SECOND,
            cluster.disk_read / cluster.disk_write,
        )

    def alone(self, step: TaskStep) -> float:
        """Return how long a step takes on an unshared device (microseconds)."""
        if step.device is DeviceKind.PROCESSOR:
            return step.size / self.cycles
        if step.device is DeviceKind.NETWORK:
            return step.size / self.link
        return step.size / self.read


class ReduceFactors(NamedTuple):
    """Random factors of the demands of a reduce."""

    start: float
    sort: float
    read: float
    compute: float
    write: float


class TaskDraws(Constant):
    """Random numbers of one attempt, which do not depend on the scheduler or the node.

    Its source and the factors of its first demands come first, then those of later demands.
    """

    def __init__(
        self,
        seed: int,
        job: int,
        kind: SlotKind,
        number: int,
        attempt: int,
        variation: VariationTable,
    ) -> None:
        self._name = f"{seed} {job} {kind.name} {number} {attempt}"
        self._random = Random(self._name)
        self.source = self._random.random()
        self.slowdown = 1.0
        if variation.slow_tasks and self._random.random() < variation.slow_tasks:
            self.slowdown = variation.task_slowdown
        self._variation = variation
        self._later: list[float] = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TaskDraws) and self._name == other._name

    def __hash__(self) -> int:
        return hash(self._name)

    def later(self, number: int) -> float:
        """Return the factor of a later demand by its number, from 0; the same at each call."""
        while len(self._later) <= number:
            self._later.append(self.jitter())
        return self._later[number]

    def jitter(self) -> float:
        """Draw the factor of a demand."""
        return self._factor(self._variation.jitter)

    def reduce_factors(self) -> ReduceFactors:
        """Draw the factors of a reduce, before those of merges, whose number depends on others."""
        jitter = self.jitter
        start, sort, read = jitter(), jitter(), jitter()
        compute = self._factor(self._variation.reduce_jitter)
        return ReduceFactors(start, sort, read, compute, jitter())

    def _factor(self, deviation: float) -> float:
        if not deviation:
            return self.slowdown
        return self.slowdown * self._random.lognormvariate(0.0, deviation)


def map_output(split: int, costs: JobCosts) -> float:
    """Give the bytes that a map leaves."""
    return split * costs.map_ratio * costs.combine_ratio


def map_steps(
    split: int, costs: JobCosts, buffer: int, is_local: bool, rates: Rates, jitter: Jitter
) -> list[TaskStep]:
    """List the steps of a map with shuffled output. Its factors do not depend on the node."""
    steps: list[TaskStep] = []
    _add(steps, DeviceKind.PROCESSOR, Phase.START, costs.start * jitter())
    spills = max(ceil(split * costs.map_ratio / buffer), 1)
    piece = buffer / costs.map_ratio if spills > 1 else float(split)
    left, output = float(split), 0.0
    for _ in range(spills):
        size = min(piece, left)
        left -= size
        _add_read(steps, size, is_local, jitter)
        mapped = size * costs.map_ratio
        cycles = size * costs.map * jitter() + mapped * costs.sort * jitter()
        _add(steps, DeviceKind.PROCESSOR, Phase.COMPUTE, cycles)
        spilled = mapped * costs.combine_ratio
        _add(steps, DeviceKind.DISK, Phase.WRITE, spilled * rates.written * jitter())
        output += spilled
    if spills > 1:
        _add(steps, DeviceKind.DISK, Phase.MERGE, output * jitter())
        _add(steps, DeviceKind.DISK, Phase.MERGE, output * rates.written * jitter())
    return steps


def map_only_steps(
    split: int, costs: JobCosts, is_local: bool, rates: Rates, jitter: Jitter
) -> list[TaskStep]:
    """List the steps of a map that writes the output of its job, without sort or merge."""
    steps: list[TaskStep] = []
    _add(steps, DeviceKind.PROCESSOR, Phase.START, costs.start * jitter())
    _add_read(steps, float(split), is_local, jitter)
    _add(steps, DeviceKind.PROCESSOR, Phase.COMPUTE, split * costs.map * jitter())
    written = split * costs.map_ratio * rates.written * jitter()
    _add(steps, DeviceKind.DISK, Phase.WRITE, written)
    return steps


def reduce_start(costs: JobCosts, factors: ReduceFactors) -> list[TaskStep]:
    """List the steps of a reduce before its first fetch."""
    steps: list[TaskStep] = []
    _add(steps, DeviceKind.PROCESSOR, Phase.START, costs.start * factors.start)
    return steps


def merge_steps(held: float, costs: JobCosts, rates: Rates, jitter: Jitter) -> list[TaskStep]:
    """List the steps of a reduce that merges its memory into one sorted file."""
    steps: list[TaskStep] = []
    if held:
        _add(steps, DeviceKind.PROCESSOR, Phase.MERGE, costs.merge * jitter())
        _add(steps, DeviceKind.DISK, Phase.MERGE, held * rates.written * jitter())
    return steps


def reduce_steps(
    fetched: float, costs: JobCosts, rates: Rates, factors: ReduceFactors
) -> list[TaskStep]:
    """List the steps of a reduce after the last merge."""
    steps: list[TaskStep] = []
    _add(steps, DeviceKind.PROCESSOR, Phase.MERGE, costs.reduce_sort * factors.sort)
    _add(steps, DeviceKind.DISK, Phase.READ, fetched * factors.read)
    _add(steps, DeviceKind.PROCESSOR, Phase.COMPUTE, fetched * costs.reduce * factors.compute)
    written = fetched * costs.reduce_ratio * rates.written * factors.write
    _add(steps, DeviceKind.DISK, Phase.WRITE, written)
    return steps


def _add_read(steps: list[TaskStep], size: float, is_local: bool, jitter: Jitter) -> None:
    """Add the read of a piece of the split, with a transfer if it is remote."""
    disk = DeviceKind.DISK if is_local else DeviceKind.SOURCE_DISK
    _add(steps, disk, Phase.READ, size * jitter())
    if not is_local:
        _add(steps, DeviceKind.NETWORK, Phase.READ, size)


def _add(steps: list[TaskStep], device: DeviceKind, phase: Phase, size: float) -> None:
    """Add a step, unless its demand is 0."""
    if size > 0.0:
        steps.append(TaskStep(device, phase, size))


class AttemptOutcome(IntEnum):
    """How an attempt ended."""

    RUNNING = 0
    SUCCEEDED = 1
    KILLED = 2
    """Another attempt of the task was first, or its slot was given to others."""
    LOST = 3
    """Its node failed."""
    OUTPUT_LOST = 4
    """It succeeded; later its node failed with the output of the map, which then ran again."""


DONE = (AttemptOutcome.SUCCEEDED, AttemptOutcome.OUTPUT_LOST)
"""The outcomes of complete attempts."""


AttemptKey = tuple[int, SlotKind, int, int]
"""What messages call an attempt: job, kind and number of its task, and how many came before it."""


@dataclass(frozen=True, slots=True)
class MapOutput(Constant):
    """The output of a map on the disk of its node, which reduces fetch.

    Attributes:
        number: of the map in its job.
        node: where it is.
        size: bytes for each reduce.
        read_factor: how much longer than it should it takes to read that.
        outage: how often the node had failed when the map ended; after one more it is lost.
    """

    number: int
    node: int
    size: float
    read_factor: float
    outage: int

    def __str__(self) -> str:
        return f"output {self.number} on node {self.node}"


@dataclass(frozen=True, slots=True)
class TaskOrder(Constant):
    """What a TaskTracker is told to run.

    Attributes:
        job: of the task.
        kind: of the task.
        number: of the task, among those of its kind in the job.
        earlier: how many attempts it had before.
        replicas: of a map: the nodes with a replica of its split.
        hosts: of a map: those of them that work, if there are any.
        outputs: of a reduce: what can be fetched so far.
    """

    job: MapReduceJob
    kind: SlotKind
    number: int
    earlier: int
    replicas: tuple[int, ...] = ()
    hosts: tuple[int, ...] = ()
    outputs: tuple[MapOutput, ...] = ()

    @property
    def key(self) -> AttemptKey:
        """The key of the attempt in messages."""
        return self.job.number, self.kind, self.number, self.earlier

    def __str__(self) -> str:
        again = f", attempt {self.earlier + 1}" if self.earlier else ""
        return f"{self.kind.name.lower()} {self.number} of {self.job}{again}"


class StepProgress(NamedTuple):
    """Progress of an attempt, in time on unshared devices (microseconds).

    Attributes:
        done: time of finished steps.
        current: time of the current step.
        total: time of all steps.
        began: when the current step began.
    """

    done: float
    current: float
    total: float
    began: int

    def at(self, now: int) -> float:
        """Return the finished share; the current step counts by elapsed time, up to its time."""
        return (self.done + min(float(now - self.began), self.current)) / self.total


class Attempt(StatePart):
    """What the JobTracker knows of an attempt. Its TaskTracker knows its steps.

    Attributes:
        run: its job.
        kind: of the task.
        number: of the task, among those of its kind in the job.
        earlier: how many attempts the task had before.
        node: where it runs.
        locality: of a map: how far it is from its split; None for a backup.
        is_backup: whether another attempt ran when it was given its slot.
        slot_beat: when its slot sent its first heartbeat (microseconds).
        start: when it was given its slot.
        end: when it ended; None while it runs.
        reported: when the JobTracker took note of that, and its slot was free again.
        outcome: how it ended.
        output: of a map that has ended: what it has left.
        progress: of its steps, where backups are launched; None: it has begun none, or fetches.
        fetched: of a reduce, where that matters: the maps whose output it has.
    """

    __slots__ = (
        "earlier",
        "end",
        "fetched",
        "is_backup",
        "kind",
        "locality",
        "node",
        "number",
        "outcome",
        "output",
        "progress",
        "reported",
        "run",
        "slot_beat",
        "start",
    )

    def __init__(
        self, run: JobRun, assignment: Assignment, earlier: int, node: TrackerStatus, start: int
    ) -> None:
        self.run = run
        self.kind = assignment.kind
        self.number = assignment.number
        self.earlier = earlier
        self.node = node
        self.locality = assignment.locality
        self.is_backup = assignment.speculative
        self.slot_beat = 0
        self.start = start
        self.end: int | None = None
        self.reported: int | None = None
        self.outcome = AttemptOutcome.RUNNING
        self.output: MapOutput | None = None
        self.progress: StepProgress | None = None
        self.fetched: Unordered[int, bool] = Unordered()

    @property
    def key(self) -> AttemptKey:
        """The key of the attempt in messages."""
        return self.run.job.number, self.kind, self.number, self.earlier

    @property
    def is_lost(self) -> bool:
        """Whether the output of a map is lost because its node has failed."""
        return self.output is not None and self.output.outage != self.node.outages

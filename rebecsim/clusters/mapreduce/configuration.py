"""The configuration of a cluster of TaskTrackers and of Hadoop on it. Times are microseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rebecsim.actors import Constant
from rebecsim.clusters.mapreduce.job import MEBIBYTE
from rebecsim.studies.scenario import Table
from rebecsim.studies.units import within

SECOND = 1_000_000
"""Of microseconds."""

PlacementRule = Literal["random", "hadoop"]
ReportRule = Literal["heartbeat", "at_once"]
HeartbeatSender = Literal["node", "slot"]
SpeculationRule = Literal["hadoop", "late"]

Share = Annotated[float, within(0, 1)]
Slowdown = Annotated[float, within(1, 1000)]
QueueFigure = Literal["jobs", "waiting_maps", "waiting_reduces"]


@dataclass(frozen=True, slots=True)
class NodeHardware:
    """Nodes that are alike, and what connects them: keys of `[cluster]`.

    Rates are bytes, or cycles, of one second; the latency is microseconds. The JobTracker has a
    node of its own beside these.
    """

    nodes: int = 30
    racks: int = 1
    cores: int = 8
    clock: float = 2.5e9
    disks: int = 1
    disk_read: float = 280.0 * MEBIBYTE
    disk_write: float = 75.0 * MEBIBYTE
    link: float = 125e6
    oversubscription: float = 1.0
    latency: int = 600


@dataclass(frozen=True, slots=True)
class HadoopSettings:
    """How Hadoop is set up: keys of `[cluster]`, times in microseconds, buffers in bytes."""

    map_slots: int = 4
    reduce_slots: int = 4
    heartbeat: int = 300_000
    first_heartbeats: int = 300_000
    heartbeats_of: HeartbeatSender = "node"
    reports: ReportRule = "heartbeat"
    slow_start: float = 0.05
    parallel_copies: int = 5
    sort_buffer: int = 50 * MEBIBYTE
    merge_buffer: int = 66 * MEBIBYTE
    merge_outputs: int = 100
    expiry: int = 600 * SECOND


@dataclass(frozen=True, slots=True)
class NodeClass:
    """Nodes that are alike, and may differ from others; links are those of the cluster.

    Attributes:
        count: how many.
        map_slots, reduce_slots: of each.
        hardware: its processors and disks; the number of nodes in it has no meaning.
    """

    count: int
    map_slots: int
    reduce_slots: int
    hardware: NodeHardware


@dataclass(frozen=True, slots=True)
class FileSystem:
    """Where the blocks of inputs are: keys of `[cluster]`."""

    replication: int = 3
    placement: PlacementRule = "random"


class VariationTable(Table):
    """In what tasks and nodes differ that should be alike: chance, and stragglers."""

    jitter: Annotated[float, within(0, 2)] = Field(
        log(1.10),
        description="of what is asked of processors and disks: standard deviation of the logarithm",
    )
    reduce_jitter: Annotated[float, within(0, 2)] = Field(
        log(1.04), description="the same, of the processor in reduce functions"
    )
    slow_nodes: Share = Field(0.0, description="the part of the nodes that is slow")
    node_slowdown: Slowdown = Field(1.0, description="how many times as long these take")
    slow_tasks: Share = Field(0.0, description="the part of the attempts that is slow")
    task_slowdown: Slowdown = Field(1.0, description="how many times as much these ask for")


@dataclass(frozen=True, slots=True)
class Outage(Constant):
    """A node that fails, and works again later: an entry of `failures.outages` (microseconds)."""

    node: int
    start: int
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Failures:
    """Nodes that fail: the keys of `[failures]`, in microseconds."""

    outages: tuple[Outage, ...] = ()
    mean_time_between: int | None = None
    repair: int = 300 * SECOND

    @property
    def is_some(self) -> bool:
        """Whether any node fails."""
        return bool(self.outages) or self.mean_time_between is not None


class Speculation(Table, Constant):
    """Second attempts of tasks that take long; the first to end counts, the other is killed."""

    rule: SpeculationRule = Field(
        "hadoop", description="Hadoop's, by progress; or LATE's, by the time that is left"
    )
    lag: Share = Field(
        0.2, description="Hadoop's: by how much progress a task is behind the job's mean"
    )
    patience: Annotated[float, within(0, 1e9, "seconds")] = Field(
        60.0, description="that a task runs before it may have a second attempt"
    )
    cap: Share = Field(
        0.1, description="LATE's: the part of all slots with second attempts, at most"
    )
    slow_task: Share = Field(0.25, description="LATE's: the part of a job's attempts that are slow")
    slow_node: Share = Field(
        0.25, description="LATE's: the part of the nodes that run no second attempts"
    )


class QueueCondition(Table):
    """What must become true of a queue for settings to change."""

    queue: str = Field(min_length=1, description="whose figure it is")
    figure: QueueFigure = Field(
        "jobs", description="its jobs that have not ended, or tasks of these that wait for a slot"
    )
    below: Annotated[int | None, within(1, 10**9)] = Field(
        None, description="the figure is less than this"
    )
    above: Annotated[int | None, within(0, 10**9)] = Field(
        None, description="the figure is more than this"
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.below is None and self.above is None:
            raise ValueError("give below or above, as in below = 1")
        return self

    def holds(self, figure: int) -> bool:
        """Whether it is true of a figure."""
        return (self.below is None or figure < self.below) and (
            self.above is None or figure > self.above
        )


@dataclass(frozen=True, slots=True)
class TimedChange(Constant):
    """Parameters of the scheduler that change while the cluster runs.

    Attributes:
        at: when (microseconds).
        parameters: by the names that the scheduler knows.
        when: instead: each time that this becomes true; what is true at the beginning must become
            false first.
    """

    at: int
    parameters: Mapping[str, object]
    when: QueueCondition | None = None

    def __hash__(self) -> int:
        return hash((self.at, self.when))


@dataclass(frozen=True, slots=True)
class MapReduceConfiguration:
    """A cluster, and what happens to it.

    Attributes:
        hardware: of its nodes and its network.
        hadoop: how it is set up.
        files: where its inputs are.
        variation: of what should be alike.
        failures: of its nodes.
        speculation: None: no task has two attempts at a time.
        changes: of the parameters of its scheduler, in any order.
        classes: of the first nodes; the others are as `hardware` and `hadoop` say.
        sampling: how often the use of its devices is written down (microseconds); 0: never.
    """

    hardware: NodeHardware = field(default_factory=NodeHardware)
    hadoop: HadoopSettings = field(default_factory=HadoopSettings)
    files: FileSystem = field(default_factory=FileSystem)
    variation: VariationTable = field(default_factory=VariationTable)
    failures: Failures = field(default_factory=Failures)
    speculation: Speculation | None = None
    changes: tuple[TimedChange, ...] = ()
    sampling: int = 10 * SECOND
    classes: tuple[NodeClass, ...] = ()

    @property
    def class_of_nodes(self) -> list[NodeClass]:
        """Give the class of each node, in the order of their numbers."""
        nodes, hadoop = self.hardware.nodes, self.hadoop
        classed = [each for each in self.classes for _ in range(each.count)]
        left = nodes - len(classed)
        others = NodeClass(left, hadoop.map_slots, hadoop.reduce_slots, self.hardware)
        return [*classed, *[others] * left]

    @property
    def slots(self) -> tuple[int, int]:
        """Give how many slots there are, of maps and of reduces."""
        nodes = self.class_of_nodes
        return sum(each.map_slots for each in nodes), sum(each.reduce_slots for each in nodes)

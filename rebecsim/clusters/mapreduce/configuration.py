"""The configuration of a cluster of TaskTrackers and of Hadoop on it. Times are microseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rebecsim.actors import Constant
from rebecsim.clusters.mapreduce.job import MEBIBYTE
from rebecsim.studies.scenario import Table, within

SECOND = 1_000_000
"""One second in microseconds."""

PlacementRule = Literal["random", "hadoop"]
ReportRule = Literal["heartbeat", "at_once"]
HeartbeatSender = Literal["node", "slot"]
SpeculationRule = Literal["hadoop", "late"]

Share = Annotated[float, within(0, 1)]
Slowdown = Annotated[float, within(1, 1000)]
QueueFigure = Literal["jobs", "waiting_maps", "waiting_reduces"]


@dataclass(frozen=True, slots=True)
class NodeHardware:
    """Equal nodes and their network: keys of `[cluster]`.

    Rates are bytes or cycles per second; the latency is in microseconds. The JobTracker has a node
    of its own.
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
    """Settings of Hadoop: keys of `[cluster]`, times in microseconds, buffers in bytes."""

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
    """A class of equal nodes, with the links of the cluster.

    Attributes:
        count: number of nodes.
        map_slots, reduce_slots: slots of each node.
        hardware: processors and disks; its number of nodes is unused.
    """

    count: int
    map_slots: int
    reduce_slots: int
    hardware: NodeHardware


@dataclass(frozen=True, slots=True)
class FileSystem:
    """Placement of input blocks: keys of `[cluster]`."""

    replication: int = 3
    placement: PlacementRule = "random"


class VariationTable(Table):
    """Random variation of equal tasks and nodes, and stragglers."""

    jitter: Annotated[float, within(0, 2)] = Field(
        log(1.10),
        description="standard deviation of the logarithm of demands on processors and disks",
    )
    reduce_jitter: Annotated[float, within(0, 2)] = Field(
        log(1.04), description="the same for processors in reduce functions"
    )
    slow_nodes: Share = Field(0.0, description="share of slow nodes")
    node_slowdown: Slowdown = Field(1.0, description="factor of a slow node's times")
    slow_tasks: Share = Field(0.0, description="share of slow attempts")
    task_slowdown: Slowdown = Field(1.0, description="factor of a slow attempt's demands")


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
    """Second attempts of slow tasks; the first to end counts, the other is killed."""

    rule: SpeculationRule = Field(
        "hadoop", description="hadoop: by progress; late: LATE, by the remaining time"
    )
    lag: Share = Field(0.2, description="hadoop: progress of a slow task below the mean of its job")
    patience: Annotated[float, within(0, 1e9, "seconds")] = Field(
        60.0, description="run time before a task may have a second attempt"
    )
    cap: Share = Field(0.1, description="late: largest share of all slots with second attempts")
    slow_task: Share = Field(0.25, description="late: share of a job's attempts that are slow")
    slow_node: Share = Field(0.25, description="late: share of nodes that run no second attempts")


class QueueCondition(Table):
    """The condition on a queue that changes settings."""

    queue: str = Field(min_length=1, description="name of the queue or pool")
    figure: QueueFigure = Field(
        "jobs", description="its unfinished jobs, or their tasks that wait for a slot"
    )
    below: Annotated[int | None, within(1, 10**9)] = Field(
        None, description="the figure is below this"
    )
    above: Annotated[int | None, within(0, 10**9)] = Field(
        None, description="the figure is above this"
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.below is None and self.above is None:
            raise ValueError("give below or above, as in below = 1")
        return self

    def holds(self, figure: int) -> bool:
        """Whether a value of the figure meets the condition."""
        return (self.below is None or figure < self.below) and (
            self.above is None or figure > self.above
        )


@dataclass(frozen=True, slots=True)
class TimedChange(Constant):
    """Parameters of the scheduler that change while the cluster runs.

    Attributes:
        at: time of the change (microseconds).
        parameters: new values, by the scheduler's names.
        when: instead, a condition; the change happens each time that it becomes true. If it is true
            at the beginning, it must become false first.
    """

    at: int
    parameters: Mapping[str, object]
    when: QueueCondition | None = None

    def __hash__(self) -> int:
        return hash((self.at, self.when))


@dataclass(frozen=True, slots=True)
class MapReduceConfiguration:
    """The configuration of a cluster.

    Attributes:
        hardware: its nodes and network.
        hadoop: settings of Hadoop.
        files: placement of input blocks.
        variation: random variation of tasks and nodes.
        failures: failures of nodes.
        speculation: rule of second attempts; None for none.
        changes: changes of the scheduler's parameters, in any order.
        classes: classes of the first nodes; the others follow `hardware` and `hadoop`.
        sampling: period at which the use of devices is recorded (microseconds); 0 for never.
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
        """The class of each node, by number."""
        nodes, hadoop = self.hardware.nodes, self.hadoop
        classed = [each for each in self.classes for _ in range(each.count)]
        left = nodes - len(classed)
        others = NodeClass(left, hadoop.map_slots, hadoop.reduce_slots, self.hardware)
        return [*classed, *[others] * left]

    @property
    def slots(self) -> tuple[int, int]:
        """Number of map slots and of reduce slots."""
        nodes = self.class_of_nodes
        return sum(each.map_slots for each in nodes), sum(each.reduce_slots for each in nodes)

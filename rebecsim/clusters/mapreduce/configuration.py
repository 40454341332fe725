"""The configuration of a cluster of TaskTrackers and of Hadoop on it: tables of a scenario."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from rebecsim.actors import Constant
from rebecsim.clusters.mapreduce.job import MILLISECOND, SECOND
from rebecsim.studies.scenario import NO_UNIT, AnyList, Table, within

PlacementRule = Literal["random", "hadoop"]
ReportRule = Literal["heartbeat", "at_once"]
HeartbeatSender = Literal["node", "slot"]
SpeculationRule = Literal["hadoop", "late"]

Share = Annotated[float, within(0, 1)]
Slowdown = Annotated[float, within(1, 1000)]
QueueFigure = Literal["jobs", "waiting_maps", "waiting_reduces"]
ParameterValue = str | int | float | bool

GIGABIT = 1e9 / 8
"""In bytes."""


class NodeClassTable(Table):
    """A class of equal nodes. Missing keys are those of the cluster."""

    count: Annotated[int, within(1, 10**5, "nodes")] = Field(description="number of nodes")
    map_slots: Annotated[int | None, within(0, 1000)] = Field(
        None, description="map slots of each node"
    )
    reduce_slots: Annotated[int | None, within(0, 1000)] = Field(
        None, description="reduce slots of each node"
    )
    cores: Annotated[int | None, within(1, 10_000)] = Field(None, description="cores of each node")
    clock: Annotated[float | None, within(0.001, 1000, "GHz")] = Field(
        None, description="clock rate of a core"
    )
    disks: Annotated[int | None, within(1, 1000)] = Field(None, description="disks of each node")
    disk_read: Annotated[float | None, within(0.001, 1e9, "MiB/s")] = Field(
        None, description="read rate of a disk"
    )
    disk_write: Annotated[float | None, within(0.001, 1e9, "MiB/s")] = Field(
        None, description="write rate of a disk"
    )

    @property
    def given(self) -> dict[str, Any]:
        """The given keys, without the number of nodes."""
        return self.model_dump(exclude={"count"}, exclude_none=True)


class ClusterTable(Table):
    """Nodes, equal or in classes, their network, and the settings of Hadoop."""

    nodes: Annotated[int, within(1, 10**5)] = Field(
        30, description="nodes that run tasks, without the master"
    )
    racks: Annotated[int, within(1, 10**5)] = Field(
        1, description="racks that nodes are spread over evenly"
    )
    map_slots: Annotated[int, within(1, 1000)] = Field(4, description="map slots of a node")
    reduce_slots: Annotated[int, within(0, 1000)] = Field(4, description="reduce slots of a node")
    cores: Annotated[int, within(1, 10_000)] = Field(
        8, description="cores of a node; a task uses one at a time"
    )
    clock: Annotated[float, within(0.001, 1000, "GHz")] = Field(
        2.5, description="clock rate of a core"
    )
    disks: Annotated[int, within(1, 1000)] = Field(
        1, description="disks of a node; a task uses one at a time"
    )
    disk_read: Annotated[float, within(0.001, 1e9, "MiB/s")] = Field(
        280.0, description="read rate of a disk"
    )
    disk_write: Annotated[float, within(0.001, 1e9, "MiB/s")] = Field(
        75.0, description="write rate of a disk"
    )
    link: Annotated[float, within(0.001, 1e9, "Gbit/s")] = Field(
        1.0, description="rate of a node's link to its switch, each way"
    )
    oversubscription: Annotated[float, within(1, 1000)] = Field(
        1.0, description="ratio of the links of a rack's nodes together to the rack's own link"
    )
    latency: Annotated[int, within(0, 10**7, "microseconds")] = Field(
        600, description="time from a request to another node until bytes flow"
    )
    replication: Annotated[int, within(1, 100, "nodes")] = Field(
        3, description="replicas of each block"
    )
    placement: PlacementRule = Field(
        "random",
        description="random: replicas on any nodes; hadoop: two in one rack, the others in another",
    )
    heartbeat: Annotated[int, within(1, 10**7, "ms")] = Field(
        300, description="heartbeat period of a node"
    )
    first_heartbeats: Annotated[int, within(0, 10**9, "ms")] = Field(
        300, description="time within which all nodes send their first heartbeats"
    )
    heartbeats_of: HeartbeatSender = Field(
        "node",
        description="node: a node sends heartbeats for all its slots; slot: each free slot sends "
        "its own, so a node with more free slots asks more often",
    )
    reports: ReportRule = Field(
        "heartbeat",
        description="when the master learns that a task has ended: at the next heartbeat of its "
        "node, or at once; either way its slot is assigned at the next heartbeat",
    )
    slow_start: Share = Field(
        0.05, description="share of a job's maps that must end before its reduces start"
    )
    parallel_copies: Annotated[int, within(1, 10**5)] = Field(
        5, description="map outputs that a reduce fetches at once"
    )
    sort_buffer: Annotated[int, within(1, 10**5, "MiB")] = Field(
        50, description="map output that fits in memory; more is spilled to disk"
    )
    merge_buffer: Annotated[int, within(1, 10**5, "MiB")] = Field(
        66, description="reduce input that fits in memory; more is spilled to disk"
    )
    merge_outputs: Annotated[int, within(1, 10**5)] = Field(
        100, description="map outputs that fit in memory; more are spilled to disk"
    )
    expiry: Annotated[float, within(0.001, 1e9, "seconds")] = Field(
        600.0, description="time without heartbeats after which a node is lost"
    )
    classes: Annotated[tuple[NodeClassTable, ...], AnyList] = Field(
        (), description="classes of the first nodes; the others are as above"
    )

    @model_validator(mode="after")
    def _classes_fit(self) -> Self:
        if (classed := sum(each.count for each in self.classes)) > self.nodes:
            raise ValueError(f"classes have {classed} nodes, more than nodes = {self.nodes}")
        if not self.slots[0]:
            raise ValueError("no node has a map slot; give some of them map_slots")
        return self

    @model_validator(mode="after")
    def _racks_have_nodes(self) -> Self:
        if self.racks > self.nodes:
            raise ValueError(f"{self.racks} racks, but {self.nodes} nodes; give each rack a node")
        if self.replication > self.nodes:
            raise ValueError(
                f"replication = {self.replication} needs as many nodes, but nodes = {self.nodes}"
            )
        return self

    @property
    def node_classes(self) -> tuple[ClusterTable, ...]:
        """The nodes of each class, and then the others, as clusters of equal nodes."""
        left = self.nodes - sum(each.count for each in self.classes)
        given = [{"nodes": each.count, **each.given} for each in self.classes]
        others = [{"nodes": left}] if left else []
        return tuple(self.model_copy(update={"classes": (), **each}) for each in given + others)

    @property
    def class_of_nodes(self) -> list[ClusterTable]:
        """The class of each node, by number."""
        return [each for each in self.node_classes for _ in range(each.nodes)]

    @property
    def slots(self) -> tuple[int, int]:
        """Number of map slots and of reduce slots."""
        classes = self.node_classes
        return (
            sum(each.nodes * each.map_slots for each in classes),
            sum(each.nodes * each.reduce_slots for each in classes),
        )

    @property
    def most_slots(self) -> tuple[int, int]:
        """Largest number of map slots and of reduce slots of a node."""
        classes = self.node_classes
        return max(each.map_slots for each in classes), max(each.reduce_slots for each in classes)

    @property
    def beat(self) -> int:
        """Heartbeat period of a node (microseconds)."""
        return self.heartbeat * MILLISECOND


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


class OutageTable(Table):
    """A node that fails at a given time."""

    node: Annotated[int, within(0, 10**5)] = Field(description="number of the node, from 0")
    start: Annotated[float, within(0, 1e9, "seconds")] = Field(description="when it fails")
    end: Annotated[float | None, within(0, 1e9, "seconds")] = Field(
        None, description="when it works again; without it, never"
    )

    @model_validator(mode="after")
    def _forward(self) -> Self:
        if self.end is not None and self.end <= self.start:
            raise ValueError(f"end = {self.end:g} should be after start = {self.start:g}")
        return self

    @property
    def span(self) -> tuple[int, int | None]:
        """When it fails and works again (microseconds)."""
        return round(self.start * SECOND), None if self.end is None else round(self.end * SECOND)


class FailuresTable(Table):
    """Failures of nodes. Their tasks, and maps with lost outputs, run again."""

    outages: Annotated[tuple[OutageTable, ...], AnyList] = Field(
        (), description="failures at given times"
    )
    mean_time_between: Annotated[float | None, within(0.001, 1e9, "seconds")] = Field(
        None, description="mean time between random failures of a node; without it none"
    )
    repair: Annotated[float, within(0.001, 1e9, "seconds")] = Field(
        300.0, description="repair time after a random failure"
    )

    @property
    def is_some(self) -> bool:
        """Whether any node fails."""
        return bool(self.outages) or self.mean_time_between is not None

    def misfit(self, nodes: int) -> str:
        """Say which outage is of none of so many nodes; empty if there is no such outage."""
        wrong = (n for n, outage in enumerate(self.outages) if outage.node >= nodes)
        if (place := next(wrong, None)) is None:
            return ""
        key, node = f"failures.outages[{place}]", self.outages[place].node
        return f"{key}: there is no node {node}; nodes are 0 to {nodes - 1}"


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


class ChangeTable(Table, Constant):
    """Settings of a scheduler that change while the cluster runs.

    If a condition is true at the beginning, it must become false first.
    """

    at: Annotated[float | None, within(0, 1e9, "seconds")] = Field(
        None, description="time of the change"
    )
    when: QueueCondition | None = Field(
        None, description="instead of at: change each time that this becomes true of a queue"
    )
    settings: dict[str, ParameterValue] = Field(
        min_length=1,
        json_schema_extra=NO_UNIT,
        description="new settings, by their names in the scheduler's file",
    )

    @model_validator(mode="after")
    def _one_time(self) -> Self:
        if (self.at is None) == (self.when is None):
            raise ValueError('give either at = SECONDS or when = { queue = "NAME", below = 1 }')
        return self

    @property
    def time(self) -> int:
        """Time of the change (microseconds); 0 if a condition determines it."""
        return round((self.at or 0) * SECOND)

    def __hash__(self) -> int:
        return hash((self.at, self.when))


@dataclass(frozen=True, slots=True)
class MapReduceConfiguration:
    """The configuration of a cluster.

    Attributes:
        cluster: its nodes, network and settings of Hadoop.
        variation: random variation of tasks and nodes.
        failures: failures of nodes.
        speculation: rule of second attempts; None for none.
        changes: changes of the scheduler's settings, in any order.
        sampling: period at which the use of devices is recorded (microseconds); 0 for never.
    """

    cluster: ClusterTable = field(default_factory=ClusterTable)
    variation: VariationTable = field(default_factory=VariationTable)
    failures: FailuresTable = field(default_factory=FailuresTable)
    speculation: Speculation | None = None
    changes: tuple[ChangeTable, ...] = ()
    sampling: int = 10 * SECOND

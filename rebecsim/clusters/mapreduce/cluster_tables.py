"""The tables of a scenario that describe its cluster, failures and changes."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from rebecsim.clusters.mapreduce.configuration import (
    SECOND,
    HeartbeatSender,
    NodeClass,
    NodeHardware,
    PlacementRule,
    QueueCondition,
    ReportRule,
    Share,
    TimedChange,
)
from rebecsim.clusters.mapreduce.job import MEBIBYTE
from rebecsim.studies.scenario import NO_UNIT, AnyList, Table, settings_of, within

SCALES = {
    "ms": 1000,
    "seconds": SECOND,
    "MiB": MEBIBYTE,
    "MiB/s": MEBIBYTE,
    "GHz": 1e9,
    "Gbit/s": 1e9 / 8,
}
"""Microseconds, bytes, bytes of a second and cycles of a second, by the units of tables."""

ParameterValue = str | int | float | bool


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

    def node_classes(self) -> tuple[NodeClass, ...]:
        """Make the classes of nodes of the simulated cluster."""
        return tuple(
            NodeClass(like.nodes, like.map_slots, like.reduce_slots, like.hardware())
            for each in self.classes
            for like in [self.model_copy(update={"nodes": each.count, **each.given})]
        )

    @property
    def slots(self) -> tuple[int, int]:
        """Number of map slots and of reduce slots."""
        left = self.nodes - sum(each.count for each in self.classes)
        maps, reduces = left * self.map_slots, left * self.reduce_slots
        for each in self.node_classes():
            maps += each.count * each.map_slots
            reduces += each.count * each.reduce_slots
        return maps, reduces

    @property
    def most_slots(self) -> tuple[int, int]:
        """Largest number of map slots and of reduce slots of a node."""
        all_slots = [(each.map_slots, each.reduce_slots) for each in self.node_classes()]
        if sum(each.count for each in self.classes) < self.nodes:
            all_slots.append((self.map_slots, self.reduce_slots))
        return max(maps for maps, _ in all_slots), max(reduces for _, reduces in all_slots)

    def hardware(self) -> NodeHardware:
        """Give nodes and network."""
        return settings_of(NodeHardware, self, SCALES)


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


class ChangeTable(Table):
    """Settings of a scheduler that change while the cluster runs."""

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

    def change(self) -> TimedChange:
        """Make the change of the simulated cluster."""
        return TimedChange(round((self.at or 0) * SECOND), dict(self.settings), self.when)

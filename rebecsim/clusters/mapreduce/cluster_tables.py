"""The tables of a scenario that describe its cluster, failures and changes."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from rebecsim.clusters.kit.fields import AnyList, settings_of
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
from rebecsim.studies.scenario import Table
from rebecsim.studies.units import NO_UNIT, within

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
    """Nodes with slots of their own; what is not said is as in the cluster."""

    count: Annotated[int, within(1, 10**5, "nodes")] = Field(description="how many of these")
    map_slots: Annotated[int | None, within(0, 1000)] = Field(None, description="of each")
    reduce_slots: Annotated[int | None, within(0, 1000)] = Field(None, description="of each")
    cores: Annotated[int | None, within(1, 10_000)] = Field(None, description="of each")
    clock: Annotated[float | None, within(0.001, 1000, "GHz")] = Field(
        None, description="of a core"
    )
    disks: Annotated[int | None, within(1, 1000)] = Field(None, description="of each")
    disk_read: Annotated[float | None, within(0.001, 1e9, "MiB/s")] = Field(
        None, description="of a disk"
    )
    disk_write: Annotated[float | None, within(0.001, 1e9, "MiB/s")] = Field(
        None, description="of a disk"
    )

    @property
    def given(self) -> dict[str, Any]:
        """What is said of them, beside how many they are."""
        return self.model_dump(exclude={"count"}, exclude_none=True)


class ClusterTable(Table):
    """Nodes that are alike, or in classes, their network, and how Hadoop works on them."""

    nodes: Annotated[int, within(1, 10**5)] = Field(
        30, description="that run tasks; the master is not among them"
    )
    racks: Annotated[int, within(1, 10**5)] = Field(1, description="over which they are dealt")
    map_slots: Annotated[int, within(1, 1000)] = Field(4, description="of a node")
    reduce_slots: Annotated[int, within(0, 1000)] = Field(4, description="of a node")
    cores: Annotated[int, within(1, 10_000)] = Field(
        8, description="of a node; a task uses one at a time"
    )
    clock: Annotated[float, within(0.001, 1000, "GHz")] = Field(2.5, description="of a core")
    disks: Annotated[int, within(1, 1000)] = Field(
        1, description="of a node; a task uses one at a time"
    )
    disk_read: Annotated[float, within(0.001, 1e9, "MiB/s")] = Field(280.0, description="of a disk")
    disk_write: Annotated[float, within(0.001, 1e9, "MiB/s")] = Field(75.0, description="of a disk")
    link: Annotated[float, within(0.001, 1e9, "Gbit/s")] = Field(
        1.0, description="of a node to its switch, each way"
    )
    oversubscription: Annotated[float, within(1, 1000)] = Field(
        1.0, description="how many times the link of a rack those of its nodes are together"
    )
    latency: Annotated[int, within(0, 10**7, "microseconds")] = Field(
        600, description="from asking another node for bytes until they flow"
    )
    replication: Annotated[int, within(1, 100, "nodes")] = Field(
        3, description="how many have each block"
    )
    placement: PlacementRule = Field(
        "random",
        description="blocks on any nodes; or, as Hadoop does it, two replicas in one rack and the "
        "others in another",
    )
    heartbeat: Annotated[int, within(1, 10**7, "ms")] = Field(
        300, description="of a node, its period"
    )
    first_heartbeats: Annotated[int, within(0, 10**9, "ms")] = Field(
        300, description="within which time all nodes send their first"
    )
    heartbeats_of: HeartbeatSender = Field(
        "node",
        description="who sends them: a node for all its slots; or each slot, while it is free, at "
        "times of its own, so that a node with more free slots asks more often",
    )
    reports: ReportRule = Field(
        "heartbeat",
        description="when the master is told that a task has ended: with the next heartbeat of its "
        "node, or at once; its slot is given again at the next heartbeat in either case",
    )
    slow_start: Share = Field(
        0.05, description="part of a job's maps that has ended before its reduces begin"
    )
    parallel_copies: Annotated[int, within(1, 10**5)] = Field(
        5, description="outputs of maps that a reduce fetches at a time"
    )
    sort_buffer: Annotated[int, within(1, 10**5, "MiB")] = Field(
        50, description="output of a map after which it goes to disk"
    )
    merge_buffer: Annotated[int, within(1, 10**5, "MiB")] = Field(
        66, description="input of a reduce after which it goes to disk"
    )
    merge_outputs: Annotated[int, within(1, 10**5)] = Field(
        100, description="outputs of maps after which it does, too"
    )
    expiry: Annotated[float, within(0.001, 1e9, "seconds")] = Field(
        600.0, description="after what time without heartbeats a node is lost"
    )
    classes: Annotated[tuple[NodeClassTable, ...], AnyList] = Field(
        (), description="of the first nodes; the others are as said above"
    )

    @model_validator(mode="after")
    def _classes_fit(self) -> Self:
        if (classed := sum(each.count for each in self.classes)) > self.nodes:
            raise ValueError(f"classes have {classed} nodes; let nodes = {self.nodes} be as many")
        if not self.slots[0]:
            raise ValueError("no node has a map slot; give some of them map_slots")
        return self

    @model_validator(mode="after")
    def _racks_have_nodes(self) -> Self:
        if self.racks > self.nodes:
            raise ValueError(f"{self.racks} racks, but {self.nodes} nodes; give each rack a node")
        if self.replication > self.nodes:
            raise ValueError(
                f"replication = {self.replication} needs as many nodes, and there are {self.nodes}"
            )
        return self

    def node_classes(self) -> tuple[NodeClass, ...]:
        """Give the classes of nodes as the cluster has them."""
        return tuple(
            NodeClass(like.nodes, like.map_slots, like.reduce_slots, like.hardware())
            for each in self.classes
            for like in [self.model_copy(update={"nodes": each.count, **each.given})]
        )

    @property
    def slots(self) -> tuple[int, int]:
        """How many there are, of maps and of reduces."""
        left = self.nodes - sum(each.count for each in self.classes)
        maps, reduces = left * self.map_slots, left * self.reduce_slots
        for each in self.node_classes():
            maps += each.count * each.map_slots
            reduces += each.count * each.reduce_slots
        return maps, reduces

    @property
    def most_slots(self) -> tuple[int, int]:
        """How many a node has at most, of maps and of reduces."""
        all_slots = [(each.map_slots, each.reduce_slots) for each in self.node_classes()]
        if sum(each.count for each in self.classes) < self.nodes:
            all_slots.append((self.map_slots, self.reduce_slots))
        return max(maps for maps, _ in all_slots), max(reduces for _, reduces in all_slots)

    def hardware(self) -> NodeHardware:
        """Give nodes and network."""
        return settings_of(NodeHardware, self, SCALES)


class OutageTable(Table):
    """A node that fails at a given time."""

    node: Annotated[int, within(0, 10**5)] = Field(description="which one, from 0 on")
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
    """Nodes that fail; their tasks, and the outputs of their maps, are made again."""

    outages: Annotated[tuple[OutageTable, ...], AnyList] = Field((), description="at given times")
    mean_time_between: Annotated[float | None, within(0.001, 1e9, "seconds")] = Field(
        None, description="of the random failures of one node; without it none"
    )
    repair: Annotated[float, within(0.001, 1e9, "seconds")] = Field(
        300.0, description="how long such a node does not work"
    )

    @property
    def is_some(self) -> bool:
        """Whether any node fails."""
        return bool(self.outages) or self.mean_time_between is not None


class ChangeTable(Table):
    """Parameters of the schedulers that change while the cluster runs."""

    at: Annotated[float | None, within(0, 1e9, "seconds")] = Field(None, description="when")
    when: QueueCondition | None = Field(
        None, description="instead of at: each time that this becomes true of a queue"
    )
    settings: dict[str, ParameterValue] = Field(
        min_length=1,
        json_schema_extra=NO_UNIT,
        description="which, by the names that they have in the scheduler's file",
    )

    @model_validator(mode="after")
    def _one_time(self) -> Self:
        if (self.at is None) == (self.when is None):
            raise ValueError('give one of at = SECONDS and when = { queue = "NAME", below = 1 }')
        return self

    def change(self) -> TimedChange:
        """Give it as the cluster has it."""
        return TimedChange(round((self.at or 0) * SECOND), dict(self.settings), self.when)

"""The tables of a scenario that describe its cluster, failures and changes."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from rebecsim.clusters.kit.fields import AnyList
from rebecsim.clusters.mapreduce.configuration import (
    SECOND,
    Failures,
    FileSystem,
    HadoopSettings,
    HeartbeatSender,
    MapReduceConfiguration,
    NodeClass,
    NodeHardware,
    Outage,
    PlacementRule,
    QueueCondition,
    QueueFigure,
    ReportRule,
    Speculation,
    SpeculationRule,
    TimedChange,
    Variation,
)
from rebecsim.clusters.mapreduce.job import MEBIBYTE
from rebecsim.studies.scenario import Table
from rebecsim.studies.units import NO_UNIT, unit

_MILLISECOND = 1000
_GIGABIT = 1e9 / 8  # bytes
_GIGAHERTZ = 1e9
_JITTER, _REDUCE_JITTER = Variation().jitter, Variation().reduce_jitter

Count = Annotated[int, Field(ge=1, le=10**5)]
Share = Annotated[float, Field(ge=0, le=1)]
Milliseconds = Annotated[int, Field(ge=0, le=10**9)]
Rate = Annotated[float, Field(ge=0.001, le=1e9)]
Slowdown = Annotated[float, Field(ge=1, le=1000)]
ParameterValue = str | int | float | bool


class NodeClassTable(Table):
    """Nodes with slots of their own; what is not said is as in the cluster."""

    count: Count = Field(json_schema_extra=unit("nodes"), description="how many of these")
    map_slots: Annotated[int, Field(ge=0, le=1000)] | None = Field(
        default=None, json_schema_extra=NO_UNIT, description="of each"
    )
    reduce_slots: Annotated[int, Field(ge=0, le=1000)] | None = Field(
        default=None, json_schema_extra=NO_UNIT, description="of each"
    )
    cores: Annotated[int, Field(ge=1, le=10_000)] | None = Field(
        default=None, json_schema_extra=NO_UNIT, description="of each"
    )
    clock: Annotated[float, Field(ge=0.001, le=1000)] | None = Field(
        default=None, json_schema_extra=unit("GHz"), description="of a core"
    )
    disks: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None, json_schema_extra=NO_UNIT, description="of each"
    )
    disk_read: Rate | None = Field(
        default=None, json_schema_extra=unit("MiB/s"), description="of a disk"
    )
    disk_write: Rate | None = Field(
        default=None, json_schema_extra=unit("MiB/s"), description="of a disk"
    )

    @property
    def given(self) -> dict[str, Any]:
        """What is said of them, beside how many they are."""
        return self.model_dump(exclude={"count"}, exclude_none=True)


class ClusterTable(Table):
    """Nodes that are alike, or in classes, their network, and how Hadoop works on them."""

    nodes: Count = Field(
        default=30,
        json_schema_extra=NO_UNIT,
        description="that run tasks; the master is not among them",
    )
    racks: Count = Field(
        default=1, json_schema_extra=NO_UNIT, description="over which they are dealt"
    )
    map_slots: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=4, json_schema_extra=NO_UNIT, description="of a node"
    )
    reduce_slots: Annotated[int, Field(ge=0, le=1000)] = Field(
        default=4, json_schema_extra=NO_UNIT, description="of a node"
    )
    cores: Annotated[int, Field(ge=1, le=10_000)] = Field(
        default=8, json_schema_extra=NO_UNIT, description="of a node; a task uses one at a time"
    )
    clock: Annotated[float, Field(ge=0.001, le=1000)] = Field(
        default=2.5, json_schema_extra=unit("GHz"), description="of a core"
    )
    disks: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=1, json_schema_extra=NO_UNIT, description="of a node; a task uses one at a time"
    )
    disk_read: Rate = Field(default=280.0, json_schema_extra=unit("MiB/s"), description="of a disk")
    disk_write: Rate = Field(default=75.0, json_schema_extra=unit("MiB/s"), description="of a disk")
    link: Rate = Field(
        default=1.0,
        json_schema_extra=unit("Gbit/s"),
        description="of a node to its switch, each way",
    )
    oversubscription: Annotated[float, Field(ge=1, le=1000)] = Field(
        default=1.0,
        json_schema_extra=NO_UNIT,
        description="how many times the link of a rack those of its nodes are together",
    )
    latency: Annotated[int, Field(ge=0, le=10**7)] = Field(
        default=600,
        json_schema_extra=unit("microseconds"),
        description="from asking another node for bytes until they flow",
    )
    replication: Annotated[int, Field(ge=1, le=100)] = Field(
        default=3, json_schema_extra=unit("nodes"), description="how many have each block"
    )
    placement: PlacementRule = Field(
        default="random",
        description="blocks on any nodes; or, as Hadoop does it, two replicas in one rack and the "
        "others in another",
    )
    heartbeat: Annotated[int, Field(ge=1, le=10**7)] = Field(
        default=300, json_schema_extra=unit("ms"), description="of a node, its period"
    )
    first_heartbeats: Milliseconds = Field(
        default=300,
        json_schema_extra=unit("ms"),
        description="within which time all nodes send their first",
    )
    heartbeats_of: HeartbeatSender = Field(
        default="node",
        description="who sends them: a node for all its slots; or each slot, while it is free, at "
        "times of its own, so that a node with more free slots asks more often",
    )
    reports: ReportRule = Field(
        default="heartbeat",
        description="when the master is told that a task has ended: with the next heartbeat of its "
        "node, or at once; its slot is given again at the next heartbeat in either case",
    )
    slow_start: Share = Field(
        default=0.05,
        json_schema_extra=NO_UNIT,
        description="part of a job's maps that has ended before its reduces begin",
    )
    parallel_copies: Annotated[int, Field(ge=1, le=10**5)] = Field(
        default=5,
        json_schema_extra=NO_UNIT,
        description="outputs of maps that a reduce fetches at a time",
    )
    sort_buffer: Count = Field(
        default=50,
        json_schema_extra=unit("MiB"),
        description="output of a map after which it goes to disk",
    )
    merge_buffer: Count = Field(
        default=66,
        json_schema_extra=unit("MiB"),
        description="input of a reduce after which it goes to disk",
    )
    merge_outputs: Count = Field(
        default=100,
        json_schema_extra=NO_UNIT,
        description="outputs of maps after which it does, too",
    )
    expiry: Annotated[float, Field(ge=0.001, le=1e9)] = Field(
        default=600.0,
        json_schema_extra=unit("seconds"),
        description="after what time without heartbeats a node is lost",
    )
    classes: Annotated[tuple[NodeClassTable, ...], AnyList] = Field(
        default=(), description="of the first nodes; the others are as said above"
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
        return NodeHardware(
            nodes=self.nodes,
            racks=self.racks,
            cores=self.cores,
            clock=self.clock * _GIGAHERTZ,
            disks=self.disks,
            disk_read=self.disk_read * MEBIBYTE,
            disk_write=self.disk_write * MEBIBYTE,
            link=self.link * _GIGABIT,
            oversubscription=self.oversubscription,
            latency=self.latency,
        )

    def hadoop(self) -> HadoopSettings:
        """Give how Hadoop is set up."""
        return HadoopSettings(
            map_slots=self.map_slots,
            reduce_slots=self.reduce_slots,
            heartbeat=self.heartbeat * _MILLISECOND,
            first_heartbeats=self.first_heartbeats * _MILLISECOND,
            heartbeats_of=self.heartbeats_of,
            reports=self.reports,
            slow_start=self.slow_start,
            parallel_copies=self.parallel_copies,
            sort_buffer=self.sort_buffer * MEBIBYTE,
            merge_buffer=self.merge_buffer * MEBIBYTE,
            merge_outputs=self.merge_outputs,
            expiry=round(self.expiry * SECOND),
        )


class VariationTable(Table):
    """In what tasks and nodes differ that should be alike: chance, and stragglers."""

    jitter: Annotated[float, Field(ge=0, le=2)] = Field(
        default=_JITTER,
        json_schema_extra=NO_UNIT,
        description="of what is asked of processors and disks: standard deviation of the logarithm",
    )
    reduce_jitter: Annotated[float, Field(ge=0, le=2)] = Field(
        default=_REDUCE_JITTER,
        json_schema_extra=NO_UNIT,
        description="the same, of the processor in reduce functions",
    )
    slow_nodes: Share = Field(
        default=0.0, json_schema_extra=NO_UNIT, description="the part of the nodes that is slow"
    )
    node_slowdown: Slowdown = Field(
        default=1.0, json_schema_extra=NO_UNIT, description="how many times as long these take"
    )
    slow_tasks: Share = Field(
        default=0.0, json_schema_extra=NO_UNIT, description="the part of the attempts that is slow"
    )
    task_slowdown: Slowdown = Field(
        default=1.0, json_schema_extra=NO_UNIT, description="how many times as much these ask for"
    )


class OutageTable(Table):
    """A node that fails at a given time."""

    node: Annotated[int, Field(ge=0, le=10**5)] = Field(
        json_schema_extra=NO_UNIT, description="which one, from 0 on"
    )
    start: Annotated[float, Field(ge=0, le=1e9)] = Field(
        json_schema_extra=unit("seconds"), description="when it fails"
    )
    end: Annotated[float, Field(ge=0, le=1e9)] | None = Field(
        default=None,
        json_schema_extra=unit("seconds"),
        description="when it works again; without it, never",
    )

    @model_validator(mode="after")
    def _forward(self) -> Self:
        if self.end is not None and self.end <= self.start:
            raise ValueError(f"end = {self.end:g} should be after start = {self.start:g}")
        return self

    def outage(self) -> Outage:
        """Give it as the cluster has it."""
        end = None if self.end is None else round(self.end * SECOND)
        return Outage(self.node, round(self.start * SECOND), end)


class FailuresTable(Table):
    """Nodes that fail; their tasks, and the outputs of their maps, are made again."""

    outages: Annotated[tuple[OutageTable, ...], AnyList] = Field(
        default=(), description="at given times"
    )
    mean_time_between: Annotated[float, Field(ge=0.001, le=1e9)] | None = Field(
        default=None,
        json_schema_extra=unit("seconds"),
        description="of the random failures of one node; without it none",
    )
    repair: Annotated[float, Field(ge=0.001, le=1e9)] = Field(
        default=300.0,
        json_schema_extra=unit("seconds"),
        description="how long such a node does not work",
    )

    @property
    def is_some(self) -> bool:
        """Whether any node fails."""
        return bool(self.outages) or self.mean_time_between is not None

    def failures(self) -> Failures:
        """Give them as the cluster has them."""
        mean = self.mean_time_between
        return Failures(
            tuple(each.outage() for each in self.outages),
            None if mean is None else round(mean * SECOND),
            round(self.repair * SECOND),
        )


class SpeculationTable(Table):
    """Second attempts of tasks that take long; the first to end counts, the other is killed."""

    rule: SpeculationRule = Field(
        default="hadoop", description="Hadoop's, by progress; or LATE's, by the time that is left"
    )
    lag: Share = Field(
        default=0.2,
        json_schema_extra=NO_UNIT,
        description="Hadoop's: by how much progress a task is behind the job's mean",
    )
    patience: Annotated[float, Field(ge=0, le=1e9)] = Field(
        default=60.0,
        json_schema_extra=unit("seconds"),
        description="that a task runs before it may have a second attempt",
    )
    cap: Share = Field(
        default=0.1,
        json_schema_extra=NO_UNIT,
        description="LATE's: the part of all slots with second attempts, at most",
    )
    slow_task: Share = Field(
        default=0.25,
        json_schema_extra=NO_UNIT,
        description="LATE's: the part of a job's attempts that are slow",
    )
    slow_node: Share = Field(
        default=0.25,
        json_schema_extra=NO_UNIT,
        description="LATE's: the part of the nodes that run no second attempts",
    )

    def speculation(self) -> Speculation:
        """Give it as the cluster has it."""
        return Speculation(
            self.rule,
            self.lag,
            round(self.patience * SECOND),
            self.cap,
            self.slow_task,
            self.slow_node,
        )


class ConditionTable(Table):
    """What must become true of a queue for settings to change."""

    queue: str = Field(min_length=1, description="whose figure it is")
    figure: QueueFigure = Field(
        default="jobs",
        description="its jobs that have not ended, or tasks of these that wait for a slot",
    )
    below: Annotated[int, Field(ge=1, le=10**9)] | None = Field(
        default=None, json_schema_extra=NO_UNIT, description="the figure is less than this"
    )
    above: Annotated[int, Field(ge=0, le=10**9)] | None = Field(
        default=None, json_schema_extra=NO_UNIT, description="the figure is more than this"
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.below is None and self.above is None:
            raise ValueError("give below or above, as in below = 1")
        return self

    def condition(self) -> QueueCondition:
        """Give it as the cluster has it."""
        return QueueCondition(self.queue, self.figure, self.below, self.above)


class ChangeTable(Table):
    """Parameters of the schedulers that change while the cluster runs."""

    at: Annotated[float, Field(ge=0, le=1e9)] | None = Field(
        default=None, json_schema_extra=unit("seconds"), description="when"
    )
    when: ConditionTable | None = Field(
        default=None,
        description="instead of at: each time that this becomes true of a queue",
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
        when = None if self.when is None else self.when.condition()
        return TimedChange(round((self.at or 0) * SECOND), dict(self.settings), when)


def cluster_configuration(
    cluster: ClusterTable,
    variation: VariationTable,
    failures: FailuresTable,
    speculation: SpeculationTable | None,
    changes: tuple[ChangeTable, ...] = (),
) -> MapReduceConfiguration:
    """Give what the tables of a scenario say of a cluster."""
    return MapReduceConfiguration(
        hardware=cluster.hardware(),
        hadoop=cluster.hadoop(),
        files=FileSystem(cluster.replication, cluster.placement),
        variation=Variation(**variation.model_dump()),
        failures=failures.failures(),
        speculation=None if speculation is None else speculation.speculation(),
        changes=tuple(each.change() for each in changes),
        classes=cluster.node_classes(),
    )

"""The configuration of a cluster of TaskTrackers and of Hadoop on it. Times are microseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log
from typing import Literal

from rebecsim.clusters.mapreduce.job import MEBIBYTE

SECOND = 1_000_000
"""Of microseconds."""

PlacementRule = Literal["random", "hadoop"]
ReportRule = Literal["heartbeat", "at_once"]
HeartbeatSender = Literal["node", "slot"]
SpeculationRule = Literal["hadoop", "late"]
QueueFigure = Literal["jobs", "waiting_maps", "waiting_reduces"]


@dataclass(frozen=True, slots=True)
class NodeHardware:
    """Nodes that are alike, and what connects them. Rates are of one second.

    Attributes:
        nodes: that run tasks; the JobTracker has a node of its own beside these.
        racks: over which the nodes are dealt, as evenly as can be.
        cores: processors of a node; a task uses one at a time.
        clock: cycles of a processor.
        disks: of a node; a demand uses one at a time.
        disk_read: bytes that a disk reads.
        disk_write: bytes that it writes.
        link: bytes that a node sends, and as many that it receives at the same time.
        oversubscription: by how much the links of the nodes of a rack exceed that of the rack.
        latency: from asking another node for bytes until they begin to flow (microseconds).
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
    """How Hadoop is set up.

    Attributes:
        map_slots: of a node.
        reduce_slots: of a node.
        heartbeat: how often a TaskTracker sends one (microseconds).
        first_heartbeats: within which time all of them send their first (microseconds).
        heartbeats_of: who sends them: a TaskTracker for all its slots, or each of these, while it
            is free, at times of its own.
        reports: when the JobTracker is told that an attempt has ended: with the next heartbeat of
            its node, or at once; its slot is given again at the next heartbeat in either case.
        slow_start: of the maps of a job, the part that has ended before its reduces begin.
        parallel_copies: how many outputs of maps a reduce fetches at a time.
        sort_buffer: of a map: when its output has filled it, it is written to disk (bytes).
        merge_buffer: of a reduce: when what it has fetched fills it, it is written to disk (bytes).
        merge_outputs: the number of outputs that fills it, too.
        expiry: after what time without heartbeats a TaskTracker is taken for lost (microseconds).
    """

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
    """Where the blocks of inputs are.

    Attributes:
        replication: on how many nodes each block is.
        placement: `random`: on any nodes; `hadoop`: two replicas in one rack, the others in
            another, if there are several.
    """

    replication: int = 3
    placement: PlacementRule = "random"


@dataclass(frozen=True, slots=True)
class Variation:
    """In what tasks and nodes differ that should be alike.

    Attributes:
        jitter: standard deviation of the logarithm of what is asked of processors and disks.
        reduce_jitter: the same deviation for the processor in reduce functions.
        slow_nodes: the share of nodes that are slow.
        node_slowdown: how much longer their processors and disks take.
        slow_tasks: the share of attempts that are slow.
        task_slowdown: how much more these ask of processors and disks.
    """

    jitter: float = log(1.10)
    reduce_jitter: float = log(1.04)
    slow_nodes: float = 0.0
    node_slowdown: float = 1.0
    slow_tasks: float = 0.0
    task_slowdown: float = 1.0


@dataclass(frozen=True, slots=True)
class Outage:
    """A node that fails, and works again later.

    Attributes:
        node: its number.
        start: when it fails (microseconds).
        end: when it works again; None: never.
    """

    node: int
    start: int
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Failures:
    """Nodes that fail: at given times, and at random.

    Attributes:
        outages: that are given.
        mean_time_between: of the failures of one node, which are exponential (microseconds);
            None: none fails at random.
        repair: how long such a node does not work (microseconds).
    """

    outages: tuple[Outage, ...] = ()
    mean_time_between: int | None = None
    repair: int = 300 * SECOND


@dataclass(frozen=True, slots=True)
class Speculation:
    """Second attempts of tasks that take long.

    Attributes:
        rule: whose.
        lag: Hadoop's: a task that has run for `patience` and whose progress is by this below the
            mean of its job's.
        patience: how long an attempt runs before it may have a backup (microseconds).
        cap: LATE's: of all slots, the part that may run backups at a time.
        slow_task: LATE's: of the attempts of a job, the part that is slow, by their rates.
        slow_node: LATE's: of the nodes, the part that is slow, and runs no backups.
    """

    rule: SpeculationRule = "hadoop"
    lag: float = 0.2
    patience: int = 60 * SECOND
    cap: float = 0.1
    slow_task: float = 0.25
    slow_node: float = 0.25


@dataclass(frozen=True, slots=True)
class QueueCondition:
    """What must become true of a queue, or pool.

    Attributes:
        queue: its name.
        figure: of what it has: jobs that are submitted and have not ended, or tasks of these that
            wait for a slot; reduces do when they may begin.
        below: the figure is less than this; None: anything.
        above: the figure is more than this; None: anything.
    """

    queue: str
    figure: QueueFigure = "jobs"
    below: int | None = None
    above: int | None = None

    def holds(self, figure: int) -> bool:
        """Whether it is true of a figure."""
        return (self.below is None or figure < self.below) and (
            self.above is None or figure > self.above
        )


@dataclass(frozen=True, slots=True)
class TimedChange:
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
    variation: Variation = field(default_factory=Variation)
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

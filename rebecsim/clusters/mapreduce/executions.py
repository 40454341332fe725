"""Attempts at work, as TaskTrackers know them: how far they are, and what they wait for."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from rebecsim.clusters.mapreduce.attempts import (
    MapOutput,
    Phase,
    ReduceFactors,
    TaskDraws,
    TaskOrder,
    TaskStep,
)
from rebecsim.clusters.mapreduce.job import SlotKind

if TYPE_CHECKING:
    from rebecsim.clusters.mapreduce.cluster_state import WorkerNode


class Execution:
    """One attempt at work. It is what its demands of devices are known by, one at a time.

    Attributes:
        order: what is to be run.
        key: what messages to and from the JobTracker call it.
        node: where it runs.
        draws: what is drawn for it.
        end: when it ended (microseconds); None while it runs.
        times: spent on each phase (microseconds).
        source: of a map: the node whose replica it reads, and first read.
        steps: what it does, as far as that is known.
        place: how many of these it has begun.
        began: when it began the last of these.
        shuffle: of a reduce, while it fetches.
        read_factor: of a map: how much longer than it should it takes to read its output.
        output: of a map: bytes for each reduce.
        factors: of a reduce.
    """

    __slots__ = (
        "began",
        "draws",
        "end",
        "factors",
        "first_source",
        "key",
        "node",
        "order",
        "output",
        "place",
        "read_factor",
        "shuffle",
        "source",
        "steps",
        "times",
    )

    def __init__(self, order: TaskOrder, node: WorkerNode, draws: TaskDraws, start: int) -> None:
        self.order = order
        self.key = order.key
        self.node = node
        self.draws = draws
        self.end: int | None = None
        self.times = [0] * len(Phase)
        self.source = self.first_source = node
        self.steps: list[TaskStep] = []
        self.place = 0
        self.began = start
        self.shuffle: Shuffle | None = None
        self.read_factor = 1.0
        self.output = 0.0
        self.factors: ReduceFactors | None = None

    @property
    def is_map(self) -> bool:
        """Whether it is an attempt of a map."""
        return self.order.kind is SlotKind.MAP

    @property
    def over(self) -> bool:
        """Whether it has ended, and waits for nothing."""
        return self.end is not None

    @property
    def owner(self) -> WorkerNode:
        """Give the node that is told when what it asked for is done."""
        return self.node


class Fetch:
    """A reduce gets its part of a map's output: from the disk there, then over the network."""

    __slots__ = ("attempt", "dropped", "is_read", "map")

    def __init__(self, attempt: Execution, of: MapOutput) -> None:
        self.attempt = attempt
        self.map = of
        self.is_read = False
        self.dropped = False

    @property
    def over(self) -> bool:
        """Whether nobody waits for it any more."""
        return self.dropped or self.attempt.end is not None

    @property
    def owner(self) -> WorkerNode:
        """Give the node that is told when what it asked for is done."""
        return self.attempt.node


class BackgroundMerge:
    """A reduce writes what it held in memory, while it goes on fetching."""

    __slots__ = ("attempt", "place", "steps")

    def __init__(self, attempt: Execution, steps: list[TaskStep]) -> None:
        self.attempt = attempt
        self.steps = steps
        self.place = 0

    @property
    def over(self) -> bool:
        """Whether nobody waits for it any more."""
        return self.attempt.end is not None

    @property
    def owner(self) -> WorkerNode:
        """Give the node that is told when what it asked for is done."""
        return self.attempt.node


class Shuffle:
    """What a reduce has fetched, and is about to fetch.

    Attributes:
        waiting: outputs that it knows of and has not asked for.
        flying: what it fetches.
        got: the maps whose output it has.
        fetched: how much that is (bytes).
        held: how much of that is in memory (bytes), and `held_outputs`, of how many maps.
        merge: what is being merged.
        is_open: whether it fetches; it does not before its process has started.
    """

    __slots__ = ("fetched", "flying", "got", "held", "held_outputs", "is_open", "merge", "waiting")

    def __init__(self) -> None:
        self.is_open = False
        self.waiting: deque[MapOutput] = deque()
        self.flying: dict[Fetch, None] = {}
        self.got: set[int] = set()
        self.fetched = 0.0
        self.held = 0.0
        self.held_outputs = 0
        self.merge: BackgroundMerge | None = None


Demand = Execution | Fetch | BackgroundMerge
"""What waits for devices."""

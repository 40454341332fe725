"""Attempts of tasks: their node and their progress."""

from __future__ import annotations

from collections import deque
from enum import IntEnum
from typing import TYPE_CHECKING

from rebecsim.clusters.mapreduce.job import SlotKind
from rebecsim.clusters.mapreduce.progress import Locality
from rebecsim.clusters.mapreduce.tasks.phases import Phase, ReduceFactors, TaskDraws, TaskStep

if TYPE_CHECKING:
    from rebecsim.clusters.mapreduce.running import JobRun, WorkerNode


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
"""The outcomes of attempts that have done all that they had to."""


class Attempt:
    """One attempt of a task. It is what its demands of devices are known by, one at a time.

    Attributes:
        run: its job.
        kind: of the task.
        number: of the task, among those of its kind in the job.
        earlier: how many attempts the task had before.
        node: where it runs.
        locality: of a map: how far it is from its split.
        is_backup: whether another attempt ran when it was given its slot.
        slot_beat: when its slot sent its first heartbeat (microseconds).
        start: when it was given its slot.
        end: when it ended; None while it runs.
        reported: when the JobTracker took note of that, and its slot was free again.
        outcome: how it ended.
        times: spent on each phase (microseconds).
        draws: what is drawn for it.
        source: of a map: the node whose replica it reads.
        steps: what it does, as far as that is known.
        place: how many of these it has begun.
        began: when it began the last of these.
        shuffle: of a reduce, while it fetches.
        read_factor: of a map: how much longer than it should it takes to read its output.
        output: of a map: bytes for each reduce.
        is_lost: of a map that has ended: whether its output is.
        factors: of a reduce.
    """

    __slots__ = (
        "began",
        "draws",
        "earlier",
        "end",
        "factors",
        "is_backup",
        "is_lost",
        "kind",
        "locality",
        "node",
        "number",
        "outcome",
        "output",
        "place",
        "read_factor",
        "reported",
        "run",
        "shuffle",
        "slot_beat",
        "source",
        "start",
        "steps",
        "times",
    )

    def __init__(
        self,
        run: JobRun,
        kind: SlotKind,
        number: int,
        earlier: int,
        node: WorkerNode,
        draws: TaskDraws,
        start: int,
    ) -> None:
        self.run = run
        self.kind = kind
        self.number = number
        self.earlier = earlier
        self.node = node
        self.draws = draws
        self.locality: Locality | None = None
        self.is_backup = False
        self.slot_beat = 0
        self.start = start
        self.end: int | None = None
        self.reported: int | None = None
        self.outcome = AttemptOutcome.RUNNING
        self.times = [0] * len(Phase)
        self.source = node
        self.steps: list[TaskStep] = []
        self.place = 0
        self.began = start
        self.shuffle: Shuffle | None = None
        self.read_factor = 1.0
        self.output = 0.0
        self.is_lost = False
        self.factors: ReduceFactors | None = None

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

    def __init__(self, attempt: Attempt, of: Attempt) -> None:
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

    def __init__(self, attempt: Attempt, steps: list[TaskStep]) -> None:
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
        self.waiting: deque[Attempt] = deque()
        self.flying: dict[Fetch, None] = {}
        self.got: set[int] = set()
        self.fetched = 0.0
        self.held = 0.0
        self.held_outputs = 0
        self.merge: BackgroundMerge | None = None


Demand = Attempt | Fetch | BackgroundMerge
"""What waits for devices."""

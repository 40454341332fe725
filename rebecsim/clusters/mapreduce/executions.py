"""Running attempts, as TaskTrackers know them: their progress, and what they wait for."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from rebecsim.actors import StatePart, Unordered
from rebecsim.clusters.mapreduce.attempts import (
    AttemptKey,
    MapOutput,
    Phase,
    Rates,
    ReduceFactors,
    StepProgress,
    TaskDraws,
    TaskOrder,
    TaskStep,
)
from rebecsim.clusters.mapreduce.job import SlotKind

if TYPE_CHECKING:
    from rebecsim.clusters.mapreduce.devices import Device, Switch


class Execution(StatePart):
    """A running attempt.

    Attributes:
        order: what is to be run.
        key: what messages to and from the JobTracker call it.
        draws: what is drawn for it; of later demands, `drawn` factors.
        end: when it ended (microseconds); None while it runs.
        times: spent on each phase (microseconds).
        source: of a map: the node whose replica it reads; `first_source`: that it first read.
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
        "drawn",
        "draws",
        "end",
        "factors",
        "first_source",
        "key",
        "order",
        "output",
        "place",
        "read_factor",
        "shuffle",
        "source",
        "steps",
        "times",
    )

    def __init__(self, order: TaskOrder, node: int, draws: TaskDraws, start: int) -> None:
        self.order = order
        self.key = order.key
        self.draws = draws
        self.drawn = 0
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

    def jitter(self) -> float:
        """Give the factor of one more demand, after those of its start."""
        self.drawn += 1
        return self.draws.later(self.drawn - 1)

    def progress(self, rates: Rates) -> StepProgress:
        """Give how far it is in its steps, of which it has begun one at least."""
        times = [rates.alone(step) for step in self.steps]
        current = self.place - 1
        return StepProgress(sum(times[:current]), times[current], sum(times), self.began)


class Fetch(StatePart):
    """A fetch of a reduce: reads its part of a map's output, then transfers it."""

    __slots__ = ("attempt", "is_read", "map")

    def __init__(self, attempt: Execution, of: MapOutput) -> None:
        self.attempt = attempt
        self.map = of
        self.is_read = False


class BackgroundMerge(StatePart):
    """A merge of a reduce's memory to disk, while it goes on fetching."""

    __slots__ = ("attempt", "place", "steps")

    def __init__(self, attempt: Execution, steps: list[TaskStep]) -> None:
        self.attempt = attempt
        self.steps = steps
        self.place = 0


class Shuffle(StatePart):
    """The shuffle of a reduce.

    Attributes:
        waiting: known outputs that it has not requested.
        fetching: number of fetches under way.
        got: maps whose output it has.
        fetched: bytes of these outputs.
        held: bytes in memory, from `held_outputs` maps.
        merges: whether a merge is under way.
        is_open: whether it fetches, which starts with its process.
    """

    __slots__ = (
        "fetched",
        "fetching",
        "got",
        "held",
        "held_outputs",
        "is_open",
        "merges",
        "waiting",
    )

    def __init__(self) -> None:
        self.is_open = False
        self.waiting: deque[MapOutput] = deque()
        self.fetching = 0
        self.got: Unordered[int, bool] = Unordered()
        self.fetched = 0.0
        self.held = 0.0
        self.held_outputs = 0
        self.merges = False


Demand = Execution | Fetch | BackgroundMerge
"""Anything that waits for devices."""


class RunningTasks(StatePart):
    """Attempts of a TaskTracker, and their demands.

    Attributes:
        executions: all attempts so far, by key.
        running: unfinished attempts, in the order of their launch.
        demands: open demands and their devices, by number.
        asked: number of the last demand.
    """

    __slots__ = ("asked", "demands", "executions", "running")

    def __init__(self) -> None:
        self.executions: dict[AttemptKey, Execution] = {}
        self.running: dict[AttemptKey, Execution] = {}
        self.demands: dict[int, tuple[Demand, Device | Switch]] = {}
        self.asked = 0

"""Jobs as they are submitted: numbers of tasks and bytes, and the costs of a byte."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

MEBIBYTE = 2**20


class SlotKind(IntEnum):
    """What a slot is for."""

    MAP = 0
    REDUCE = 1


class JobPriority(IntEnum):
    """Priorities, as Hadoop names them."""

    VERY_LOW = 0
    LOW = 1
    NORMAL = 2
    HIGH = 3
    VERY_HIGH = 4


@dataclass(frozen=True, slots=True)
class JobCosts:
    """What the tasks of a job take of processors and disks, per byte and per task.

    The defaults are TeraSort's in MRPERF (see `phases`). Ratios are of bytes that leave a step to
    bytes that enter it.

    Attributes:
        start: of a task's process (cycles).
        map: of the map function (cycles per byte of input).
        map_ratio: output of the map function; the shuffled bytes, before a combiner.
        combine_ratio: what a combiner leaves of a map's output; 1: there is none.
        sort: of a map's output (cycles per byte).
        merge: of what a reduce holds in memory, each time that this is full (cycles).
        reduce_sort: before a reduce function begins (cycles).
        reduce: of the reduce function (cycles per byte of its input).
        reduce_ratio: output of the reduce function.
    """

    start: float = 4.0e9
    map: float = 40.0
    map_ratio: float = 1.0
    combine_ratio: float = 1.0
    sort: float = 44.0
    merge: float = 1.0e9
    reduce_sort: float = 6.0e9
    reduce: float = 90.0
    reduce_ratio: float = 1.0


@dataclass(frozen=True, slots=True)
class MapReduceJob:
    """A job: one map for each split of its input, and reduces that share what the maps give.

    Attributes:
        number: of the job; jobs of one time are told apart by it.
        family: what kind of job it is, by name: figures are grouped by this.
        user: who submits it.
        queue: to which queue, or pool.
        submit: when it is submitted; of a job after another one, until it is submitted, how long
            after that one's end (microseconds).
        splits: bytes of input of each map.
        reduces: how many; 0: the maps write their output to the file system.
        costs: of its tasks.
        priority: among the jobs of its queue, where the queue heeds priorities.
        after: the number of the job whose end, or rejection, it waits for to be submitted; None:
            it waits for none.
    """

    number: int
    family: str
    user: str
    queue: str
    submit: int
    splits: tuple[int, ...]
    reduces: int
    costs: JobCosts = JobCosts()
    priority: JobPriority = JobPriority.NORMAL
    after: int | None = None

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"job_{self.number}"

    @property
    def maps(self) -> int:
        """How many maps it has."""
        return len(self.splits)

    @property
    def tasks(self) -> int:
        """How many maps and reduces it has."""
        return len(self.splits) + self.reduces

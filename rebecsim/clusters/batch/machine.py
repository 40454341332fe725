"""Jobs, machines, and where on them a job runs.

What is free on a machine is a *level*, and what a job takes of it an *amount*; levels and amounts
are of one type for a machine, and are added and subtracted, so that a scheduler need not know what
they are made of. For pooled processors both are integers; for nodes both are arrays of shape
(nodes, 1 + resources), with the processors in the first column; for nodes of one processor and
nothing else they are sets of nodes, as integers with a bit for each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from typing import Any, ClassVar, Generic, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from rebecsim.actors import Constant
from rebecsim.errors import UserError
from rebecsim.files import NODES
from rebecsim.wording import clipped


@dataclass(slots=True, eq=False)
class Job(Constant):
    """A rigid parallel job: so many processors, for so long.

    A policy may look at everything but `run`, which only shows when the job ends; a scheduler
    that knew it would have exact estimates, and those are `estimate` then.

    Attributes:
        index: its position in the workload, from 0, in the order of submission.
        number: its number in the log.
        submit: when it is submitted, seconds.
        run: how long it will run, seconds; not longer than its limit, at which it is killed.
        processors: how many it takes, at least 1.
        estimate: how long the resource manager believes that it runs, seconds, at least `run`.
        user, group, queue: numbers of the log; -1 is unknown.
        chunk: processors that must be on one node; a divisor of `processors`.
        demand: what one processor takes of each resource of a node beside the processors.
    """

    index: int
    number: int
    submit: int
    run: int
    processors: int
    estimate: int
    user: int = -1
    group: int = -1
    queue: int = -1
    chunk: int = 1
    demand: tuple[int, ...] = ()

    @property
    def area(self) -> int:
        """Processor seconds, by the estimate."""
        return self.processors * self.estimate

    def __deepcopy__(self, memo: object) -> Job:
        """Give the job itself."""
        return self

    def __str__(self) -> str:
        return f"job {self.number}"

    def __repr__(self) -> str:
        return f"<job {self.number}: {self.processors} x {self.estimate} s>"


Placement = Literal["first-fit", "best-fit"]
MOST_PROCESSORS, MOST_OF_RESOURCE = 10**7, 2**50
"""Of a pool or each node: sums over all nodes are exact."""
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)


Level = TypeVar("Level")


class Machine(Constant, ABC, Generic[Level]):
    """A machine that runs jobs beside each other, never two on one processor."""

    processors: int
    """How many processors it has."""

    are_alike: ClassVar[bool] = False
    """Whether a job fits wherever there are as many processors as it takes, whichever they are."""

    is_counted: ClassVar[bool] = False
    """Whether a level is the number of its processors."""

    resources: tuple[str, ...] = ()
    """The names of what nodes have beside processors."""

    @property
    @abstractmethod
    def empty(self) -> Level:
        """The level when nothing runs."""

    @abstractmethod
    def place(self, job: Job, level: Level) -> Level | None:
        """Give the amount that a job takes of a level, or None when it does not fit."""

    @abstractmethod
    def lower(self, *levels: Level) -> Level:
        """Give what is free in all of some levels, at least one."""

    @abstractmethod
    def free(self, level: Level) -> int:
        """Count the processors of a level. A job that takes more than that never fits."""

    @abstractmethod
    def first_node(self, amount: Level) -> int:
        """Give the number of the first node that an amount has processors of."""

    @property
    @abstractmethod
    def node_count(self) -> int:
        """How many nodes there are; pooled processors are one node."""


@dataclass(frozen=True)
class Pool(Machine[int]):
    """Processors that are all alike, any of them as good for a job as any other."""

    processors: int
    are_alike: ClassVar[bool] = True
    is_counted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.processors < 1:
            raise UserError(f"a machine of {self.processors} processors; give it at least 1")

    @property
    def empty(self) -> int:
        """The number of processors."""
        return self.processors

    def place(self, job: Job, level: int) -> int | None:
        """Give the job's number of processors if so many are free."""
        return job.processors if job.processors <= level else None

    def lower(self, *levels: int) -> int:
        """Give the smallest number."""
        return min(levels)

    def free(self, level: int) -> int:
        """Give the level, which is a number of processors."""
        return level

    def first_node(self, amount: int) -> int:
        """Give 0, the only node."""
        return 0

    @property
    def node_count(self) -> int:
        """One."""
        return 1


@dataclass(frozen=True)
class NodeGroup:
    """Nodes that are alike: how many, the processors of each, and its further resources by name.

    Memory is a further resource, by custom called `memory` and counted in KB.
    """

    count: int
    processors: int
    resources: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.count < 1 or self.processors < 1:
            raise UserError(
                f"{self.count} nodes of {self.processors} processors; both must be at least 1"
            )
        NODES.require(self.count)
        if self.processors > MOST_PROCESSORS:
            raise UserError(
                f"nodes of {clipped(str(self.processors), 40)} processors; give each at most "
                f"{MOST_PROCESSORS:,}"
            )
        for name, amount in self.resources.items():
            if not 0 <= amount <= MOST_OF_RESOURCE:
                raise UserError(
                    f"a node with {clipped(str(amount), 40)} of {name}; give it 0 or more, at most "
                    f"{MOST_OF_RESOURCE:,}"
                )


def machine_of(*groups: NodeGroup, placement: Placement = "first-fit") -> Machine[Any]:
    """Make a machine of nodes, of the class that does for them with the least work."""
    if groups and all(each.processors == 1 and not each.resources for each in groups):
        return SingleNodes(*groups, placement=placement)
    return Nodes(*groups, placement=placement)


class GroupedMachine(Machine[Level]):
    """Nodes in groups."""

    def __init__(self, *groups: NodeGroup, placement: Placement = "first-fit") -> None:
        if not groups:
            raise UserError("a machine without nodes; give it at least one group of them")
        if placement not in PLACEMENTS:
            raise UserError(f"no placement {placement!r}; known are {', '.join(PLACEMENTS)}")
        self.groups = groups
        self.placement: Placement = placement
        self.resources = tuple(dict.fromkeys(name for each in groups for name in each.resources))
        self.processors = sum(each.count * each.processors for each in groups)

    @property
    def node_count(self) -> int:
        """The nodes of all groups."""
        return sum(each.count for each in self.groups)


class Nodes(GroupedMachine[NDArray[np.int64]]):
    """Nodes with processors, memory and whatever else a group names, not necessarily alike.

    A job takes chunks of processors (see `Job.chunk`), each whole on one node, with its demand of
    every resource. `first-fit` goes through the nodes in the order of their groups, `best-fit`
    from the node with the fewest free processors up (of equals the first); each node takes as
    many chunks as it can.
    """

    def __init__(self, *groups: NodeGroup, placement: Placement = "first-fit") -> None:
        super().__init__(*groups, placement=placement)
        rows = [
            [group.processors, *(group.resources.get(name, 0) for name in self.resources)]
            for group in groups
        ]
        counts = [group.count for group in groups]
        self._empty: NDArray[np.int64] = np.repeat(np.array(rows, dtype=np.int64), counts, axis=0)
        self._empty.setflags(write=False)

    @property
    def empty(self) -> NDArray[np.int64]:
        """Everything that the nodes have, shape (nodes, 1 + resources)."""
        return self._empty

    def place(self, job: Job, level: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Give what the job takes of each node, or None when not all its chunks fit."""
        chunks = job.processors // job.chunk
        request = np.array((1, *(job.demand or (0,) * len(self.resources)))) * job.chunk
        if job.chunk == 1 and not any(job.demand):
            fitting = np.maximum(level[:, 0], 0)
        else:
            wanted = request > 0
            fitting = (level[:, wanted] // request[wanted]).min(axis=1)
            np.maximum(fitting, 0, out=fitting)
        if fitting.sum() < chunks:
            return None
        if self.placement == "best-fit":
            order = np.argsort(level[:, 0], kind="stable")
            taken = np.empty_like(fitting)
            taken[order] = _greedy(fitting[order], chunks)
        else:
            taken = _greedy(fitting, chunks)
        amount: NDArray[np.int64] = taken[:, None] * request
        return amount

    def lower(self, *levels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the smallest number of everything on every node."""
        return reduce(np.minimum, levels)

    def free(self, level: NDArray[np.int64]) -> int:
        """Count the processors of all nodes."""
        return int(level[:, 0].sum())

    def first_node(self, amount: NDArray[np.int64]) -> int:
        """Give the number of the first node that the amount has processors of."""
        return int(np.argmax(amount[:, 0] > 0))


class SingleNodes(GroupedMachine[int]):
    """Nodes of one processor each and nothing else: each is free or not, and any is the best fit.

    A set of nodes within another is subtracted from it, and one beside it added to it, as the
    integers are that stand for them.
    """

    are_alike = True

    def __init__(self, *groups: NodeGroup, placement: Placement = "first-fit") -> None:
        super().__init__(*groups, placement=placement)
        if any(each.processors > 1 or each.resources for each in groups):
            raise UserError(
                "nodes with more than one processor, or with resources; use `Nodes` for them"
            )
        self._empty = (1 << self.processors) - 1
        sizes = [1 << power for power in range(3, self.processors.bit_length())]
        self._halves = [(size, (1 << size) - 1) for size in reversed(sizes)]

    @property
    def empty(self) -> int:
        """All nodes."""
        return self._empty

    def place(self, job: Job, level: int) -> int | None:
        """Give the first free nodes, or None when there are too few or a chunk is too large."""
        wanted = job.processors
        if job.chunk > 1:
            return None
        first = level & -level
        run = (first << wanted) - first  # so many nodes from the first free one on
        if level & run == run:
            return run or None
        if level.bit_count() < wanted:
            return None
        rest, before = level, 0  # so many nodes come before those looked at
        for size, mask in self._halves:
            some = rest & mask
            count = some.bit_count()
            if count < wanted:
                wanted -= count
                before += size
                rest >>= size
            else:
                rest = some
        return level & ((1 << before + _ENDS[rest & 0xFF][wanted]) - 1)

    def lower(self, *levels: int) -> int:
        """Give the nodes that are free in all."""
        return reduce(and_, levels)

    def free(self, level: int) -> int:
        """Count the nodes."""
        return level.bit_count()

    def first_node(self, amount: int) -> int:
        """Give the number of the first node."""
        return (amount & -amount).bit_length() - 1


def _end_of(some: int, wanted: int) -> int:
    """Count the nodes up to the last of so many first free ones among eight; 0 for too few."""
    ends = (end for end in range(1, 9) if (some & ((1 << end) - 1)).bit_count() == wanted)
    return next(ends, 0)


_ENDS = [bytes(_end_of(some, wanted) for wanted in range(9)) for some in range(256)]


def _greedy(fitting: NDArray[np.int64], chunks: int) -> NDArray[np.int64]:
    """Let each node in turn take as many chunks as fit on it, until all are taken."""
    before = np.cumsum(fitting) - fitting
    taken: NDArray[np.int64] = np.clip(chunks - before, 0, fitting)
    return taken

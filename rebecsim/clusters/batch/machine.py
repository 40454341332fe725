"""Machines, and where on them a job runs.

What is free on a machine is a *level*, and what a job takes of it an *amount*; levels and amounts
are added, subtracted and compared, so that a scheduler need not know what they are made of. For
pooled processors both are integers; for nodes both are arrays of shape (nodes, 1 + resources),
with the processors in the first column.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.batch.job import Job
from rebecsim.errors import UserError

Placement = Literal["first-fit", "best-fit"]
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)


class Machine(ABC):
    """A machine that runs jobs beside each other, never two on one processor."""

    processors: int
    """How many processors it has."""

    resources: tuple[str, ...] = ()
    """The names of what nodes have beside processors."""

    @property
    @abstractmethod
    def empty(self) -> Any:
        """The level when nothing runs."""

    @abstractmethod
    def place(self, job: Job, level: Any) -> Any | None:
        """Give the amount that a job takes of a level, or None when it does not fit."""

    @abstractmethod
    def lower(self, one: Any, other: Any) -> Any:
        """Give what is free in both levels."""

    @abstractmethod
    def free(self, level: Any) -> int:
        """Count the processors of a level. A job that takes more than that never fits."""

    @abstractmethod
    def nodes(self, amount: Any) -> list[tuple[int, int]]:
        """Give the nodes of an amount and how many processors it takes of each."""

    @property
    @abstractmethod
    def node_count(self) -> int:
        """How many nodes there are; pooled processors are one node."""


@dataclass(frozen=True)
class Pool(Machine):
    """Processors that are all alike, any of them as good for a job as any other."""

    processors: int

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

    def lower(self, one: int, other: int) -> int:
        """Give the smaller number."""
        return one if one <= other else other

    def free(self, level: int) -> int:
        """Give the level, which is a number of processors."""
        return level

    def nodes(self, amount: int) -> list[tuple[int, int]]:
        """Everything is on the only node."""
        return [(0, amount)]

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
        for name, amount in self.resources.items():
            if amount < 0:
                raise UserError(f"a node with {amount} of {name}; give it 0 or more")


class Nodes(Machine):
    """Nodes with processors, memory and whatever else a group names, not necessarily alike.

    A job takes chunks of processors (see `Job.chunk`), each whole on one node, with its demand of
    every resource. `first-fit` goes through the nodes in the order of their groups, `best-fit`
    from the node with the fewest free processors up (of equals the first); each node takes as
    many chunks as it can.
    """

    def __init__(self, *groups: NodeGroup, placement: Placement = "first-fit") -> None:
        if not groups:
            raise UserError("a machine without nodes; give it at least one group of them")
        if placement not in PLACEMENTS:
            raise UserError(f"no placement {placement!r}; known are {', '.join(PLACEMENTS)}")
        self.groups = groups
        self.placement: Placement = placement
        self.resources = tuple(dict.fromkeys(name for each in groups for name in each.resources))
        rows = [
            [group.processors, *(group.resources.get(name, 0) for name in self.resources)]
            for group in groups
        ]
        counts = [group.count for group in groups]
        self._empty: NDArray[np.int64] = np.repeat(np.array(rows, dtype=np.int64), counts, axis=0)
        self._empty.setflags(write=False)
        self.processors = int(self._empty[:, 0].sum())

    @property
    def empty(self) -> NDArray[np.int64]:
        """Everything that the nodes have, shape (nodes, 1 + resources)."""
        return self._empty

    def place(self, job: Job, level: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Give what the job takes of each node, or None when not all its chunks fit."""
        chunks = job.processors // job.chunk
        request = np.array((1, *(job.demand or (0,) * len(self.resources)))) * job.chunk
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

    def lower(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the smaller number of everything on every node."""
        return np.minimum(one, other)

    def free(self, level: NDArray[np.int64]) -> int:
        """Count the processors of all nodes."""
        return int(level[:, 0].sum())

    def nodes(self, amount: NDArray[np.int64]) -> list[tuple[int, int]]:
        """Give the nodes that the amount has processors of."""
        (taken,) = np.nonzero(amount[:, 0])
        return list(zip(taken.tolist(), amount[taken, 0].tolist(), strict=True))

    @property
    def node_count(self) -> int:
        """The nodes of all groups."""
        return len(self._empty)


def _greedy(fitting: NDArray[np.int64], chunks: int) -> NDArray[np.int64]:
    """Let each node in turn take as many chunks as fit on it, until all are taken."""
    before = np.cumsum(fitting) - fitting
    taken: NDArray[np.int64] = np.clip(chunks - before, 0, fitting)
    return taken

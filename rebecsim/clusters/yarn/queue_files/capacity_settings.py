"""What a capacity-scheduler.xml says, as the scheduler needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from rebecsim.actors import Constant
from rebecsim.clusters.yarn.queue_files.amounts import Capacity
from rebecsim.clusters.yarn.queue_files.resources import Resources

_ONE = Resources(1024, 1)

PREFIX = "yarn.scheduler.capacity."

LeafOrder = Literal["fifo", "fair"]
ParentOrder = Literal["utilization", "priority-utilization"]
PreemptionOrder = Literal["userlimit_first", "priority_first"]


@dataclass(frozen=True, slots=True, eq=False)
class CapacityQueue(Constant):
    """A queue and those below it. What is said by label has "" for nodes without one.

    Attributes:
        path: from root on, with dots.
        capacity: what it should have; at most percent, weight or resources by label.
        maximum: what it may have; None: all that the parent may.
        leaf_order: in which applications are served, for a leaf.
        by_size: whether larger demands weigh more in a fair order.
        parent_order: in which children are served, for a parent.
        priority: a higher one first, under priority-utilization.
        labels: of nodes that it may use; None: all.
        default_label: of jobs that name none.
        stopped: whether it takes no more jobs.
        preemptable: whether others may have its containers killed.
        inner_preemptable: whether that is done between its own applications.
        user_percent: what a user has at least if many ask, percent of what the queue has.
        user_factor: what a user may have, as a multiple of the capacity; -1: no limit.
        user_weights: by user, where it is not 1.
        master_share: the part of it that AppMasters may have.
        most_applications: that are not finished; None: by its share of the system's limit.
        most_parallel: that may run at a time; None: any number.
        largest: of its containers; None: the cluster's.
    """

    path: str
    children: tuple[CapacityQueue, ...] = ()
    capacity: Mapping[str, Capacity] = field(default_factory=dict)
    maximum: Mapping[str, Capacity | None] = field(default_factory=dict)
    leaf_order: LeafOrder = "fifo"
    by_size: bool = False
    parent_order: ParentOrder = "utilization"
    priority: int = 0
    labels: frozenset[str] | None = None
    default_label: str = ""
    stopped: bool = False
    preemptable: bool = True
    inner_preemptable: bool = True
    user_percent: float = 100.0
    user_factor: float = 1.0
    user_weights: Mapping[str, float] = field(default_factory=dict)
    master_share: Mapping[str, float] = field(default_factory=dict)
    most_applications: int | None = None
    most_parallel: int | None = None
    largest: Resources | None = None

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    def below(self) -> Iterator[CapacityQueue]:
        """Give the queue and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.below()

    def may_use(self, label: str) -> bool:
        """Whether it may use nodes of a label."""
        return not label or self.labels is None or label in self.labels


@dataclass(frozen=True, slots=True)
class CapacityPreemption(Constant):
    """When containers are killed so that queues, or users, get what they should have.

    Attributes:
        observe_only: whether they are chosen and not killed.
        interval: between two rounds (ms).
        wait: from the choice of a container until it is killed (ms).
        per_round: the part of the cluster that is chosen in a round at most.
        dead_zone: by how much of its capacity a queue may be over it, as a part.
        natural: the part of what is to be taken that a round takes.
        conservative: whether nothing is taken that would take a queue below in some resource.
        inside: whether that is done within queues, too.
        inside_threshold: for queues that use this part of their capacity at least.
        inside_most: the part of a queue's capacity that is chosen in it at most.
        inside_order: whether it is for users below their limits, or for priorities.
        inside_conservative: as above, within queues.
        balance: whether queues that have their capacity may have more by preemption.
        balance_wait: from the choice until the kill for these (ms).
        reserved: whether containers are chosen so that those fit that have reserved a node.
    """

    observe_only: bool = False
    interval: int = 3000
    wait: int = 15_000
    per_round: float = 0.1
    dead_zone: float = 0.1
    natural: float = 0.2
    conservative: bool = False
    inside: bool = False
    inside_threshold: float = 0.5
    inside_most: float = 0.2
    inside_order: PreemptionOrder = "userlimit_first"
    inside_conservative: bool = True
    balance: bool = False
    balance_wait: int = 300_000
    reserved: bool = False


@dataclass(frozen=True, slots=True)
class Allocations:
    """How large containers are.

    Attributes:
        minimum: the least that is given.
        step: what is given is a multiple of this.
        maximum: the most that is given; None: what the largest node has.
    """

    minimum: Resources = _ONE
    step: Resources = _ONE
    maximum: Resources | None = None

    def normalised(self, asked: Resources) -> Resources:
        """Give what is given to who asks for so much."""
        found = asked.most(self.minimum)
        return Resources(*map(_next_multiple, found, self.step))


def _next_multiple(value: int, step: int) -> int:
    return -(-value // step) * step if step else value


@dataclass(frozen=True, slots=True, eq=False)
class CapacitySettings(Constant):
    """All that the files say.

    Attributes:
        file: what errors call it.
        root: the queues.
        dominant: whether cores count as well as memory.
        legacy: whether siblings' capacities are of one kind.
        allocations: how large containers are.
        system_applications: that the cluster has at most.
        queue_applications: that a queue has at most where it says nothing; None: no such limit.
        user_parallel: how many applications of a user run at a time; None: any number.
        parallel_of: how many applications of a user run at a time, by user.
        node_delay, rack_delay: opportunities that are let pass for a nearer node; a rack_delay of
            -1: as many as fit the size of the request.
        rack_reset: whether a container in the rack begins that count anew.
        multiple: whether a heartbeat gives several containers.
        most_containers: that it gives then; -1: any number.
        most_far: of them, on nodes that are not near.
        looks_on: whether applications that have reserved a node are served on others.
        preemption: None: nothing is killed.
        idle: warnings: what is read, and has no effect.
    """

    file: str
    root: CapacityQueue
    dominant: bool = False
    legacy: bool = True
    allocations: Allocations = Allocations()
    system_applications: int = 10_000
    queue_applications: int | None = None
    user_parallel: int | None = None
    parallel_of: Mapping[str, int] = field(default_factory=dict)
    node_delay: int = 40
    rack_delay: int = -1
    rack_reset: bool = True
    multiple: bool = True
    most_containers: int = 100
    most_far: int = 1
    looks_on: bool = True
    preemption: CapacityPreemption | None = None
    idle: tuple[str, ...] = ()

    def leaf(self, name: str) -> CapacityQueue | None:
        """Find a leaf by its path, or by its last part where only one leaf has it."""
        leaves = [queue for queue in self.root.below() if not queue.children]
        for queue in leaves:
            if queue.path in (name, f"root.{name}"):
                return queue
        found = [queue for queue in leaves if queue.name == name]
        return found[0] if len(found) == 1 else None

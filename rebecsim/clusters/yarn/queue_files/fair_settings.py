"""What a fair-scheduler.xml says, as the scheduler needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from rebecsim.actors import Constant
from rebecsim.clusters.kit.hadoop import UNLIMITED
from rebecsim.clusters.yarn.queue_files.amounts import Capacity
from rebecsim.clusters.yarn.queue_files.capacity_settings import Allocations
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources
from rebecsim.workloads.container_jobs import ContainerJob

FairPolicy = Literal["fifo", "fair", "drf"]
Rule = Literal["specified", "user", "default", "reject"]

NOT_NAMED = "default"
"""The queue of jobs that name none."""


@dataclass(frozen=True, slots=True)
class FairQueueSettings(Constant):
    """A queue and those below it.

    Attributes:
        path: from root on, with dots.
        is_parent: whether it has queues, or may have.
        weight: how much it should have, compared to its siblings.
        minimum: what it should have in any case.
        maximum: what it may have; None: all.
        most_running: applications that run in it at a time; None: any number.
        master_share: the part of its share that AppMasters may have; -1: any.
        policy: in which what is in it is served.
        minimum_timeout: how long it has less than its minimum until others are killed for it (ms);
            None: that never happens.
        share_timeout: how long it has less than the threshold's part of its share until then (ms).
        threshold: see above.
        preemptable: whether its containers may be killed.
        largest: of its containers; None: the cluster's.
    """

    path: str
    children: tuple[FairQueueSettings, ...] = ()
    is_parent: bool = False
    weight: float = 1.0
    minimum: Resources = NONE
    maximum: Capacity | None = None
    most_running: int | None = None
    master_share: float = 0.5
    policy: FairPolicy = "fair"
    minimum_timeout: int | None = None
    share_timeout: int | None = None
    threshold: float = 0.5
    preemptable: bool = True
    largest: Resources | None = None

    def below(self) -> Iterator[FairQueueSettings]:
        """Give the queue and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.below()

    def maximum_of(self, total: Resources) -> Resources:
        """Give what it may have of a cluster."""
        if self.maximum is None:
            return Resources(UNLIMITED, UNLIMITED)
        found = []
        for amount, whole in zip((self.maximum.memory, self.maximum.cores), total, strict=True):
            if amount is None:
                found.append(UNLIMITED)
            elif amount.unit == "percent":
                found.append(int(whole * (amount.value / 100)))
            else:
                found.append(int(amount.value))
        return Resources(*found).most(self.minimum)


@dataclass(frozen=True, slots=True)
class PlacementRule:
    """Which queue a job gets, if there is such a queue, or one may be made."""

    rule: Rule
    create: bool = True
    queue: str = "root.default"


@dataclass(frozen=True, slots=True)
class FairPreemption(Constant):
    """When containers are killed for applications that have too little.

    Attributes:
        utilisation: only if more than this part of the cluster is in use.
        wait: from the choice of a container until it is killed (ms).
        again: how long after that an application is looked at again (ms).
        interval: between two looks (ms).
    """

    utilisation: float = 0.8
    wait: int = 15_000
    again: int = 10_000
    interval: int = 500


@dataclass(frozen=True, slots=True, eq=False)
class FairSettings(Constant):
    """All that the files say.

    Attributes:
        file: what errors call it.
        root: the queues.
        allocations: how large containers are.
        undeclared: what queues are like that the file does not name.
        rules: which queue a job gets: the first rule that has one.
        most_of_user: applications of a user that run at a time; None: any number.
        most_by_user: applications that run at a time, by user.
        multiple: whether a heartbeat gives several containers.
        half: whether it gives half of what is free at most, then.
        most_containers: that it gives otherwise; 0 or less: any number.
        node_threshold, rack_threshold: the part of the nodes that are let pass for a nearer one;
            negative: none.
        by_size: whether applications with larger demands have larger weights.
        reservable: the part of the nodes that an application reserves at most.
        update: shares are so old at most (ms).
        preemption: None: nothing is killed.
        idle: warnings: what is read, and has no effect.
    """

    file: str
    root: FairQueueSettings
    allocations: Allocations = field(default_factory=Allocations)
    undeclared: FairQueueSettings = FairQueueSettings("")
    rules: tuple[PlacementRule, ...] = ()
    most_of_user: int | None = None
    most_by_user: Mapping[str, int] = field(default_factory=dict)
    multiple: bool = False
    half: bool = True
    most_containers: int = -1
    node_threshold: float = -1.0
    rack_threshold: float = -1.0
    by_size: bool = False
    reservable: float = 0.05
    update: int = 500
    preemption: FairPreemption | None = None
    idle: tuple[str, ...] = ()

    @property
    def dominant(self) -> bool:
        """Whether cores count: they always do where containers are placed."""
        return True

    def queue_for(self, job: ContainerJob) -> FairQueueSettings | None:
        """Give the queue of a job, which may have to be made; None: it is refused."""
        for rule in self.rules:
            path = self._path(rule, job)
            if path is None:
                continue
            found = self.queue(path)
            if found is not None and not found.is_parent:
                return found
            if found is None and rule.create and self._can_be_made(path):
                return replace(self.undeclared, path=path)
        return None

    def above(self, path: str) -> FairQueueSettings:
        """Give a parent that the file does not name, and that has to be made."""
        return replace(self.undeclared, path=path, is_parent=True)

    def _path(self, rule: PlacementRule, job: ContainerJob) -> str | None:
        match rule.rule:
            case "specified":
                return None if job.queue == NOT_NAMED else _from_root(job.queue)
            case "user":
                return _from_root(job.user.replace(".", "_dot_"))
            case "default":
                return _from_root(rule.queue)
            case _:
                return None

    def _can_be_made(self, path: str) -> bool:
        """Whether no queue above it is a leaf of the file."""
        above = path.rpartition(".")[0]
        while above:
            found = self.queue(above)
            if found is not None:
                return found.is_parent
            above = above.rpartition(".")[0]
        return False

    def queue(self, path: str) -> FairQueueSettings | None:
        """Find a queue of the file by its path."""
        return next((each for each in self.root.below() if each.path == path), None)


def _from_root(name: str) -> str:
    return name if name == "root" or name.startswith("root.") else f"root.{name}"

"""What a resource manager knows of its cluster, as one value; and that it is stuck."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from rebecsim.actors import StatePart
from rebecsim.clusters.yarn.containers import Application, ClusterNode
from rebecsim.errors import UserError

if TYPE_CHECKING:
    from rebecsim.clusters.yarn.schedulers.scheduler import ContainerScheduler


class ClusterState(StatePart):
    """What the resource manager knows.

    Attributes:
        nodes: all, by number.
        applications: all of the trace, by number.
        running: those that have been submitted and have not left.
        dependents: those that are submitted when that of a number has left.
    """

    __slots__ = ("applications", "dependents", "nodes", "running", "scheduler")

    def __init__(
        self,
        nodes: Sequence[ClusterNode],
        applications: Iterable[Application],
        scheduler: ContainerScheduler,
    ) -> None:
        self.nodes = {each.size.number: each for each in nodes}
        self.applications = {each.number: each for each in applications}
        self.scheduler = scheduler
        self.running: dict[int, Application] = {}
        self.dependents: dict[int, list[Application]] = {}


class Seer(Protocol):
    """A rebec that looks ahead when a job is submitted."""

    def look(self) -> None:
        """Look ahead at once."""

    def look_at_start(self) -> None:
        """Look ahead when all jobs of time 0 have been submitted."""


class StuckError(UserError):
    """Jobs wait for containers that no task will ever release.

    Attributes:
        applications: those of the jobs.
    """

    def __init__(
        self, applications: Sequence[Application], why: str = "no task runs that could end"
    ) -> None:
        self.applications = applications
        others = len(applications) - 1
        who = f"{applications[0].job.name} "
        who += f"and {others} others wait" if others else "waits"
        given = (container for each in applications for container in each.containers)
        holding = sum(container.finished is None for container in given)
        held = "1 container is" if holding == 1 else f"{holding} containers are"
        super().__init__(
            f"{who} for containers, and never {'get' if others else 'gets'} them: "
            f"{held} held, and {why}; "
            "smaller AppMasters, larger nodes or queues help, or assigning without reservations"
        )

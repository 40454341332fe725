"""Which containers are chosen in a round, and how much of a queue they are."""

from __future__ import annotations

from collections.abc import Iterator

from rebecsim.clusters.yarn.containers import Application, Container
from rebecsim.clusters.yarn.queue_files.resources import DOMINANT, NONE, Calculator, Resources
from rebecsim.clusters.yarn.queues.capacity.cluster import label_of
from rebecsim.clusters.yarn.queues.capacity.state import ApplicationState


class Taker:
    """What a round may take, and has chosen.

    Attributes:
        allowed: what may still be chosen, of all queues together.
        picked: the containers, and why.
    """

    def __init__(self, allowed: Resources, calculator: Calculator) -> None:
        self.allowed = allowed
        self.picked: dict[Container, str] = {}
        self._calculator = calculator

    def has_room(self, size: Resources) -> bool:
        """Whether so much may still be chosen."""
        return self._calculator.fits(size, self.allowed)

    def spend(self, size: Resources) -> None:
        """Count what is chosen."""
        self.allowed = self.allowed.minus(size)

    def pick(self, container: Container, reason: str) -> None:
        """Choose a container."""
        self.picked[container] = reason
        self.spend(container.size)

    def counting(self, some: Resources) -> tuple[int, ...]:
        """Give the components that count."""
        return tuple(some) if self._calculator is DOMINANT else (some.memory,)

    def taken_of(self, application: Application, label: str) -> Resources:
        """Give what is chosen of an application on nodes of a label."""
        found = NONE
        for container in self.picked:
            if container.application is application and label_of(container.node) == label:
                found = found.plus(container.size)
        return found


class Taking:
    """What is still to be obtained of one queue or application."""

    def __init__(self, obtain: Resources, taker: Taker, *, conservative: bool) -> None:
        self._obtain = obtain
        self._taker = taker
        self._conservative = conservative

    def wants(self, size: Resources) -> bool:
        """Whether something of a size brings nearer to what is to be obtained, and is allowed."""
        left, more = self._taker.counting(self._obtain), self._taker.counting(size)
        if self._conservative and any(each <= 0 for each in left):
            return False
        is_nearer = any(each > 0 and some > 0 for each, some in zip(left, more, strict=True))
        return is_nearer and self._taker.has_room(size)

    def drop(self, size: Resources) -> None:
        """Count a reservation that is given up."""
        self._obtain = self._obtain.minus(size)
        self._taker.spend(size)

    def take(self, container: Container, reason: str) -> bool:
        """Choose a container, if that brings nearer."""
        size = container.size
        if container in self._taker.picked or not self.wants(size):
            return False
        self._obtain = self._obtain.minus(size)
        self._taker.pick(container, reason)
        return True


def newest_first(each: ApplicationState, label: str) -> Iterator[Container]:
    """Give the containers of an application that run: those asked for last, then the newest.

    An application that is about to leave has none.
    """
    application = each.application
    if application.leaving:
        return
    order = {id(task): place for place, (task, _) in enumerate(application.tasks)}
    held = [
        container
        for container in application.containers[application.before :]
        if container.launched is not None
        and container.finished is None
        and label_of(container.node) == label
    ]
    yield from sorted(
        held, key=lambda container: (order[id(container.task)], container.number), reverse=True
    )

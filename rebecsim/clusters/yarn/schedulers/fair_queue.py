"""The fair queue: who has the least memory goes first."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, Protocol

from rebecsim.clusters.yarn.application import Application

Rank = tuple[Any, int, int, Application]
"""What applications are sorted by: what they have, their start, their number; and who it is."""

_application = itemgetter(3)


class Queue(Protocol):
    """Applications that wait for containers, in the order in which they are served."""

    def __iter__(self) -> Iterator[Application]: ...

    @property
    def first(self) -> Application | None:
        """The one that comes first."""

    def add(self, application: Application) -> None:
        """Put an application in its place."""

    def update(self, application: Application) -> None:
        """Move one that has more or less than before; take it out when it has all its tasks."""


class FairQueue:
    """Applications that wait for containers, by memory consumed, then start, then number.

    Attributes:
        ranks: what they are sorted by, with the application itself as the last field.
    """

    __slots__ = ("ranks",)

    def __init__(self) -> None:
        self.ranks: list[Rank] = []

    def __len__(self) -> int:
        return len(self.ranks)

    def __iter__(self) -> Iterator[Application]:
        return map(_application, self.ranks)

    @property
    def first(self) -> Application | None:
        """The application that has the least."""
        return self.ranks[0][3] if self.ranks else None

    def add(self, application: Application) -> None:
        """Put an application in its place."""
        number = application.job.number
        rank = (application.consumption, application.start, number, application)
        application.rank = rank
        insort(self.ranks, rank)

    def update(self, application: Application) -> None:
        """Move an application whose consumption has changed; take it out when it has all."""
        rank = application.rank
        if rank is None:
            return
        del self.ranks[bisect_left(self.ranks, rank)]
        if application.head is None:
            application.rank = None
        else:
            self.add(application)

"""Who has a share of what a queue has: a queue below it, or an application."""

from __future__ import annotations

from rebecsim.clusters.yarn.queue_files.resources import NONE


class FairShared:
    """Who has a share: a queue or an application.

    Attributes:
        used: what its containers have.
        demand: that, and what it asks for; as old as shares are.
        share: what it should have now, of those that are at work.
        minimum: what it should have in any case.
        weight: how much it should have, compared to others of its parent.
        name: by which those are ordered that are alike in all else.
        start: of an application, by which those are ordered first; 0 for queues.
    """

    def __init__(self, name: str, start: int = 0) -> None:
        self.used = self.demand = self.share = self.minimum = NONE
        self.weight = 1.0
        self.name: str | int = name
        self.start = start

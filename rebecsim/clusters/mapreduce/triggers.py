"""Settings that change when a condition on a queue becomes true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rebecsim.clusters.mapreduce.configuration import QueueFigure, TimedChange

_FIGURES: Sequence[QueueFigure] = ("jobs", "waiting_maps", "waiting_reduces")


@dataclass
class _Watched:
    """A change, and whether its condition was true when it was last looked at."""

    change: TimedChange
    was_true: bool


class QueueTriggers:
    """The changes of a cluster that wait for conditions, and the figures that these are about."""

    def __init__(self, changes: Sequence[TimedChange]) -> None:
        """Take what waits for a condition among some changes; queues have nothing yet."""
        conditional = [(each, each.when) for each in changes if each.when is not None]
        self._watched = [_Watched(change, when.holds(0)) for change, when in conditional]
        self._figures = {when.queue: [0] * len(_FIGURES) for _, when in conditional}

    def add(self, queue: str, amounts: Sequence[int]) -> None:
        """Add to the figures of a queue: its jobs, maps and reduces that wait."""
        figures = self._figures.get(queue)
        if figures is not None:
            figures[:] = map(sum, zip(figures, amounts, strict=True))

    def due(self) -> Iterator[TimedChange]:
        """Give the changes whose condition has become true since this was last asked."""
        for each in self._watched:
            when = each.change.when
            assert when is not None
            is_true = when.holds(self._figures[when.queue][_FIGURES.index(when.figure)])
            if is_true and not each.was_true:
                yield each.change
            each.was_true = is_true

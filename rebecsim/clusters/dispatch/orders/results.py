"""The results of all orders of a cluster, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from rebecsim.exploration.orders import GOALS, Goal

Counted = Literal["deadline_misses", "completions", "energy"]
"""What runs are reckoned by, as measures call it."""


Extreme = Literal["minimum", "maximum"]
"""The goals that a policy of the scheduler can have."""


@dataclass(frozen=True)
class Bounds:
    """A value that lies between two numbers, for all that is known; mostly they are equal."""

    low: float
    high: float

    @property
    def is_exact(self) -> bool:
        """Whether they are the same to nine digits."""
        return self.high - self.low <= 1e-9 * max(1.0, abs(self.high))


Worth = Mapping[Counted, Mapping[Goal, Bounds]]
"""For each figure and goal, between which numbers the value lies."""


@dataclass(frozen=True)
class ClusterValues:
    """What all orders of a cluster come to.

    Attributes:
        ticks: that were asked for.
        values: of all these ticks.
        by_ticks: of fewer ticks, for each number of which every state was looked at, so that they
            are exact; nothing where all were.
        figures: how many states there are, and ways to go on.
    """

    ticks: int
    values: Worth
    by_ticks: Mapping[int, Worth]
    figures: Mapping[str, int]

    @property
    def is_exact(self) -> bool:
        """Whether all values of all ticks are known to nine digits."""
        return all(each.is_exact for goals in self.values.values() for each in goals.values())

    @property
    def known_ticks(self) -> int:
        """The most ticks of which all is exact because every state was looked at."""
        return max(self.by_ticks, default=0) if self.by_ticks or not self._is_whole else self.ticks

    @property
    def _is_whole(self) -> bool:
        return all(
            each.low == each.high for goals in self.values.values() for each in goals.values()
        )

    def at(self, ticks: int) -> Worth:
        """Give the values of so many ticks. Raises KeyError where they are not known."""
        return self.values if ticks == self.ticks else self.by_ticks[ticks]

    def to_json(self) -> dict[str, Any]:
        """Give plain values."""
        return {
            "ticks": self.ticks,
            "values": _plain(self.values),
            "by_ticks": {str(ticks): _plain(worth) for ticks, worth in self.by_ticks.items()},
            **self.figures,
        }

    @classmethod
    def from_json(cls, data: Any) -> ClusterValues:
        """Read what `to_json` gave. Raises ValueError, TypeError or KeyError for anything else."""
        plain = dict(data)
        ticks = int(plain.pop("ticks"))
        values = _read(plain.pop("values"))
        by_ticks = {int(each): _read(worth) for each, worth in plain.pop("by_ticks").items()}
        return cls(ticks, values, by_ticks, {str(n): int(count) for n, count in plain.items()})


def _plain(values: Worth) -> dict[str, Any]:
    return {
        name: {goal: [each.low, each.high] for goal, each in goals.items()}
        for name, goals in values.items()
    }


def _read(data: Any) -> Worth:
    return {
        name: {goal: Bounds(*map(float, data[name][goal])) for goal in GOALS}
        for name in get_args(Counted)
        if name in data
    }

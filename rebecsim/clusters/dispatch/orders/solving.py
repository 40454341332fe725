"""The least, the expected and the most that all orders of messages of a cluster come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from rebecsim.actors import ChoiceLaw
from rebecsim.clusters.dispatch.configuration import Configuration
from rebecsim.clusters.dispatch.hardware import Power
from rebecsim.clusters.dispatch.orders.graph import Found, find_states
from rebecsim.clusters.dispatch.orders.states import OrderedCluster, cluster_of
from rebecsim.clusters.dispatch.orders.values import Bounds, Counted, Values, columns_of
from rebecsim.errors import UserError
from rebecsim.exploration.orders.process import GOALS, Goal

MOST_STATES = 300_000
"""States that are looked at, unless the user says otherwise: some hundreds of megabytes."""

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


def exact_cluster(
    configuration: Configuration,
    ticks: int,
    *,
    law: ChoiceLaw = "fair",
    power: Power | None = None,
    most_states: int = MOST_STATES,
) -> ClusterValues:
    """Find what all orders of the messages of a configuration come to, up to the last tick.

    Energy is among it where the power draw is given. About `most_states` states are looked at, the
    likely ones first if there are more; then the values lie between two numbers each.

    Raises UserError for what is not known how to reckon: see `cluster_of`.
    """
    if most_states < 1:
        raise UserError(f"the number of states must be 1 or more, not {most_states}")
    found = find_states(cluster_of(configuration, ticks, law, power), most_states)
    last = found.cluster.last
    counted: list[Counted] = ["deadline_misses", "completions"]
    if power is not None and power.is_given:
        counted.append("energy")
    values = _solved(found, counted, last)
    fewer = range(found.known + 1) if found.known < last else ()
    by_ticks = {each + 1: _solved(found, counted, each) for each in fewer}
    return ClusterValues(ticks, values, by_ticks, found.figures)


def _solved(found: Found, counted: Sequence[Counted], last: int) -> Worth:
    columns = columns_of(counted, last <= found.known)
    start = [0.0] * len(columns)
    for _, values in Values(found, columns, last).backward():
        start = values[0].tolist()
    worth = dict(zip(columns, start, strict=True))
    solved: dict[Counted, dict[Goal, Bounds]] = {}
    for each in counted:
        rest = idle_energy(found.cluster, each, last)
        solved[each] = {}
        for goal in GOALS:
            sides = [v + rest for c, v in worth.items() if (c.counted, c.goal) == (each, goal)]
            solved[each][goal] = Bounds(sides[0], sides[-1])
    return solved


def idle_energy(cluster: OrderedCluster, counted: Counted, last: int) -> float:
    """Give what runs get whatever happens."""
    return cluster.idle * (last + 1) if counted == "energy" else 0.0


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

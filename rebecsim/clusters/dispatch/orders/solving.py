"""The least, the expected and the most that all orders of messages of a cluster come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rebecsim.actors import ChoiceLaw
from rebecsim.clusters.dispatch.configuration import Configuration
from rebecsim.clusters.dispatch.hardware import Power
from rebecsim.clusters.dispatch.orders.graph import Found, find_states
from rebecsim.clusters.dispatch.orders.states import OrderedCluster, cluster_of
from rebecsim.clusters.dispatch.orders.values import Bounds, Counted, Values, columns_of
from rebecsim.errors import UserError
from rebecsim.exploration.orders.process import GOALS, Goal

MOST_STATES = 2_000_000
"""States that are looked at, unless the user says otherwise: a few hundred megabytes."""


@dataclass(frozen=True)
class ExactCluster:
    """What all orders of a cluster come to.

    Attributes:
        found: its states.
        ticks: that were asked for.
        values: of all these ticks: of each figure and goal, between which numbers it lies.
        known_ticks: the most ticks of which every state was looked at, so that all is exact.
        known: the values of so many ticks.
    """

    found: Found
    ticks: int
    values: Mapping[Counted, Mapping[Goal, Bounds]]
    known_ticks: int
    known: Mapping[Counted, Mapping[Goal, Bounds]]

    @property
    def is_exact(self) -> bool:
        """Whether all values of all ticks are known to nine digits."""
        return all(each.is_exact for goals in self.values.values() for each in goals.values())

    def to_json(self) -> dict[str, Any]:
        """Give plain values."""
        return {
            "ticks": self.ticks,
            "is_exact": self.is_exact,
            **self.found.figures,
            "values": _plain(self.values),
            "known_ticks": self.known_ticks,
            "known_values": _plain(self.known),
        }


def exact_cluster(
    configuration: Configuration,
    ticks: int,
    *,
    law: ChoiceLaw = "fair",
    power: Power | None = None,
    most_states: int = MOST_STATES,
) -> ExactCluster:
    """Find what all orders of the messages of a configuration come to, up to the last tick.

    Energy is among it where the power draw is given. About `most_states` states are looked at, the
    likely ones first if there are more; then the values lie between two numbers each.

    Raises UserError for what is not known how to reckon: see `cluster_of`.
    """
    if most_states < 1:
        raise UserError(f"the number of states must be 1 or more, not {most_states}")
    cluster = cluster_of(configuration, ticks, law, power)
    found = find_states(cluster, most_states)
    counted: list[Counted] = ["deadline_misses", "completions"]
    if power is not None and power.is_given:
        counted.append("energy")
    values = _solved(found, counted, cluster.last)
    known = values if found.known == cluster.last else _solved(found, counted, found.known)
    return ExactCluster(found, ticks, values, found.known + 1, known)


def _solved(
    found: Found, counted: Sequence[Counted], last: int
) -> dict[Counted, dict[Goal, Bounds]]:
    columns = columns_of(counted, last <= found.known)
    start = [0.0] * len(columns)
    for _, values in Values(found, columns, last).backward():
        start = values[0].tolist()
    worth = dict(zip(columns, start, strict=True))
    rest = {each: _idle(found.cluster, each, last) for each in counted}
    solved: dict[Counted, dict[Goal, Bounds]] = {each: {} for each in counted}
    for each in counted:
        for goal in GOALS:
            sides = [
                value + rest[each]
                for column, value in worth.items()
                if (column.counted, column.goal) == (each, goal)
            ]
            solved[each][goal] = Bounds(sides[0], sides[-1])
    return solved


def _idle(cluster: OrderedCluster, counted: Counted, last: int) -> float:
    return cluster.idle * (last + 1) if counted == "energy" else 0.0


def _plain(values: Mapping[Counted, Mapping[Goal, Bounds]]) -> dict[str, Any]:
    return {
        name: {goal: [each.low, each.high] for goal, each in goals.items()}
        for name, goals in values.items()
    }

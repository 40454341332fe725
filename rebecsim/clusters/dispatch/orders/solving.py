"""The least, the expected and the greatest value of a figure over all orders of messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rebecsim.actors import ChoiceLaw
from rebecsim.clusters.dispatch.configuration import Configuration
from rebecsim.clusters.dispatch.hardware import Power
from rebecsim.clusters.dispatch.orders.bounds import columns_of
from rebecsim.clusters.dispatch.orders.graph import Found, find_states
from rebecsim.clusters.dispatch.orders.states import OrderedCluster, cluster_of
from rebecsim.clusters.dispatch.orders.values import Values
from rebecsim.clusters.dispatch.orders.worth import (
    Bounds,
    ClusterValues,
    Counted,
    Worth,
)
from rebecsim.errors import UserError
from rebecsim.exploration.orders import GOALS, Goal
from rebecsim.studies.study import MOST_STATES


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
    return values_over(states_of(configuration, ticks, law, power, most_states))


def states_of(
    configuration: Configuration,
    ticks: int,
    law: ChoiceLaw,
    power: Power | None,
    most_states: int,
) -> Found:
    """Find the states of a configuration; else as `exact_cluster`."""
    if most_states < 1:
        raise UserError(f"the number of states must be 1 or more, not {most_states}")
    return find_states(cluster_of(configuration, ticks, law, power), most_states)


def values_over(found: Found) -> ClusterValues:
    """Work out what all orders come to, from the states that were found.

    Where these are not all, it is also found of as many ticks as can be known exactly: what comes
    behind the last one need not be told apart, so of fewer ticks more is known.
    """
    last = found.cluster.last
    counted: list[Counted] = ["deadline_misses", "completions"]
    if found.cluster.has_power:
        counted.append("energy")
    values = _solved(found, counted, last)
    solved = ClusterValues(last + 1, values, {}, found.figures)
    if solved.is_exact or found.known == last:
        return solved
    return replace(solved, by_ticks=_known_ticks(found, counted))


def _known_ticks(found: Found, counted: Sequence[Counted]) -> dict[int, Worth]:
    """Work out the values of as many ticks as can be known exactly, for each number of them."""
    known = found.of_known_ticks
    for sooner in range(max(found.attempted, known.known + 1), found.cluster.last):
        cluster = replace(known.cluster, last=sooner)
        shorter = find_states(cluster, found.most, all_or_none=True)
        if shorter.known < sooner:
            break
        known = shorter
    return {each + 1: _solved(known, counted, each) for each in range(known.known + 1)}


def _solved(found: Found, counted: Sequence[Counted], last: int) -> Worth:
    columns = columns_of(counted, last <= found.known)
    start = np.zeros(len(columns))
    for _, values in Values(found, columns, last).backward():
        start = values[0].copy()
    if last > found.known:
        # What bounds states that were not looked at may know more of all of it than they together.
        first = np.zeros(1, np.int64)
        bounds = found.rest(last).bounds(found.graph, first, 0, columns)[0]
        is_low = np.array([each.side == "low" for each in columns])
        start = np.where(is_low, np.maximum(start, bounds), np.minimum(start, bounds))
    worth = dict(zip(columns, start.tolist(), strict=True))
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

"""Bounds on states of clusters that were not looked at: they hold in all states of small ones."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.dispatch.orders.bounds import columns_of
from rebecsim.clusters.dispatch.orders.graph import find_states
from rebecsim.clusters.dispatch.orders.loops import NODES
from rebecsim.clusters.dispatch.orders.states import cluster_of
from rebecsim.clusters.dispatch.orders.values import Values
from tests.clusters.orders.test_exact_clusters import drawn_configuration
from tests.examples import dear

COUNTED = ["deadline_misses", "completions"]


@settings(max_examples=dear(400))
@given(st.integers(0, 2**32), st.sampled_from(["fair", "rmc"]), st.sampled_from([5, 9, 14]))
def test_bounds_hold_in_every_state(seed, law, ticks):
    """The values of each state at each tick lie between them, for all goals."""
    draw = random.Random(seed)
    changes = {"policy": "FIFO"} if draw.random() < 0.7 else {}
    configuration = drawn_configuration(draw).model_copy(update=changes)
    found = find_states(cluster_of(configuration, ticks, law), 3_000)
    if found.known < ticks - 1:
        return
    rest = found.rest(ticks - 1)
    columns = columns_of(COUNTED, all_known=False)
    for tick, values in Values(found, columns, ticks - 1).backward():
        nodes = reached(found, tick)
        bounds = rest.bounds(found.graph, nodes, tick, columns)
        for place, column in enumerate(columns):
            sign = 1 if column.side == "low" else -1
            assert (sign * (values[nodes, place] - bounds[:, place]) > -1e-9).all(), column


def reached(found, tick):
    """Give the states that may be reached by a tick, at the point of the pattern that it is at."""
    mask = found.cluster.tables.layout[0, 2]
    phases = found.graph.nodes[: found.graph.counts[NODES], 0] & mask
    is_there = (phases == (tick - 1) % found.cluster.periods) & (found.first_seen <= tick)
    is_there[0] = tick == 0  # before which nothing comes
    return np.flatnonzero(is_there)

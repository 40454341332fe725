"""Bounds on states of clusters that were not looked at: they hold in all states of small ones."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import example, given, settings, strategies as st

from rebecsim.clusters.dispatch.orders.bounds import BusyPeriods, columns_of
from rebecsim.clusters.dispatch.orders.graph import find_states
from rebecsim.clusters.dispatch.orders.loops import NODES
from rebecsim.clusters.dispatch.orders.solving import Values
from rebecsim.clusters.dispatch.orders.states import cluster_of
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


@settings(max_examples=dear(400))
@given(st.integers(0, 2**32), st.sampled_from(["fair", "rmc"]), st.sampled_from([5, 9, 14]))
def test_no_more_is_missed_than_until_an_app_master_is_free(seed, law, ticks):
    """What is missed in any state is no more than until then, and after that."""
    cluster = cluster_of(drawn_configuration(random.Random(seed)), ticks, law)
    found = find_states(cluster, 3_000)
    if found.known < ticks - 1:
        return
    busy = BusyPeriods(cluster, ticks - 1)
    layer = busy.layer_behind(3)
    idle = np.zeros_like(layer)
    for tick, values in Values(found, columns_of(COUNTED[:1], True), ticks - 1).backward():
        nodes = reached(found, tick)
        layer = busy.layer(tick, layer, idle)
        bounds = busy.bounds(found.graph, nodes, tick, layer)
        assert (bounds - values[nodes] > -1e-9).all()
        idle = np.zeros_like(layer)
        for node, work in free_states(found, nodes):
            idle[work:] = np.maximum(idle[work:], values[node])


def free_states(found, nodes):
    """Give those in which no job waits and an AppMaster is free, by the work they count with."""
    layout = found.cluster.tables.layout[1 : 1 + found.cluster.tables.sizes[0]].tolist()
    for node in nodes[found.graph.waiting[nodes] == 0]:
        workers = [found.graph.nodes[node, word] >> shift & mask for word, shift, mask in layout]
        if 0 in workers:
            yield node, max(sum(workers) - workers.count(0), 0)


@settings(max_examples=dear(400))
@given(
    st.integers(0, 2**32),
    st.sampled_from(["EDF", "MDF", "PRIORITY"]),
    st.sampled_from(["fair", "rmc"]),
)
@example(310, "EDF", "fair")  # 29 states, 33 with open ties
def test_values_lie_between_those_of_the_least_and_the_most_ties(seed, policy, law):
    """So they do where it is open who is next of those that tie, and no state is left out.

    There are mostly fewer states then, but not always: both ways of a tie may be new ones.
    """
    configuration = drawn_configuration(random.Random(seed)).model_copy(update={"policy": policy})
    cluster = cluster_of(configuration, 14, law)
    is_open = cluster.with_ties(are_open=True)
    if is_open.tables.sizes[8] == 0:
        assert (
            is_open.with_ties(are_open=False).tables.sizes.tolist() == cluster.tables.sizes.tolist()
        )
        return
    found, merged = (find_states(each, 20_000, all_or_none=True) for each in (cluster, is_open))
    if found.known < 13:
        return
    columns = columns_of(COUNTED, all_known=False)
    exact, bounds = (first_of(each, columns) for each in (found, merged))
    for column, value, bound in zip(columns, exact, bounds, strict=True):
        sign = 1 if column.side == "low" else -1
        assert sign * (value - bound) > -1e-9, column


@settings(max_examples=dear(200))
@given(st.integers(0, 2**32), st.sampled_from(["fair", "rmc"]), st.sampled_from([4, 30, 100, 300]))
def test_values_lie_between_bounds_however_few_states_are_looked_at(seed, law, most):
    """So they do for all policies, where all states without waiting jobs are looked at, too."""
    configuration = drawn_configuration(random.Random(seed))
    cluster = cluster_of(configuration, 14, law)
    whole = find_states(cluster, 20_000)
    part = find_states(cluster, most)
    if whole.known < 13 or part.known == 13:
        return
    columns = columns_of(COUNTED, all_known=False)
    exact, bounds = (first_of(each, columns) for each in (whole, part))
    for column, value, bound in zip(columns, exact, bounds, strict=True):
        sign = 1 if column.side == "low" else -1
        assert sign * (value - bound) > -1e-9, column


def first_of(found, columns):
    """Give the values before the first tick."""
    for _, values in Values(found, columns, 13).backward():
        first = values[0].copy()
    return first


def reached(found, tick):
    """Give the states that may be reached by a tick, at the point of the pattern that it is at."""
    mask = found.cluster.tables.layout[0, 2]
    phases = found.graph.nodes[: found.graph.counts[NODES], 0] & mask
    is_there = (phases == (tick - 1) % found.cluster.periods) & (found.first_seen <= tick)
    is_there[0] = tick == 0  # before which nothing comes
    return np.flatnonzero(is_there)

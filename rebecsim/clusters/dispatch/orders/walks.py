"""Passes over the states of a cluster: their probabilities, and their values."""

from __future__ import annotations

import numpy as np

from rebecsim.clusters.dispatch.orders.loops import OPEN, UNKNOWN, Floats, FloatTable, Graph
from rebecsim.native.arrays import Integers
from rebecsim.native.cache import compiled


@compiled(borrows=True)
def spread(
    graph: Graph, chances: Floats, here: FloatTable, there: FloatTable, shares: Floats
) -> None:
    """Lead how likely states are on to those that follow.

    In each column the order is the random one, but that a share of the ticks is served first.
    """
    columns = shares.shape[0]
    for node in range(here.shape[0]):
        action = graph.first_action[node]
        total = 0.0
        for column in range(columns):
            total += here[node, column]
        if total == 0.0 or action == UNKNOWN:
            continue
        choice = graph.first_choice[node]
        for way in range(graph.way[node, 0], graph.way[node, 1]):
            first = action
            behind = action + graph.actions[choice]
            while action < behind:
                block = action
                action += 1
                while action < behind and graph.weight[action] == OPEN:
                    action += 1
                for column in range(columns):
                    weight = (1.0 - shares[column]) * graph.weight[block]
                    if block == first:
                        weight += shares[column]
                    # None is so unlikely that it counts as not reached.
                    likely = here[node, column] * chances[way] * weight / (action - block)
                    for each in range(block, action):
                        there[np.int64(graph.target[each]), column] += max(likely, 1e-290)
            choice += 1


@compiled(borrows=True)
def step_back(
    graph: Graph,
    chances: Floats,
    nodes: Integers,
    gains: FloatTable,
    goals: Integers,
    is_high: Integers,
    later: FloatTable,
    now: FloatTable,
    work: FloatTable,
) -> None:
    """Work out values of states that were looked at from those at the next tick.

    Columns are values of one goal, 0 the least, 1 the expected, 2 the most, and one side: of what
    is open the most counts if it `is_high`, else the least. `gains` has what each receipt is worth
    in each. `work` is for working.
    """
    columns = now.shape[1]
    best, found = work[0], work[1]
    for each in range(nodes.shape[0]):
        node = nodes[each]
        action = graph.first_action[node]
        choice = graph.first_choice[node]
        for column in range(columns):
            now[node, column] = 0.0
        for way in range(graph.way[node, 0], graph.way[node, 1]):
            first = action
            behind = action + graph.actions[choice]
            while action < behind:
                target = np.int64(graph.target[action])
                receipt = np.int64(graph.receipt[action])
                weight = graph.weight[action]
                is_first = action == first
                for column in range(columns):
                    found[column] = gains[receipt, column] + later[target, column]
                action += 1
                while action < behind and graph.weight[action] == OPEN:
                    target = np.int64(graph.target[action])
                    receipt = np.int64(graph.receipt[action])
                    for column in range(columns):
                        other = gains[receipt, column] + later[target, column]
                        if (other > found[column]) == (is_high[column] > 0):
                            found[column] = other
                    action += 1
                for column in range(columns):
                    if goals[column] == 1:
                        value = found[column] * weight
                        best[column] = value + (0.0 if is_first else best[column])
                    elif is_first:
                        best[column] = found[column]
                    elif goals[column] == 0:
                        best[column] = min(best[column], found[column])
                    else:
                        best[column] = max(best[column], found[column])
            choice += 1
            for column in range(columns):
                now[node, column] += chances[way] * best[column]

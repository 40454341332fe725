"""Find the last step that decides a breach: where it became inevitable, and the alternative."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rebecsim.exploration.checks import NO_MESSAGE_LEFT, Problem
from rebecsim.exploration.paths.path import path_along
from rebecsim.exploration.races.arrays import Arrays
from rebecsim.exploration.races.futures import Futures
from rebecsim.exploration.races.result import Decision, Unexplained
from rebecsim.exploration.search import Search
from rebecsim.exploration.states.breach_key import BreachKey
from rebecsim.exploration.states.outcome import Breach


def unexplained(
    problem: Problem, search: Search, arrays: Arrays, futures: Futures, keys: Sequence[int]
) -> tuple[Unexplained, ...]:
    """Say what decides each of these breaches, if anything does."""
    source = arrays.source
    found = []
    for key in keys:
        must = futures.of_key[key].must_come
        decision = None
        # States are numbered in the order of being found: the first edge is one found soonest.
        into = np.flatnonzero(~must[source] & must[arrays.target])
        for edge in into[:1].tolist():
            decision = _decision(search, arrays, int(source[edge]), edge, must)
        breach = _shown(search, arrays, futures, key)
        found.append(Unexplained(arrays.keys[key], breach, decision))
    return tuple(found)


def _decision(
    search: Search, arrays: Arrays, state: int, edge: int, must: np.ndarray
) -> Decision | None:
    low, high = int(arrays.first[state]), int(arrays.first[state + 1])
    out = [each for each in range(low, high) if not must[arrays.target[each]]]
    if not out:
        return None
    same = [each for each in out if arrays.message[each] == arrays.message[edge]]
    other = [each for each in out if each not in same]
    instead = (other or same)[0]
    way = search.way_to(state)
    taken, avoided = (path_along(search.system, (*way, each - low)) for each in (edge, instead))
    return Decision(taken, avoided, by_order=bool(other))


def _shown(search: Search, arrays: Arrays, futures: Futures, key: int) -> Breach:
    """Give the breach as a shortest run shows it."""
    edges = futures.of_key[key].nearest(arrays, 0)
    path = path_along(search.system, arrays.ordinals(edges))
    return path.breach or breach_of_state(arrays.keys[key])


def breach_of_state(key: BreachKey) -> Breach:
    """Give what is wrong with a state from its key."""
    return NO_MESSAGE_LEFT if key.verdict == "deadlock" else Breach(key.verdict, key.text)

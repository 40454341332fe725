"""Where until holds within so many time units: sets of moments, one layer for each unit.

E. Khamespanah, R. Khosravi, M. Sirjani, "An efficient TCTL model checking algorithm and a reduction
technique for verification of timed actor models" (Science of Computer Programming 153, 2018) fold
what takes no time and go over durations; here a layer is closed under what takes no time, and the
next one is a unit of time further away. Layers grow, or shrink, towards a set that does not change
any more, so bounds that are larger than the model's own times cost nothing.
"""

from __future__ import annotations

import numpy as np

from rebecsim.exploration.temporal.bounds import TimeBound, weak
from rebecsim.exploration.temporal.moments import Flags, Hops, Moments


class Layers:
    """Sets of moments of one system, from which some run, or every one, meets something.

    Attributes:
        universal: whether every run has to.
    """

    def __init__(self, moments: Moments, universal: bool) -> None:
        self.universal = universal
        self._moments = moments
        self._nodes = len(moments.state)
        self._nothing = np.zeros(self._nodes, np.bool_)

    def until(self, left: Flags, right: Flags, bound: TimeBound | None) -> list[Flags]:
        """Give the layers of `left U right` in a time that meets a bound; the last is the answer.

        Layer k is that of a bound with k units left; the last one stands for all larger k, too.
        """
        if bound is None:
            return [self._in_any_time(left, right)]
        comparison, limit = weak(bound)
        if limit < 0:
            return [self._nothing]
        if comparison == "<=":
            return self._repeated(self._nothing, right, left, limit + 1)
        if comparison == "==":
            start = self._closed(right, left, self._nothing)
        else:
            start = self._in_any_time(left, right)
        return [start, *self._repeated(start, self._nothing, left, limit)]

    def _repeated(self, below: Flags, base: Flags, allowed: Flags, most: int) -> list[Flags]:
        """Give so many layers above another, or fewer when they do not change any more."""
        layers: list[Flags] = []
        for _ in range(most):
            layer = self._closed(base, allowed, below)
            layers.append(layer)
            if np.array_equal(layer, below):
                break
            below = layer
        return layers

    def _in_any_time(self, left: Flags, right: Flags) -> Flags:
        everything = self._moments.all_hops
        if self.universal:
            return _from_all(everything, right, left)
        return _from_some(everything, right, left)

    def _closed(self, base: Flags, allowed: Flags, a_unit_later: Flags) -> Flags:
        """Give the least set with `base`, and with allowed moments from which it is met.

        That is by transitions that take no time, or by one of a unit into `a_unit_later`.
        """
        later, at_once = self._moments.later, self._moments.at_once
        if self.universal:
            fails = np.zeros(self._nodes, np.bool_)
            fails[later.source[~a_unit_later[later.target]]] = True
            return _from_all(at_once, base, allowed & ~fails)
        met = np.zeros(self._nodes, np.bool_)
        met[later.source[a_unit_later[later.target]]] = True
        return _from_some(at_once, base | (allowed & met), allowed)


def _from_some(hops: Hops, base: Flags, allowed: Flags) -> Flags:
    """Give the nodes from which some way over allowed ones leads to the base."""
    found = base.copy()
    frontier = np.flatnonzero(found)
    while len(frontier):
        sources = hops.source[hops.into_nodes(frontier)]
        frontier = np.unique(sources[~found[sources] & allowed[sources]])
        found[frontier] = True
    return found


def _from_all(hops: Hops, base: Flags, allowed: Flags) -> Flags:
    """Give the nodes from which all ways lead to the base, over allowed ones."""
    missing = np.bincount(hops.source, minlength=len(base))
    found: Flags = base | (allowed & (missing == 0))
    frontier = np.flatnonzero(found)
    while len(frontier):
        sources = hops.source[hops.into_nodes(frontier)]
        np.subtract.at(missing, sources, 1)
        touched = np.unique(sources)
        frontier = touched[(missing[touched] == 0) & allowed[touched] & ~found[touched]]
        found[frontier] = True
    return found

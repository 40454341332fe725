"""Work out the transitions of a compiled search again after it is over."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rebecsim.exploration.search import Edges
from rebecsim.native import search_layout as at
from rebecsim.native.arrays import words_of
from rebecsim.native.cache import prepare
from rebecsim.native.codes import Reason
from rebecsim.native.engines import TimeTooLargeError
from rebecsim.native.loops.breadth_first import expand_ahead
from rebecsim.native.loops.successors import (
    FOUND_BY_WIDTH,
    FOUND_ORDINAL,
    FOUND_SOURCE,
    FOUND_UNITS,
    Successors,
)
from rebecsim.native.loops.tables import ABSENT, arrays_of, find_states

if TYPE_CHECKING:
    from rebecsim.exploration.compiled.compiled_search import CompiledSearch

_BATCH = 1 << 16  # successors
_BYTES = 80  # of an edge, on the way to its component

_ASKING = frozenset({Reason.ANSWER, Reason.ALTERNATIVES, Reason.WIDTH, Reason.ROOM})
"""Reasons to stop in states that Python expanded, so compiled code does not know them yet."""


def edges_again(search: CompiledSearch, still: bool) -> Edges | None:
    """Give the transitions from states that were expanded, or those of them without time.

    None if they cannot be had within the limits of time and memory, or if Python met a time on the
    way that is too large for compiled code.
    """
    prepare(expand_ahead, find_states)
    with (
        suppress(TimeTooLargeError),
        np.errstate(over="ignore"),  # hashes wrap; without a compiler NumPy would warn of that
    ):
        return _edges(search, still)
    return None


def _edges(search: CompiledSearch, still: bool) -> Edges | None:
    store, control = search.store, search.control.copy()
    states, words = int(control[at.STATES]), words_of(store.layout)
    numbers = np.empty(len(store.table), np.uint32)
    numbers[store.order[:states]] = np.arange(states, dtype=np.uint32)
    control[at.END] = min(control[at.NUMBER], states)
    control[at.NUMBER], control[at.ORDINAL] = 0, -1
    targets = np.empty((_BATCH, words), np.int64)
    found_by = np.empty((_BATCH, FOUND_BY_WIDTH), np.int64)
    successors = Successors(targets, np.empty((1, 1), np.int64), targets, found_by)
    places = np.empty(_BATCH, np.int64)
    found: list[NDArray[np.int64]] = []
    edges = 0
    arrays = arrays_of(store), search.parts()
    while control[at.NUMBER] < control[at.END]:
        if search.is_over(_BYTES * edges):
            return None
        control[at.FOUND] = 0
        reason = expand_ahead(control, *arrays, successors)
        if reason in _ASKING:
            if not search.enter(reason, control):
                return None
            arrays = arrays_of(store), search.parts()
        count = int(control[at.FOUND])
        find_states(store.table, targets, places, count, words)
        kept = places[:count] != ABSENT
        if still:
            kept &= found_by[:count, FOUND_UNITS] == 0
        to = numbers[places[:count][kept]].astype(np.int64)
        part = found_by[:count][kept]
        found.append(np.stack([part[:, FOUND_SOURCE], to, part[:, FOUND_ORDINAL]]))
        edges += len(to)
    together = np.concatenate(found, axis=1) if found else np.empty((3, 0), np.int64)
    return together[0], together[1], together[2]

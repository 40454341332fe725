"""Run the compiled search in two threads: one computes successors, the other stores them.

The successors of known states are computed batch by batch. While this thread stores
a batch, the other one fills the next. Batches are stored in the order of the states they come from,
so that the search finds the same states in the same order as in one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from rebecsim.native import engines, search_layout as at
from rebecsim.native.codes import Reason
from rebecsim.native.loops.breadth_first import expand_ahead, store_found
from rebecsim.native.loops.successors import FOUND_BY_WIDTH, FOUND_ORDINAL, FOUND_SOURCE, Successors
from rebecsim.native.loops.tables import arrays_of

if TYPE_CHECKING:
    from rebecsim.exploration.compiled.compiled_search import CompiledSearch

BUDGET = 20_000
"""The states to expand between two checks of clock, memory and interrupts."""

_BATCH = 1 << 14  # successors


def _batch(words: int, compact: bool) -> Successors:
    """Make room for a batch."""
    targets = np.empty((_BATCH, words), np.int64)
    fingerprints = np.empty((_BATCH if compact else 1, 1), np.int64)
    found_by = np.empty((_BATCH, FOUND_BY_WIDTH), np.int64)
    return Successors(targets, fingerprints, fingerprints if compact else targets, found_by)


class TwoThreads:
    """Takes a search a good way further."""

    def __init__(self, search: CompiledSearch) -> None:
        self._search = search
        self._control = search.control  # of this thread, which stores
        self._ahead = search.control.copy()  # of the other one
        words = int(search.control[at.WORDS])
        compact = bool(search.control[at.COMPACT])
        self._batches = _batch(words, compact), _batch(words, compact)

    def run(self) -> int:
        """Expand states until there is something to answer; gives the reason.

        Then the search is as it would be with one thread. A reason is BUDGET too, when only few
        states wait.
        """
        control, ahead = self._control, self._ahead
        control[at.FOUND] = control[at.STORED] = 0
        filled, free = self._batches
        checked_at = int(ahead[at.NUMBER])
        with ThreadPoolExecutor(1) as other:
            while True:
                control[at.NUMBER] = ahead[at.NUMBER]  # these and later ones must be kept
                ahead[at.END] = control[at.STATES]
                ahead[at.FOUND] = 0
                states, parts = arrays_of(self._search.store), self._search.parts()
                coming = other.submit(_ignoring_overflow(expand_ahead), ahead, states, parts, free)
                stopped = self._store(filled)
                reason = coming.result()
                while stopped != Reason.FINISHED:
                    self._answer_within(filled, stopped)
                    stopped = self._store(filled)
                filled, free = free, filled
                control[at.FOUND], control[at.STORED] = ahead[at.FOUND], 0
                if reason not in (Reason.FINISHED, Reason.MORE) or self._is_narrow():
                    break
                if ahead[at.NUMBER] - checked_at >= BUDGET:
                    checked_at = int(ahead[at.NUMBER])
                    control[at.EXPANDED] = self._expanded(filled)
                    self._search.note(Reason.BUDGET)
            while (stopped := self._store(filled)) != Reason.FINISHED:
                self._answer_within(filled, stopped)
        return self._merge(reason)

    def _expanded(self, filled: Successors) -> int:
        """Give how many states were begun to be expanded before a batch that is not stored yet."""
        if not self._control[at.FOUND]:
            return int(self._ahead[at.NUMBER])
        number, ordinal = filled.found_by[0, [FOUND_SOURCE, FOUND_ORDINAL]].tolist()
        return int(number + (ordinal > 0))

    def _is_narrow(self) -> bool:
        return bool(self._control[at.STATES] - self._ahead[at.NUMBER] < engines.STATES_FOR_THREADS)

    def _store(self, batch: Successors) -> int:
        search = self._search
        return int(store_found(self._control, arrays_of(search.store), batch, search.properties))

    def _answer_within(self, batch: Successors, reason: int) -> None:
        """Do what must be done within a batch; the other thread waits."""
        stored = int(self._control[at.STORED])
        last = stored if reason != Reason.CHECK else stored - 1
        self._control[at.EXPANDED] = batch.found_by[last, FOUND_SOURCE] + 1
        self._search.note(reason)

    def _merge(self, reason: int) -> int:
        """Let the search go on in one thread where the other one has stopped."""
        control, ahead = self._control, self._ahead
        places = slice(at.ASKED, at.ASKED + 3)
        control[places] = ahead[places]
        for place in (at.NUMBER, at.ORDINAL, at.WRONG):
            control[place] = ahead[place]
        control[at.EXPANDED] = ahead[at.NUMBER] + (ahead[at.ORDINAL] >= 0)
        return Reason.BUDGET if reason in (Reason.FINISHED, Reason.MORE) else reason


def _ignoring_overflow(function: Callable[..., int]) -> Callable[..., int]:
    """Let hashes wrap without warnings, which only plain Python gives, thread by thread."""

    def call(*arguments: object) -> int:
        with np.errstate(over="ignore"):
            return function(*arguments)

    return call

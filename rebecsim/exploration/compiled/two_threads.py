"""Run the compiled search in two threads that share one table of states.

Each thread computes the successors of one half of a batch of known states. Then each stores those
that belong in its half of the table, whoever found them. New states are numbered in the order in
which one thread would find them, so states, order and counterexamples are the same.

Where a table has no answer, both threads wait for Python, which is asked in the order of one
thread, too. The table of states grows before a batch, never within one, if there is memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rebecsim.native import engines, search_layout as at
from rebecsim.native.cache import entry_of
from rebecsim.native.codes import Reason
from rebecsim.native.loops.breadth_first import expand_ahead, store_found
from rebecsim.native.loops.shared_table import (
    CROSSING,
    NEW,
    Batch,
    batch_of,
    enter_half,
    number_new,
    sort_by_half,
)
from rebecsim.native.loops.successors import FOUND_BY_WIDTH, FOUND_SOURCE, Successors
from rebecsim.native.loops.tables import arrays_of, threads

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from rebecsim.exploration.compiled.compiled_search import CompiledSearch

BUDGET = 20_000
"""The states to expand between two checks of clock, memory and interrupts."""

_BATCH = 1 << 16  # successors of one thread
_FILLED = 0.75  # of a batch, as states have more and fewer successors
_FEWEST = 512  # states of one thread, after questions: the other thread waits for the answers
_MOST_ASKED = 16  # questions in a batch; with more, one thread goes on

_QUESTIONS = (Reason.ANSWER, Reason.ALTERNATIVES)


class _Share:
    """What one of the threads finds: a control array of its own, and a batch."""

    def __init__(self, search: CompiledSearch) -> None:
        self.control = np.zeros(2 * at.LENGTH, np.int64)[: at.LENGTH]  # the two must lie apart
        self.control[:] = search.control
        words = int(search.control[at.WORDS])
        compact = bool(search.control[at.COMPACT])
        targets = np.empty((_BATCH, words), np.int64)
        fingerprints = np.empty((_BATCH if compact else 1, 1), np.int64)
        found_by = np.empty((_BATCH, FOUND_BY_WIDTH), np.int64)
        identities = fingerprints if compact else targets
        self.batch = batch_of(Successors(targets, fingerprints, identities, found_by))
        self._search = search
        self._expand_ahead = entry_of(expand_ahead)
        self._sort_by_half = entry_of(sort_by_half)
        self.enter_half = entry_of(enter_half)
        self.number_new = entry_of(number_new)

    @property
    def found(self) -> int:
        """How many successors there are."""
        return int(self.control[at.FOUND])

    def expand(self) -> int:
        """Go on with what is to be expanded, and give the reason to stop."""
        states, batch = arrays_of(self._search.store), self.batch
        parts = self._search.parts()
        reason = int(self._expand_ahead(self.control, states, parts, batch.successors))
        self._sort_by_half(states, batch, self.found)
        return reason

    def drop(self) -> None:
        """Forget what was found."""
        self.control[at.FOUND] = 0
        self.batch.shares.used[:] = 0


class TwoThreads:
    """Takes a search a good way further."""

    def __init__(self, search: CompiledSearch) -> None:
        self._search = search
        self._control = search.control
        self._shares = _Share(search), _Share(search)
        self._stopped = self._shares[0]  # says where to go on
        self._at_once = max(_BATCH // 32, 1)  # states that each thread expands
        self._asked = 0  # in this batch

    def run(self) -> int:
        """Expand states until there is something to answer; gives the reason.

        Then the search is as it would be with one thread. A reason is BUDGET too, when only few
        states wait.
        """
        control = self._control
        checked_at = int(control[at.NUMBER])
        with threads(1) as other:
            while True:
                reason = self._expand(other)
                control[at.NUMBER] = self._stopped.control[at.NUMBER]  # these must be kept
                self._store(other)
                if reason not in (Reason.FINISHED, Reason.MORE) or self._is_narrow():
                    break
                if control[at.NUMBER] - checked_at >= BUDGET:
                    checked_at = int(control[at.NUMBER])
                    control[at.EXPANDED] = self._expanded()
                    self._search.note(Reason.BUDGET)
        return self._merge(reason)

    def _expand(self, other: ThreadPoolExecutor) -> int:
        """Let each thread expand states, the other one those that follow; gives why it stopped."""
        first, second = self._shares
        begin = int(self._stopped.control[at.NUMBER])
        self._search.make_room(2 * _BATCH)
        self._share_out(begin)
        coming = other.submit(second.expand)
        reason = first.expand()
        reason_of_second = coming.result()
        reason = self._finish(first, reason)
        if reason != Reason.FINISHED:  # what comes behind will be worked out again
            second.drop()
            self._stopped = first
        else:
            if self._asked and reason_of_second in _QUESTIONS:  # it may have its answer by now
                reason_of_second = second.expand()
            self._stopped, reason = second, self._finish(second, reason_of_second)
        self._adapt(int(self._stopped.control[at.NUMBER]) - begin)
        return reason

    def _share_out(self, begin: int) -> None:
        """Say which states the threads are to expand, the first of them in the first thread."""
        first, second = self._shares
        stopped, states = self._stopped.control, int(self._control[at.STATES])
        for place in (at.NUMBER, at.ORDINAL, at.WRONG):
            first.control[place] = stopped[place]
        half = min(begin + self._at_once, begin + -(-(states - begin) // 2))
        first.control[at.END] = second.control[at.NUMBER] = half
        second.control[at.END] = min(half + self._at_once, states)
        second.control[at.ORDINAL] = -1
        for share in self._shares:
            share.drop()

    def _finish(self, share: _Share, reason: int) -> int:
        """Answer what one thread asks for, and let it go on; gives why it stopped.

        Questions are answered in the order in which one thread would ask them.
        """
        while (
            reason in _QUESTIONS
            and self._asked < _MOST_ASKED
            and self._search.enter(reason, share.control)
        ):
            self._asked += 1
            reason = share.expand()
        return reason

    def _adapt(self, expanded: int) -> None:
        """Let batches grow until they are filled; they start small again after a question."""
        found = max(sum(share.found for share in self._shares), 1)
        at_once = min(2 * self._at_once, int(_FILLED * _BATCH * max(expanded, 1) / found))
        if self._asked:
            at_once = min(self._at_once // 2, _FEWEST)
        self._at_once = max(at_once, 1)
        self._asked = 0

    def _store(self, other: ThreadPoolExecutor) -> None:
        """Store what both threads have found."""
        first, second = self._shares
        found = first.found + second.found
        may_be = self._control[at.STATES] + found <= self._control[at.MOST]
        has_room = bool(may_be) and self._search.has_room(found)
        if has_room:
            states = arrays_of(self._search.store)
            batches = first.batch, second.batch
            coming = other.submit(second.enter_half, states, *batches, 1)
            first.enter_half(states, *batches, 0)
            coming.result()
            used = first.batch.shares.used + second.batch.shares.used
            if not self._control[at.PROPERTIES] and not used[:, CROSSING].any():
                self._number_at_once(other)
                return
        for share in self._shares:
            self._control[at.FOUND], self._control[at.STORED] = share.found, 0
            while (reason := self._store_share(share.batch, has_room)) != Reason.FINISHED:
                self._answer_within(share.batch.successors, reason)

    def _number_at_once(self, other: ThreadPoolExecutor) -> None:
        """Let each thread number what it has found: nothing is to be checked."""
        control, (first, second) = self._control, self._shares
        states, properties = arrays_of(self._search.store), self._search.properties
        new = int(first.batch.shares.used[:, NEW].sum())
        second.control[at.STATES] = control[at.STATES] + new
        second.control[at.TRANSITIONS] = second.control[at.STORED] = control[at.STORED] = 0
        control[at.FOUND] = first.found
        coming = other.submit(second.number_new, second.control, states, second.batch, properties)
        first.number_new(control, states, first.batch, properties)
        coming.result()
        control[at.STATES] = second.control[at.STATES]
        control[at.TRANSITIONS] += second.control[at.TRANSITIONS]

    def _store_share(self, batch: Batch, has_room: bool) -> int:
        states, properties = arrays_of(self._search.store), self._search.properties
        if has_room:
            return int(number_new(self._control, states, batch, properties))
        return int(store_found(self._control, states, batch.successors, properties))

    def _answer_within(self, successors: Successors, reason: int) -> None:
        """Do what must be done within a batch; the other thread waits."""
        stored = int(self._control[at.STORED])
        last = stored if reason != Reason.CHECK else stored - 1
        self._control[at.EXPANDED] = successors.found_by[last, FOUND_SOURCE] + 1
        self._search.note(reason)

    def _expanded(self) -> int:
        stopped = self._stopped.control
        return int(stopped[at.NUMBER] + (stopped[at.ORDINAL] >= 0))

    def _is_narrow(self) -> bool:
        control = self._control
        return bool(control[at.STATES] - control[at.NUMBER] < engines.STATES_FOR_THREADS)

    def _merge(self, reason: int) -> int:
        """Let the search go on in one thread where a thread has stopped."""
        control, stopped = self._control, self._stopped.control
        places = slice(at.ASKED, at.ASKED + 3)
        control[places] = stopped[places]
        for place in (at.NUMBER, at.ORDINAL, at.WRONG):
            control[place] = stopped[place]
        control[at.EXPANDED] = self._expanded()
        return Reason.BUDGET if reason in (Reason.FINISHED, Reason.MORE) else reason

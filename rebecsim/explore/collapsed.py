"""The numbers that the compiled search works with, and what they stand for.

States of rebecs, messages and outcomes are numbered when they are first met; what follows from
them is worked out by the transition system, once, and entered into tables.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rebecsim.explore.local import Local
from rebecsim.explore.outcome import Breach, Outcome, Sending
from rebecsim.explore.transitions import State, TransitionSystem
from rebecsim.native import answers
from rebecsim.native.breadth_first import FULL, NEVER
from rebecsim.native.errors import TimeTooLargeError
from rebecsim.native.packing import words_of
from rebecsim.native.rows import Rows
from rebecsim.native.tables import ABSENT, insert_entries

__all__ = ["Collapsed"]

_LARGEST_TIME = (1 << 32) - 1

Integers = NDArray[np.int64]


class Collapsed:
    """Numbered states of rebecs and what follows from them."""

    def __init__(self, system: TransitionSystem) -> None:
        self._system = system
        self._numbers: dict[Local, int] = {}
        self._sending_numbers: dict[Sending, int] = {}
        self._locals: list[Local] = []
        self._sendings: list[Sending] = []
        self._outcomes: list[Outcome] = []
        rebecs = len(system.runner.rebecs)
        self.counts = [0] * rebecs
        """How many states of each rebec there are; they are numbered from 1."""
        self.local_at = np.zeros((rebecs, 64), dtype=np.int32)
        self.locals = Rows(5)
        self.batches = Rows(2)
        self.outcomes = Rows(4)
        self.sendings = Rows(2)
        self.keys = np.full(1024, ABSENT, dtype=np.int64)
        self.values = np.empty(1024, dtype=np.int64)
        self._answers = 0
        self._by_time = system.reads_time is not None

    # --- numbers -------------------------------------------------------------------------------

    def row_of(self, local: Local) -> int:
        """Give the row of a rebec's state in `locals`."""
        row = self._numbers.get(local)
        return self._add(local) if row is None else row

    def _add(self, local: Local) -> int:
        for time in (local.next, local.clock):
            if time != NEVER and time > _LARGEST_TIME:
                raise TimeTooLargeError
        owner = local.owner
        self.counts[owner] = number = self.counts[owner] + 1
        if number == self.local_at.shape[1]:
            self.local_at = np.concatenate([self.local_at, np.zeros_like(self.local_at)], axis=1)
        row = self.locals.append(local.next, local.urgency, local.clock, number, ABSENT)
        self.local_at[owner, number] = row
        self._numbers[local] = row
        self._locals.append(local)
        return row

    def _sending(self, sending: Sending) -> int:
        number = self._sending_numbers.get(sending)
        if number is None:
            number = self._sending_numbers[sending] = len(self._sendings)
            self._sendings.append(sending)
        return number

    # --- answers -------------------------------------------------------------------------------

    def work_out_outcomes(self, row: int, time: int) -> None:
        """Enter what comes of serving the messages of a rebec in that state, at that time."""
        local = self._locals[row]
        first = len(self.outcomes)
        outcomes = self._system.runner.outcomes(local, time if self._by_time else 0)
        for outcome in outcomes:
            sent = len(self.sendings)
            for sending in outcome.sendings:
                self.sendings.append(sending.receiver, self._sending(sending))
            after = ABSENT if outcome.local is None else self.row_of(outcome.local)
            fails = outcome.breach is not None
            self.outcomes.append(after, fails, sent, len(outcome.sendings))
            self._outcomes.append(outcome)
        batch = self.batches.append(first, len(outcomes))
        if self._by_time:
            self._enter(answers.AT_TIME, row, time, batch)
        else:
            self.locals.array[row, 4] = batch

    def work_out_received(self, row: int, number: int) -> None:
        """Enter what receiving a message makes of a rebec in that state."""
        local, sending = self._locals[row], self._sendings[number]
        try:
            after = local.received[sending]
        except KeyError:
            after = self._system.runner.receive(local, sending)
        self._enter(answers.RECEIVED, row, number, FULL if after is None else self.row_of(after))

    def work_out_later(self, row: int, units: int) -> None:
        """Enter how a rebec in that state is seen some time later."""
        local = self._locals[row]
        later = local.shifted.get(units) or self._system.locals.shift(local, units)
        self._enter(answers.LATER, row, units, self.row_of(later))

    def _enter(self, kind: int, row: int, value: int, answer: int) -> None:
        self._answers += 1
        if 2 * self._answers > len(self.keys):
            keys, values = self.keys, self.values
            self.keys = np.full(2 * len(keys), ABSENT, dtype=np.int64)
            self.values = np.empty(2 * len(keys), dtype=np.int64)
            insert_entries(self.keys, self.values, keys, values)
        key = row << 34 | kind << 32 | value
        insert_entries(
            self.keys,
            self.values,
            np.array([key], dtype=np.int64),
            np.array([answer], dtype=np.int64),
        )

    # --- breaches ------------------------------------------------------------------------------

    def breach_of(self, outcome: int) -> Breach:
        """Give what is wrong with an outcome."""
        breach = self._outcomes[outcome].breach
        assert breach is not None
        return breach

    def overflow(self, number: int, time: int) -> Breach:
        """Give the breach of a message that finds its receiver's bag full."""
        sending = self._sendings[number]
        return self._system.runner.overflow(sending.receiver, sending.message, time)

    # --- states --------------------------------------------------------------------------------

    def parts_of(self, state: State) -> list[int]:
        """Give the numbers that make up a state."""
        absolute = self._system.absolute
        locals_ = state[:-1] if absolute else state
        rows = [self.row_of(local) for local in locals_]  # first, as it may replace the array
        parts = self.locals.array[rows, 3].tolist()
        return [*parts, state[-1]] if absolute else parts

    def largest_parts(self, time: int) -> list[int]:
        """Give the largest number of every part so far; the time is at least as given."""
        return [*self.counts, time] if self._system.absolute else list(self.counts)

    def state_of(self, words: Integers, layout: Integers) -> State:
        """Give the state that lies in these words."""
        parts = [(int(words[word]) >> shift) & mask for word, shift, mask in layout.tolist()]
        locals_ = [
            self._locals[self.local_at[rebec, number]]
            for rebec, number in enumerate(parts[: len(self.counts)])
        ]
        return (*locals_, *parts[len(self.counts) :])

    def mask_of(self, rebecs: Sequence[int], layout: Integers) -> Integers:
        """Give the bits of a state that say how these rebecs are."""
        masks = np.zeros(words_of(layout), dtype=np.int64)
        for rebec in rebecs:
            word, shift, mask = layout[rebec].tolist()
            masks[word] |= mask << shift
        return masks

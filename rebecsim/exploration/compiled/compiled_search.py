"""Breadth-first search by the compiled engine: the same states in the same order, faster.

Python begins, so that a small search is over before a compiled one is loaded; a larger one is
handed over with all it has found. See `rebecsim.native.loops.breadth_first` for how it goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np

from rebecsim.exploration.compiled.collapse import Collapsed
from rebecsim.exploration.compiled.serving import ServingPlan
from rebecsim.exploration.compiled.transitions import (
    NOTHING_WRITTEN,
    RecordingWriter,
    recomputed_edges,
)
from rebecsim.exploration.compiled.two_threads import BUDGET, TwoThreads
from rebecsim.exploration.search import Search
from rebecsim.exploration.states.effects import Breach
from rebecsim.exploration.states.rebec_states import Waiting
from rebecsim.exploration.states.transitions import State, can_be_served
from rebecsim.lang.checked import CheckedModel
from rebecsim.native import engines, search_layout as at
from rebecsim.native.arrays import Integers, layout_for, packed, words_of
from rebecsim.native.cache import entry_of, prepare
from rebecsim.native.codes import AnswerKind, Reason
from rebecsim.native.engines import TimeTooLargeError
from rebecsim.native.loops.breadth_first import (
    EdgeArrays,
    PropertyTables,
    expand_states,
)
from rebecsim.native.loops.serving import expand_and_serve
from rebecsim.native.loops.successors import LATEST, NEVER
from rebecsim.native.loops.tables import (
    CompactStore,
    ExactStore,
    Store,
    arrays_of,
    fingerprint_of,
    insert_held,
)
from rebecsim.native.search_layout import Parts

_RARE = frozenset({Reason.BUDGET, Reason.ROOM, Reason.WIDTH, Reason.GROW})
"""Reasons to stop after which clock and memory are checked."""

_MANY_GROUPS = 1 << 20
"""Groups of states from which on they are found by sorting, not in a table."""

_ASKED = 256  # stops for other reasons between two looks


def load_compiled_code() -> None:
    """Read the compiled loop from disk, or compile it."""
    prepare(expand_states)


class PackedStates(Sequence[State]):
    """The states of a compiled search, unpacked on access."""

    def __init__(self, search: CompiledSearch) -> None:
        self._search = search

    def __len__(self) -> int:
        return int(self._search.control[at.STATES])

    @overload
    def __getitem__(self, number: int) -> State: ...
    @overload
    def __getitem__(self, number: slice) -> list[State]: ...
    def __getitem__(self, number: int | slice) -> State | list[State]:
        if isinstance(number, slice):
            return [self._search.state(each) for each in range(*number.indices(len(self)))]
        return self._search.state(range(len(self))[number])

    def alike(self, rebecs: frozenset[int]) -> tuple[Integers, Integers]:
        """Group the states by the variables of these rebecs.

        Gives a state of each group, and the group of each state.
        """
        return self._search.groups(sorted(rebecs))


class CompiledSearch:
    """Takes over a search that expands states in the order of being found."""

    def __init__(
        self,
        search: Search,
        number: int,
        checked: CheckedModel | None,
        compact: bool = False,
        threads: int = 1,
    ) -> None:
        """Take over; `number` is the first state that has not been expanded.

        With hash compaction, `compact`, that must be the initial one. `checked` is the tree of the
        model, if it was read from Rebeca. Of `threads` up to two are used.
        """
        self._search = search
        self._threads = threads
        self._answers = 0
        self._asked = 0
        self._expand_states = entry_of(expand_states)
        system = search.system
        self._plan: ServingPlan | None = None
        if checked is not None and can_be_served(system, checked):
            self._plan = ServingPlan(system, checked)
        self._collapsed = collapsed = Collapsed(system)
        search.growth = lambda coming: collapsed.growth_ahead(coming)
        search.sent_by_compiled_code = collapsed.sent_at_once
        search.edges = lambda still: None if compact else recomputed_edges(self, still)
        self.control = np.zeros(at.LENGTH, dtype=np.int64)
        limits = search.limits
        for place, value in {
            at.STATES: len(search.states),
            at.TRANSITIONS: search.transitions,
            at.EXPANDED: search.expanded,
            at.NUMBER: number,
            at.ORDINAL: -1,
            at.REBECS: len(system.runner.rebecs),
            at.MOST: NEVER if limits.states is None else limits.states,
            at.HORIZON: NEVER if limits.horizon is None else limits.horizon,
            at.FLOATING: system.mode == "FTTS",
            at.TIMED: system.mode == "TTS",
            at.ABSOLUTE: system.absolute,
            at.BY_TIME: system.reads_time is not None,
            at.PROPERTIES: len(search.problem.properties),
            at.COMPACT: compact,
            at.PARTIAL: system.partial_order is not None,
        }.items():
            self.control[place] = value
        self.store = self._take_over(compact)
        self._writer = None
        if search.recording is not None:
            self._writer = RecordingWriter(search.recording, self._collapsed, self.control)
        self._use_store()

    def _take_over(self, compact: bool) -> Store:
        search, collapsed = self._search, self._collapsed
        states = len(search.states)
        parts = np.array([collapsed.parts_of(state) for state in search.states], dtype=np.int64)
        absolute = search.system.absolute
        self._latest = int(parts[:, -1].max()) if absolute else 0
        layout = layout_for(collapsed.largest_parts(self._latest))
        store: Store
        if compact:
            numbers = parts[0, :-1] if absolute else parts[0]
            time = self._latest if absolute else 0
            fingerprint = int(fingerprint_of(numbers.copy(), time))
            store = CompactStore(layout, packed(parts, layout), fingerprint)
        else:
            store = ExactStore(layout, packed(parts, layout), self._threads)
        store.parents[:states] = search.parents
        store.ordinals[:states] = search.ordinals
        return store

    def _use_store(self) -> None:
        """Go on with what the store has become."""
        store, control = self.store, self.control
        words = words_of(store.layout)
        control[at.WORDS] = words
        control[at.CAPACITY] = store.capacity
        masks = [
            self._collapsed.mask_of(sorted(each.reads), store.layout)
            for each in self._search.problem.properties
        ]
        self.properties = PropertyTables(
            masks=np.array(masks, dtype=np.int64).reshape(-1, words),
            held=np.zeros((1024, words + 1), dtype=np.int64),
        )
        self._held = 0
        self._numbers = np.zeros(0, dtype=np.uint32)
        if self._writer is not None:  # the states by their places
            states = len(self._search.states)
            self._numbers = np.zeros(len(store.table), dtype=np.uint32)
            self._numbers[store.order[:states]] = np.arange(states, dtype=np.uint32)
        self._search.adopt(PackedStates(self), store.parents, store.ordinals)

    def is_over(self, more: int) -> bool:
        """Whether a limit is reached, or would be with so many more bytes."""
        return self._search.meter.exceeded(lambda: more) is not None

    def enter(self, reason: int, control: Integers) -> bool:
        """Enter what a loop asks for into the tables; false if that cannot be done."""
        asked, other, value = control[at.ASKED : at.ASKED + 3].tolist()
        match reason:
            case Reason.ANSWER:
                self._collapsed.answer(asked, other, value)
            case Reason.ALTERNATIVES:
                self._collapsed.list_alternatives(asked)
            case Reason.ROOM:
                if self._search.meter.would_exceed(self._collapsed.growth(asked)):
                    return False
                self._collapsed.grow(asked)
            case _:
                return False
        return True

    def state(self, number: int) -> State:
        """Unpack a state; with hash compaction, one that has not been expanded yet."""
        return self._collapsed.state_of(self.store.words_at(number), self.store.layout)

    def groups(self, rebecs: Sequence[int]) -> tuple[Integers, Integers]:
        """Group the states by the variables of these rebecs; see `PackedStates.alike`."""
        store = self.store
        assert isinstance(store, ExactStore), "fingerprints do not say what variables are"
        states = int(self.control[at.STATES])
        group, groups = np.zeros(states, np.int64), 1
        for rebec in rebecs:
            word, shift, mask = store.layout[2 * rebec].tolist()
            numbers = store.table[store.order[:states], word] >> shift & mask
            most = int(self._collapsed.inners.numbers[rebec]) + 1
            group, groups = group * most + numbers, groups * most
            if groups > _MANY_GROUPS:
                first, group = np.unique(group, return_inverse=True)
                groups = len(first)
        if groups > _MANY_GROUPS:
            _, first = np.unique(group, return_index=True)
            return first, group
        met = np.full(groups, states, np.int64)
        met[group[::-1]] = np.arange(states - 1, -1, -1)  # of several the last written: the first
        is_met = met < states
        return met[is_met], (np.cumsum(is_met) - 1)[group]

    # --- the loop ------------------------------------------------------------------------------

    def run(self) -> None:
        """Expand all states. Raises SearchEnded as `Search.expand` does."""
        self._search.check_limits()
        reason: int = Reason.BUDGET
        while reason != Reason.FINISHED:
            reason = self._expand()
            self.note(reason)
            if reason == Reason.BUDGET and self._can_use_threads():
                with self._search.meter.leaving_out():  # it may be compiled now
                    threads = TwoThreads(self)
                reason = threads.run()
                self.note(reason)

    def note(self, reason: int) -> None:
        """Take note of how far the search is, and do what a reason to stop asks for."""
        self._search.transitions = int(self.control[at.TRANSITIONS])
        self._search.expanded = int(self.control[at.EXPANDED])
        if self.control[at.BEYOND]:
            self._search.cut("horizon")
        if self._writer is not None:
            self._writer.note()
        self._answer(reason)

    def _can_use_threads(self) -> bool:
        """Whether many states wait, and nearly all answers were there for those expanded last."""
        control = self.control
        if self._threads == 1 or control[at.HORIZON] != NEVER:
            return False
        before, self._answers = self._answers, int(self._collapsed.table_sizes[at.ANSWERS])
        return (
            self._answers - before <= engines.ANSWERS_FOR_THREADS
            and control[at.STATES] - control[at.NUMBER] >= engines.STATES_FOR_THREADS
        )

    def parts(self) -> Parts:
        """Give the tables that say what follows from parts of states."""
        return self._collapsed.arrays()

    def _expand(self) -> int:
        if self.control[at.BUDGET] == 0:
            self.control[at.BUDGET] = -(-BUDGET // self._threads**2)  # two threads begin soon again
        rows = NOTHING_WRITTEN if self._writer is None else self._writer.edges
        arrays = (
            self.control,
            arrays_of(self.store),
            self.parts(),
            self.properties,
            EdgeArrays(rows, self._numbers),
        )
        serving = self._collapsed.serving
        if serving is None:
            return int(self._expand_states(*arrays))
        known = serving.known(self._collapsed.table_sizes, self._collapsed.inners.numbers)
        return int(self._expand_and_serve(serving.native.step, *arrays, known, self._served_model))

    def _answer(self, reason: int) -> None:
        asked, other = self.control[at.ASKED : at.ASKED + 2].tolist()
        self._asked += 1
        if reason in _RARE or not self._asked % _ASKED:
            self.store.give_back(int(self.control[at.STATES]))
            self._search.check_limits()
        match reason:
            case Reason.ANSWER | Reason.ALTERNATIVES | Reason.ROOM:
                if not self.enter(reason, self.control):
                    self._search.stop("memory")
                if reason == Reason.ANSWER and asked == AnswerKind.EFFECTS:
                    self._consider_serving()
            case Reason.WIDTH:
                self._relay(other)
            case Reason.GROW:
                self._grow()
            case Reason.LIMIT:
                self._search.stop("states")
            case Reason.CHECK:
                self._check(int(self.control[at.STATES]) - 1)
            case Reason.BREACH:
                effect = self._collapsed.failing(asked)
                assert effect.breach is not None
                self._breached(effect.breach)
            case Reason.OVERFLOW:
                self._overflow(asked, self._collapsed.message(other))
            case Reason.ENDS:
                self._search.ends_in(int(self.control[at.NUMBER]))

    def _overflow(self, receiver: int, message: Waiting) -> None:
        """Note a message from another rebec that finds no place."""
        system, number = self._search.system, int(self.control[at.NUMBER])
        time = self.state(number)[-1] if system.absolute else 0
        self._breached(system.runner.overflow(receiver, message, time))

    def _breached(self, breach: Breach) -> None:
        """Note a breach of the transition that was followed last."""
        if self._writer is not None:
            self._writer.breached(breach.key)
        number, ordinal = self.control[[at.NUMBER, at.ORDINAL]].tolist()
        self._search.breached(breach, number, ordinal - 1)

    # --- serving by compiled code --------------------------------------------------------------

    def _consider_serving(self) -> None:
        """Let compiled code serve messages, once that is worth compiling the model."""
        served = self._collapsed.served_in_python
        if self._plan is None or served < self._plan.next:
            return
        meter = self._search.meter
        if meter.would_exceed(engines.BYTES_TO_COMPILE):
            self._plan = None
            return
        with meter.leaving_out():
            serving = self._plan.due(served)
        if serving is not None:
            self._collapsed.let_serve(serving)
            self._served_model = serving.model()
            self._expand_and_serve = entry_of(expand_and_serve)

    # --- properties ----------------------------------------------------------------------------

    def _check(self, number: int) -> None:
        """Check the properties of a new state, and remember the answers."""
        state = self.state(number)
        store = self.store
        words = words_of(store.layout)
        found = store.words_at(number)
        for place, each in enumerate(self._search.problem.properties):
            holds = each.holds(state)
            row = np.zeros((1, words + 1), dtype=np.int64)
            row[0, :words] = found & self.properties.masks[place]
            row[0, words] = place + 1 << 1 | holds
            self._remember(row, words)
            if not holds:
                self._search.breached(each.breach, number, None)

    def _remember(self, row: Integers, words: int) -> None:
        self._held += 1
        held = self.properties.held
        if 2 * self._held > len(held):
            larger = np.zeros((2 * len(held), words + 1), dtype=np.int64)
            insert_held(larger, held, words)
            self.properties = self.properties._replace(held=larger)
        insert_held(self.properties.held, row, words)

    # --- growing -------------------------------------------------------------------------------

    def _grow(self) -> None:
        """Make room for more states or transitions, if there is memory for it."""
        if self._writer is not None and self._writer.is_full:
            if self._search.meter.would_exceed(self._writer.growth):
                self._search.stop("memory")
            self._writer.grow()
            return
        if not self.make_room(1):
            self._search.stop("memory")

    def has_room(self, coming: int) -> bool:
        """Whether the arrays hold so many more states."""
        states, expanding = self.control[[at.STATES, at.NUMBER]].tolist()
        return self.store.has_room(states + coming, expanding)

    def make_room(self, coming: int) -> bool:
        """Let the arrays hold so many more states; false if there is no memory for it."""
        while not self.has_room(coming):
            states, expanding = self.control[[at.STATES, at.NUMBER]].tolist()
            if self._search.meter.would_exceed(self.store.growth(states + coming)):
                return False
            self.store.grow(states, expanding, states + coming)
            self._use_store()
        return True

    def _relay(self, time: int) -> None:
        """Lay states out for the numbers there are by now, and that time."""
        if time > LATEST and self.control[at.BY_TIME]:
            raise TimeTooLargeError
        self._latest = max(self._latest, 2 * time)
        layout = layout_for(self._collapsed.largest_parts(self._latest))
        states = len(self._search.states)
        if self._search.meter.would_exceed(self.store.growth(states)):
            self._search.stop("memory")
        self.store.relay(layout, states, int(self.control[at.NUMBER]))
        self._use_store()

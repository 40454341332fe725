"""Number the parts of states for the compiled search, and compute their successors.

Inner states of rebecs (everything but the bag), bags and messages are numbered when they are first
met; the transition system computes what follows from them, once, and it is entered into tables.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebecsim.exploration.checks import bytes_to_grow
from rebecsim.exploration.compiled.serving import Serving, SymmetryArrays, references_in
from rebecsim.exploration.reduction import SymmetricSystem
from rebecsim.exploration.search import Service
from rebecsim.exploration.states.effects import Effect
from rebecsim.exploration.states.memoized_runner import SentAtOnce
from rebecsim.exploration.states.rebec_states import NO_SENDER, Bag, Local, Waiting
from rebecsim.exploration.states.runner import Situation
from rebecsim.exploration.states.suspension import Suspension
from rebecsim.exploration.states.transitions import State, TransitionSystem
from rebecsim.native import search_layout
from rebecsim.native.arrays import IntegerRows, Integers, NumberedRows, ranges, words_of
from rebecsim.native.codes import AnswerKind
from rebecsim.native.engines import TimeTooLargeError
from rebecsim.native.loops import tables
from rebecsim.native.loops.successors import LATEST, NEVER
from rebecsim.native.loops.tables import ABSENT, insert_entries

_NO_SYMMETRIES = np.empty((0, 0), np.int64)


class _Inner(NamedTuple):
    """The state of a rebec without its bag; `time` is absolute, where that matters, or 0."""

    owner: int
    variables: tuple[Any, ...]
    clock: int
    suspension: Suspension | None
    time: int


class _Message(NamedTuple):
    """A message to a rebec, and how many places it finds if these are fewer than the queue has."""

    receiver: int
    waiting: Waiting
    room: int


class Collapsed:
    """Numbered parts of states and what follows from them."""

    def __init__(self, system: TransitionSystem) -> None:
        self._system = system
        self._runner = system.runner
        rebecs = len(system.runner.rebecs)
        self.capacities = np.array(system.runner.capacities, np.int64)
        self.table_sizes = sizes = np.zeros(search_layout.TABLES, np.int64)
        self.inners = NumberedRows(rebecs, search_layout.INNER_WIDTH, sizes, search_layout.INNERS)
        self.bags = NumberedRows(rebecs, search_layout.BAG_WIDTH, sizes, search_layout.BAGS)
        self.alternatives = IntegerRows(
            search_layout.ALTERNATIVE_WIDTH, sizes, search_layout.ALTERNATIVES
        )
        self.batches = IntegerRows(search_layout.BATCH_WIDTH, sizes, search_layout.BATCHES)
        self.effects = IntegerRows(search_layout.EFFECT_WIDTH, sizes, search_layout.EFFECT_ROWS)
        self.sendings = IntegerRows(search_layout.SENDING_WIDTH, sizes, search_layout.SENDINGS)
        self._served = {
            search_layout.BATCHES: self.batches,
            search_layout.EFFECT_ROWS: self.effects,
            search_layout.SENDINGS: self.sendings,
        }
        """The tables that compiled code fills when it serves messages, by number."""
        self.keys = np.full(1024, ABSENT, np.int64)
        self.values = np.empty(1024, np.int64)
        self._symmetries = SymmetryArrays(system) if isinstance(system, SymmetricSystem) else None
        self.served_in_python = 0
        """How many times Python has served a message."""
        self.serving: Serving | None = None
        self._inner_rows: dict[tuple[Any, ...], int] = {}
        self._bag_rows: list[dict[Bag, int]] = [{} for _ in range(rebecs)]
        self._message_numbers: dict[_Message, int] = {}
        self._inners: dict[int, _Inner] = {}
        self._bags: list[tuple[int, Bag]] = []
        self._messages: list[_Message] = []
        self._failing: dict[int, Effect] = {}

    def arrays(self) -> search_layout.Parts:
        """Give the tables for compiled code, as long as none grows."""
        return search_layout.Parts(
            self.inners.at,
            self.bags.at,
            self.capacities,
            self.inners.array,
            self.bags.array,
            self.alternatives.array,
            self.batches.array,
            self.effects.array,
            self.sendings.array,
            self.keys,
            self.values,
            _NO_SYMMETRIES if self._symmetries is None else self._symmetries.origins,
        )

    # --- numbers -------------------------------------------------------------------------------

    def _inner_row(
        self, owner: int, variables: tuple[Any, ...], clock: int, suspension: Suspension | None
    ) -> int:
        """Give the row of an inner state."""
        if self.serving is not None:
            assert suspension is None, "what has delays is not served by compiled code"
            row = self.serving.find(owner, variables, clock)
            return row if row != ABSENT else self._add_inner(owner, variables, clock, None)
        variables = self._system.locals.represented(owner, variables)
        key = owner, variables, clock, None if suspension is None else suspension.identity
        known = self._inner_rows.get(key)
        if known is None:
            known = self._inner_rows[key] = self._add_inner(owner, variables, clock, suspension)
        return known

    def _add_inner(
        self, owner: int, variables: tuple[Any, ...], clock: int, suspension: Suspension | None
    ) -> int:
        resume = urgency = message = ABSENT
        if suspension is not None:
            resume = suspension.resume
            urgency = self._system.locals.urgency(owner, suspension.message)
            message = self._message_number(owner, suspension.message)
        if max(clock, resume) > LATEST:
            raise TimeTooLargeError
        ticks = self._system.locals.ticks(owner, variables)
        row = self.inners.append_to(owner, clock, resume, urgency, message, ticks)
        if self.serving is None:
            self._inners[row] = _Inner(owner, variables, clock, suspension, 0)
        else:
            self.serving.enter(row, owner, variables, clock)
        return row

    def _inner_at(self, row: int) -> _Inner:
        if self.serving is None:
            return self._inners[row]
        return _Inner(*self.serving.inner_at(row), None, 0)

    def _bag_row(self, owner: int, bag: Bag) -> int:
        """Give the row of a bag, which must be in canonical order."""
        known = self._bag_rows[owner].get(bag)
        if known is None:
            if bag and bag[0].arrival > LATEST:
                raise TimeTooLargeError
            arrival = bag[0].arrival if bag else NEVER
            urgency = self._system.locals.urgency(owner, bag[0] if bag else None)
            order = self._system.partial_order
            sent, alone = (0, 0) if order is None else order.of_bag(owner, bag)
            known = self.bags.append_to(owner, arrival, urgency, len(bag), ABSENT, 0, sent, alone)
            self._bags.append((owner, bag))
            self._bag_rows[owner][bag] = known
        return known

    def _message_number(self, receiver: int, waiting: Waiting, room: int = NEVER) -> int:
        message = _Message(receiver, waiting, room)
        known = self._message_numbers.get(message)
        if known is None:
            known = self._message_numbers[message] = len(self._messages)
            self._messages.append(message)
            if self.serving is not None:
                self._show_message(self.serving, known)
        return known

    # --- answers -------------------------------------------------------------------------------

    def list_alternatives(self, row: int) -> None:
        """Enter which messages of a bag may be served first."""
        owner, bag = self._bags[row]
        first = len(self.alternatives)
        served = self._system.locals.first_of(bag)
        for place, message in enumerate(served):
            rest = self._bag_row(owner, bag[:place] + bag[place + 1 :])
            self.alternatives.append(self._message_number(owner, message), rest)
        self.bags.array[row, search_layout.BAG_FIRST] = first
        self.bags.array[row, search_layout.BAG_COUNT] = len(served)

    def answer(self, kind: int, row: int, value: int) -> None:
        """Compute what the compiled search asks for, and enter it."""
        match kind:
            case AnswerKind.EFFECTS:
                answer = self._effects_of(row, value)
            case AnswerKind.RECEIVED:
                answer = self._arranged(row, (self._messages[value].waiting,))
            case AnswerKind.JOINED:
                answer = self._arranged(row, self._bags[value][1])
            case AnswerKind.BAG_LATER:
                owner, bag = self._bags[row]
                answer = self._bag_row(owner, tuple([each.earlier(value) for each in bag]))
            case AnswerKind.INNER_LATER:
                answer = self._inner_later(row, value)
            case AnswerKind.TIGHT:
                message = self._messages[row]
                answer = self._message_number(message.receiver, message.waiting, value)
            case AnswerKind.INNER_IMAGE | AnswerKind.BAG_IMAGE:
                self._enter_images(kind, row, value)
                return
            case _:
                answer = self._at_time(row, value)
        self._enter(kind, row, value, answer)

    def _arranged(self, row: int, more: Bag) -> int:
        owner, bag = self._bags[row]
        return self._bag_row(owner, self._system.locals.arrange((*bag, *more)))

    def _inner_later(self, row: int, units: int) -> int:
        owner, variables, clock, suspension, _ = self._inner_at(row)
        later = None if suspension is None else suspension.earlier(units)
        after = self._system.locals.later(owner, variables, units)
        return self._inner_row(owner, after, max(clock - units, 0), later)

    def _enter_images(self, kind: int, row: int, asked: int) -> None:
        """Enter the images of an inner state or a bag under some symmetries, one of them asked for.

        Few of them differ: what they do with rebecs that are not in it makes no difference.
        """
        assert self._symmetries is not None
        if kind == AnswerKind.INNER_IMAGE:
            owner, variables, clock, _, _ = self._inner_at(row)
            found = references_in(variables)
        else:
            owner, bag = self._bags[row]
            found = references_in(bag) | {each.sender for each in bag} - {NO_SENDER}
        members, alike, renamings = self._symmetries.around(asked, owner, found)
        if kind == AnswerKind.INNER_IMAGE:
            images = [
                self._inner_row(each.images[owner], each.variables(owner, variables), clock, None)
                for each in renamings
            ]
        else:
            images = [self._bag_row(each.images[owner], each.bag(owner, bag)) for each in renamings]
        while 2 * (self.table_sizes[search_layout.ANSWERS] + len(members)) > len(self.keys):
            self.grow(search_layout.ANSWERS)
        keys = tables.keys_of(kind, row, members)
        insert_entries(self.keys, self.values, keys, np.array(images, np.int64)[alike])
        self.table_sizes[search_layout.ANSWERS] += len(members)

    def _at_time(self, row: int, time: int) -> int:
        """Give a row for an inner state at an absolute time; it is no part of states."""
        added = self.inners.append(*[ABSENT] * (search_layout.INNER_WIDTH - 1), 0)
        self._inners[added] = self._inners[row]._replace(time=time)
        return added

    def _effects_of(self, row: int, number: int) -> int:
        """Give the batch of what comes of serving a message."""
        self.served_in_python += 1
        owner, variables, _, suspension, time = self._inner_at(row)
        _, message, room = self._messages[number]
        room = min(room, self._runner.capacities[owner])
        start = Situation(owner, variables, message, suspension, time, room)
        found = self._runner.effects(start)
        first = len(self.effects)
        for effect in found:
            self._add_effect(effect)
        return self.batches.append(first, len(found), max(effect.places for effect in found))

    def _add_effect(self, effect: Effect) -> None:
        owner, breach = effect.owner, effect.breach
        sent = len(self.sendings)
        for sending in effect.sendings:
            receiver = sending.receiver
            self.sendings.append(receiver, self._message_number(receiver, sending.message))
        after = own = ABSENT
        if breach is None:
            after = self._inner_row(owner, effect.variables, effect.clock, effect.suspension)
            if effect.own:
                own = self._bag_row(owner, self._system.locals.arrange(effect.own))
                for message in effect.own:  # so that compiled code knows it
                    self._message_number(owner, message)
        else:
            self._failing[len(self.effects)] = effect
        fails = breach is not None
        self.effects.append(after, own, fails, sent, len(effect.sendings))

    def _enter(self, kind: int, row: int, value: int, answer: int) -> None:
        if 2 * (self.table_sizes[search_layout.ANSWERS] + 1) > len(self.keys):
            self.grow(search_layout.ANSWERS)
        tables.enter_answer(self.keys, self.values, kind, row, value, answer)
        self.table_sizes[search_layout.ANSWERS] += 1

    # --- room ----------------------------------------------------------------------------------

    def growth(self, table: int) -> int:
        """Give the bytes that making room in a table takes."""
        if table == search_layout.ANSWERS:
            return 2 * (self.keys.nbytes + self.values.nbytes)
        if table in self._served:
            return 2 * self._served[table].array.nbytes
        assert self.serving is not None
        return 2 * (self.inners.array.nbytes + self.serving.contents.nbytes)

    def growth_ahead(self, coming: int) -> int:
        """Give the bytes that tables need if each may get so many more rows."""
        dictionaries: list[Sized] = [
            self._inner_rows,
            *self._bag_rows,
            self._message_numbers,
            self._inners,
            *self._system.tables(),
        ]
        rows = (self.inners, self.bags, self.alternatives, self.batches, self.effects)
        arrays: list[NDArray[Any]] = [
            each.array for each in (*rows, self.sendings) if each.grows(coming)
        ]
        if self.inners.grows(coming) and self.serving is not None:
            arrays.append(self.serving.contents)
        arrays += [each.at for each in (self.inners, self.bags) if each.grows_numbers(coming)]
        if 2 * (self.table_sizes[search_layout.ANSWERS] + coming) > len(self.keys):
            arrays += [self.keys, self.values]
        return bytes_to_grow(dictionaries, coming) + sum(2 * each.nbytes for each in arrays)

    def grow(self, table: int) -> None:
        """Make room in a table that is full."""
        if table == search_layout.ANSWERS:
            keys, values = self.keys, self.values
            self.keys = np.full(2 * len(keys), ABSENT, np.int64)
            self.values = np.empty(2 * len(keys), np.int64)
            insert_entries(self.keys, self.values, keys, values)
        elif table in self._served:
            self._served[table].grow()
        else:
            self._grow_inners()

    def _grow_inners(self) -> None:
        inners, serving = self.inners, self.serving
        assert serving is not None
        if len(inners) == len(inners.array):
            inners.grow()
        if inners.numbers.max() + 1 == inners.at.shape[1]:
            inners.grow_numbers()
        serving.make_room(len(inners.array))

    # --- serving by compiled code --------------------------------------------------------------

    def let_serve(self, serving: Serving) -> None:
        """Let compiled code serve messages from now on."""
        for row, (owner, variables, clock, _, _) in self._inners.items():
            serving.enter(row, owner, variables, clock)
        serving.make_room(len(self.inners.array))
        for number in range(len(self._messages)):
            self._show_message(serving, number)
        for owner in range(len(self.capacities)):
            serving.set_empty_bag(owner, self._bag_row(owner, ()))
        self._inners, self._inner_rows = {}, {}
        self.serving = serving

    def _show_message(self, serving: Serving, number: int) -> None:
        receiver, waiting, room = self._messages[number]
        serving.enter_message(number, receiver, waiting if room == NEVER else None)

    def sent_at_once(self) -> set[SentAtOnce]:
        """Give which message servers have sent which messages that may be served at once."""
        told = [
            (receiver, waiting.number, waiting.arrival) for receiver, waiting, _ in self._messages
        ]
        messages = np.array(told, np.int64).reshape(-1, 3)
        asked = (self.keys >= 0) & (tables.kind_of(self.keys) == AnswerKind.EFFECTS)
        served = tables.value_of(self.keys[asked])
        batches = self.batches.array[self.values[asked]]
        # --- of each effect the message that was served, then of each sending
        count = batches[:, search_layout.BATCH_COUNT]
        by = np.repeat(served, count)
        effects = self.effects.array[ranges(batches[:, search_layout.BATCH_FIRST], count)]
        at_once = messages[by, 2] == 0
        by, effects = by[at_once], effects[at_once]
        found: set[SentAtOnce] = set()
        own = effects[:, search_layout.EFFECT_OWN] != ABSENT
        own_rows = effects[own, search_layout.EFFECT_OWN]
        for sender, row in set(zip(by[own].tolist(), own_rows.tolist(), strict=True)):
            owner, number, _ = told[sender]
            bag = self._bags[row][1]
            found |= {((owner, number), (owner, each.number)) for each in bag if not each.arrival}
        count = effects[:, search_layout.EFFECT_COUNT]
        by = np.repeat(by, count)
        rows = ranges(effects[:, search_layout.EFFECT_FIRST], count)
        sent = self.sendings.array[rows, search_layout.SENDING_MESSAGE]
        now = messages[sent, 2] == 0
        pairs = np.unique(np.hstack([messages[by[now], :2], messages[sent[now], :2]]), axis=0)
        found |= {((a, b), (c, d)) for a, b, c, d in pairs.tolist()}
        return found

    # --- breaches ------------------------------------------------------------------------------

    def failing(self, effect: int) -> Effect:
        """Give an effect that goes wrong."""
        return self._failing[effect]

    def message(self, number: int) -> Waiting:
        """Give a message by its number."""
        return self._messages[number].waiting

    def service(self, served: int) -> Service:
        """Give what compiled code serves, see `rebecsim.native.loops.successors.TIME_PASSES`."""
        receiver, waiting, _ = self._messages[served >> 1]
        return Service(receiver, waiting, bool(served & 1))

    # --- states --------------------------------------------------------------------------------

    def parts_of(self, state: State) -> list[int]:
        """Give the numbers that make up a state."""
        absolute = self._system.absolute
        found = []
        for local in state[:-1] if absolute else state:
            inner = self._inner_row(local.owner, local.variables, local.clock, local.suspension)
            bag = self._bag_row(local.owner, local.bag)
            found.append(self.inners.number_of(inner))
            found.append(self.bags.number_of(bag))
        return [*found, state[-1]] if absolute else found

    def largest_parts(self, time: int) -> list[int]:
        """Give the largest number of every part so far; the time is at least as given."""
        pairs = zip(self.inners.numbers.tolist(), self.bags.numbers.tolist(), strict=True)
        found = [number for pair in pairs for number in pair]
        return [*found, time] if self._system.absolute else found

    def state_of(self, words: Integers, layout: Integers) -> State:
        """Give the state that lies in these words."""
        found = [(int(words[word]) >> shift) & mask for word, shift, mask in layout.tolist()]
        rebecs = len(self.capacities)
        locals_ = [self._local(each, *found[2 * each : 2 * each + 2]) for each in range(rebecs)]
        return (*locals_, *found[2 * rebecs :])

    def _local(self, rebec: int, inner: int, bag: int) -> Local:
        owner, variables, clock, suspension, _ = self._inner_at(self.inners.row_at(rebec, inner))
        _, messages = self._bags[self.bags.row_at(rebec, bag)]
        return self._system.locals.intern(owner, variables, clock, suspension, messages)

    def mask_of(self, rebecs: Sequence[int], layout: Integers) -> Integers:
        """Give the bits of a state that say what the variables of these rebecs are."""
        masks = np.zeros(words_of(layout), np.int64)
        for rebec in rebecs:
            word, shift, mask = layout[2 * rebec].tolist()
            masks[word] |= mask << shift
        return masks

"""The breadth-first search over collapsed states, compiled.

A state of the system is a tuple of numbers, one for the state of each rebec, packed into a few
64-bit words; equal states of one rebec have one number. What a rebec's state leads to (the
outcomes of its messages, itself with one more message, itself some time later) is looked up in
tables. The loop knows nothing of models: where a table has no answer yet it returns, is told the
answer, and goes on. So it is compiled once for all models, and the meaning of a model is worked
out where it is defined, once for each state of a rebec and not for each state of the system.

The idea of storing a state as numbers of its parts is Holzmann's collapse method ("State
compression in SPIN", SPIN workshop 1997).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebecsim.native import answers, reasons
from rebecsim.native import control as at
from rebecsim.native.cache import compiled

__all__ = [
    "ABSENT",
    "FULL",
    "NEVER",
    "expand_states",
    "fingerprint_of",
    "insert_entries",
    "insert_held",
    "insert_states",
    "move_fingerprints",
    "move_states",
    "repack_states",
]

Integers = NDArray[np.int64]
Numbers = NDArray[np.uint32]

NEVER = 1 << 62
"""The next time of a rebec that has nothing to do, as in `rebecsim.explore`."""

ABSENT = -1
"""What a table says that it does not know; also the outcome of a message that fails."""

FULL = -2
"""What the table of receiving says of a full bag."""


_HASH = -7046029254386353131  # 2**64 divided by the golden ratio, as a signed number


@compiled("int64(int64[:, ::1], int64, int64)")
def _place(table: Integers, place: int | np.int64, words: int) -> int:
    """Hash the words at a place of an array; the array is of shape (places, words)."""
    mixed = 0
    for word in range(words):
        mixed = (mixed ^ table[place, word]) * _HASH
        mixed ^= mixed >> 29
    mixed *= _HASH
    return mixed ^ (mixed >> 32)


@compiled("int64(int64)")
def _scatter(key: int) -> int:
    mixed = key * _HASH
    mixed ^= mixed >> 32
    return mixed


@compiled("int64(int64[::1], int64[::1], int64)")
def _known(keys: Integers, values: Integers, key: int) -> int:
    """Look up a key in a table of answers; free places hold the key ABSENT."""
    last = keys.shape[0] - 1
    place = _scatter(key) & last
    while keys[place] != key:
        if keys[place] == ABSENT:
            return ABSENT
        place = (place + 1) & last
    return values[place]


@compiled("void(int64[::1], int64[::1], int64[::1], int64[::1])")
def insert_entries(keys: Integers, values: Integers, new_keys: Integers, new: Integers) -> None:
    """Enter keys that are not there yet, with their values; the table must have room."""
    last = keys.shape[0] - 1
    for entry in range(new_keys.shape[0]):
        if new_keys[entry] == ABSENT:
            continue
        place = _scatter(new_keys[entry]) & last
        while keys[place] != ABSENT:
            place = (place + 1) & last
        keys[place] = new_keys[entry]
        values[place] = new[entry]


@compiled("void(int64[:, ::1], uint32[::1], int64[:, ::1], int64, int64)")
def insert_states(
    table: Integers, order: Numbers, states: Integers, first: int, words: int
) -> None:
    """Store states that are not there yet, numbered from `first`; the table must have room."""
    last = table.shape[0] - 1
    for row in range(states.shape[0]):
        place = _place(states, row, words) & last
        while table[place, 0] != 0:
            place = (place + 1) & last
        for word in range(words):
            table[place, word] = states[row, word]
        order[first + row] = place


@compiled("void(int64[:, ::1], int64[:, ::1])")
def move_fingerprints(old: Integers, table: Integers) -> None:
    """Move fingerprints, both arrays of shape (places, 1), to a larger table."""
    last = table.shape[0] - 1
    for row in range(old.shape[0]):
        if old[row, 0] == 0:
            continue
        place = _place(old, row, 1) & last
        while table[place, 0] != 0:
            place = (place + 1) & last
        table[place, 0] = old[row, 0]


@compiled("int64(int64[::1], int64)")
def fingerprint_of(parts: Integers, time: int) -> int:
    """Give the fingerprint of a state: the numbers of its rebecs' states, and its time or 0."""
    mixed = time
    for rebec in range(parts.shape[0]):
        mixed = _scatter((mixed ^ parts[rebec]) + rebec)
    return mixed >> 1 | 1 << 62


@compiled("void(int64[:, ::1], int64[:, ::1], uint32[::1], int64, int64)")
def move_states(old: Integers, table: Integers, order: Numbers, states: int, words: int) -> None:
    """Move states to another table of the same layout."""
    last = table.shape[0] - 1
    for number in range(states):
        from_place = np.int64(order[number])
        place = _place(old, from_place, words) & last
        while table[place, 0] != 0:
            place = (place + 1) & last
        for word in range(words):
            table[place, word] = old[from_place, word]
        order[number] = place


@compiled(
    "void(int64[:, ::1], int64[:, ::1], uint32[::1], int64, int64[:, ::1], int64[:, ::1], int64)"
)
def repack_states(
    old: Integers,
    table: Integers,
    order: Numbers,
    states: int,
    old_layout: Integers,
    layout: Integers,
    words: int,
) -> None:
    """Move states to another table of another layout."""
    parts = layout.shape[0]
    packed = np.zeros((1, words), dtype=np.int64)
    last = table.shape[0] - 1
    for number in range(states):
        from_place = np.int64(order[number])
        packed[:] = 0
        for part in range(parts):
            value = (old[from_place, old_layout[part, 0]] >> old_layout[part, 1]) & old_layout[
                part, 2
            ]
            packed[0, layout[part, 0]] |= value << layout[part, 1]
        place = _place(packed, 0, words) & last
        while table[place, 0] != 0:
            place = (place + 1) & last
        for word in range(words):
            table[place, word] = packed[0, word]
        order[number] = place


@compiled("int64(int64[:, ::1], int64[:, ::1], int64, int64)")
def _holds(held: Integers, wanted: Integers, property_: int, words: int) -> int:
    """Look up whether a property holds in a state of which only what it reads is left.

    `wanted` is of shape (1, words). Gives 1 or 0, or ABSENT.
    """
    last = held.shape[0] - 1
    place = _place(wanted, 0, words) + property_ & last
    while held[place, words] != 0:
        equal = held[place, words] >> 1 == property_ + 1
        for word in range(words):
            equal = equal and held[place, word] == wanted[0, word]
        if equal:
            return held[place, words] & 1
        place = (place + 1) & last
    return ABSENT


@compiled("void(int64[:, ::1], int64[:, ::1], int64)")
def insert_held(held: Integers, rows: Integers, words: int) -> None:
    """Enter what is known of properties; rows are (words of a state, property and answer)."""
    last = held.shape[0] - 1
    for row in range(rows.shape[0]):
        if rows[row, words] == 0:
            continue
        place = _place(rows, row, words) + (rows[row, words] >> 1) - 1 & last
        known = False
        while held[place, words] != 0 and not known:
            known = True
            for word in range(words + 1):
                known = known and held[place, word] == rows[row, word]
            if not known:
                place = (place + 1) & last
        for word in range(words + 1):
            held[place, word] = rows[row, word]


@compiled(
    "int64(int64[::1], int64[:, ::1], int32[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1],"
    "int64[:, ::1], int64[::1], int64[::1], int64[:, ::1], uint32[::1], uint32[::1], uint32[::1],"
    "int64[:, ::1], int64[:, ::1], int64[:, ::1], int64)"
)
def expand_states(
    control: Integers,
    layout: Integers,
    local_at: NDArray[np.int32],
    locals_: Integers,
    batches: Integers,
    outcomes: Integers,
    sendings: Integers,
    keys: Integers,
    values: Integers,
    table: Integers,
    order: Numbers,
    parents: Numbers,
    ordinals: Numbers,
    queue: Integers,
    masks: Integers,
    held: Integers,
    budget: int,
) -> int:
    """Expand states in the order of being found, until there is a reason to return.

    * control: see `rebecsim.native.control`; on return it says where to go on.
    * layout: (parts, 3), the word, shift and mask of each part of a state.
    * local_at: (rebecs, numbers), the row in `locals_` of each numbered state of a rebec.
    * locals_: (states of rebecs, 5), next time, urgency, clock, number, batch of outcomes.
    * batches: (batches, 2), first outcome and how many.
    * outcomes: (outcomes, 4), state of the rebec after it or ABSENT, whether it fails, first
      sending and how many.
    * sendings: (sendings, 2), receiver and number of the message.
    * keys, values: what receiving, and time passing, makes of a state of a rebec.
    * table: (places, words), the states; order: the place of each; parents and ordinals: the
      state it was found from, and by which transition.
    * queue: (rows, words); with hash compaction the table has fingerprints only, shape (places, 1),
      and the states still to be expanded, from the one being expanded on, are here in a ring.
    * masks: (properties, words), what each property reads; held: what is known of them.
    * budget: how many states to expand at most.
    """
    rebecs = control[at.REBECS]
    words = control[at.WORDS]
    floating = control[at.FLOATING] != 0
    timed = control[at.TIMED] != 0
    absolute = control[at.ABSOLUTE] != 0
    by_time = control[at.BY_TIME] != 0
    horizon = control[at.HORIZON]
    properties = control[at.PROPERTIES]
    compact = control[at.COMPACT] != 0
    ring = queue.shape[0]
    identity = 1 if compact else words
    last = table.shape[0] - 1
    before = np.empty(rebecs, dtype=np.int64)
    after = np.empty(rebecs, dtype=np.int64)
    changes = np.empty(rebecs, dtype=np.int64)
    source = np.empty((1, words), dtype=np.int64)
    target = np.empty((1, words), dtype=np.int64)
    seen = np.empty((1, words), dtype=np.int64)
    fingerprint = np.empty((1, 1), dtype=np.int64)
    numbers = np.empty(rebecs, dtype=np.int64)
    number = control[at.NUMBER]
    followed = control[at.ORDINAL]
    left = budget
    while number < control[at.STATES]:
        if followed < 0:
            if left == 0:
                control[at.NUMBER] = number
                control[at.ORDINAL] = followed
                return reasons.BUDGET
            left -= 1
            followed = 0
            control[at.EXPANDED] += 1
        # --- which rebecs may act
        found_at = number % ring if compact else np.int64(order[number])
        for word in range(words):
            source[0, word] = queue[found_at, word] if compact else table[found_at, word]
        first = urgency = NEVER
        changed = 0
        for rebec in range(rebecs):
            own = np.int64(
                local_at[
                    rebec,
                    (source[0, layout[rebec, 0]] >> layout[rebec, 1]) & layout[rebec, 2],
                ]
            )
            before[rebec] = after[rebec] = own
            first = min(first, locals_[own, 0])
            if locals_[own, 0] == 0:
                urgency = min(urgency, locals_[own, 1])
        time = 0
        if absolute:
            time = (source[0, layout[rebecs, 0]] >> layout[rebecs, 1]) & layout[rebecs, 2]
            if time > horizon:
                control[at.BEYOND] = 1
                number += 1
                followed = -1
                continue
        passing = first != 0
        if passing and (first == NEVER or not timed):
            if followed == 0:
                control[at.NUMBER] = number
                control[at.ORDINAL] = 1  # so that it is not found again
                control[at.ASKED] = number
                return reasons.DEADLOCK
            number += 1
            followed = -1
            continue
        # --- each transition of each of them; the time alone is one transition of nobody
        ordinal = 0
        for rebec in range(1 if passing else rebecs):
            begin = end = 0
            if passing:
                end = 1
            else:
                own = before[rebec]
                if locals_[own, 0] != 0 or locals_[own, 1] != urgency:
                    continue
                batch = locals_[own, 4]
                if by_time:
                    batch = _known(keys, values, own << 34 | answers.AT_TIME << 32 | time)
                if batch == ABSENT:
                    control[at.NUMBER] = number
                    control[at.ORDINAL] = ordinal
                    control[at.ASKED] = own
                    control[at.ASKED + 1] = time
                    return reasons.OUTCOMES
                begin = batches[batch, 0]
                end = begin + batches[batch, 1]
                if ordinal + end - begin <= followed:
                    ordinal += end - begin
                    continue
            for outcome in range(begin, end):
                if ordinal < followed:
                    ordinal += 1
                    continue
                for place in range(changed):
                    after[changes[place]] = before[changes[place]]
                changed = 0
                units = first
                if not passing:
                    after[rebec] = outcomes[outcome, 0]
                    changes[0] = rebec
                    changed = 1
                    reason = reasons.FINISHED
                    sent = outcomes[outcome, 2]
                    for sending in range(sent, sent + outcomes[outcome, 3]):
                        receiver = sendings[sending, 0]
                        got = _known(
                            keys,
                            values,
                            after[receiver] << 34 | answers.RECEIVED << 32 | sendings[sending, 1],
                        )
                        if got < 0:
                            reason = reasons.RECEIVE if got == ABSENT else reasons.OVERFLOW
                            control[at.ASKED] = after[receiver]
                            control[at.ASKED + 1] = sendings[sending, 1]
                            break
                        if after[receiver] == before[receiver]:
                            changes[changed] = receiver
                            changed += 1
                        after[receiver] = got
                    if reason == reasons.FINISHED and outcomes[outcome, 1] != 0:
                        reason = reasons.BREACH
                        control[at.ASKED] = outcome
                    if reason != reasons.FINISHED:
                        control[at.NUMBER] = number
                        control[at.ORDINAL] = ordinal
                        if reason != reasons.RECEIVE:
                            control[at.ORDINAL] = ordinal + 1
                        return reason
                    units = 0
                    if floating:
                        units = NEVER
                        for other in range(rebecs):
                            units = min(units, locals_[after[other], 0])
                            if units == 0:
                                break
                        if units == NEVER:
                            for other in range(rebecs):
                                units = min(units, locals_[after[other], 2])
                if units != 0:
                    for other in range(rebecs):
                        got = _known(keys, values, after[other] << 34 | answers.LATER << 32 | units)
                        if got == ABSENT:
                            control[at.NUMBER] = number
                            control[at.ORDINAL] = ordinal
                            control[at.ASKED] = after[other]
                            control[at.ASKED + 1] = units
                            return reasons.LATER
                        after[other] = got
                        changes[other] = other
                    changed = rebecs
                # --- pack the state that was reached
                for word in range(words):
                    target[0, word] = source[0, word]
                for change in range(changed):
                    other = changes[change]
                    if after[other] != before[other]:
                        value = locals_[after[other], 3]
                        if value > layout[other, 2]:
                            control[at.NUMBER] = number
                            control[at.ORDINAL] = ordinal
                            control[at.ASKED] = other
                            control[at.ASKED + 1] = 0
                            return reasons.WIDTH
                        target[0, layout[other, 0]] ^= (
                            value ^ locals_[before[other], 3]
                        ) << layout[other, 1]
                if absolute:
                    if time + units > layout[rebecs, 2]:
                        control[at.NUMBER] = number
                        control[at.ORDINAL] = ordinal
                        control[at.ASKED] = rebecs
                        control[at.ASKED + 1] = time + units
                        return reasons.WIDTH
                    target[0, layout[rebecs, 0]] ^= (time ^ (time + units)) << layout[rebecs, 1]
                # --- find it or store it
                wanted = target
                if compact:
                    wanted = fingerprint
                    for other in range(rebecs):
                        numbers[other] = locals_[after[other], 3]
                    fingerprint[0, 0] = fingerprint_of(numbers, time + units if absolute else 0)
                place = _place(wanted, 0, identity) & last
                found = False
                while table[place, 0] != 0:
                    found = True
                    for word in range(identity):
                        found = found and table[place, word] == wanted[0, word]
                    if found:
                        break
                    place = (place + 1) & last
                if found:
                    control[at.TRANSITIONS] += 1
                    ordinal += 1
                    continue
                states = control[at.STATES]
                full = states == control[at.CAPACITY] or (compact and states - number == ring)
                if full or states == control[at.MOST]:
                    control[at.NUMBER] = number
                    control[at.ORDINAL] = ordinal
                    if states == control[at.MOST]:
                        control[at.TRANSITIONS] += 1
                        return reasons.LIMIT
                    return reasons.GROW
                control[at.TRANSITIONS] += 1
                ordinal += 1
                for word in range(identity):
                    table[place, word] = wanted[0, word]
                if compact:
                    for word in range(words):
                        queue[states % ring, word] = target[0, word]
                else:
                    order[states] = place
                parents[states] = number
                ordinals[states] = ordinal - 1
                control[at.STATES] = states + 1
                # --- check it
                for property_ in range(properties):
                    for word in range(words):
                        seen[0, word] = target[0, word] & masks[property_, word]
                    if _holds(held, seen, property_, words) != 1:
                        control[at.NUMBER] = number
                        control[at.ORDINAL] = ordinal
                        control[at.ASKED] = states
                        return reasons.CHECK
        number += 1
        followed = -1
    control[at.NUMBER] = number
    control[at.ORDINAL] = followed
    return reasons.FINISHED

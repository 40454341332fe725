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


_AT_ONCE = 128  # successors of a state that are looked up together
_HASH = -7046029254386353131  # 2**64 divided by the golden ratio, as a signed number


@compiled("int64(int64[:, ::1], int64, int64)", borrows=True, inline=True)
def _place(table: Integers, place: int | np.int64, words: int) -> int:
    """Hash the words at a place of an array; the array is of shape (places, words)."""
    mixed = 0
    for word in range(words):
        mixed = (mixed ^ table[place, word]) * _HASH
        mixed ^= mixed >> 29
    mixed *= _HASH
    return mixed ^ (mixed >> 32)


@compiled("int64(int64)", borrows=True, inline=True)
def _scatter(key: int) -> int:
    mixed = key * _HASH
    mixed ^= mixed >> 32
    return mixed


@compiled("int64(int64[::1], int64[::1], int64)", borrows=True, inline=True)
def _known(keys: Integers, values: Integers, key: int) -> int:
    """Look up a key in a table of answers; free places hold the key ABSENT."""
    last = keys.shape[0] - 1
    place = _scatter(key) & last
    while keys[place] != key:
        if keys[place] == ABSENT:
            return ABSENT
        place = (place + 1) & last
    return values[place]


@compiled("void(int64[::1], int64[::1], int64[::1], int64[::1])", borrows=True)
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


@compiled("void(int64[:, ::1], uint32[::1], int64[:, ::1], int64, int64)", borrows=True)
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


@compiled("void(int64[:, ::1], int64[:, ::1])", borrows=True)
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


@compiled("int64(int64[::1], int64)", borrows=True)
def fingerprint_of(parts: Integers, time: int) -> int:
    """Give the fingerprint of a state: the numbers of its rebecs' states, and its time or 0."""
    mixed = time
    for rebec in range(parts.shape[0]):
        mixed = _scatter((mixed ^ parts[rebec]) + rebec)
    return mixed >> 1 | 1 << 62


@compiled("void(int64[:, ::1], int64[:, ::1], uint32[::1], int64, int64)", borrows=True)
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


@compiled("int64(int64[:, ::1], int64[:, ::1], int64, int64)", borrows=True, inline=True)
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


@compiled("void(int64[:, ::1], int64[:, ::1], int64)", borrows=True)
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
    "int64[:, ::1], int64[::1], int64[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1],"
    "int64[:, ::1], int64[::1])",
    borrows=True,
    inline=True,
)
def _successors(
    control: Integers,
    layout: Integers,
    local_at: NDArray[np.int32],
    locals_: Integers,
    batches: Integers,
    outcomes: Integers,
    sendings: Integers,
    keys: Integers,
    values: Integers,
    source: Integers,
    parts: Integers,
    targets: Integers,
    fingerprints: Integers,
    found_by: Integers,
) -> int:
    """Work out what follows from one state, beginning with the transition `control` says.

    `source` is the state, shape (1, words). Gives a reason to stop and, in `control`, how many
    successors there were before: their words in `targets`, by which transitions in `found_by`,
    and with hash compaction their fingerprints. `parts` is room for work, shape (4, rebecs).
    """
    rebecs = control[at.REBECS]
    words = control[at.WORDS]
    floating = control[at.FLOATING] != 0
    absolute = control[at.ABSOLUTE] != 0
    compact = control[at.COMPACT] != 0
    followed = control[at.ORDINAL]
    before, after, changes, numbers = parts[0], parts[1], parts[2], parts[3]
    found = 0
    control[at.FOUND] = 0
    # --- which rebecs may act
    first = urgency = NEVER
    for rebec in range(rebecs):
        number = (source[0, layout[rebec, 0]] >> layout[rebec, 1]) & layout[rebec, 2]
        own = np.int64(local_at[rebec, number])
        before[rebec] = after[rebec] = own
        first = min(first, locals_[own, 0])
        if locals_[own, 0] == 0:
            urgency = min(urgency, locals_[own, 1])
    time = 0
    if absolute:
        time = (source[0, layout[rebecs, 0]] >> layout[rebecs, 1]) & layout[rebecs, 2]
        if time > control[at.HORIZON]:
            control[at.BEYOND] = 1
            return reasons.FINISHED
    passing = first != 0
    if passing and (first == NEVER or control[at.TIMED] == 0):
        if followed != 0:
            return reasons.FINISHED
        control[at.ORDINAL] = 1  # so that it is not found again
        return reasons.DEADLOCK
    # --- each transition of each of them; the time alone is one transition of nobody
    ordinal = changed = 0
    for rebec in range(1 if passing else rebecs):
        begin = 0
        end = 1
        if not passing:
            own = before[rebec]
            if locals_[own, 0] != 0 or locals_[own, 1] != urgency:
                continue
            batch = locals_[own, 4]
            if control[at.BY_TIME] != 0:
                batch = _known(keys, values, own << 34 | answers.AT_TIME << 32 | time)
            if batch == ABSENT:
                return _ask(control, reasons.OUTCOMES, ordinal, own, time)
            begin = batches[batch, 0]
            end = begin + batches[batch, 1]
        if ordinal + end - begin <= followed:
            ordinal += end - begin
            continue
        for outcome in range(begin, end):
            if ordinal < followed:
                ordinal += 1
                continue
            if found == targets.shape[0]:
                return _ask(control, reasons.MORE, ordinal, 0, 0)
            for change in range(changed):
                after[changes[change]] = before[changes[change]]
            changed = 0
            units = first
            if not passing:
                after[rebec] = outcomes[outcome, 0]
                changes[0] = rebec
                changed = 1
                sent = outcomes[outcome, 2]
                for sending in range(sent, sent + outcomes[outcome, 3]):
                    receiver = sendings[sending, 0]
                    message = sendings[sending, 1]
                    own = after[receiver]
                    got = _known(keys, values, own << 34 | answers.RECEIVED << 32 | message)
                    if got == ABSENT:
                        return _ask(control, reasons.RECEIVE, ordinal, own, message)
                    if got == FULL:
                        return _ask(control, reasons.OVERFLOW, ordinal + 1, own, message)
                    if own == before[receiver]:
                        changes[changed] = receiver
                        changed += 1
                    after[receiver] = got
                if outcomes[outcome, 1] != 0:
                    return _ask(control, reasons.BREACH, ordinal + 1, outcome, 0)
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
                    own = after[other]
                    got = _known(keys, values, own << 34 | answers.LATER << 32 | units)
                    if got == ABSENT:
                        return _ask(control, reasons.LATER, ordinal, own, units)
                    after[other] = got
                    changes[other] = other
                changed = rebecs
            # --- pack the state that was reached
            for word in range(words):
                targets[found, word] = source[0, word]
            for change in range(changed):
                other = changes[change]
                number = locals_[after[other], 3]
                if number > layout[other, 2]:
                    return _ask(control, reasons.WIDTH, ordinal, other, 0)
                moved = (number ^ locals_[before[other], 3]) << layout[other, 1]
                targets[found, layout[other, 0]] ^= moved
            if absolute:
                if time + units > layout[rebecs, 2]:
                    return _ask(control, reasons.WIDTH, ordinal, rebecs, time + units)
                moved = (time ^ (time + units)) << layout[rebecs, 1]
                targets[found, layout[rebecs, 0]] ^= moved
            if compact:
                for other in range(rebecs):
                    numbers[other] = locals_[after[other], 3]
                now = time + units if absolute else 0
                fingerprints[found, 0] = fingerprint_of(numbers, now)
            found_by[found] = ordinal
            found += 1
            control[at.FOUND] = found
            ordinal += 1
    return reasons.FINISHED


@compiled("int64(int64[::1], int64, int64, int64, int64)", borrows=True, inline=True)
def _ask(control: Integers, reason: int, ordinal: int, asked: int, other: int) -> int:
    """Note where to go on, and what is asked for; gives the reason."""
    control[at.ORDINAL] = ordinal
    control[at.ASKED] = asked
    control[at.ASKED + 1] = other
    return reason


@compiled(
    "int64(int64[::1], int64[:, ::1], int64[:, ::1], int64[::1], int64[:, ::1], uint32[::1],"
    "uint32[::1], uint32[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1])",
    borrows=True,
    inline=True,
)
def _store(
    control: Integers,
    targets: Integers,
    wanted: Integers,
    found_by: Integers,
    table: Integers,
    order: Numbers,
    parents: Numbers,
    ordinals: Numbers,
    queue: Integers,
    masks: Integers,
    held: Integers,
    seen: Integers,
) -> int:
    """Store the successors that are new, and check them.

    `targets` are their words and `wanted` what the table tells them apart by: the same, or
    fingerprints. Gives FINISHED, or the reason to stop, with `control` saying where to go on.
    """
    words = control[at.WORDS]
    compact = control[at.COMPACT] != 0
    identity = wanted.shape[1]
    ring = queue.shape[0]
    last = table.shape[0] - 1
    for successor in range(control[at.FOUND]):
        place = _place(wanted, successor, identity) & last
        known = False
        while table[place, 0] != 0:
            known = True
            for word in range(identity):
                known = known and table[place, word] == wanted[successor, word]
            if known:
                break
            place = (place + 1) & last
        if known:
            control[at.TRANSITIONS] += 1
            continue
        states = control[at.STATES]
        number = control[at.NUMBER]
        if states == control[at.MOST]:
            control[at.TRANSITIONS] += 1
            return reasons.LIMIT
        if states == control[at.CAPACITY] or (compact and states - number == ring):
            control[at.ORDINAL] = found_by[successor]
            return reasons.GROW
        control[at.TRANSITIONS] += 1
        for word in range(identity):
            table[place, word] = wanted[successor, word]
        if compact:
            for word in range(words):
                queue[states % ring, word] = targets[successor, word]
        else:
            order[states] = place
        parents[states] = number
        ordinals[states] = found_by[successor]
        control[at.STATES] = states + 1
        for property_ in range(control[at.PROPERTIES]):
            for word in range(words):
                seen[0, word] = targets[successor, word] & masks[property_, word]
            if _holds(held, seen, property_, words) != 1:
                return _ask(control, reasons.CHECK, found_by[successor] + 1, states, 0)
    return reasons.FINISHED


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
    words = control[at.WORDS]
    compact = control[at.COMPACT] != 0
    source = np.empty((1, words), dtype=np.int64)
    seen = np.empty((1, words), dtype=np.int64)
    parts = np.empty((4, control[at.REBECS]), dtype=np.int64)
    # All successors of a state are worked out before the table is looked into: the processor
    # can then wait for several of its far-off places at once.
    targets = np.empty((_AT_ONCE, words), dtype=np.int64)
    fingerprints = np.empty((_AT_ONCE if compact else 1, 1), dtype=np.int64)
    wanted = fingerprints if compact else targets
    found_by = np.empty(_AT_ONCE, dtype=np.int64)
    left = budget
    while control[at.NUMBER] < control[at.STATES]:
        number = control[at.NUMBER]
        if control[at.ORDINAL] < 0:
            if left == 0:
                return reasons.BUDGET
            left -= 1
            control[at.ORDINAL] = 0
            control[at.EXPANDED] += 1
        row = number % queue.shape[0] if compact else np.int64(order[number])
        for word in range(words):
            source[0, word] = queue[row, word] if compact else table[row, word]
        reason = _successors(
            control,
            layout,
            local_at,
            locals_,
            batches,
            outcomes,
            sendings,
            keys,
            values,
            source,
            parts,
            targets,
            fingerprints,
            found_by,
        )
        on = control[at.ORDINAL]
        asked = control[at.ASKED]
        other = control[at.ASKED + 1]
        stopped = _store(
            control,
            targets,
            wanted,
            found_by,
            table,
            order,
            parents,
            ordinals,
            queue,
            masks,
            held,
            seen,
        )
        if stopped != reasons.FINISHED:
            return stopped
        if reason == reasons.FINISHED:
            control[at.NUMBER] = number + 1
            control[at.ORDINAL] = -1
        elif reason != reasons.MORE:
            return _ask(control, reason, on, asked, other)
    return reasons.FINISHED

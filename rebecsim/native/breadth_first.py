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
from rebecsim.native.tables import ABSENT, fingerprint_of, hash_at, look_up, look_up_property

__all__ = ["FULL", "NEVER", "expand_states"]

Integers = NDArray[np.int64]
Numbers = NDArray[np.uint32]

NEVER = 1 << 62
"""The next time of a rebec that has nothing to do, as in `rebecsim.explore`."""

FULL = -2
"""What the table of receiving says of a full bag."""


_AT_ONCE = 128  # successors of a state that are looked up together


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
                batch = look_up(keys, values, own << 34 | answers.AT_TIME << 32 | time)
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
                    got = look_up(keys, values, own << 34 | answers.RECEIVED << 32 | message)
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
                    got = look_up(keys, values, own << 34 | answers.LATER << 32 | units)
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
        place = hash_at(wanted, successor, identity) & last
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
            if look_up_property(held, seen, property_, words) != 1:
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

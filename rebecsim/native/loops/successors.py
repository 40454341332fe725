"""Compute the successors of a collapsed state, compiled.

A state of the system is a tuple of numbers, two for each rebec: that of its inner state and that
of its bag. They are packed into a few 64-bit words. What these lead to is looked up in tables,
which `rebecsim.native.search_layout` and `rebecsim.native.loops.tables` describe. Where a table has
no answer yet, the caller is asked for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebecsim.native import search_layout as at
from rebecsim.native.arrays import Integers, Table
from rebecsim.native.cache import compiled
from rebecsim.native.codes import AnswerKind, Reason
from rebecsim.native.loops.tables import ABSENT, fingerprint, key_of, look_up, mix_in
from rebecsim.native.search_layout import Parts

NEVER = 1 << 62
"""The next time of a rebec that has nothing to do, as in `rebecsim.exploration`."""

LATEST = (1 << 32) - 1
"""The largest time of which an answer can tell."""

(
    FOUND_SOURCE,
    FOUND_ORDINAL,
    FOUND_SERVED,
    FOUND_CHOICE,
    FOUND_UNITS,
    FOUND_BY_WIDTH,
) = range(6)
"""How a successor was found: from which state, by which of its transitions, in which what is
served, see `TIME_PASSES`, with which of its outcomes, and how much time passes."""

TIME_PASSES = (1 << 32) - 1
"""In the place of what is served: only time passes. Otherwise that is twice the number of the
message, and one more where its message server goes on after a delay."""

(
    BEFORE,
    AFTER,
    BAG_BEFORE,
    BAG_AFTER,
    CHANGES,
    ABLE,
    IMAGE,
    BAG_IMAGE,
    WORKING_ROWS,
) = range(9)
"""Rows of the working space: inner state and bag of each rebec before and after a transition,
which rebecs are no longer as they were, which may act, and inner state and bag of each rebec under
a symmetry."""


class Successors(NamedTuple):
    """States that were found, with room for more.

    Attributes:
        targets: their words; shape (rows, words).
        fingerprints: with hash compaction, shape (rows, 1).
        identities: what they are told apart by, one of the former.
        found_by: how they were found; shape (rows, FOUND_BY_WIDTH).
    """

    targets: Table
    fingerprints: Table
    identities: Table
    found_by: Table


@compiled(borrows=True, inline=True)
def ask(control: Integers, reason: int, ordinal: int, asked: int, other: int) -> int:
    """Note where to go on, and what is asked for; gives the reason."""
    control[at.ORDINAL] = ordinal
    control[at.ASKED] = asked
    control[at.ASKED + 1] = other
    return reason


@compiled(borrows=True, inline=True)
def _ask_answer(control: Integers, ordinal: int, kind: int, row: int, value: int) -> int:
    """Ask for an answer; gives the reason."""
    control[at.ASKED + 2] = value
    return ask(control, Reason.ANSWER, ordinal, kind, row)


@compiled(borrows=True, inline=True)
def _next_time(inners: Table, bags: Table, inner: int | np.int64, bag: int | np.int64) -> int:
    """Give when a rebec can act."""
    if inners[inner, at.INNER_RESUME] != ABSENT:
        return inners[inner, at.INNER_RESUME]
    return max(bags[bag, at.BAG_NEXT], inners[inner, at.INNER_CLOCK])


@compiled(borrows=True, inline=True)
def _represent(control: Integers, parts: Parts, working: Table, ordinal: int) -> int:
    """Replace the state that was reached by the smallest of its images.

    Images are compared by the numbers of their parts, rebec by rebec. Those never change, so of
    states that are images of each other all are replaced by the same one. Most images need not be
    known whole. Gives FINISHED, or the reason to stop.
    """
    inners, bags, keys, values = parts.inners, parts.bags, parts.keys, parts.values
    origins = parts.origins
    rebecs = control[at.REBECS]
    for rebec in range(rebecs):
        working[IMAGE, rebec] = working[AFTER, rebec]
        working[BAG_IMAGE, rebec] = working[BAG_AFTER, rebec]
        working[CHANGES, rebec] = rebec
    for symmetry in range(1, origins.shape[0]):
        is_smaller = False
        for rebec in range(rebecs):
            inner = working[AFTER, origins[symmetry, rebec]]
            image = look_up(keys, values, key_of(AnswerKind.INNER_IMAGE, inner, symmetry))
            if image == ABSENT:
                return _ask_answer(control, ordinal, AnswerKind.INNER_IMAGE, inner, symmetry)
            bag = working[BAG_AFTER, origins[symmetry, rebec]]
            bag_image = look_up(keys, values, key_of(AnswerKind.BAG_IMAGE, bag, symmetry))
            if bag_image == ABSENT:
                return _ask_answer(control, ordinal, AnswerKind.BAG_IMAGE, bag, symmetry)
            if not is_smaller:
                differs = (
                    inners[image, at.INNER_NUMBER] - inners[working[IMAGE, rebec], at.INNER_NUMBER]
                )
                if differs == 0:
                    differs = (
                        bags[bag_image, at.BAG_NUMBER]
                        - bags[working[BAG_IMAGE, rebec], at.BAG_NUMBER]
                    )
                if differs > 0:
                    break
                is_smaller = differs < 0
            working[IMAGE, rebec] = image
            working[BAG_IMAGE, rebec] = bag_image
    for rebec in range(rebecs):
        working[AFTER, rebec] = working[IMAGE, rebec]
        working[BAG_AFTER, rebec] = working[BAG_IMAGE, rebec]
    return Reason.FINISHED


@compiled(borrows=True, inline=True)
def _arrive(
    control: Integers,
    layout: Table,
    parts: Parts,
    source: Table,
    working: Table,
    successors: Successors,
    ordinal: int,
    served: int,
    choice: int,
    changed: int,
    units: int,
    time: int,
) -> int:
    """Let time pass, and pack the state that was reached behind those found before.

    With symmetries, that which stands for it; then all rebecs are noted as changed. Gives FINISHED,
    or the reason to stop.
    """
    inners, bags, keys, values = parts.inners, parts.bags, parts.keys, parts.values
    targets, found_by = successors.targets, successors.found_by
    rebecs = control[at.REBECS]
    words = control[at.WORDS]
    found = control[at.FOUND]
    if units != 0:
        for rebec in range(rebecs):
            inner = working[AFTER, rebec]
            waits = inners[inner, at.INNER_CLOCK] != 0 or inners[inner, at.INNER_RESUME] != ABSENT
            if waits or inners[inner, at.INNER_TICKS] != 0:
                got = look_up(keys, values, key_of(AnswerKind.INNER_LATER, inner, units))
                if got == ABSENT:
                    return _ask_answer(control, ordinal, AnswerKind.INNER_LATER, inner, units)
                working[AFTER, rebec] = got
            bag = working[BAG_AFTER, rebec]
            if bags[bag, at.BAG_SIZE] != 0:
                got = look_up(keys, values, key_of(AnswerKind.BAG_LATER, bag, units))
                if got == ABSENT:
                    return _ask_answer(control, ordinal, AnswerKind.BAG_LATER, bag, units)
                working[BAG_AFTER, rebec] = got
            working[CHANGES, rebec] = rebec
        changed = rebecs
    if parts.origins.shape[0] > 1:
        reason = _represent(control, parts, working, ordinal)
        if reason != Reason.FINISHED:
            return reason
        changed = rebecs
    for word in range(words):
        targets[found, word] = source[0, word]
    for change in range(changed):
        rebec = working[CHANGES, change]
        part = 2 * rebec
        inner = working[AFTER, rebec]
        if inner != working[BEFORE, rebec]:
            number = inners[inner, at.INNER_NUMBER]
            if number > layout[part, 2]:
                return ask(control, Reason.WIDTH, ordinal, part, 0)
            moved = number ^ inners[working[BEFORE, rebec], at.INNER_NUMBER]
            targets[found, layout[part, 0]] ^= moved << layout[part, 1]
        part += 1
        bag = working[BAG_AFTER, rebec]
        if bag != working[BAG_BEFORE, rebec]:
            number = bags[bag, at.BAG_NUMBER]
            if number > layout[part, 2]:
                return ask(control, Reason.WIDTH, ordinal, part, 0)
            moved = number ^ bags[working[BAG_BEFORE, rebec], at.BAG_NUMBER]
            targets[found, layout[part, 0]] ^= moved << layout[part, 1]
    now = time + units if control[at.ABSOLUTE] != 0 else 0
    if control[at.ABSOLUTE] != 0:
        part = 2 * rebecs
        if now > layout[part, 2]:
            return ask(control, Reason.WIDTH, ordinal, part, now)
        targets[found, layout[part, 0]] ^= (time ^ now) << layout[part, 1]
    if control[at.COMPACT] != 0:
        mixed = mix_in(0, np.int64(now))
        for rebec in range(rebecs):
            mixed = mix_in(mixed, inners[working[AFTER, rebec], at.INNER_NUMBER])
            mixed = mix_in(mixed, bags[working[BAG_AFTER, rebec], at.BAG_NUMBER])
        successors.fingerprints[found, 0] = fingerprint(mixed)
    found_by[found, FOUND_SOURCE] = control[at.NUMBER]
    found_by[found, FOUND_ORDINAL] = ordinal
    found_by[found, FOUND_SERVED] = served
    found_by[found, FOUND_CHOICE] = choice
    found_by[found, FOUND_UNITS] = units
    control[at.FOUND] = found + 1
    return Reason.FINISHED


@compiled(borrows=True, inline=True)
def _put_ample_first(bags: Table, working: Table, able: int) -> bool:
    """Put the rebec that may go first, alone, before the others that may act, if there is one."""
    for turn in range(able):
        rebec = working[ABLE, turn]
        alone = bags[working[BAG_BEFORE, rebec], at.BAG_ALONE]
        leads = alone != 0
        for other in range(able):
            sent = bags[working[BAG_BEFORE, working[ABLE, other]], at.BAG_SENT]
            leads = leads and (other == turn or sent & alone == 0)
        if leads:
            for place in range(turn, 0, -1):
                working[ABLE, place] = working[ABLE, place - 1]
            working[ABLE, 0] = rebec
            return True
    return False


@compiled(borrows=True, inline=True)
def find_successors(
    control: Integers,
    layout: Table,
    parts: Parts,
    source: Table,
    working: Table,
    successors: Successors,
) -> int:
    """Work out what follows from one state, beginning with the transition `control` says.

    `source` is the state, shape (1, words). Gives a reason to stop. `control` counts the successors
    there are; further ones are put behind them. `working` is room for work, shape (WORKING_ROWS,
    rebecs).
    """
    capacities, inners, bags, batches = parts.capacities, parts.inners, parts.bags, parts.batches
    effects, sendings, keys, values = parts.effects, parts.sendings, parts.keys, parts.values
    most = successors.targets.shape[0]
    rebecs = control[at.REBECS]
    followed = control[at.ORDINAL]
    # --- which rebecs may act
    first = urgency = NEVER
    able = 0
    for rebec in range(rebecs):
        part = 2 * rebec
        number = (source[0, layout[part, 0]] >> layout[part, 1]) & layout[part, 2]
        inner = np.int64(parts.inner_at[rebec, number])
        part += 1
        number = (source[0, layout[part, 0]] >> layout[part, 1]) & layout[part, 2]
        bag = np.int64(parts.bag_at[rebec, number])
        working[BEFORE, rebec] = working[AFTER, rebec] = inner
        working[BAG_BEFORE, rebec] = working[BAG_AFTER, rebec] = bag
        due = _next_time(inners, bags, inner, bag)
        first = min(first, due)
        if due == 0:
            own = inners[inner, at.INNER_URGENCY]
            if inners[inner, at.INNER_RESUME] == ABSENT:
                own = bags[bag, at.BAG_URGENCY]
            if own < urgency:
                urgency = own
                able = 0
            if own == urgency:
                working[ABLE, able] = rebec
                able += 1
    time = 0
    if control[at.ABSOLUTE] != 0:
        part = 2 * rebecs
        time = (source[0, layout[part, 0]] >> layout[part, 1]) & layout[part, 2]
        if time > control[at.HORIZON]:
            control[at.BEYOND] = 1
            return Reason.FINISHED
        if control[at.BY_TIME] != 0 and time > LATEST:  # an answer could not be asked for
            return ask(control, Reason.WIDTH, followed, part, time)
    if first != 0:
        if followed != 0:
            return Reason.FINISHED
        if first == NEVER or control[at.TIMED] == 0:
            control[at.ORDINAL] = 1  # so that it is not found again
            return Reason.ENDS
        if control[at.FOUND] == most:
            return ask(control, Reason.MORE, 0, 0, 0)
        return _arrive(
            control,
            layout,
            parts,
            source,
            working,
            successors,
            0,
            TIME_PASSES,
            0,
            0,
            first,
            time,
        )
    # --- each transition of each of them
    ordinal = changed = 0
    leads = able > 1 and control[at.PARTIAL] != 0 and _put_ample_first(bags, working, able)
    for turn in range(able):
        if leads and turn == 1 and control[at.WRONG] == 0:
            return Reason.FINISHED
        rebec = working[ABLE, turn]
        inner = working[BEFORE, rebec]
        bag = working[BAG_BEFORE, rebec]
        suspended = inners[inner, at.INNER_RESUME] != ABSENT
        if not suspended and bags[bag, at.BAG_FIRST] == ABSENT:
            return ask(control, Reason.ALTERNATIVES, ordinal, bag, 0)
        for alternative in range(1 if suspended else bags[bag, at.BAG_COUNT]):
            message = inners[inner, at.INNER_MESSAGE]
            rest = bag
            if not suspended:
                row = bags[bag, at.BAG_FIRST] + alternative
                message = parts.alternatives[row, at.ALTERNATIVE_MESSAGE]
                rest = parts.alternatives[row, at.ALTERNATIVE_REST]
            asked = inner
            if control[at.BY_TIME] != 0:
                asked = look_up(keys, values, key_of(AnswerKind.AT_TIME, inner, time))
                if asked == ABSENT:
                    return _ask_answer(control, ordinal, AnswerKind.AT_TIME, inner, time)
            batch = look_up(keys, values, key_of(AnswerKind.EFFECTS, asked, message))
            if batch == ABSENT:
                return _ask_answer(control, ordinal, AnswerKind.EFFECTS, asked, message)
            room = capacities[rebec] - bags[rest, at.BAG_SIZE]
            if bags[rest, at.BAG_SIZE] != 0 and batches[batch, at.BATCH_PLACES] > room:
                tight = look_up(keys, values, key_of(AnswerKind.TIGHT, message, room))
                if tight == ABSENT:
                    return _ask_answer(control, ordinal, AnswerKind.TIGHT, message, room)
                batch = look_up(keys, values, key_of(AnswerKind.EFFECTS, asked, tight))
                if batch == ABSENT:
                    return _ask_answer(control, ordinal, AnswerKind.EFFECTS, asked, tight)
            begin = batches[batch, at.BATCH_FIRST]
            end = begin + batches[batch, at.BATCH_COUNT]
            if ordinal + end - begin <= followed:
                ordinal += end - begin
                continue
            for effect in range(begin, end):
                if ordinal < followed:
                    ordinal += 1
                    continue
                if control[at.FOUND] == most:
                    return ask(control, Reason.MORE, ordinal, 0, 0)
                for change in range(changed):
                    other = working[CHANGES, change]
                    working[AFTER, other] = working[BEFORE, other]
                    working[BAG_AFTER, other] = working[BAG_BEFORE, other]
                fails = effects[effect, at.EFFECT_FAILS] != 0
                own = effects[effect, at.EFFECT_OWN]
                after = rest
                if own != ABSENT and not fails:
                    after = own
                    if bags[rest, at.BAG_SIZE] != 0:
                        after = look_up(keys, values, key_of(AnswerKind.JOINED, rest, own))
                        if after == ABSENT:
                            return _ask_answer(control, ordinal, AnswerKind.JOINED, rest, own)
                working[AFTER, rebec] = effects[effect, at.EFFECT_INNER]
                working[BAG_AFTER, rebec] = after
                working[CHANGES, 0] = rebec
                changed = 1
                sent = effects[effect, at.EFFECT_FIRST]
                for sending in range(sent, sent + effects[effect, at.EFFECT_COUNT]):
                    receiver = sendings[sending, at.SENDING_RECEIVER]
                    received = sendings[sending, at.SENDING_MESSAGE]
                    before = working[BAG_AFTER, receiver]
                    taken = bags[before, at.BAG_SIZE]
                    if inners[working[AFTER, receiver], at.INNER_RESUME] != ABSENT:
                        taken += 1
                    if taken >= capacities[receiver]:
                        control[at.SERVED] = 2 * message + suspended
                        control[at.CHOICE] = effect - begin
                        control[at.WRONG] = 1
                        return ask(control, Reason.OVERFLOW, ordinal + 1, receiver, received)
                    got = look_up(keys, values, key_of(AnswerKind.RECEIVED, before, received))
                    if got == ABSENT:
                        return _ask_answer(control, ordinal, AnswerKind.RECEIVED, before, received)
                    if before == working[BAG_BEFORE, receiver]:
                        working[CHANGES, changed] = receiver
                        changed += 1
                    working[BAG_AFTER, receiver] = got
                if fails:
                    control[at.SERVED] = 2 * message + suspended
                    control[at.CHOICE] = effect - begin
                    control[at.WRONG] = 1
                    return ask(control, Reason.BREACH, ordinal + 1, effect, 0)
                units = 0
                if control[at.FLOATING] != 0:
                    units = NEVER
                    for other in range(rebecs):
                        due = _next_time(
                            inners, bags, working[AFTER, other], working[BAG_AFTER, other]
                        )
                        units = min(units, due)
                        if units == 0:
                            break
                    if units == NEVER:
                        for other in range(rebecs):
                            units = min(units, inners[working[AFTER, other], at.INNER_CLOCK])
                reason = _arrive(
                    control,
                    layout,
                    parts,
                    source,
                    working,
                    successors,
                    ordinal,
                    2 * message + suspended,
                    effect - begin,
                    changed,
                    units,
                    time,
                )
                if units != 0 or parts.origins.shape[0] > 1:
                    changed = rebecs
                if reason != Reason.FINISHED:
                    return reason
                ordinal += 1
    return Reason.FINISHED

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


class Expansion(NamedTuple):
    """A state that is expanded, what its successors are looked up in, and where they are put.

    Attributes:
        control: see `rebecsim.native.search_layout`; its ORDINAL is the transition to go on with.
        layout: word, shift and mask of each part of a state; shape (parts, 3).
        parts: the tables of what follows from parts of states.
        source: the words of the state; shape (1, words).
        working: shape (WORKING_ROWS, rebecs).
        successors: those that were found before; further ones are put behind them.
    """

    control: Integers
    layout: Table
    parts: Parts
    source: Table
    working: Table
    successors: Successors


@compiled(inline=True)
def ask(control: Integers, reason: int, asked: int, other: int) -> int:
    """Note what is asked for; gives the reason."""
    control[at.ASKED] = asked
    control[at.ASKED + 1] = other
    return reason


@compiled(inline=True)
def _answer(of: Expansion, kind: int, row: int, value: int) -> int:
    """Look up an answer; where there is none, ABSENT is given and the answer is asked for."""
    found = look_up(of.parts.keys, of.parts.values, key_of(kind, row, value))
    if found == ABSENT:
        of.control[at.ASKED + 2] = value
        ask(of.control, Reason.ANSWER, kind, row)
    return found


@compiled(inline=True)
def _part(of: Expansion, part: int) -> int:
    """Unpack a part of the state that is expanded."""
    layout = of.layout
    return (of.source[0, layout[part, 0]] >> layout[part, 1]) & layout[part, 2]


@compiled(inline=True)
def _replace_part(of: Expansion, part: int, before: int, after: int) -> bool:
    """Change a part of the successor that is packed; false if it has too few bits."""
    layout = of.layout
    if after > layout[part, 2]:
        return False
    found = of.control[at.FOUND]
    of.successors.targets[found, layout[part, 0]] ^= (before ^ after) << layout[part, 1]
    return True


@compiled(inline=True)
def _next_time(inners: Table, bags: Table, inner: int | np.int64, bag: int | np.int64) -> int:
    """Give the time until a rebec can act."""
    if inners[inner, at.INNER_RESUME] != ABSENT:
        return inners[inner, at.INNER_RESUME]
    return max(bags[bag, at.BAG_NEXT], inners[inner, at.INNER_CLOCK])


@compiled(inline=True)
def _represent(of: Expansion) -> int:
    """Replace the state that was reached by the smallest of its images.

    Images are compared by the numbers of their parts, rebec by rebec. Those never change, so of
    states that are images of each other all are replaced by the same one. Most images need not be
    known whole. Gives FINISHED, or the reason to stop.
    """
    inners, bags, working, origins = of.parts.inners, of.parts.bags, of.working, of.parts.origins
    rebecs = of.control[at.REBECS]
    for rebec in range(rebecs):
        working[IMAGE, rebec] = working[AFTER, rebec]
        working[BAG_IMAGE, rebec] = working[BAG_AFTER, rebec]
        working[CHANGES, rebec] = rebec
    of.control[at.CHANGED] = rebecs
    for symmetry in range(1, origins.shape[0]):
        is_smaller = False
        for rebec in range(rebecs):
            origin = origins[symmetry, rebec]
            image = _answer(of, AnswerKind.INNER_IMAGE, working[AFTER, origin], symmetry)
            if image == ABSENT:
                return Reason.ANSWER
            bag_image = _answer(of, AnswerKind.BAG_IMAGE, working[BAG_AFTER, origin], symmetry)
            if bag_image == ABSENT:
                return Reason.ANSWER
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


@compiled(inline=True)
def _pass_time(of: Expansion, units: int) -> int:
    """Let time pass for all rebecs. Gives FINISHED, or the reason to stop."""
    inners, bags, working = of.parts.inners, of.parts.bags, of.working
    rebecs = of.control[at.REBECS]
    for rebec in range(rebecs):
        inner = working[AFTER, rebec]
        waits = inners[inner, at.INNER_CLOCK] != 0 or inners[inner, at.INNER_RESUME] != ABSENT
        if waits or inners[inner, at.INNER_TICKS] != 0:
            later = _answer(of, AnswerKind.INNER_LATER, inner, units)
            if later == ABSENT:
                return Reason.ANSWER
            working[AFTER, rebec] = later
        bag = working[BAG_AFTER, rebec]
        if bags[bag, at.BAG_SIZE] != 0:
            later = _answer(of, AnswerKind.BAG_LATER, bag, units)
            if later == ABSENT:
                return Reason.ANSWER
            working[BAG_AFTER, rebec] = later
        working[CHANGES, rebec] = rebec
    of.control[at.CHANGED] = rebecs
    return Reason.FINISHED


@compiled(inline=True)
def _pack(of: Expansion, time: int, now: int) -> int:
    """Pack the state that was reached at a time; gives FINISHED, or the reason to stop."""
    control, working, targets = of.control, of.working, of.successors.targets
    inners, bags = of.parts.inners, of.parts.bags
    for word in range(control[at.WORDS]):
        targets[control[at.FOUND], word] = of.source[0, word]
    for change in range(control[at.CHANGED]):
        rebec = working[CHANGES, change]
        before, after = working[BEFORE, rebec], working[AFTER, rebec]
        if after != before and not _replace_part(
            of, 2 * rebec, inners[before, at.INNER_NUMBER], inners[after, at.INNER_NUMBER]
        ):
            return ask(control, Reason.WIDTH, 2 * rebec, 0)
        before, after = working[BAG_BEFORE, rebec], working[BAG_AFTER, rebec]
        if after != before and not _replace_part(
            of, 2 * rebec + 1, bags[before, at.BAG_NUMBER], bags[after, at.BAG_NUMBER]
        ):
            return ask(control, Reason.WIDTH, 2 * rebec + 1, 0)
    if control[at.ABSOLUTE] != 0:
        part = 2 * control[at.REBECS]
        if not _replace_part(of, part, time, now):
            return ask(control, Reason.WIDTH, part, now)
    return Reason.FINISHED


@compiled(inline=True)
def _arrive(of: Expansion, served: int, choice: int, units: int, time: int) -> int:
    """Let time pass, and put the state that was reached behind those found before.

    With symmetries, that is the state which stands for it. Gives FINISHED, or the reason to stop.
    """
    control, working, found_by = of.control, of.working, of.successors.found_by
    inners, bags = of.parts.inners, of.parts.bags
    if units != 0:
        reason = _pass_time(of, units)
        if reason != Reason.FINISHED:
            return reason
    if of.parts.origins.shape[0] > 1:
        reason = _represent(of)
        if reason != Reason.FINISHED:
            return reason
    now = time + units if control[at.ABSOLUTE] != 0 else 0
    reason = _pack(of, time, now)
    if reason != Reason.FINISHED:
        return reason
    found = control[at.FOUND]
    if control[at.COMPACT] != 0:
        mixed = mix_in(0, np.int64(now))
        for rebec in range(control[at.REBECS]):
            mixed = mix_in(mixed, inners[working[AFTER, rebec], at.INNER_NUMBER])
            mixed = mix_in(mixed, bags[working[BAG_AFTER, rebec], at.BAG_NUMBER])
        of.successors.fingerprints[found, 0] = fingerprint(mixed)
    found_by[found, FOUND_SOURCE] = control[at.NUMBER]
    found_by[found, FOUND_ORDINAL] = control[at.ORDINAL]
    found_by[found, FOUND_SERVED] = served
    found_by[found, FOUND_CHOICE] = choice
    found_by[found, FOUND_UNITS] = units
    control[at.FOUND] = found + 1
    return Reason.FINISHED


@compiled(inline=True)
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


class Turn(NamedTuple):
    """How long it takes until a rebec may act, and how many may then, if that is now."""

    due: int
    able: int


@compiled(inline=True)
def _unpack(of: Expansion) -> Turn:
    """Unpack the inner states and bags of a state, and list the rebecs that may act in it."""
    inners, bags, working = of.parts.inners, of.parts.bags, of.working
    first = urgency = NEVER
    able = 0
    for rebec in range(of.control[at.REBECS]):
        inner = np.int64(of.parts.inner_at[rebec, _part(of, 2 * rebec)])
        bag = np.int64(of.parts.bag_at[rebec, _part(of, 2 * rebec + 1)])
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
    return Turn(first, able)


@compiled(inline=True)
def _let_time_pass(of: Expansion, first: int, time: int) -> int:
    """Follow the transition of a state in which no rebec may act before some time."""
    control = of.control
    if control[at.ORDINAL] != 0:
        return Reason.FINISHED
    if first == NEVER or control[at.TIMED] == 0:
        control[at.ORDINAL] = 1  # so that it is not found again
        return Reason.ENDS
    if control[at.FOUND] == of.successors.targets.shape[0]:
        return Reason.MORE
    control[at.CHANGED] = 0
    return _arrive(of, TIME_PASSES, 0, first, time)


@compiled(inline=True)
def _batch_of(of: Expansion, rebec: int, message: int, rest: int, time: int) -> int:
    """Give the batch of what comes of serving a message while `rest` is the bag without it.

    ABSENT: it is not known, and is asked for.
    """
    control, bags = of.control, of.parts.bags
    inner = of.working[BEFORE, rebec]
    if control[at.BY_TIME] != 0:
        inner = _answer(of, AnswerKind.AT_TIME, inner, time)
        if inner == ABSENT:
            return ABSENT
    batch = _answer(of, AnswerKind.EFFECTS, inner, message)
    if batch == ABSENT:
        return ABSENT
    room = of.parts.capacities[rebec] - bags[rest, at.BAG_SIZE]
    if bags[rest, at.BAG_SIZE] != 0 and of.parts.batches[batch, at.BATCH_PLACES] > room:
        tight = _answer(of, AnswerKind.TIGHT, message, room)
        if tight == ABSENT:
            return ABSENT
        batch = _answer(of, AnswerKind.EFFECTS, inner, tight)
    return batch


@compiled(inline=True)
def _deliver(of: Expansion, effect: int) -> int:
    """Put the messages of an effect into the bags of other rebecs.

    Gives FINISHED, OVERFLOW where a bag is full, or another reason to stop.
    """
    control, working, sendings = of.control, of.working, of.parts.sendings
    sent = of.parts.effects[effect, at.EFFECT_FIRST]
    for sending in range(sent, sent + of.parts.effects[effect, at.EFFECT_COUNT]):
        receiver = sendings[sending, at.SENDING_RECEIVER]
        message = sendings[sending, at.SENDING_MESSAGE]
        before = working[BAG_AFTER, receiver]
        taken = of.parts.bags[before, at.BAG_SIZE]
        if of.parts.inners[working[AFTER, receiver], at.INNER_RESUME] != ABSENT:
            taken += 1
        if taken >= of.parts.capacities[receiver]:
            return ask(control, Reason.OVERFLOW, receiver, message)
        after = _answer(of, AnswerKind.RECEIVED, before, message)
        if after == ABSENT:
            return Reason.ANSWER
        if before == working[BAG_BEFORE, receiver]:
            working[CHANGES, control[at.CHANGED]] = receiver
            control[at.CHANGED] += 1
        working[BAG_AFTER, receiver] = after
    return Reason.FINISHED


@compiled(inline=True)
def _until_next_event(of: Expansion) -> int:
    """Give when a rebec can act next; if none ever can, when the first of them is free."""
    inners, working = of.parts.inners, of.working
    rebecs = of.control[at.REBECS]
    units = NEVER
    for rebec in range(rebecs):
        inner, bag = working[AFTER, rebec], working[BAG_AFTER, rebec]
        units = min(units, _next_time(inners, of.parts.bags, inner, bag))
        if units == 0:
            return 0
    if units == NEVER:
        for rebec in range(rebecs):
            units = min(units, inners[working[AFTER, rebec], at.INNER_CLOCK])
    return units


@compiled(inline=True)
def _follow(of: Expansion, rebec: int, served: int, rest: int, effect: int, time: int) -> int:
    """Follow one transition: a rebec serves a message with an effect. Gives FINISHED, or why not.

    `rest` is its bag without the message. Which outcome of the message it is, `control` says.
    """
    control, working, effects = of.control, of.working, of.parts.effects
    if control[at.FOUND] == of.successors.targets.shape[0]:
        return Reason.MORE
    for change in range(control[at.CHANGED]):
        other = working[CHANGES, change]
        working[AFTER, other] = working[BEFORE, other]
        working[BAG_AFTER, other] = working[BAG_BEFORE, other]
    own = effects[effect, at.EFFECT_OWN]
    after = rest if own == ABSENT else own
    if own != ABSENT and of.parts.bags[rest, at.BAG_SIZE] != 0:
        after = _answer(of, AnswerKind.JOINED, rest, own)
        if after == ABSENT:
            return Reason.ANSWER
    working[AFTER, rebec] = effects[effect, at.EFFECT_INNER]
    working[BAG_AFTER, rebec] = after
    working[CHANGES, 0] = rebec
    control[at.CHANGED] = 1
    reason = _deliver(of, effect)
    if reason == Reason.FINISHED and effects[effect, at.EFFECT_FAILS] != 0:
        reason = ask(control, Reason.BREACH, effect, 0)
    if reason == Reason.BREACH or reason == Reason.OVERFLOW:
        control[at.SERVED] = served
        control[at.WRONG] = 1
        control[at.ORDINAL] += 1
    if reason != Reason.FINISHED:
        return reason
    units = _until_next_event(of) if control[at.FLOATING] != 0 else 0
    return _arrive(of, served, control[at.CHOICE], units, time)


@compiled(inline=True)
def find_successors(of: Expansion) -> int:
    """Work out what follows from a state, and give the reason to stop."""
    control, working = of.control, of.working
    inners, bags = of.parts.inners, of.parts.bags
    turns = _unpack(of)
    time = 0
    if control[at.ABSOLUTE] != 0:
        part = 2 * control[at.REBECS]
        time = _part(of, part)
        if time > control[at.HORIZON]:
            control[at.BEYOND] = 1
            return Reason.FINISHED
        if control[at.BY_TIME] != 0 and time > LATEST:  # an answer could not be asked for
            return ask(control, Reason.WIDTH, part, time)
    if turns.due != 0:
        return _let_time_pass(of, turns.due, time)
    control[at.CHANGED] = 0
    followed = control[at.ORDINAL]
    before = 0  # transitions of the messages that were looked at
    leads = (
        turns.able > 1 and control[at.PARTIAL] != 0 and _put_ample_first(bags, working, turns.able)
    )
    for turn in range(turns.able):
        if leads and turn == 1 and control[at.WRONG] == 0:
            return Reason.FINISHED
        rebec = working[ABLE, turn]
        bag = working[BAG_BEFORE, rebec]
        suspended = inners[working[BEFORE, rebec], at.INNER_RESUME] != ABSENT
        if not suspended and bags[bag, at.BAG_FIRST] == ABSENT:
            return ask(control, Reason.ALTERNATIVES, bag, 0)
        for alternative in range(1 if suspended else bags[bag, at.BAG_COUNT]):
            message = inners[working[BEFORE, rebec], at.INNER_MESSAGE]
            rest = bag
            if not suspended:
                row = bags[bag, at.BAG_FIRST] + alternative
                message = of.parts.alternatives[row, at.ALTERNATIVE_MESSAGE]
                rest = of.parts.alternatives[row, at.ALTERNATIVE_REST]
            batch = _batch_of(of, rebec, message, rest, time)
            if batch == ABSENT:
                return Reason.ANSWER
            begin = of.parts.batches[batch, at.BATCH_FIRST]
            count = of.parts.batches[batch, at.BATCH_COUNT]
            for choice in range(max(followed - before, 0), count):
                control[at.CHOICE] = choice
                served = 2 * message + suspended
                reason = _follow(of, rebec, served, rest, begin + choice, time)
                if reason != Reason.FINISHED:
                    return reason
                control[at.ORDINAL] += 1
            before += count
    return Reason.FINISHED

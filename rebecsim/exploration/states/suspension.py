"""Suspend message servers in a `delay`, in the timed transition system.

Python cannot copy a running function, so a suspended message server is resumed by running it again
from its start, with the same variables and choices, up to the delay where it stopped. Suspensions
are compared by where they stopped and by what can still matter of the local variables there. A
local that is never read again does not tell suspensions apart. Both are in a `Suspension`; only the
second is part of the identity of a state. Of equal suspensions the recipe of the first one met is
used for all, which is sound because equal identity means an equal future.

A local variable is live at an instruction if some way on from there reads it before it is assigned.
This is the classical backward analysis of data flow, on CPython's byte code, so that classes
written by hand and those written from Rebeca text are treated alike.
"""

from __future__ import annotations

import dis
from collections.abc import Callable
from functools import cache
from types import CodeType, FrameType
from typing import Any, NamedTuple

from rebecsim.exploration.states.rebec_states import (
    NO_DEADLINE,
    UnsuitableValueError,
    Values,
    Waiting,
)

_OBSERVERS = frozenset(
    {"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "stack", "settrace"}
)
"""Functions that can read local variables by other means than their names."""

ENDS = ("RETURN", "RAISE", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD")
"""Prefixes of the names of instructions after which the next one is not executed."""
_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))

Names = frozenset[str]


@cache
def may_be_live(code: CodeType, call: int) -> Callable[[str], bool]:
    """Say of a name whether its value can matter after the call at that offset returns.

    Only a plain local can be dead: what inner functions share (a cell) counts as live, and so does
    everything in a function that could look at its own frame.
    """
    if _OBSERVERS & set(code.co_names):
        return lambda name: True
    plain = frozenset(code.co_varnames) - frozenset(code.co_cellvars)
    dead = plain - _live_behind(code)[call]
    return lambda name: name not in dead


@cache
def may_come_back(code: CodeType, call: int) -> bool:
    """Say whether some way on from the call at that offset leads to it again."""
    instructions = list(dis.get_instructions(code))
    positions = {each.offset: position for position, each in enumerate(instructions)}
    seen: set[int] = set()
    pending = [positions[call]]
    while pending:
        found = set(_following(instructions, pending.pop(), positions)) - seen
        seen |= found
        pending += found
    return positions[call] in seen


@cache
def _live_behind(code: CodeType) -> dict[int, Names]:
    """Give, for the offset of each instruction, the locals that are live once it is done."""
    instructions = list(dis.get_instructions(code))
    positions = {each.offset: position for position, each in enumerate(instructions)}
    following = [_following(instructions, place, positions) for place in range(len(instructions))]
    handlers = _handlers(code, instructions, positions)
    before: list[Names] = [frozenset()] * len(instructions)
    behind: list[Names] = [frozenset()] * len(instructions)
    changed = True
    while changed:
        changed = False
        for place in reversed(range(len(instructions))):
            behind[place] = frozenset().union(*(before[each] for each in following[place]))
            raised = frozenset().union(*(before[each] for each in handlers[place]))
            live = _before(instructions[place], behind[place]) | raised
            if live != before[place]:
                before[place] = live
                changed = True
    return {each.offset: names for each, names in zip(instructions, behind, strict=True)}


def _following(
    instructions: list[dis.Instruction], place: int, positions: dict[int, int]
) -> tuple[int, ...]:
    """Give the places of the instructions that may be executed next."""
    each = instructions[place]
    found = []
    if each.opcode in _JUMPS:
        found.append(positions[each.argval])
    if not each.opname.startswith(ENDS) and place + 1 < len(instructions):
        found.append(place + 1)
    return tuple(found)


def _handlers(
    code: CodeType, instructions: list[dis.Instruction], positions: dict[int, int]
) -> list[tuple[int, ...]]:
    """Give, for each instruction, where it may go on if it raises an exception."""
    entries = dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]
    return [
        tuple(
            positions[entry.target] for entry in entries if entry.start <= each.offset < entry.end
        )
        for each in instructions
    ]


def _before(instruction: dis.Instruction, behind: Names) -> Names:
    """Give the names that are live before an instruction, from those that are live behind it."""
    name = instruction.opname
    if "_FAST" not in name:
        return behind
    found = instruction.argval
    names = (found,) if isinstance(found, str) else tuple(found)
    if name in ("STORE_FAST", "STORE_FAST_STORE_FAST"):
        return behind - frozenset(names)
    if name == "STORE_FAST_LOAD_FAST":
        stored, loaded = names
        return (behind | {loaded}) - {stored}
    return behind | frozenset(names)  # a read, or what can tell whether there is a value


class Suspended(BaseException):
    """Raised by `delay` to end the part of a message server before it.

    Not an Exception, so that a model's own `except Exception` does not catch it.
    """


class Recipe(NamedTuple):
    """How to get a message server back to where it stopped.

    `variables` at its start, `choices` (index, count) drawn so far, the `times` at which it was
    run from its start and from every delay but the one it waits in, and how long the delays take
    together, this one included. The times are absolute where that matters: a message server that
    reads `now` does the same again only at the same time.
    """

    variables: tuple[Any, ...]
    choices: tuple[tuple[int, int], ...]
    times: tuple[int, ...]
    elapsed: int

    @property
    def delays(self) -> int:
        """How many delays there are, with the one that the message server waits in."""
        return len(self.times)


class Suspension:
    """A rebec waiting in a delay: until when (relative), with which message, where.

    The message keeps its arrival and deadline, as in a bag, if it is `timed`. Otherwise the arrival
    is 0 and there is no deadline, whenever it is looked at: a message server that goes round a loop
    for ever, and cannot read these times, would else never be in the same state again.
    """

    __slots__ = ("identity", "message", "place", "recipe", "resume", "timed")

    def __init__(
        self, resume: int, message: Waiting, place: object, recipe: Recipe, *, timed: bool
    ) -> None:
        self.resume = resume
        self.message = message if timed else message._replace(arrival=0, deadline=NO_DEADLINE)
        self.place = place
        self.recipe = recipe
        self.timed = timed
        self.identity = (resume, self.message, place)

    @property
    def began(self) -> int:
        """The time from which the times of the message count when it is run again."""
        start = self.recipe.times[0]
        return start + self.recipe.elapsed if self.timed else start

    def earlier(self, units: int) -> Suspension:
        """Give the suspension as it is seen `units` later."""
        message = self.message.earlier(units) if self.timed else self.message
        return Suspension(self.resume - units, message, self.place, self.recipe, timed=self.timed)


def place_of(
    innermost: FrameType, outermost_caller: CodeType, variables: list[Any], values: Values
) -> object | None:
    """Describe where a message server waits: the instructions and live locals of its calls.

    The calls are those from `innermost` (the one that called `delay`) out to the message server
    itself, which `outermost_caller` called. None if the description would leave something out
    that the rest of the server depends on: a temporary value in the middle of an expression, an
    iterator, a local that cannot be part of a state, or a list that several names share.
    """
    calls: list[object] = []
    lists: set[int] = set()
    if not _separate(variables, lists):
        return None
    frame: FrameType | None = innermost
    while frame is not None and frame.f_code is not outermost_caller:
        code = frame.f_code
        instruction = _instruction_at(code, frame.f_lasti)
        counting = _counting_at(code, instruction)
        if counting is None:
            return None
        is_live, held = may_be_live(code, instruction), frame.f_locals
        names = [name for name in sorted(held) if name in counting or is_live(name)]
        if not _separate([held[name] for name in names], lists):
            return None
        try:
            seen = tuple([(name, values.encode(held[name])) for name in names])
        except UnsuitableValueError:
            return None
        calls.append((code, instruction, seen))
        frame = frame.f_back
    return tuple(calls)


def may_wait_again(innermost: FrameType, outermost_caller: CodeType) -> bool:
    """Whether a message server may come back to the same delay; the calls are as in `place_of`."""
    frame: FrameType | None = innermost
    while frame is not None and frame.f_code is not outermost_caller:
        if may_come_back(frame.f_code, _instruction_at(frame.f_code, frame.f_lasti)):
            return True
        frame = frame.f_back
    return False


def _separate(found: Any, lists: set[int]) -> bool:
    """Whether no list occurs twice, here or among those already noted in `lists`."""
    for value in found:
        if isinstance(value, list):
            if id(value) in lists:
                return False
            lists.add(id(value))
        if isinstance(value, list | tuple) and not _separate(value, lists):
            return False
    return True


# --- what a function holds beside its local variables ---------------------------------------------


@cache
def _instruction_at(code: CodeType, last: int) -> int:
    """Give the offset of the instruction that a function executes.

    A frame may also point into the inline cache behind the instruction; which of the two depends
    on how far the interpreter has specialised the call.
    """
    return max(each.offset for each in dis.get_instructions(code) if each.offset <= last)


@cache
def _counting_at(code: CodeType, last: int) -> frozenset[str] | None:
    """Name the locals that say how far the loops around the call at `last` have come.

    A function also has a stack of temporary values: operands of a half-evaluated expression and
    the iterators of `for` loops. Where it holds nothing but iterators over ranges, their bounds and
    position can be read off local variables, which are given. None if there is something else.
    """
    instructions = list(dis.get_instructions(code))
    held = _stack_depths(instructions).get(last)
    around = [
        position
        for position, each in enumerate(instructions)
        if each.opname == "FOR_ITER" and each.offset < last < each.argval
    ]
    if held != len(around):
        return None
    names: set[str] = set()
    for loop in around:
        counting = _plain_range(instructions, loop)
        if counting is None:
            return None
        names |= counting
    return frozenset(names)


def _stack_depths(instructions: list[dis.Instruction]) -> dict[int, int]:
    """Give, for the offset of each call, how many values lie below its result."""
    positions = {each.offset: position for position, each in enumerate(instructions)}
    before: dict[int, int] = {}
    below: dict[int, int] = {}
    pending = [(0, 0)]
    while pending:
        position, depth = pending.pop()
        while position < len(instructions) and position not in before:
            before[position] = depth
            each = instructions[position]
            argument = each.arg if each.opcode >= dis.HAVE_ARGUMENT else None
            if each.opcode in dis.hasjrel or each.opcode in dis.hasjabs:
                jumped = depth + dis.stack_effect(each.opcode, argument, jump=True)
                pending.append((positions[each.argval], jumped))
            depth += dis.stack_effect(each.opcode, argument, jump=False)
            if each.opname.startswith("CALL"):
                below[each.offset] = depth - 1
            if each.opname.startswith(ENDS):
                break
            position += 1
    return below


_BOUNDS = ("LOAD_CONST", "LOAD_SMALL_INT", "LOAD_FAST", "LOAD_GLOBAL", "BINARY_OP", "UNARY_NEG")


def _plain_range(instructions: list[dis.Instruction], loop: int) -> set[str] | None:
    """Name the counter and the bounds of `for i in range(...)`.

    None for any other loop, and if it does not leave them alone or a bound is neither a local nor
    a constant.
    """
    start = loop - 1
    if instructions[start].opname != "GET_ITER":
        return None
    bounds: set[str] = set()
    while start > 0:
        start -= 1
        each = instructions[start]
        if each.opname == "LOAD_GLOBAL" and each.argval == "range":
            break
        if each.opname.startswith("LOAD_FAST"):
            bounds |= _names(each)
        if not each.opname.startswith((*_BOUNDS, "CALL", "PRECALL", "PUSH_NULL")):
            return None
    calls = sum(each.opname.startswith("CALL") for each in instructions[start:loop])
    end = instructions[loop].argval
    stores = [
        each
        for each in instructions[loop + 1 :]
        if each.offset < end and each.opname.startswith("STORE_FAST")
    ]
    if calls != 1 or not stores or stores[0] is not instructions[loop + 1]:
        return None
    first = stores[0].argval
    counter = first if isinstance(first, str) else first[0]
    stored_later: set[str] = set().union(*(_names(each) for each in stores[1:]))
    if counter in bounds or stored_later & {counter, *bounds}:
        return None
    return {counter, *bounds}


def _names(instruction: dis.Instruction) -> set[str]:
    found = instruction.argval
    return {found} if isinstance(found, str) else set(found)

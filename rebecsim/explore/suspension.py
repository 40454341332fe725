"""Message servers that wait in a `delay`, in the timed transition system.

Python cannot copy a running function, so a suspended message server is resumed by running it again
from its start, with the same variables and choices, up to the delay where it stopped. What it is
compared by is something else: where it stopped and what it can still see. Both are in a
`Suspension`; only the second is part of the identity of a state. Of equal suspensions the recipe
of the first one met is used for all, which is sound because equal identity means an equal future.
"""

from __future__ import annotations

import dis
from functools import cache
from types import CodeType, FrameType
from typing import Any, NamedTuple

from rebecsim.explore.local import Waiting
from rebecsim.explore.values import UnsuitableValueError, Values

__all__ = ["Recipe", "Suspended", "Suspension", "place_of"]


class Suspended(BaseException):
    """Raised by `delay` to end the part of a message server before it.

    Not an Exception, so that a model's own `except Exception` does not catch it.
    """


class Recipe(NamedTuple):
    """How to get a message server back to where it stopped.

    `variables` at its start, `choices` (index, count) drawn so far, `delays` passed including the
    one it waits in, and the time they take together.
    """

    variables: tuple[Any, ...]
    choices: tuple[tuple[int, int], ...]
    delays: int
    elapsed: int


class Suspension:
    """A rebec waiting in a delay: until when (relative), with which message, where."""

    __slots__ = ("identity", "message", "place", "recipe", "resume")

    def __init__(self, resume: int, message: Waiting, place: object, recipe: Recipe) -> None:
        self.resume = resume
        self.message = message
        self.place = place
        self.recipe = recipe
        self.identity = (resume, message, place)

    def earlier(self, units: int) -> Suspension:
        """Give the suspension as it is seen `units` later."""
        return Suspension(self.resume - units, self.message.earlier(units), self.place, self.recipe)


def place_of(
    innermost: FrameType, outermost_caller: CodeType, variables: list[Any], values: Values
) -> object | None:
    """Describe where a message server waits: the instructions and local variables of its calls.

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
        instruction = _instruction_at(frame.f_code, frame.f_lasti)
        if not _says_all(frame.f_code, instruction):
            return None
        names = frame.f_locals
        if not _separate(names.values(), lists):
            return None
        try:
            seen = tuple([(name, values.encode(names[name])) for name in sorted(names)])
        except UnsuitableValueError:
            return None
        calls.append((frame.f_code, instruction, seen))
        frame = frame.f_back
    return tuple(calls)


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
def _says_all(code: CodeType, last: int) -> bool:
    """Whether instruction and locals say all about a function that is in the call at `last`.

    A function also has a stack of temporary values: operands of a half-evaluated expression and
    the iterators of `for` loops. It must hold nothing but iterators over ranges whose bounds and
    position can be read off the local variables.
    """
    instructions = list(dis.get_instructions(code))
    held = _stack_depths(instructions).get(last)
    if held is None:
        return False
    around = [
        position
        for position, each in enumerate(instructions)
        if each.opname == "FOR_ITER" and each.offset < last < each.argval
    ]
    return held == len(around) and all(_plain_range(instructions, each) for each in around)


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
            if each.opname.startswith(_ENDS):
                break
            position += 1
    return below


_ENDS = ("RETURN", "RAISE", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD")
_BOUNDS = ("LOAD_CONST", "LOAD_SMALL_INT", "LOAD_FAST", "LOAD_GLOBAL", "BINARY_OP", "UNARY_NEG")


def _plain_range(instructions: list[dis.Instruction], loop: int) -> bool:
    """Whether a loop is `for i in range(...)` over locals and constants that it leaves alone."""
    start = loop - 1
    if instructions[start].opname != "GET_ITER":
        return False
    bounds: set[str] = set()
    while start > 0:
        start -= 1
        each = instructions[start]
        if each.opname == "LOAD_GLOBAL" and each.argval == "range":
            break
        if each.opname.startswith("LOAD_FAST"):
            bounds |= _names(each)
        if not each.opname.startswith((*_BOUNDS, "CALL", "PRECALL", "PUSH_NULL")):
            return False
    calls = sum(each.opname.startswith("CALL") for each in instructions[start:loop])
    end = instructions[loop].argval
    stores = [
        each
        for each in instructions[loop + 1 :]
        if each.offset < end and each.opname.startswith("STORE_FAST")
    ]
    if calls != 1 or not stores or stores[0] is not instructions[loop + 1]:
        return False
    first = stores[0].argval
    counter = first if isinstance(first, str) else first[0]
    stored_later: set[str] = set().union(*(_names(each) for each in stores[1:]))
    return counter not in stored_later and counter not in bounds and not bounds & stored_later


def _names(instruction: dis.Instruction) -> set[str]:
    found = instruction.argval
    return {found} if isinstance(found, str) else set(found)

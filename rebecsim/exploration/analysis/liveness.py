"""Find the local variables of a function that are live after a call in it returns.

A local is live at an instruction if some way on from there reads it before it is assigned. The
others are dead: whatever they hold, the function goes on in the same way. This is the classical
backward analysis of data flow, on CPython's byte code, so that classes written by hand and those
written from Rebeca text are treated alike.
"""

from __future__ import annotations

import dis
from collections.abc import Callable
from functools import cache
from types import CodeType

_OBSERVERS = frozenset(
    {"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "stack", "settrace"}
)
"""Functions that can read local variables by other means than their names."""

ENDS = ("RETURN", "RAISE", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD")
"""What the names of instructions begin with that the next one does not come after."""
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
    """Give what is live before an instruction, from what is live behind it."""
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

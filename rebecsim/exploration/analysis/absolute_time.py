"""Find the models that read absolute time, whose states are not equal modulo a shift of time.

If no message server can see the absolute time, states whose times differ by one constant behave
alike, and one of them stands for all. A server that stores or tests `now` breaks that. Differences
of two times are harmless: `now - currentMessageArrival`, comparisons of these two, and
currentMessageWaitingTime. (currentMessageDeadline is not among them: for a message without a
deadline it is a constant.)

The code of all classes is looked at: every function of a class but its constructor, the functions
inside it and the module's functions it names. A read of a time counts as harmless only where the
compiled code is exactly `self.a OPERATOR self.b`. Whatever could read an attribute by other means
(`getattr`, `vars`, ...) counts as reading absolute time. So a model may be kept apart by time
without need, but is never folded wrongly.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

from rebecsim.actors import Model, Rebec

_POINTS = frozenset({"now", "current_message_arrival"})
_ABSOLUTE = _POINTS | {"current_message_deadline"}
_WAITING = frozenset({"current_message_waiting_time"})
_OF_MESSAGE = _WAITING | {"current_message_arrival", "current_message_deadline"}
BACK_DOORS = frozenset(
    {
        "_now",
        "_system",
        "_bag",
        "__dict__",
        "__message_server__",
        "__servers__",
        "_servers",
        "__getattribute__",
        "getattr",
        "vars",
        "eval",
        "exec",
    }
    | {"attrgetter", "methodcaller", "globals", "locals"}
)


def reads_absolute_time(model: Model) -> str | None:
    """Name the function that may read absolute time, as `Class.function`; None if none can."""
    for reactive_class in _classes(model):
        for function in functions_of(reactive_class, model):
            if any(_reads_absolute(code) for code in codes_of(function.__code__)):
                return f"{reactive_class.__name__}.{function.__name__}"
    return None


def reads_waiting_time(model: Model) -> frozenset[int]:
    """Give the positions of rebecs that may ask how long their message waited in the bag."""
    return _rebecs_naming(model, _WAITING)


def may_delay(model: Model) -> frozenset[int]:
    """Give the positions of rebecs that may wait in a `delay` of a message server."""
    return _rebecs_naming(model, frozenset({"delay"}))


def _rebecs_naming(model: Model, names: frozenset[str]) -> frozenset[int]:
    naming = {
        reactive_class
        for reactive_class in _classes(model)
        for function in functions_of(reactive_class, model)
        for code in codes_of(function.__code__)
        if (names | BACK_DOORS) & set(code.co_names)
    }
    return frozenset(
        position
        for position, instance in enumerate(model.instances)
        if instance.reactive_class in naming
    )


def reads_message_times(model: Model) -> frozenset[tuple[int, int]]:
    """Give the message servers that may read when their message arrived or had to be served.

    They are given as the position of the rebec and the number of the message server.
    """
    reading = {
        reactive_class: [
            number
            for number, server in enumerate(reactive_class.__servers__.values())
            if any(
                (_OF_MESSAGE | BACK_DOORS) & set(code.co_names)
                for function in _functions_behind(server.handler, reactive_class)
                for code in codes_of(function.__code__)
            )
        ]
        for reactive_class in _classes(model)
    }
    return frozenset(
        (position, number)
        for position, instance in enumerate(model.instances)
        for number in reading[instance.reactive_class]
    )


def _classes(model: Model) -> list[type[Rebec]]:
    return list(dict.fromkeys(instance.reactive_class for instance in model.instances))


# --- functions that a class can run ---------------------------------------------------------------


def functions_of(reactive_class: type[Rebec], model: Model) -> Iterator[FunctionType]:
    """Give the functions of a class and its bases below Rebec, and those that they name."""
    constructors = {"__init__"} | {instance.constructor for instance in model.instances}
    members = [member for name, member in members_of(reactive_class) if name not in constructors]
    return _reached(members, _named_by)


def _functions_behind(handler: Any, reactive_class: type[Rebec]) -> Iterator[FunctionType]:
    """Give the functions that a message server may run, itself included.

    Naming another message server sends a message, unless it is that of a base class.
    """

    def naming(function: FunctionType) -> Iterator[Any]:
        yield from _named_by(function)
        names = names_in(function)
        for name, member in members_of(reactive_class):
            sends = hasattr(member, "__message_server__") and "super" not in names
            if name in names and not sends:
                yield member

    return _reached([handler], naming)


def members_of(reactive_class: type[Rebec]) -> Iterator[tuple[str, Any]]:
    """Give what a class and its bases below Rebec have, by name."""
    for each in reactive_class.__mro__:
        if each is not object and not _is_ours(each):
            yield from vars(each).items()


def _reached(
    pending: list[Any], naming: Callable[[FunctionType], Iterable[Any]]
) -> Iterator[FunctionType]:
    """Give functions and those that they name, in turn, each once."""
    seen: set[FunctionType] = set()
    while pending:
        function = function_of(pending.pop())
        if function is None or function in seen or _is_ours(function):
            continue
        seen.add(function)
        yield function
        pending.extend(naming(function))


def names_in(function: FunctionType) -> set[str]:
    """Give the names of attributes and globals in a function and the functions inside it."""
    return {name for code in codes_of(function.__code__) for name in code.co_names}


def function_of(member: Any) -> FunctionType | None:
    """Find the function in a message server, method, property or partial application."""
    declared = getattr(member, "__message_server__", None)
    if declared is not None:
        member = declared[1]
    if isinstance(member, property):
        member = member.fget
    if isinstance(member, staticmethod | classmethod):
        member = member.__func__
    while isinstance(member, partial):
        member = member.func
    return member if isinstance(member, FunctionType) else None


def _is_ours(defined: FunctionType | type) -> bool:
    return (defined.__module__ or "").startswith("rebecsim.actors.")


def _named_by(function: FunctionType) -> Iterator[Any]:
    """Give what the names in a function refer to, as far as that is fixed."""
    names = names_in(function)
    found = [function.__globals__[name] for name in names if name in function.__globals__]
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # not filled yet
            continue
    for value in found:
        yield value
        if isinstance(value, ModuleType):
            yield from (vars(value)[name] for name in names if name in vars(value))
        if isinstance(value, type) and not issubclass(value, Rebec):
            yield from vars(value).values()


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """Give a code object and those of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_of(constant)


# --- reads in compiled code -----------------------------------------------------------------------


def _reads_absolute(code: CodeType) -> bool:
    names = set(code.co_names)
    if names & BACK_DOORS:
        return True
    if not names & _ABSOLUTE:
        return False
    instructions = list(dis.get_instructions(code))
    reads = {position for position, each in enumerate(instructions) if _read(each) in _ABSOLUTE} | {
        position
        for position, each in enumerate(instructions)
        if each.argval in _ABSOLUTE and not each.opname.startswith("LOAD_ATTR")
    }
    harmless = {
        position + offset
        for position in range(len(instructions) - 4)
        if _is_difference(instructions[position : position + 5])
        for offset in (1, 3)
    }
    return bool(reads - harmless)


def _read(instruction: dis.Instruction) -> str:
    """Give the name of the attribute that an instruction reads, or nothing."""
    return instruction.argval if instruction.opname == "LOAD_ATTR" else ""


def _is_difference(window: list[dis.Instruction]) -> bool:
    """Whether five instructions are `self.a - self.b`, or a comparison of the two."""
    first, left, second, right, operation = window
    return (
        first.opname.startswith("LOAD_FAST")
        and second.opname.startswith("LOAD_FAST")
        and first.argval == second.argval == "self"
        and _read(left) in _POINTS
        and _read(right) in _POINTS
        and (
            operation.opname == "COMPARE_OP"
            or (operation.opname == "BINARY_OP" and operation.argrepr == "-")
        )
    )

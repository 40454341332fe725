"""Find code of a Python model that depends on more than the state and the message.

A message server should depend on the state variables of its rebec and on the message alone. Other
things are looked for here without running anything, in the byte code of its class: chance, clocks,
and what is changed from somewhere else.
"""

from __future__ import annotations

import builtins
import dis
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any, Self

from rebecsim.actors.rebec import Rebec
from rebecsim.actors.system import ModelError

_CHANGING = frozenset({"random", "secrets", "time", "datetime", "uuid"})
"""Modules that give something else at every use."""

_MUTATORS = frozenset(
    {"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove"}
    | {"setdefault", "update"}
)
_CONTAINERS = (list, dict, set, bytearray)
_IDENTITIES = frozenset({"id", "hash", "input", "open"})


@dataclass(frozen=True)
class Impurity:
    """A place in a model: which class and method, its file and line, and what is wrong there."""

    owner: str
    method: str
    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"it {self.what} ({self.file}:{self.line})"


def impurities(reactive_class: type[Rebec]) -> list[Impurity]:
    """Give what is suspicious in the methods of a class, in the order of the text."""
    declared = _declared(reactive_class)
    found = {
        Impurity(reactive_class.__name__, name, code.co_filename, line, what)
        for name, function in _methods(reactive_class)
        for code, line, what in _of_function(
            function, reactive_class, None if name == "__init__" else declared, set()
        )
    }
    return sorted(found, key=lambda each: (each.file, each.line, each.what))


def _methods(reactive_class: type[Rebec]) -> Iterator[tuple[str, FunctionType]]:
    for each in reactive_class.__mro__:
        if issubclass(each, Rebec) and each is not Rebec:
            for name, member in vars(each).items():
                declared = getattr(member, "__message_server__", None)
                function = inspect.unwrap(member) if declared is None else declared[1]
                if isinstance(function, FunctionType):
                    yield name, function


_Place = tuple[CodeType, int, str]


def _of_function(
    function: FunctionType, owner: type[Rebec], declared: set[str] | None, seen: set[CodeType]
) -> Iterator[_Place]:
    """Look at a function, at those within it, and at those of its module that it calls.

    `declared` are the attributes that it may set, if it is a method and no constructor.
    """
    code = function.__code__
    if code in seen:
        return
    seen.add(code)
    known = dict(function.__globals__)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        known[name] = _content(cell)
    for default in function.__defaults__ or ():
        if isinstance(default, _CONTAINERS) and _mutates(code):
            yield code, code.co_firstlineno, "has a default that all its calls share"
    yield from _of_code(code, known, declared, owner)
    for name in code.co_names:
        called = known.get(name)
        if isinstance(called, FunctionType) and called.__module__ == function.__module__:
            yield from _of_function(called, owner, None, seen)


def _content(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # nothing in it yet
        return None


def _of_code(
    code: CodeType, known: dict[str, Any], declared: set[str] | None, owner: type[Rebec]
) -> Iterator[_Place]:
    mutates = _mutates(code)
    line = code.co_firstlineno
    before: object = None  # what the instruction before has loaded
    for instruction in dis.get_instructions(code):
        positions = instruction.positions
        if positions is not None and positions.lineno is not None:
            line = positions.lineno
        if instruction.opname == "STORE_ATTR":
            loaded = before[-1] if isinstance(before, tuple) else before
            mine = declared is not None and loaded == (*code.co_varnames, None)[0]
            what = "" if not mine or declared is None else _of_setting(instruction.argval, declared)
        else:
            what = _of_instruction(instruction, known, owner, mutates)
        before = instruction.argval
        if what:
            yield code, line, what
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _of_code(constant, known, declared, owner)


def _of_instruction(
    instruction: dis.Instruction, known: dict[str, Any], owner: type[Rebec], mutates: bool
) -> str:
    name, operation = instruction.argval, instruction.opname
    match operation:
        case "STORE_GLOBAL" | "DELETE_GLOBAL":
            return f"changes the global `{name}`"
        case "LOAD_GLOBAL" | "LOAD_NAME" | "LOAD_DEREF":
            return _of_value(name, known, mutates)
        case "LOAD_ATTR" | "LOAD_METHOD":
            if mutates and isinstance(inspect.getattr_static(owner, name, None), _CONTAINERS):
                return f"changes `{name}`, which all rebecs of the class share"
    return ""


def _of_setting(name: str, declared: set[str]) -> str:
    return "" if name in declared else f"sets `{name}`, which is not declared as a state variable"


def _of_value(name: str, known: dict[str, Any], mutates: bool) -> str:
    """Say what is suspicious about reading this global, or variable of a function around."""
    if name not in known:
        if name in _IDENTITIES and hasattr(builtins, name):
            return f"uses `{name}`, which does not depend on the state alone"
        return ""
    value = known[name]
    if isinstance(value, ModuleType):
        module = value.__name__
    else:
        kind = value if callable(value) else type(value)
        module = getattr(kind, "__module__", None) or ""
    if module.split(".")[0] in _CHANGING or module.startswith("numpy.random"):
        return f"uses `{name}` of the module {module}, which gives something else each time"
    if mutates and isinstance(value, _CONTAINERS):
        return f"changes the global `{name}`"
    return ""


def _mutates(code: CodeType) -> bool:
    """Whether a function changes some container."""
    if _MUTATORS.intersection(code.co_names):
        return True
    return any(
        each.opname in ("STORE_SUBSCR", "DELETE_SUBSCR") for each in dis.get_instructions(code)
    )


def _declared(owner: type[Rebec]) -> set[str]:
    """Name the attributes that a rebec of the class may have: declared, or set by a constructor."""
    names = {each.name for each in owner.__state_variables__}
    names |= {each.name for each in owner.__known_rebecs__}
    for name, function in _methods(owner):
        if name == "__init__":
            names |= {
                each.argval
                for each in dis.get_instructions(function.__code__)
                if each.opname == "STORE_ATTR"
            }
    return names


class NotRepeatableError(ModelError):
    """A message server that does something else when it is run again from the same state."""

    @classmethod
    def of(cls, rebec: Rebec, server: str, difference: str) -> Self:
        """Report a message server, with what differs and what is likely to be the cause."""
        text = (
            f"{rebec}, message {server}: run again from the same state, it does something else: "
            f"{difference}. What a message server does may depend on the state variables of its "
            "rebec, the message and `self.choose` only"
        )
        return cls(f"{text}; {_cause(rebec, server)}")


def _cause(rebec: Rebec, server: str) -> str:
    found = impurities(type(rebec))
    mine = [each for each in found if each.method == server] or found
    if not mine:
        return "look for what it reads from elsewhere"
    return f"likely because {mine[0]}"

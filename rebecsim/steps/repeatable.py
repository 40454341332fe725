"""Find code of a Python model that depends on more than the state and the message.

A message server should depend on the state variables of its rebec and on the message alone. Other
things are looked for here without running anything, in the source of its class: chance, clocks,
and what is changed from somewhere else.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any, Self

from rebecsim.actors.rebec import Rebec
from rebecsim.actors.system import ModelError
from rebecsim.steps.source import function_tree, known_value

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
        Impurity(reactive_class.__name__, name, *place)
        for name, function in _methods(reactive_class)
        for place in _of_function(
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


_Place = tuple[str, int, str]


def _of_function(
    function: FunctionType,
    owner: type[Rebec],
    declared: set[str] | None,
    seen: set[FunctionType],
) -> Iterator[_Place]:
    """Look at a function, at those within it, and at those of its module that it calls.

    `declared` are the attributes that it may set, if it is a method and no constructor.
    """
    if function in seen:
        return
    seen.add(function)
    file, nodes = function.__code__.co_filename, _nodes_of(function)
    outside = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    parameters = [*inspect.signature(function).parameters, ""]
    own = {*parameters, *map(_bound, nodes)} - outside
    mutates = any(map(_mutates, nodes))
    for default in function.__defaults__ or ():
        if isinstance(default, _CONTAINERS) and mutates:
            line = function.__code__.co_firstlineno
            yield file, line, "has a default that all its calls share"
    for node in nodes:
        what = ""
        match node:
            case ast.Attribute(ast.Name(me), name, ast.Store()) if me == parameters[0]:
                if declared is not None and name not in declared:
                    what = f"sets `{name}`, which is not declared as a state variable"
            case ast.Attribute(_, name, ast.Load()) if mutates:
                if isinstance(inspect.getattr_static(owner, name, None), _CONTAINERS):
                    what = f"changes `{name}`, which all rebecs of the class share"
            case ast.Name(name, ast.Load()) if name not in own:
                value = known_value(name, function)
                what = _of_value(name, value, mutates)
                if isinstance(value, FunctionType) and value.__module__ == function.__module__:
                    yield from _of_function(value, owner, None, seen)
            case ast.Name(name) if name in outside:
                what = f"changes the global `{name}`"
        if what:
            yield file, getattr(node, "lineno", 0), what


def _nodes_of(function: FunctionType) -> list[ast.AST]:
    """Give what stands in the body of a function; nothing if its text is not known."""
    tree = function_tree(function.__code__, function.__globals__)
    return [] if tree is None else [node for each in tree.body for node in ast.walk(each)]


def _of_value(name: str, value: Any, mutates: bool) -> str:
    """Say what is suspicious about reading this global, or variable of a function around."""
    if name in _IDENTITIES and value is getattr(builtins, name):
        return f"uses `{name}`, which does not depend on the state alone"
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


def _bound(node: ast.AST) -> str:
    """Give the name that gets a value here, of a local of the function or of one within it."""
    match node:
        case ast.Name():
            return "" if isinstance(node.ctx, ast.Load) else node.id
        case ast.arg():
            return node.arg
        case ast.FunctionDef():
            return node.name
        case ast.alias():
            return node.asname or node.name
    return ""


def _mutates(node: ast.AST) -> bool:
    """Whether a container is changed by this."""
    match node:
        case ast.Attribute(_, name):
            return name in _MUTATORS
        case ast.Subscript(_, _, context):
            return not isinstance(context, ast.Load)
    return False


def _declared(owner: type[Rebec]) -> set[str]:
    """Name the attributes that a rebec of the class may have: declared, or set by a constructor."""
    names = {each.name for each in owner.__state_variables__}
    names |= {each.name for each in owner.__known_rebecs__}
    return names | {
        node.attr
        for name, function in _methods(owner)
        if name == "__init__"
        for node in _nodes_of(function)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }


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

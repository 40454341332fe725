"""Find the functions that a class in Python can run, and the names in them.

This is for Python whose steps are not understood: it tells what surely is not done, no more.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from rebecsim.actors import Rebec
from rebecsim.steps.source import FunctionTree, function_tree

BACK_DOORS = frozenset(
    {"_now", "_system", "_bag", "_servers", "__dict__", "__message_server__", "__servers__"}
    | {"__getattribute__", "getattr", "vars", "eval", "exec", "globals", "locals"}
    | {"attrgetter", "methodcaller"}
)
"""Names by which anything could be read."""


def may_name(
    reactive_class: type[Rebec], names: Collection[str], constructors: Collection[str]
) -> str | None:
    """Give the function of a class that may use an attribute of these names; None if none does.

    Constructors do not count. The functions that it names, and those within it, are its own.
    """
    wanted = BACK_DOORS.union(names)
    for function, tree in functions_of(reactive_class, constructors):
        if tree is None or not wanted.isdisjoint(names_in(tree)):
            return f"{reactive_class.__name__}.{function.__name__}"
    return None


def functions_of(
    reactive_class: type[Rebec], without: Collection[str] = ()
) -> Iterator[tuple[FunctionType, FunctionTree | None]]:
    """Give the functions of a class and its bases below Rebec, and those that they name.

    Each comes with its tree, if its text is known.
    """
    pending = [
        member
        for each in reactive_class.__mro__
        if each is not object and not _is_ours(each)
        for name, member in vars(each).items()
        if name not in without
    ]
    seen: set[FunctionType] = set()
    while pending:
        function = _function_of(pending.pop(0))
        if function is None or function in seen or _is_ours(function):
            continue
        seen.add(function)
        tree = function_tree(function.__code__, function.__globals__)
        yield function, tree
        if tree is not None:
            pending += _named_by(function, names_in(tree))


def names_in(tree: ast.AST) -> set[str]:
    """Give the names in a piece of code, of variables, attributes and what is imported."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(name) | ast.Attribute(_, name) | ast.alias(name) | ast.keyword(str(name)):
                found.add(name)
            case ast.MatchClass(_, _, names):
                found.update(names)
    return found


def _function_of(member: Any) -> FunctionType | None:
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


def _named_by(function: FunctionType, names: set[str]) -> Iterator[Any]:
    """Give what the names in a function refer to, as far as that is fixed."""
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

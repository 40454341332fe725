"""Check whether a variable left out of the state still decides something.

States that differ in such a variable only are taken for one, and one of its values stands for all.
That is harmless for a variable that nobody looks at, such as a counter for statistics. It is not
where the variable feeds a branch, an assertion, what is sent, a time, or another variable: then
runs are lost, and with them what could go wrong in them.

What is read is the Python of a class, its own source or what was written from Rebeca, as
`rebecsim.exploration.analysis.harmless` does. Other rebecs cannot read a variable while a model is
explored, and a constructor runs once, before anything is left out. Values are taken to be of the
kinds that are declared, so that they can be compared and computed with.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from enum import EnumType
from functools import cache
from pathlib import PurePath
from types import FunctionType

from rebecsim import actors
from rebecsim.actors import Array, Model, Rebec
from rebecsim.actors.watchdog import SOURCE, line_of_rebeca
from rebecsim.exploration.analysis.absolute_time import (
    BACK_DOORS,
    codes_of,
    function_of,
    functions_of,
)
from rebecsim.exploration.analysis.harmless import Function, Owner, decision_in, handed_out
from rebecsim.exploration.properties import Abstraction


@dataclass(frozen=True)
class Deciding:
    """A variable that is left out of the state, and what it decides: a phrase with its place."""

    variable: str
    what: str

    def __str__(self) -> str:
        return f"{self.variable} ({self.what})"


def decided_by(model: Model, left_out: Abstraction) -> tuple[Deciding, ...]:
    """Say of the variables left out what they decide; nothing of those that decide nothing."""
    found: dict[str, str] = {}
    for written, place, name in left_out.named:
        if written not in found:
            reactive_class = model.instances[place].reactive_class
            what = _Class(model, reactive_class, left_out.attributes[place]).decided_by(name)
            if what:
                found[written] = what
    return tuple(Deciding(*each) for each in found.items())


_TOTAL = frozenset(
    {"bool", "double_quotient", "float", "float32", "float_quotient", "int16", "int32", "int8"}
    | {"power", "square_root"}
)
"""Functions that give a value for any number."""


class _Class:
    """The functions of a reactive class, of which some variables are left out."""

    def __init__(self, model: Model, reactive_class: type[Rebec], left_out: frozenset[str]) -> None:
        self._class = reactive_class
        self._left_out = left_out
        functions = list(functions_of(reactive_class, model))
        own = {function_of(value) for _, value in self._members()}
        self._own = [(each, _tree_of(each)) for each in functions if each in own]
        self._others = [each for each in functions if each not in own]
        self._servers = frozenset(
            name for each in model.instances for name in each.reactive_class.__servers__
        )
        self._state = {
            each.name: each.kind.length if isinstance(each.kind, Array) else None
            for each in reactive_class.__state_variables__
        }

    def decided_by(self, name: str) -> str:
        """Say what a variable decides, or may decide; nothing if it decides nothing."""
        hidden = self._hidden(name)
        if hidden:
            return f"it may decide something: {hidden}"
        followed = {name}
        known = 0
        while known != len(followed):  # until no further variable gets a value made of it
            known = len(followed)
            for function, tree in self._own:
                assert tree is not None  # or it would be hidden
                found = decision_in(tree, self._owner(function), followed)
                if found is not None:
                    return f"it decides {found.what}, {_place(function, found.line)}"
        return ""

    def _hidden(self, name: str) -> str:
        """Say what keeps from seeing all that is done with a variable."""
        if "__" in name:  # Python has another name for it than the source
            return "its name is a private one"
        for member, value in self._members():
            if not _is_plain(value) and (
                function_of(value) is None or (isinstance(value, property) and value.fset)
            ):
                return f"{self._class.__name__}.{member} may read it"
        for function in (*(each for each, _ in self._own), *self._others):
            if _names(function) & BACK_DOORS:
                return f"{function.__qualname__} may read it by its name"
        for function in self._others:
            if name in _names(function):
                return f"{function.__qualname__} reads it"
        for function, tree in self._own:
            if tree is None:
                return f"{function.__qualname__} has no source to be read"
            if SOURCE in function.__globals__:  # what is written from Rebeca hands out names only
                continue
            line = handed_out(tree, self._servers)
            if line is not None:
                return f"the rebec is handed to what may read it, {_place(function, line)}"
        return ""

    def _members(self) -> Iterator[tuple[str, object]]:
        """Give what the class and its bases below Rebec have."""
        for each in self._class.__mro__:
            if each is not object and not each.__module__.startswith("rebecsim.actors."):
                yield from vars(each).items()

    def _owner(self, function: FunctionType) -> Owner:
        known = vars(builtins) | function.__globals__
        total = frozenset(name for name in _TOTAL if known.get(name) is _the_function(name))
        return Owner(self._state, self._left_out, self._servers, total)


def _the_function(name: str) -> object:
    """Give what one of `_TOTAL` is, asking the package, which imports what is asked for."""
    return vars(builtins)[name] if name in vars(builtins) else getattr(actors, name)


def _names(function: FunctionType) -> set[str]:
    return {name for code in codes_of(function.__code__) for name in code.co_names}


def _is_plain(value: object) -> bool:
    """Whether a member of a class is a value, which does nothing when it is read."""
    if isinstance(value, EnumType):
        return True
    return not callable(value) and (
        not hasattr(value, "__get__") or inspect.isgetsetdescriptor(value)
    )


# --- sources -------------------------------------------------------------------------------------


def _tree_of(function: FunctionType) -> Function | None:
    """Give the tree of a function; None for one without a source, or a lambda."""
    code = function.__code__
    return _trees_in(_source_of(function)).get((code.co_name, code.co_firstlineno))


@cache
def _trees_in(source: str) -> dict[tuple[str, int], Function]:
    """Give the functions in a text, by their names and first lines."""
    return {
        (node.name, min(each.lineno for each in (node, *node.decorator_list))): node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, Function)
    }


def _source_of(function: FunctionType) -> str:
    source = function.__globals__.get(SOURCE)
    if isinstance(source, str):
        return source
    try:
        return "".join(inspect.findsource(function.__code__)[0])
    except OSError:
        return ""


def _place(function: FunctionType, line: int) -> str:
    """Name the place in what the user has written."""
    source = function.__globals__.get(SOURCE)
    file = function.__code__.co_filename
    if isinstance(source, str):
        file = file.removeprefix("<python of ").removesuffix(">")
        return f"{file}:{line_of_rebeca(source, line)}"
    return f"{PurePath(file).name}:{line}"

"""Find the source of classes and functions, and what the names in it stand for."""

from __future__ import annotations

import ast
import builtins
import linecache
import sys
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from rebecsim.actors.watchdog import SOURCE
from rebecsim.errors import UserError
from rebecsim.lang.syntax import Span


class NotUnderstoodError(UserError):
    """Python that cannot be translated to Rebeca; the text names file, line and reason."""

    def __init__(self, file: str, line: int, reason: str) -> None:
        super().__init__(f"{file}:{line}: {reason}")
        self.file = file
        self.line = line
        self.reason = reason


@lru_cache(maxsize=16)
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def _text_of(file: str, known: dict[str, Any]) -> str:
    """Give the text that a function with these globals was compiled from."""
    text = known.get(SOURCE)
    if isinstance(text, str):
        return text
    loader: Any = known.get("__loader__")
    name = known.get("__name__")
    if hasattr(loader, "get_filename") and hasattr(loader, "get_source"):
        try:
            if loader.get_filename(name) == file:
                return loader.get_source(name) or ""
        except (ImportError, OSError):
            pass
    return "".join(linecache.getlines(file, known))


FunctionTree = ast.FunctionDef | ast.AsyncFunctionDef


def function_tree(code: CodeType, known: dict[str, Any]) -> FunctionTree | None:
    """Give a function of a module with these globals; None for a lambda, or without a text."""
    return _functions_in(_text_of(code.co_filename, known)).get((code.co_name, code.co_firstlineno))


@lru_cache(maxsize=16)
def _functions_in(text: str) -> dict[tuple[str, int], FunctionTree]:
    """Give the functions in a text, by their names and first lines."""
    try:
        tree = _parsed(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    return {
        (node.name, min(each.lineno for each in (node, *node.decorator_list))): node
        for node in ast.walk(tree)
        if isinstance(node, FunctionTree)
    }


@dataclass(frozen=True)
class ClassSource:
    """A class as it stands in its file.

    Attributes:
        file: the name of the file.
        tree: the class in the tree of the file.
        names: the globals of its module.
    """

    file: str
    tree: ast.ClassDef
    names: dict[str, Any]

    def refused(self, node: ast.AST, reason: str) -> NotUnderstoodError:
        """Make the error for something in the class."""
        return NotUnderstoodError(self.file, getattr(node, "lineno", self.tree.lineno), reason)

    def function(self, function: FunctionType, name: str) -> ast.FunctionDef:
        """Give a function of the class. Raises NotUnderstoodError if its text does not show it."""
        found = function_tree(function.__code__, self.names)
        if not isinstance(found, ast.FunctionDef):
            first = function.__code__.co_firstlineno
            raise NotUnderstoodError(self.file, first, f"the source of `{name}` was not found")
        return found

    def annotation(self, name: str) -> ast.expr | None:
        """Give the type that the class declares an attribute with."""
        for node in self.tree.body:
            match node:
                case ast.AnnAssign(ast.Name(declared), annotation) if declared == name:
                    return annotation
        return None

    def span(self, node: ast.AST) -> Span:
        """Give the place of a node."""
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        end = getattr(node, "end_lineno", line), getattr(node, "end_col_offset", column)
        return Span(self.file, line, column + 1, end[0], end[1] + 1)


def class_source(owner: type, functions: list[FunctionType]) -> ClassSource:
    """Find the text of a class; `functions` are those that stand in it.

    Raises NotUnderstoodError.
    """
    if functions:
        file, names = functions[0].__code__.co_filename, functions[0].__globals__
    else:
        module = sys.modules.get(owner.__module__)
        names = {} if module is None else vars(module)
        file = str(names.get("__file__", ""))
    text = _text_of(file, names)
    try:
        tree = _parsed(text) if text else None
    except (SyntaxError, ValueError, RecursionError):
        tree = None
    lines = {each.__code__.co_firstlineno for each in functions}
    for node in [] if tree is None else _classes_named(tree, owner.__qualname__):
        inside = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        if all(line in inside for line in lines):
            return ClassSource(file, node, names)
    if not functions:  # it only gives constants other values
        return ClassSource(file, ast.parse("class _: ...").body[0], names)  # type: ignore[arg-type]
    line = min(lines)
    raise NotUnderstoodError(
        file, line, f"the source of the class {owner.__qualname__} is not known"
    )


def _classes_named(tree: ast.Module, qualified: str) -> list[ast.ClassDef]:
    """Give the classes of a qualified name, the last one first, as that is the one which counts."""
    places: list[ast.AST] = [tree]
    parts = [part for part in qualified.split(".") if part != "<locals>"]
    for number, part in enumerate(parts):
        wanted = ast.ClassDef if number == len(parts) - 1 else (ast.FunctionDef, ast.ClassDef)
        places = [
            node
            for place in places
            for node in ast.walk(place)
            if isinstance(node, wanted) and node.name == part and node is not place
        ]
    return [node for node in reversed(places) if isinstance(node, ast.ClassDef)]


def known_value(name: str, function: FunctionType) -> Any:
    """Give what a name that is no local stands for in a function; None if nothing."""
    try:
        return value_of_name(name, function)
    except KeyError:
        return None


_UNKNOWN = object()


def value_of_name(name: str, function: FunctionType) -> Any:
    """Give what a name that is no local stands for in a function; KeyError if there is none."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    if name in cells:
        try:
            return cells[name].cell_contents
        except ValueError:  # not filled yet
            raise KeyError(name) from None
    found = function.__globals__.get(name, _UNKNOWN)
    if found is _UNKNOWN:
        found = getattr(builtins, name, _UNKNOWN)
    if found is _UNKNOWN:
        raise KeyError(name)
    return found

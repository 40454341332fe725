"""Write out what functions of Python make of fixed lists, and calls of functions of one line.

`sum(self.used[job] for job in range(2))` becomes `0 + self.used[0] + self.used[1]`; `any` and `all`
become conditions. A call of a function of the module that only returns an expression becomes that
expression. What is not of such a form stays as it is.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from types import FunctionType
from typing import Any

from rebecsim.steps.blocks import changed, used
from rebecsim.steps.source import function_tree, known_value

_MOST_ITEMS = 64
_MOST_CALLS = 8
"""Functions may call each other; one that calls itself is left as it is from there on."""

_ITEMS = (ast.Name, ast.Attribute, ast.Constant)


def unrolled(tree: ast.FunctionDef, function: FunctionType) -> ast.FunctionDef:
    """Give the tree of a function with such calls written out."""
    changed = deepcopy(tree)
    writer = _Unroller(tree, function)
    changed.body = [writer.visit(each) for each in changed.body]
    return changed


class _Unroller(ast.NodeTransformer):
    def __init__(self, tree: ast.FunctionDef, function: FunctionType) -> None:
        self._function = function
        self._calls = 0
        self._locals = changed(tree) | {
            each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)
        }

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Write out a call, and what is in it."""
        found: ast.expr | None = None
        match node:
            case ast.Call(ast.Name(name), [ast.GeneratorExp(element, [over])], []):
                if name in _JOINED and self._meaning(name) is getattr(builtins, name):
                    found = self._joined(name, element, over)
            case ast.Call(ast.Name(name), arguments, []):
                found = self._written_out(self._meaning(name), arguments)
        if found is None:
            self.generic_visit(node)
            return node
        self._calls += 1
        done: ast.expr = self.visit(ast.fix_missing_locations(ast.copy_location(found, node)))
        self._calls -= 1
        return done

    def _meaning(self, name: str) -> Any:
        return None if name in self._locals else known_value(name, self._function)

    def _joined(self, name: str, element: ast.expr, over: ast.comprehension) -> ast.expr | None:
        """Join the values of a generator; None if it does not go over a fixed list."""
        items = self._items(over.iter)
        if items is None or not isinstance(over.target, ast.Name):
            return None
        empty, joined = _JOINED[name]
        found: list[ast.expr] = []
        for item in items:
            given = {over.target.id: item}
            value = _with(element, given)
            tests = [_with(each, given) for each in over.ifs]
            if tests:
                test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
                value = _where(name, test, value)
            found.append(value)
        return joined([ast.Constant(empty), *found])

    def _items(self, node: ast.expr) -> list[ast.expr] | None:
        """Give the items of a list that stands there, or is a constant of the module."""
        match node:
            case ast.Tuple(elements) | ast.List(elements):
                return elements if all(isinstance(each, _ITEMS) for each in elements) else None
            case ast.Call(ast.Name("range"), bounds, []) if self._meaning("range") is range:
                ends = [self._number(each) for each in bounds]
                known = [each for each in ends if each is not None]
                values: Any = range(*known) if len(known) == len(ends) else None
            case ast.Name(name):
                values = self._meaning(name)
            case _:
                return None
        if not isinstance(values, range | tuple | list) or len(values) > _MOST_ITEMS:
            return None
        if not all(type(each) in (int, bool) for each in values):
            return None
        return [ast.Constant(each) for each in values]

    def _number(self, node: ast.expr) -> int | None:
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(node, ast.Name):
            value = self._meaning(node.id)
        return value if type(value) is int else None

    def _written_out(self, called: Any, arguments: Sequence[ast.expr]) -> ast.expr | None:
        """Give what a function of the module returns; None if it does more, or that may differ."""
        if not isinstance(called, FunctionType) or self._calls >= _MOST_CALLS:
            return None
        tree = function_tree(called.__code__, called.__globals__)
        if tree is None or called.__globals__ is not self._function.__globals__:
            return None
        names = [each.arg for each in tree.args.args]
        kept = [each for each in tree.body if not is_text(each)]
        plain = ast.arguments([], tree.args.args, None, [], [], None, [])
        if ast.dump(tree.args) != ast.dump(plain) or len(names) != len(arguments):
            return None
        if len(kept) != 1 or not isinstance(kept[0], ast.Return) or kept[0].value is None:
            return None
        repeats = any(isinstance(node, ast.Call) for each in arguments for node in ast.walk(each))
        if repeats or (used(kept[0]) - set(names)) & self._locals:
            return None
        return _with(kept[0].value, dict(zip(names, arguments, strict=True)))


def is_text(node: ast.stmt) -> bool:
    """Whether a statement is a text or another constant that stands there alone."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _sum(parts: list[ast.expr]) -> ast.expr:
    found = parts[0]
    for each in parts[1:]:
        found = ast.BinOp(found, ast.Add(), each)
    return found


_JOINED: dict[str, tuple[Any, Callable[[list[ast.expr]], ast.expr]]] = {
    "sum": (0, _sum),
    "any": (False, lambda parts: ast.BoolOp(ast.Or(), parts)),
    "all": (True, lambda parts: ast.BoolOp(ast.And(), parts)),
}
"""The value for no items, and how those of several are joined behind it."""


def _where(name: str, test: ast.expr, value: ast.expr) -> ast.expr:
    """Give a value that counts only if a condition is true."""
    match name:
        case "any":
            return ast.BoolOp(ast.And(), [test, value])
        case "all":
            return ast.BoolOp(ast.Or(), [ast.UnaryOp(ast.Not(), test), value])
    return ast.IfExp(test, value, ast.Constant(0))


class _Given(ast.NodeTransformer):
    def __init__(self, given: Mapping[str, ast.expr]) -> None:
        self._given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self._given.get(node.id)
        return node if value is None else ast.copy_location(deepcopy(value), node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        """Leave what another generator calls by one of these names."""
        targets = {each.target.id for each in node.generators if isinstance(each.target, ast.Name)}
        if targets.isdisjoint(self._given):
            self.generic_visit(node)
        else:
            node.generators[0].iter = self.visit(node.generators[0].iter)
        return node


def _with(node: ast.expr, given: Mapping[str, ast.expr]) -> ast.expr:
    """Give an expression with others in place of some names."""
    found: ast.expr = _Given(given).visit(deepcopy(node))
    return found

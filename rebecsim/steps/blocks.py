"""Find where the locals of a Python function are used, and what its statements do with them."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Any


def homes_of(tree: ast.FunctionDef) -> dict[str, Any]:
    """Give for each local the innermost block that holds all its uses.

    What is used as the variable of loops only, and in them, is left out: each loop has its own.
    """
    uses: dict[str, list[tuple[list[ast.stmt], ...]]] = defaultdict(list)
    free: set[str] = set()
    stored: set[str] = set()

    def visit(
        body: list[ast.stmt], path: tuple[list[ast.stmt], ...], bound: frozenset[str]
    ) -> None:
        path = (*path, body)
        for statement in body:
            inside = bound
            for name in _names_in(statement):
                uses[name.id].append(path)
                if not isinstance(name.ctx, ast.Load):
                    stored.add(name.id)
                if name.id not in bound and not _is_target(statement, name):
                    free.add(name.id)
            if isinstance(statement, ast.For):
                inside = bound | {each.id for each in _targets(statement)}
            for part in _blocks(statement):
                visit(part, path, inside)

    visit(tree.body, (), frozenset())
    parameters = {each.arg for each in (*tree.args.posonlyargs, *tree.args.args)}
    homes: dict[str, Any] = {}
    for name in (stored & free) - parameters:
        shared = uses[name][0]
        for path in uses[name]:
            length = 0
            while length < min(len(shared), len(path)) and shared[length] is path[length]:
                length += 1
            shared = shared[:length]
        homes[name] = shared[-1]
    return homes


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    return [
        part
        for part in (getattr(statement, "body", None), getattr(statement, "orelse", None))
        if part
    ]


def _names_in(statement: ast.stmt) -> Iterator[ast.Name]:
    """Give the names in a statement itself, not in the blocks below it."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name):
            yield node
        pending += [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.stmt)]


def _targets(statement: ast.For) -> list[ast.Name]:
    return [each for each in ast.walk(statement.target) if isinstance(each, ast.Name)]


def _is_target(statement: ast.stmt, name: ast.Name) -> bool:
    return isinstance(statement, ast.For) and any(each is name for each in _targets(statement))


def used(*nodes: ast.AST, context: Any = ast.expr_context) -> frozenset[str]:
    """Give the variables in pieces of code, those only that are used in a `context` if given."""
    return frozenset(
        each.id
        for node in nodes
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, context)
    )


changed = partial(used, context=(ast.Store, ast.Del))
"""Give the variables in pieces of code that get a value there, or lose it."""


def declares(statement: ast.stmt, name: str) -> bool:
    """Whether a statement gives a local its first value, by nothing else."""
    match statement:
        case ast.Assign([ast.Name(target)], value) | ast.AnnAssign(
            ast.Name(target), _, ast.expr() as value
        ):
            return target == name and name not in used(value)
    return False


def breaks(loop: ast.stmt, *, or_continues: bool = False) -> bool:
    """Whether a loop is left by a `break` of its own, or goes on by a `continue`."""
    pending: list[ast.AST] = [*_blocks(loop)[0]]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Break) or (or_continues and isinstance(node, ast.Continue)):
            return True
        if not isinstance(node, ast.For | ast.While):
            pending += ast.iter_child_nodes(node)
    return False


def is_stable(node: ast.expr, body: list[ast.stmt]) -> bool:
    """Whether an expression has the same value at each round of a loop."""
    if any(isinstance(each, ast.Attribute | ast.Call | ast.Subscript) for each in ast.walk(node)):
        return False
    return used(node).isdisjoint(changed(*body))


def is_elif(node: ast.If) -> bool:
    """Whether the other branch is an `elif`."""
    return len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)


def is_none(node: ast.expr) -> bool:
    """Whether an expression is `None`."""
    return isinstance(node, ast.Constant) and node.value is None


def loaded(target: ast.expr) -> ast.expr:
    """Give the expression that reads what an assignment writes."""
    match target:
        case ast.Name(name):
            found: ast.expr = ast.Name(name, ast.Load())
        case ast.Attribute(value, name):
            found = ast.Attribute(value, name, ast.Load())
        case ast.Subscript(value, index):
            found = ast.Subscript(value, index, ast.Load())
        case _:
            return target
    return ast.copy_location(found, target)

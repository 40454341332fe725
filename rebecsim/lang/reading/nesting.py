"""Limit how deeply a model may be nested.

Everything behind the parser is recursive, and Python's compiler has limits of its own: 100 levels
of indentation, 20 loops in each other, 200 open brackets. What is within the limits here is within
those, too, when it is written as Python.
"""

from __future__ import annotations

from typing import NamedTuple

from rebecsim.lang import syntax
from rebecsim.lang.errors import Diagnostic, diagnose
from rebecsim.lang.syntax import Node
from rebecsim.lang.traversal import children

MAX_NESTING = 200
"""Levels of a tree."""
MAX_STATEMENTS = 40
"""Statements in each other; `else if` counts once, and so does a statement with its block."""
MAX_LOOPS = 15
"""Loops and switches in each other."""
_MAX_BRACKETS = 180
"""Brackets that may be open in the Python of an expression, as estimated here."""

_LOOPS = (syntax.While, syntax.For, syntax.Switch)
_COMPOUND = (syntax.If, syntax.Block, *_LOOPS)


class _Depth(NamedTuple):
    tree: int = 1
    statements: int = 0
    loops: int = 0
    brackets: int = 0


def too_deep(root: Node) -> Diagnostic | None:
    """Find a node that is nested too deeply, the first in the order of the text."""
    pending: list[tuple[Node, _Depth]] = [(root, _Depth())]
    while pending:
        node, depth = pending.pop()
        if depth.statements > MAX_STATEMENTS:
            return diagnose("blocks-too-deep", node.span, limit=MAX_STATEMENTS)
        if depth.loops > MAX_LOOPS:
            return diagnose("loops-too-deep", node.span, limit=MAX_LOOPS)
        if depth.tree > MAX_NESTING or depth.brackets > _MAX_BRACKETS:
            return diagnose("too-deep", node.span)
        below = [(child, _below(node, child, depth)) for child in children(node)]
        pending.extend(reversed(below))
    return None


def _below(parent: Node, node: Node, depth: _Depth) -> _Depth:
    statements, loops, brackets = depth.statements, depth.loops, 0
    if isinstance(node, _COMPOUND) and not _goes_with(parent, node):
        statements += 1
    if isinstance(node, _LOOPS):
        loops += 1
    if isinstance(parent, syntax.Binary):
        brackets = depth.brackets + (1 if node is parent.left else 3)
    elif isinstance(parent, syntax.Expression):
        brackets = depth.brackets + 5
    return _Depth(depth.tree + 1, statements, loops, brackets)


def _goes_with(parent: Node, node: Node) -> bool:
    """Whether a statement is at the level of the one around it: its block, or an `else if`."""
    if isinstance(node, syntax.If):
        return isinstance(parent, syntax.If) and node is parent.otherwise
    return isinstance(node, syntax.Block) and not isinstance(parent, (syntax.Block, syntax.Case))

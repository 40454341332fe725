"""Questions about what the statements of a body contain."""

from __future__ import annotations

from rebecsim.lang import syntax
from rebecsim.lang.traversal import walk

__all__ = ["assigned_names", "breaks", "continues"]


def assigned_names(body: syntax.Statement) -> frozenset[str]:
    """Give the names of variables that a body assigns or increments."""
    return frozenset(
        node.target.identifier
        for node in walk(body)
        if isinstance(node, syntax.Assignment | syntax.Increment)
        and isinstance(node.target, syntax.Name)
    )


def breaks(statement: syntax.Statement) -> bool:
    """Whether a statement contains a `break` that leaves the loop or switch around it."""
    return _leaves(statement, syntax.Break, (syntax.While, syntax.For, syntax.Switch))


def continues(statement: syntax.Statement) -> bool:
    """Whether a statement contains a `continue` of the loop around it."""
    return _leaves(statement, syntax.Continue, (syntax.While, syntax.For))


def _leaves(statement: object, wanted: type, catching: tuple[type, ...]) -> bool:
    if isinstance(statement, wanted):
        return True
    if isinstance(statement, catching):
        return False
    match statement:
        case syntax.Block(statements) | syntax.Case(_, statements):
            return any(_leaves(each, wanted, catching) for each in statements)
        case syntax.If(_, then, otherwise):
            return _leaves(then, wanted, catching) or _leaves(otherwise, wanted, catching)
        case syntax.Switch(_, cases):
            return any(_leaves(each, wanted, catching) for each in cases)
    return False

"""Ask what the statements of a body contain."""

from __future__ import annotations

from rebecsim.lang import syntax
from rebecsim.lang.traversal import walk


def assigned_names(body: syntax.Statement) -> frozenset[str]:
    """Give the names of variables that a body assigns or increments."""
    return frozenset(
        node.target.identifier
        for node in walk(body)
        if isinstance(node, syntax.Assignment | syntax.Increment)
        and isinstance(node.target, syntax.Name)
    )


def assigned_inside(body: syntax.Statement) -> frozenset[str]:
    """Give the names of variables that are assigned within expressions, not by statements."""
    alone = {
        id(expression)
        for node in walk(body)
        for expression in _alone(node)
        if isinstance(expression, syntax.Assignment | syntax.Increment)
    }
    return frozenset(
        node.target.identifier
        for node in walk(body)
        if isinstance(node, syntax.Assignment | syntax.Increment)
        and isinstance(node.target, syntax.Name)
        and id(node) not in alone
    )


def _alone(node: syntax.Node) -> tuple[syntax.Expression, ...]:
    """Give the expressions of a statement that are for their effect only."""
    match node:
        case syntax.ExpressionStatement(expression):
            return (expression,)
        case syntax.For(tuple() as init, _, update):
            return (*init, *update)
        case syntax.For(_, _, update):
            return update
    return ()


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

"""Find variables that only count: nothing that a model does depends on them."""

from __future__ import annotations

from collections.abc import Iterator

from rebecsim.lang import CheckedModel, syntax
from rebecsim.lang.checked import CheckedClass
from rebecsim.lang.traversal import walk
from rebecsim.lang.types import INT


def counters_of(checked: CheckedModel) -> tuple[frozenset[str], ...]:
    """Give, for each rebec, the integers that its message servers and methods only add to.

    Such a variable occurs in statements like `n++;`, `n += e;` and `n = n + e - f;` and nowhere
    else, so what is added does not depend on it, nor does anything else. What constructors do with
    it does not matter: that is over when runs begin.
    """
    by_class = {name: _counters(checked, each) for name, each in checked.classes.items()}
    return tuple(by_class[each.class_name] for each in checked.instances)


def _counters(checked: CheckedModel, own: CheckedClass) -> frozenset[str]:
    """Give those of a class."""
    nodes = [node for body in _bodies(checked, own) for node in walk(body)]
    counted = {
        id(name)
        for node in nodes
        if isinstance(node, syntax.ExpressionStatement)
        for name in _counted(node.expression)
    }
    named = {
        node.identifier if isinstance(node, syntax.Name) else node.name
        for node in nodes
        if isinstance(node, syntax.Name | syntax.Member) and id(node) not in counted
    }
    return frozenset(each.name for each in own.state_variables if each.type == INT) - named


def _bodies(
    checked: CheckedModel, own: CheckedClass
) -> Iterator[syntax.MessageServer | syntax.Method]:
    for name in (own.name, *own.ancestors):
        tree = checked.classes[name].tree
        yield from tree.message_servers
        yield from tree.methods


def _counted(node: syntax.Expression) -> tuple[syntax.Name, ...]:
    """Give the names that stand for what an expression adds to, if that is all that it does."""
    match node:
        case syntax.Increment(syntax.Name() as target):
            return (target,)
        case syntax.Assignment(syntax.Name() as target, "+=" | "-="):
            return (target,)
        case syntax.Assignment(syntax.Name() as target, "=", syntax.Binary() as value):
            read = _first_term(value)
            if isinstance(read, syntax.Name) and read.identifier == target.identifier:
                return target, read
    return ()


def _first_term(node: syntax.Expression) -> syntax.Expression:
    """Give what the other terms of a sum are added to, or taken from."""
    while isinstance(node, syntax.Binary) and node.operator in ("+", "-"):
        node = node.left
    return node

"""Read calls that are messages: `tick();` is `self.tick();` where `tick` is a message server.

Whether it is one is known when all classes are. The tree is rewritten before it is checked, so
that nothing behind the parser has to know of two ways to send.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from rebecsim.lang import syntax
from rebecsim.lang.traversal import rewritten, walk


def with_own_sends(model: syntax.Model) -> syntax.Model:
    """The model with every call of a message server written as a send to `self`."""
    trees = {tree.name: tree for tree in model.classes}
    promised = {interface.name: interface for interface in model.interfaces}
    classes = tuple(
        _rewritten(tree, _servers(tree, trees, promised) - _methods(tree, trees))
        for tree in model.classes
    )
    return replace(model, classes=classes)


def _lineage(
    tree: syntax.ReactiveClass, trees: dict[str, syntax.ReactiveClass]
) -> Iterable[syntax.ReactiveClass]:
    """Give a class and those it extends, each once, even where they extend each other."""
    found: dict[str, syntax.ReactiveClass] = {}
    current: syntax.ReactiveClass | None = tree
    while current is not None and current.name not in found:
        found[current.name] = current
        current = None if current.base is None else trees.get(current.base)
    return found.values()


def _servers(
    tree: syntax.ReactiveClass,
    trees: dict[str, syntax.ReactiveClass],
    promised: dict[str, syntax.Interface],
) -> frozenset[str]:
    names = [node.name for each in _lineage(tree, trees) for node in each.message_servers]
    pending = [name for each in _lineage(tree, trees) for name in each.interfaces]
    seen: set[str] = set()
    while pending:
        name = pending.pop()
        interface = promised.get(name)
        if interface is not None and name not in seen:
            seen.add(name)
            names += [node.name for node in interface.message_servers]
            pending += interface.bases
    return frozenset(names)


def _methods(tree: syntax.ReactiveClass, trees: dict[str, syntax.ReactiveClass]) -> frozenset[str]:
    return frozenset(node.name for each in _lineage(tree, trees) for node in each.methods)


def _rewritten(tree: syntax.ReactiveClass, servers: frozenset[str]) -> syntax.ReactiveClass:
    if not any(isinstance(node, syntax.Call) and node.method in servers for node in walk(tree)):
        return tree

    def sending(node: syntax.Node) -> syntax.Node:
        if isinstance(node, syntax.Call) and node.method in servers:
            receiver = syntax.Name("self", span=node.span)
            return syntax.Send(
                receiver, node.method, node.arguments, node.after, node.deadline, span=node.span
            )
        return node

    return cast(syntax.ReactiveClass, rewritten(tree, sending))

"""Walk and rewrite a syntax tree without recursion, so that a deep tree is no danger."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from rebecsim.lang.syntax import Node


def children(node: Node) -> Iterator[Node]:
    """The nodes right below a node, in the order of the text."""
    for name in _parts(node):
        value = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from _nodes_in(value)


_PARTS: dict[type[Node], tuple[str, ...]] = {}  # of the kinds that have been seen


def _parts(node: Node) -> tuple[str, ...]:
    """The names of what a node has besides its place; asked for at every node."""
    kind = type(node)
    if kind not in _PARTS:
        _PARTS[kind] = tuple(part.name for part in fields(kind) if part.name != "span")
    return _PARTS[kind]


def _nodes_in(values: tuple[object, ...]) -> Iterator[Node]:
    for value in values:
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from _nodes_in(value)


def walk(root: Node) -> Iterator[Node]:
    """The node itself and every node below it, a parent before its children."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(tuple(children(node))))


def rewritten(node: Node, change: Callable[[Node], Node]) -> Node:
    """The tree with every node changed, the parts of a node before the node itself.

    What has nothing to change is the same object. As deep as the tree, which the parser bounds.
    """
    old = {name: getattr(node, name) for name in _parts(node)}
    new = {name: _rewritten_value(value, change) for name, value in old.items()}
    changed = {name: value for name, value in new.items() if value is not old[name]}
    return change(replace(node, **changed) if changed else node)


def _rewritten_value(value: Any, change: Callable[[Node], Node]) -> Any:
    if isinstance(value, tuple):
        parts = tuple(_rewritten_value(each, change) for each in value)
        return value if all(a is b for a, b in zip(parts, value, strict=True)) else parts
    return rewritten(value, change) if isinstance(value, Node) else value

"""Walking a syntax tree without recursion, so that a deep tree is no danger."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from rebecsim.lang.syntax import Node

__all__ = ["children", "walk"]


def children(node: Node) -> Iterator[Node]:
    """The nodes right below a node, in the order of the text."""
    for part in fields(node):
        if part.name != "span":
            yield from _nodes_in(getattr(node, part.name))


def _nodes_in(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes_in(item)


def walk(root: Node) -> Iterator[Node]:
    """The node itself and every node below it, a parent before its children."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(tuple(children(node))))

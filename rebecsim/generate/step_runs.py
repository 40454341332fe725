"""Find runs of statements that do the same for one known rebec after another, to make them loops.

A model has no arrays of known rebecs, so one that hands jobs to six workers has six statements that
are equal but for the worker and some numbers. A step has such a run of statements once, in a loop,
so that there is less to compile, and the same for any number of workers, a single one included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

from rebecsim.generate.traversal import breaks, continues
from rebecsim.lang import syntax
from rebecsim.lang.checked import CheckedModel
from rebecsim.lang.traversal import walk

Alike = dict[int, tuple[syntax.Node, ...]]
"""For the id of each node of the first statement of a run, what stands there in each of them."""


def runs(
    model: CheckedModel, statements: Sequence[syntax.Statement]
) -> Iterator[tuple[syntax.Statement, Alike | None]]:
    """Give the statements of a block, of each run only the first, with the nodes of all of them."""
    place = 0
    while place < len(statements):
        first = statements[place]
        end = place + 1
        if _may_repeat(first):
            while end < len(statements) and _alike(model, first, statements[end]):
                end += 1
        if end - place == 1 and not _is_for_one_rebec(model, first):
            yield first, None
        else:
            yield first, _side_by_side(statements[place:end])
        place = end


def _is_for_one_rebec(model: CheckedModel, node: syntax.Statement) -> bool:
    """Whether a statement is for a known rebec and for its element of an array."""
    if not _may_repeat(node):
        return False
    below = list(walk(node))
    return any(
        isinstance(each, syntax.Index) and isinstance(each.index, syntax.IntLiteral)
        for each in below
    ) and any(
        isinstance(each, syntax.Name) and model.symbol_of(each).kind == "known" for each in below
    )


def _may_repeat(node: syntax.Statement) -> bool:
    """Whether a statement is worth a loop, and can stand in one."""
    if isinstance(node, syntax.ExpressionStatement):
        return isinstance(node.expression, syntax.Send)
    compound = isinstance(node, syntax.If | syntax.While | syntax.For | syntax.Switch)
    return compound and not breaks(node) and not continues(node)


def _alike(model: CheckedModel, one: object, other: object) -> bool:
    """Whether two parts of a tree are equal but for integers and known rebecs of one type."""
    match one, other:
        case syntax.IntLiteral(), syntax.IntLiteral():
            return True
        case syntax.Name(), syntax.Name():
            return _same_name(model, one, other)
        case syntax.TypeName(), _:
            return one == other
        case syntax.Node(), syntax.Node():
            return type(one) is type(other) and all(
                _alike(model, getattr(one, part.name), getattr(other, part.name))
                for part in fields(one)
                if part.name != "span"
            )
        case tuple(), tuple():
            return len(one) == len(other) and all(
                _alike(model, each, its) for each, its in zip(one, other, strict=True)
            )
    return type(one) is type(other) and one == other


def _same_name(model: CheckedModel, one: syntax.Name, other: syntax.Name) -> bool:
    symbols = model.symbol_of(one), model.symbol_of(other)
    if symbols[0].kind == "known":
        return symbols[1].kind == "known" and symbols[0].type == symbols[1].type
    return one == other


def _side_by_side(statements: Sequence[syntax.Node]) -> Alike:
    found: Alike = {}
    pending: list[tuple[object, ...]] = [tuple(statements)]
    while pending:
        parts = pending.pop()
        first = parts[0]
        if isinstance(first, syntax.Node):
            nodes = tuple(each for each in parts if isinstance(each, syntax.Node))
            found[id(first)] = nodes
            pending += [
                tuple(getattr(each, part.name) for each in nodes)
                for part in fields(first)
                if part.name != "span"
            ]
        elif isinstance(first, tuple):
            tuples = [each for each in parts if isinstance(each, tuple)]
            pending += list(zip(*tuples, strict=True))
    return found

"""Find what a Python function that waits in a call still depends on, from its source.

A local variable is live behind a call if some way on from there reads it before it is assigned.
This is the classical backward analysis of data flow. A function also holds temporary values, as the
operands of a half-evaluated expression and the iterators of its loops. Where these are nothing but
iterators over ranges, how far they have come can be read off locals, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from types import CodeType, FrameType
from typing import NamedTuple

from rebecsim.steps.blocks import used
from rebecsim.steps.source import FunctionTree, function_tree

_OBSERVERS = frozenset(
    {"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "stack", "settrace"}
)
"""Functions that can read local variables by other means than their names."""

_STATEMENTS = (
    ast.Expr
    | ast.Assign
    | ast.AnnAssign
    | ast.AugAssign
    | ast.If
    | ast.While
    | ast.For
    | ast.Return
    | ast.Pass
    | ast.Raise
    | ast.Assert
    | ast.Break
    | ast.Continue
)
"""In a function with others, as `try`, all locals count as live."""
_INNER = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

Names = frozenset[str]
_NONE: Names = frozenset()
_AGAIN = "()"
"""Stands, among the names that are live, for the call itself: it may be reached again."""


class Wait(NamedTuple):
    """What a function that waits in a call depends on.

    `place` is where the call ends, as line and column. `live` are the locals that may be read
    behind it; None: all of them. `counting` are those that say how far the loops around it have
    come. `repeats`: it may come back to the same call.
    """

    place: tuple[int, int]
    live: Names | None
    counting: Names
    repeats: bool

    def matters(self, name: str) -> bool:
        """Whether the value of a local can matter behind the call."""
        return self.live is None or name in self.live or name in self.counting


_KNOWN: dict[tuple[CodeType, int], Wait | None] = {}


def wait_of(frame: FrameType) -> Wait | None:
    """Say what a function depends on that waits in the call which it executes.

    None if that is more than its locals tell: a value in the middle of an expression, an iterator
    over anything but a range, an exception; or if its source is not known.
    """
    key = frame.f_code, frame.f_lasti
    if key not in _KNOWN:
        _KNOWN[key] = _found(frame)
    return _KNOWN[key]


def _found(frame: FrameType) -> Wait | None:
    tree = function_tree(frame.f_code, frame.f_globals)
    _, line, _, column = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
    call = None if tree is None else _call_ending_at(tree, (line, column))
    if tree is None or call is None:
        return None
    *around, statement = _around(tree.body, call)
    rest = _rest(_first_of(statement), call)
    counting = [_counting(each, call) for each in around]
    if rest is None or None in counting:
        return None
    nodes = [node for each in tree.body for node in ast.walk(each)]
    flow = _Flow(tree.body, statement, rest)
    live = flow.behind | _reads(*(node for node in nodes if isinstance(node, _INNER)))
    return Wait(
        (call.end_lineno or 0, call.end_col_offset or 0),
        live if all(map(_is_plain, nodes)) else None,
        _NONE.union(*(each for each in counting if each is not None)),
        _AGAIN in flow.behind,
    )


def _call_ending_at(tree: FunctionTree, place: tuple[int | None, int | None]) -> ast.Call | None:
    """Give the call that ends at a line and column: no other ends with the same parenthesis."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (node.end_lineno, node.end_col_offset) == place:
            return node
    return None


def _around(body: Sequence[ast.AST], call: ast.Call) -> Iterator[ast.AST]:
    """Give the statements around a call, the outermost first, the one that it belongs to last."""
    for node in body:
        if any(each is call for each in ast.walk(node)):
            yield node
            for part in ("body", "orelse", "handlers", "finalbody", "cases"):
                yield from _around(getattr(node, part, ()), call)


def _is_plain(node: ast.AST) -> bool:
    """Whether a node does with locals what its names show."""
    match node:
        case ast.Name(name) | ast.Attribute(_, name):
            return name not in _OBSERVERS
        case ast.stmt():
            return isinstance(node, _STATEMENTS)
    return True


def _counting(around: ast.AST, call: ast.Call) -> Names | None:
    """Name what tells how far a statement around the call has come; None: locals do not."""
    match around:
        case ast.If() | ast.While():
            return _NONE
        case ast.Try(body, _, orelse):
            return _NONE if any([*_around([*body, *orelse], call)]) else None
        case ast.For(ast.Name(counter), ast.Call(ast.Name("range"), bounds, [])):
            names = _reads(*bounds)
            is_fixed = all(isinstance(each, _BOUND) for node in bounds for each in ast.walk(node))
            if is_fixed and counter not in names and not _stored(*around.body) & {counter, *names}:
                return names | {counter}
    return None


_BOUND = ast.Name | ast.Constant | ast.UnaryOp | ast.BinOp | ast.operator | ast.unaryop | ast.Load


def _first_of(statement: ast.AST) -> ast.expr | None:
    """Give the expression that a statement evaluates first."""
    match statement:
        case ast.Expr(value) | ast.Assign(_, value) | ast.Return(value):
            return value
        case ast.AnnAssign(_, _, value):
            return value
        case ast.If(test) | ast.While(test):
            return test
    return None


def _rest(node: ast.expr | None, call: ast.Call) -> list[ast.expr] | None:
    """Give what of an expression is evaluated behind a call; None if it holds something then."""
    if node is call:
        return []
    ways: list[tuple[ast.expr, list[ast.expr]]] = []
    match node:
        case ast.UnaryOp(_, first) | ast.Attribute(first):
            ways = [(first, [])]
        case ast.BinOp(first, _, right) | ast.Subscript(first, right):
            ways = [(first, [right])]
        case ast.Compare(first, _, later):
            ways = [(first, later)]
        case ast.Call(ast.Attribute(first), arguments, keywords):
            ways = [(first, [*arguments, *(each.value for each in keywords)])]
        case ast.BoolOp(_, values):
            ways = [(each, values[place:]) for place, each in enumerate(values, 1)]
        case ast.IfExp(test, then, otherwise):
            ways = [(test, [then, otherwise]), (then, []), (otherwise, [])]
    for first, later in ways:
        inside = _rest(first, call)
        if inside is not None:
            return inside + later
    return None


_reads, _stored = partial(used, context=ast.Load), partial(used, context=ast.Store)


class _Flow:
    """The names that are live `behind` a call in a statement, of which `rest` is still to be done.

    They are found from the end of a body to its beginning; in loops, until no more are found.
    """

    def __init__(
        self, body: Sequence[ast.stmt], statement: ast.AST, rest: Sequence[ast.expr]
    ) -> None:
        self._statement = statement
        self._rest = _reads(*rest)
        self.behind = _NONE
        self._block(body, _NONE, _NONE, _NONE)

    def _block(self, body: Sequence[ast.stmt], after: Names, leave: Names, again: Names) -> Names:
        """Give what is live before statements, from what is after them and where loops go on."""
        for each in reversed(body):
            after = self._before(each, after, leave, again)
        return after

    def _before(self, node: ast.stmt, after: Names, leave: Names, again: Names) -> Names:
        match node:
            case ast.If(test, then, otherwise):
                either = self._block(then, after, leave, again)
                return self._at(node, either | self._block(otherwise, after, leave, again), test)
            case ast.While() | ast.For():
                return self._loop(node, after, leave, again)
            case ast.Break():
                return leave
            case ast.Continue():
                return again
            case ast.Return() | ast.Raise():
                return self._at(node, _NONE, node)
            case ast.Assign() | ast.AnnAssign(value=ast.expr()):
                return self._at(node, after - _stored(node), node)
            case ast.AugAssign(target):
                return self._at(node, after | _stored(target), node)
        return self._at(node, after, node)

    def _loop(self, node: ast.While | ast.For, after: Names, leave: Names, again: Names) -> Names:
        ends = self._block(node.orelse, after, leave, again)
        if isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and node.test.value:
            ends = _NONE  # by a `break` only
        known, head = None, _NONE
        while head != known:
            known = head
            head = self._block(node.body, known, after, known)
            if isinstance(node, ast.While):
                head = self._at(node, head | ends, node.test)
            else:
                head = head - _stored(node.target) | ends
        return head if isinstance(node, ast.While) else head | _reads(node.iter, node.target)

    def _at(self, node: ast.stmt, behind: Names, own: ast.AST) -> Names:
        """Give what is live before the expressions of a statement, from what is behind them."""
        if node is self._statement:
            targets = node.targets if isinstance(node, ast.Assign) else []
            self.behind |= behind | self._rest | _reads(*targets)
            behind |= {_AGAIN}
        return behind | _reads(own)

"""Find what a statement reads, writes and sends, and which statements are independent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from rebecsim.lang import CheckedModel, syntax
from rebecsim.lang.traversal import walk
from rebecsim.lang.types import FLOAT, ArrayType

_VARIABLES = frozenset({"state", "local", "parameter"})
_BARRING = (
    syntax.Call,  # a method, or what is done with a timer
    syntax.Delay,
    syntax.While,
    syntax.For,
    syntax.Switch,
    syntax.Break,
    syntax.Continue,
    syntax.Return,
)
_DIVIDING = frozenset({"/", "%", "/=", "%="})

SELF = "self"
ANYBODY = ""
"""Receivers of messages that are no known rebecs."""


class Deeds(NamedTuple):
    """What may happen when a statement or an expression is run.

    `reads` and `writes` are names of variables, an array as a whole. `receivers` are known rebecs
    that are sent messages, SELF or ANYBODY. `fails`: it may be forbidden or go wrong, apart from
    full queues. `bars`: nothing is said of it, but that it may do anything.
    """

    reads: frozenset[str]
    writes: frozenset[str]
    receivers: frozenset[str]
    draws: bool
    fails: bool
    bars: bool

    @property
    def is_quiet(self) -> bool:
        """Whether it does nothing but give a value, always."""
        return not (self.writes or self.receivers or self.draws or self.fails or self.bars)


def deeds_of(checked: CheckedModel, node: syntax.Node) -> Deeds:
    """Read off what a piece of code may do; rather too much than too little."""
    nodes = list(walk(node))
    names = [each for each in nodes if isinstance(each, syntax.Name)]
    return Deeds(
        frozenset(each.identifier for each in names if checked.symbol_of(each).kind in _VARIABLES),
        frozenset(name for each in nodes for name in _written(each)),
        frozenset(_receiver(checked, each) for each in nodes if isinstance(each, syntax.Send)),
        any(isinstance(each, syntax.Choice) for each in nodes),
        any(_may_fail(checked, each) for each in nodes),
        any(isinstance(each, _BARRING) for each in nodes),
    )


Apart = Callable[[str, str], bool]
"""Says of two receivers whether they are surely not the same rebec."""


def commute(one: Deeds, other: Deeds, apart: Apart, *, in_queues: bool) -> bool:
    """Whether two statements come to the same in either order, with as many outcomes.

    `in_queues`: messages to one rebec wait in the order of sending, not in sorted bags.
    """
    if one.bars or other.bars:
        return False
    if one.writes & (other.reads | other.writes) or other.writes & one.reads:
        return False
    for a, b in ((one, other), (other, one)):
        if a.fails and (b.fails or b.draws or b.receivers):
            return False  # what goes wrong, and how often, depends on what came before
        if a.draws and not all(apart(SELF, receiver) for receiver in b.receivers):
            return False  # the own queue may be full before the choice or behind it
    return not in_queues or all(apart(a, b) for a in one.receivers for b in other.receivers)


def _written(node: syntax.Node) -> Iterator[str]:
    match node:
        case syntax.Assignment(target) | syntax.Increment(target):
            while isinstance(target, syntax.Index):
                target = target.array
            if isinstance(target, syntax.Name):
                yield target.identifier
        case syntax.LocalDeclaration(_, variables):
            yield from (name for name, _ in variables)


def _receiver(checked: CheckedModel, send: syntax.Send) -> str:
    if isinstance(send.receiver, syntax.Name):
        symbol = checked.symbol_of(send.receiver)
        if symbol.kind == "known" or symbol.name == SELF:
            return symbol.name
    return ANYBODY


def _may_fail(checked: CheckedModel, node: syntax.Node) -> bool:
    match node:
        case syntax.Assertion() | syntax.Cast():
            return True
        case syntax.Send():
            return _receiver(checked, node) == ANYBODY or not all(
                time is None or isinstance(time, syntax.Choice) or checked.is_constant(time)
                for time in (node.after, node.deadline)
            )
        case syntax.Index(array, index):
            kind = checked.type_of(array)
            if not (checked.is_constant(index) and isinstance(kind, ArrayType)):
                return True
            place = checked.constant_of(index)
            return not (isinstance(place, int) and 0 <= place < kind.length)
        case syntax.Binary(operator, _, right) if operator in _DIVIDING:
            return not (checked.is_constant(right) and bool(checked.constant_of(right)))
        case syntax.Assignment(_, operator) if operator in _DIVIDING:
            return True
    return False


def are_exclusive(
    one: syntax.Expression,
    other: syntax.Expression,
    checked: CheckedModel,
    apart: Apart,
) -> bool:
    """Whether two conditions surely are not both true: the same is equal to different things.

    Of a `float` that is not known: different numbers may be rounded to one.
    """
    match one, other:
        case syntax.Binary("==", a, b), syntax.Binary("==", c, d):
            if FLOAT in map(checked.type_of, (a, b, c, d)):
                return False
            pairs = ((a, b, c, d), (a, b, d, c), (b, a, c, d), (b, a, d, c))
            return any(same == too and _differ(x, y, checked, apart) for same, x, too, y in pairs)
    return False


def _differ(
    one: syntax.Expression,
    other: syntax.Expression,
    checked: CheckedModel,
    apart: Apart,
) -> bool:
    if checked.is_constant(one) and checked.is_constant(other):
        return checked.constant_of(one) != checked.constant_of(other)
    names = [
        each.identifier
        for each in (one, other)
        if isinstance(each, syntax.Name)
        and (checked.symbol_of(each).kind == "known" or each.identifier == SELF)
    ]
    return len(names) == 2 and apart(*names)

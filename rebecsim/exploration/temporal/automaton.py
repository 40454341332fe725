"""A formula of LTL as an automaton that accepts the infinite runs on which it holds.

The construction is that of J.-M. Couvreur, "On-the-fly verification of linear temporal logic"
(FM 1999): states are sets of formulas that still have to hold; a transition says which propositions
must be true and which false now, and what has to hold next. A transition that puts off the right
side of an until promises it; a run is accepted if it infinitely often takes, for each until, a
transition that does not put it off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from rebecsim.exploration.temporal.ltl import (
    TRUE,
    Both,
    Constant,
    Either,
    Literal,
    Next,
    Normal,
    Release,
    Until,
)
from rebecsim.limits import AUTOMATON

Obligations = frozenset[Normal]


class AutomatonMove(NamedTuple):
    """A transition of an automaton.

    Attributes:
        true: bits of the propositions that must be true in the state that is left.
        false: bits of those that must be false.
        target: the state that comes next.
        kept: bits of the untils that are not put off.
    """

    true: int
    false: int
    target: int
    kept: int


@dataclass(frozen=True)
class Automaton:
    """A generalised Büchi automaton with marks on its transitions.

    Attributes:
        moves: the transitions of each state; state 0 is the initial one.
        untils: how many untils there are; a run that is accepted takes transitions with each of
            their bits infinitely often.
    """

    moves: tuple[tuple[AutomatonMove, ...], ...]
    untils: int


class _Cover(NamedTuple):
    """One way to meet obligations now: what must be true and false, what is left, what put off."""

    true: int
    false: int
    left: Obligations
    put_off: Obligations


_NOTHING = _Cover(0, 0, frozenset(), frozenset())


def automaton_of(formula: Normal) -> Automaton:
    """Translate a formula. Raises LimitError for an automaton that would be too large."""
    untils = {each: place for place, each in enumerate(dict.fromkeys(_untils(formula)))}
    everything = (1 << len(untils)) - 1
    numbers: dict[Obligations, int] = {frozenset((formula,)): 0}
    moves: list[tuple[AutomatonMove, ...]] = []
    pending = list(numbers)
    tried = 0
    while len(moves) < len(pending):
        found = []
        covers = _covers(tuple(pending[len(moves)]))
        tried += len(covers)
        AUTOMATON.require(tried)
        for cover in _least(covers):
            if cover.left not in numbers:
                numbers[cover.left] = len(numbers)
                pending.append(cover.left)
            kept = everything - sum(1 << untils[each] for each in cover.put_off)
            found.append(AutomatonMove(cover.true, cover.false, numbers[cover.left], kept))
        moves.append(tuple(dict.fromkeys(found)))
    return Automaton(tuple(moves), len(untils))


def _untils(formula: Normal) -> Iterator[Normal]:
    match formula:
        case Both(left, right) | Either(left, right) | Release(left, right):
            yield from _untils(left)
            yield from _untils(right)
        case Until(left, right):
            yield formula
            yield from _untils(left)
            yield from _untils(right)
        case Next(operand):
            yield from _untils(operand)


def _covers(formulas: tuple[Normal, ...]) -> list[_Cover]:
    """Give the ways in which all formulas can be met."""
    covers = [_NOTHING]
    for formula in formulas:
        ways = _ways(formula)
        covers = list(
            dict.fromkeys(both for cover in covers for way in ways for both in _joined(cover, way))
        )
        AUTOMATON.require(len(covers))
    return covers


def _ways(formula: Normal) -> list[_Cover]:
    match formula:
        case Constant(value):
            return [_NOTHING] if value else []
        case Literal(proposition, positive):
            bit = 1 << proposition
            true, false = (bit, 0) if positive else (0, bit)
            return [_NOTHING._replace(true=true, false=false)]
        case Both(left, right):
            return _covers((left, right))
        case Either(left, right):
            return [*_ways(left), *_ways(right)]
        case Next(operand):
            return [_NOTHING._replace(left=_parts(operand))]
        case Until(left, right):
            later = _Cover(0, 0, frozenset((formula,)), frozenset((formula,)))
            return [*_ways(right), *_each(_ways(left), later)]
        case Release(left, right):
            now = _ways(right)
            later = _NOTHING._replace(left=frozenset((formula,)))
            return [*_covers((left, right)), *_each(now, later)]


def _parts(formula: Normal) -> Obligations:
    """Give what has to hold for a formula to hold, a conjunction in parts."""
    match formula:
        case Both(left, right):
            return _parts(left) | _parts(right)
        case Constant(True):
            return frozenset()
    return frozenset((formula,))


def _each(ways: list[_Cover], more: _Cover) -> list[_Cover]:
    return [both for way in ways for both in _joined(way, more)]


def _joined(one: _Cover, other: _Cover) -> Iterator[_Cover]:
    """Give the way to meet what both do, if they do not contradict each other."""
    true, false = one.true | other.true, one.false | other.false
    if not true & false:
        yield _Cover(true, false, (one.left | other.left) - {TRUE}, one.put_off | other.put_off)


def _least(covers: list[_Cover]) -> list[_Cover]:
    """Leave out ways that ask for more than another one does, in every respect."""
    bits: dict[tuple[str, object], int] = {}
    asked = [sum(1 << bits.setdefault(each, len(bits)) for each in _asked(way)) for way in covers]
    least: list[int] = []
    for each in sorted(set(asked), key=int.bit_count):
        if not any(less & each == less for less in least):
            least.append(each)
    kept = set(least)
    return [way for way, each in zip(covers, asked, strict=True) if each in kept]


def _asked(cover: _Cover) -> Iterator[tuple[str, object]]:
    """Give what a way asks for, one by one."""
    for name, propositions in (("true", cover.true), ("false", cover.false)):
        while propositions:
            lowest = propositions & -propositions
            yield name, lowest
            propositions -= lowest
    yield from (("left", each) for each in cover.left)
    yield from (("put off", each) for each in cover.put_off)

"""Formulas of LTL, and automata that accept the infinite runs on which they hold.

Formulas are in negation normal form, over numbered propositions. `F`, `G` and `W` are written with
`Until` and `Release`: `F(f)` is `true U f`, `G(f)` is `false R f`, and `W(f, g)` is `g R (f || g)`.

The construction is that of J.-M. Couvreur, "On-the-fly verification of linear temporal logic"
(FM 1999): states are sets of formulas that still have to hold; a transition says which propositions
must be true and which false now, and what has to hold next. A transition that puts off the right
side of an until promises it; a run is accepted if it infinitely often takes, for each until, a
transition that does not put it off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from rebecsim.files import AUTOMATON
from rebecsim.lang.properties import Connective, Formula, Negation, Proposition, Temporal


@dataclass(frozen=True, slots=True)
class Literal:
    """A proposition, or its negation."""

    proposition: int
    positive: bool = True


@dataclass(frozen=True, slots=True)
class Constant:
    """True or false."""

    value: bool


@dataclass(frozen=True, slots=True)
class Both:
    """`left && right`."""

    left: Normal
    right: Normal


@dataclass(frozen=True, slots=True)
class Either:
    """`left || right`."""

    left: Normal
    right: Normal


@dataclass(frozen=True, slots=True)
class Next:
    """`X(operand)`."""

    operand: Normal


@dataclass(frozen=True, slots=True)
class Until:
    """`U(left, right)`: `right` in the end, and `left` until then."""

    left: Normal
    right: Normal


@dataclass(frozen=True, slots=True)
class Release:
    """`right` up to and with the moment of `left`, or for ever: `!(!left U !right)`."""

    left: Normal
    right: Normal


Normal = Literal | Constant | Both | Either | Next | Until | Release

TRUE, FALSE = Constant(True), Constant(False)


def normal(
    formula: Formula, number_of: Callable[[Proposition], int], negated: bool = False
) -> Normal:
    """Bring a formula, or its negation, into negation normal form.

    `number_of` gives the number of a proposition.
    """
    match formula:
        case Proposition():
            return Literal(number_of(formula), not negated)
        case Negation(operand):
            return normal(operand, number_of, not negated)
        case Connective(operator, left, right):
            made = normal(left, number_of, negated), normal(right, number_of, negated)
            return Both(*made) if (operator == "&&") != negated else Either(*made)
        case Temporal(operator, _, operands):
            return _temporal(operator, [normal(each, number_of) for each in operands], negated)


def _temporal(operator: str, operands: list[Normal], negated: bool) -> Normal:
    made = _positive(operator, operands)
    return opposite(made) if negated else made


def _positive(operator: str, operands: list[Normal]) -> Normal:
    match operator, operands:
        case "X", [operand]:
            return Next(operand)
        case "F", [operand]:
            return Until(TRUE, operand)
        case "G", [operand]:
            return Release(FALSE, operand)
        case "U", [left, right]:
            return Until(left, right)
        case "W", [left, right]:
            return Release(right, Either(left, right))
    raise AssertionError(f"no operator of LTL: {operator}")


def opposite(formula: Normal) -> Normal:
    """Negate a formula."""
    match formula:
        case Literal(proposition, positive):
            return Literal(proposition, not positive)
        case Constant(value):
            return Constant(not value)
        case Both(left, right):
            return Either(opposite(left), opposite(right))
        case Either(left, right):
            return Both(opposite(left), opposite(right))
        case Next(operand):
            return Next(opposite(operand))
        case Until(left, right):
            return Release(opposite(left), opposite(right))
        case Release(left, right):
            return Until(opposite(left), opposite(right))


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
    """One way to meet obligations now: what must be true and false, what is left and put off."""

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
        covers = _met(map(_ways, pending[len(moves)]))
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


def _met(several: Iterable[list[_Cover]]) -> list[_Cover]:
    """Give the ways to meet several formulas together, from the ways to meet each of them."""
    covers = {_NOTHING: None}
    for ways in several:
        joined: dict[_Cover, None] = {}
        for cover in covers:
            joined |= dict.fromkeys(both for way in ways for both in _joined(cover, way))
            AUTOMATON.require(len(joined))
        covers = joined
    return list(covers)


def _ways(formula: Normal) -> list[_Cover]:
    """Give the ways to meet a formula."""
    match formula:
        case Constant(value):
            return [_NOTHING] if value else []
        case Literal(proposition, positive):
            bit = 1 << proposition
            true, false = (bit, 0) if positive else (0, bit)
            return [_NOTHING._replace(true=true, false=false)]
        case Both(left, right):
            return _met((_ways(left), _ways(right)))
        case Either(left, right):
            return _either(_ways(left), _ways(right))
        case Next(operand):
            return [_NOTHING._replace(left=_parts(operand))]
        case Until(left, right):
            later = _Cover(0, 0, frozenset((formula,)), frozenset((formula,)))
            return _either(_ways(right), _met((_ways(left), [later])))
        case Release(left, right):
            now = _ways(right)
            later = _NOTHING._replace(left=frozenset((formula,)))
            return _either(_met((_ways(left), now)), _met((now, [later])))


def _either(some: list[_Cover], others: list[_Cover]) -> list[_Cover]:
    ways = list(dict.fromkeys([*some, *others]))
    AUTOMATON.require(len(ways))
    return ways


def _parts(formula: Normal) -> Obligations:
    """Give what has to hold for a formula to hold, a conjunction in parts."""
    match formula:
        case Both(left, right):
            return _parts(left) | _parts(right)
        case Constant(True):
            return frozenset()
    return frozenset((formula,))


def _joined(one: _Cover, other: _Cover) -> Iterator[_Cover]:
    """Give the way to meet what both do, if they do not contradict each other."""
    true, false = one.true | other.true, one.false | other.false
    if not true & false:
        yield _Cover(true, false, (one.left | other.left) - {TRUE}, one.put_off | other.put_off)


def _least(covers: list[_Cover]) -> list[_Cover]:
    """Leave out ways that ask for more than another one does, in every respect.

    A way is compared only with smaller ones whose lowest bit it has, too.
    """
    bits: dict[tuple[str, object], int] = {}
    asked = [sum(1 << bits.setdefault(each, len(bits)) for each in _asked(way)) for way in covers]
    least: set[int] = set()
    by_lowest: dict[int, list[int]] = {}
    for _, alike in groupby(sorted(set(asked), key=int.bit_count), key=int.bit_count):
        kept = [
            each
            for each in alike
            if not any(
                less & each == less for lowest in _bits(each) for less in by_lowest.get(lowest, ())
            )
        ]
        if 0 in kept:
            least = {0}
            break
        for each in kept:
            by_lowest.setdefault(each & -each, []).append(each)
        least.update(kept)
    return [way for way, each in zip(covers, asked, strict=True) if each in least]


def _asked(cover: _Cover) -> Iterator[tuple[str, object]]:
    """Give what a way asks for, one by one."""
    for name, propositions in (("true", cover.true), ("false", cover.false)):
        yield from ((name, bit) for bit in _bits(propositions))
    yield from (("left", each) for each in cover.left)
    yield from (("put off", each) for each in cover.put_off)


def _bits(number: int) -> Iterator[int]:
    while number:
        yield number & -number
        number &= number - 1

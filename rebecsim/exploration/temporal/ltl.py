"""Formulas of LTL in negation normal form, over numbered propositions.

Negations stand before propositions only. `F`, `G` and `W` are written with `Until` and `Release`:
`F(f)` is `true U f`, `G(f)` is `false R f`, and `W(f, g)` is `g R (f || g)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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

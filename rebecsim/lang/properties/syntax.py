"""The tree of a property file: definitions, assertions, LTL and TCTL formulas."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from rebecsim.lang.syntax import Expression, Node, Span


class Definition(Node):
    """`name = expression;` in `define`."""

    name: str
    expression: Expression


class AssertionProperty(Node):
    """`Name: expression;` in `Assertion`: it must hold after every message."""

    name: str
    expression: Expression


class Proposition(Node):
    """A boolean expression over the variables of the rebecs."""

    expression: Expression


class Negation(Node):
    """`!formula`."""

    operand: Formula


class Connective(Node):
    """`left && right` or `left || right`."""

    operator: Literal["&&", "||"]
    left: Formula
    right: Formula


class Bound(Node):
    """`time <= limit` of a TCTL operator; also with `<`, `>=`, `>` or `==`."""

    operator: Literal["<=", "<", ">=", ">", "=="]
    limit: Expression


class Temporal(Node):
    """`G(f)`, `U(f, g)`, `AG(time <= 10, f)`: an operator, its bound (TCTL only), its operands."""

    operator: str
    bound: Bound | None
    operands: tuple[Formula, ...]


Formula = Proposition | Negation | Connective | Temporal


class TemporalProperty(Node):
    """`Name: formula;` in `LTL` or `TCTL`."""

    name: str
    formula: Formula


class PropertyFile(Node):
    """A whole `.property` file; `sections` are the keywords in it and where they stand.

    `text` is what it was read from, of which errors quote lines.
    """

    definitions: tuple[Definition, ...]
    assertions: tuple[AssertionProperty, ...]
    ltl: tuple[TemporalProperty, ...]
    tctl: tuple[TemporalProperty, ...]
    sections: tuple[tuple[str, Span], ...] = ()
    text: str | None = field(default=None, compare=False, repr=False, kw_only=True)

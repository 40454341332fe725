"""Replace forms of formulas that have names of their own by the plain operators.

The patterns are those of M. B. Dwyer, G. S. Avrunin, J. C. Corbett, "Patterns in property
specifications for finite-state verification" (ICSE 1999), over the whole run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from rebecsim.lang.properties import Connective, Formula, Negation, Proposition, Temporal

FormulaKind = Literal["ltl", "tctl"]

_ALWAYS = {"ltl": "G", "tctl": "AG"}
_EVENTUALLY = {"ltl": "F", "tctl": "AF"}


def plain(formula: Formula, kind: FormulaKind) -> Formula:
    """Write a formula of a logic without named forms."""
    match formula:
        case Proposition():
            return formula
        case Negation(operand):
            return replace(formula, operand=plain(operand, kind))
        case Connective(_, left, right):
            return replace(formula, left=plain(left, kind), right=plain(right, kind))
        case Temporal(operator, _, operands):
            made = tuple(plain(each, kind) for each in operands)
            return _written_out(replace(formula, operands=made), operator, kind)


def _written_out(formula: Temporal, operator: str, kind: FormulaKind) -> Formula:
    always = replace(formula, operator=_ALWAYS[kind], bound=None)
    eventually = replace(formula, operator=_EVENTUALLY[kind])
    match operator, formula.operands:
        case "LeadsTo", (cause, effect):
            answered = replace(eventually, operands=(effect,))
            return replace(always, operands=(Connective("||", Negation(cause), answered),))
        case "Recurs", (operand,):
            return replace(always, operands=(replace(eventually, operands=(operand,)),))
        case "Precedes", (first, then):
            return replace(formula, operator="W", operands=(Negation(then), first))
    return formula

"""Read and check single expressions from a user, as in property files."""

from __future__ import annotations

from rebecsim.lang import syntax
from rebecsim.lang.checked import CheckedModel
from rebecsim.lang.errors import RebecaCheckError, diagnose, in_order
from rebecsim.lang.properties.files import CheckedProperties, check_property
from rebecsim.lang.properties.syntax import AssertionProperty, Definition, PropertyFile
from rebecsim.lang.reading.parser import parse_expression
from rebecsim.lang.types import NUMERIC


def check_condition(
    text: str, what: str, model: CheckedModel
) -> tuple[CheckedProperties, syntax.Expression]:
    """Read a condition over the variables of a model; `what` stands in the place of its file.

    Raises RebecaError, with the text and the column, for one that is wrong or does not fit.
    """
    expression = parse_expression(text, what)
    assertion = AssertionProperty(what, expression, span=expression.span)
    tree = PropertyFile((), (assertion,), (), (), text=text, span=expression.span)
    return check_property(tree, model), expression


def check_number(
    text: str, what: str, model: CheckedModel
) -> tuple[CheckedProperties, syntax.Expression]:
    """Read a number over the variables of a model; else as `check_condition`."""
    expression = parse_expression(text, what)
    definition = Definition("(number)", expression, span=expression.span)
    tree = PropertyFile((definition,), (), (), (), text=text, span=expression.span)
    checked = check_property(tree, model)
    found = checked.types[id(expression)]
    if found not in NUMERIC:
        wrong = diagnose("mismatch", expression.span, expected="a number", found=found)
        raise RebecaCheckError.of(in_order([wrong], text))
    return checked, expression

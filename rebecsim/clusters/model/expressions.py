"""Expressions over state variables that a scenario observes.

Imported where a scenario observes one: reading it takes the parser of Rebeca and the states of the
exploration, which a model in Python runs without.
"""

from __future__ import annotations

from typing import Any

from rebecsim.actors import Model
from rebecsim.exploration import Function, PropertyWriter
from rebecsim.lang import (
    CheckedModel,
    CheckedProperties,
    Symbol,
    check_property,
    parse_expression,
    syntax,
)
from rebecsim.lang.checked import BOOLEAN, NUMERIC, REAL, Type
from rebecsim.lang.properties import Definition, PropertyFile

_NAME = "(observed)"
"""What the expression is called among the definitions; no name of a model."""


class Expression:
    """An expression that fits a model.

    Attributes:
        type: of its value.
        member: the rebec and the variable, where it is a single whole number or boolean of a rebec,
            which compiled code can give.
        read: gives its value in a `System`.
    """

    def __init__(self, text: str, model: Model, checked: CheckedModel) -> None:
        tree = parse_expression(text, "<observe>")
        definition = Definition(_NAME, tree, span=tree.span)
        file = PropertyFile((definition,), (), (), (), text=text, span=tree.span)
        properties = check_property(file, checked)
        self.type: Type = properties.types[id(tree)]
        self.member: tuple[str, str] | None = None
        if isinstance(tree, syntax.Member) and self.type in {BOOLEAN, *NUMERIC} - REAL:
            rebec, symbol = properties.member_of(tree)
            self.member = rebec, symbol.name
        self.read: Function = _Reader(properties, model).compile(tree)


class _Reader(PropertyWriter):
    """Reads the variables of the rebecs of a `System` of a model."""

    def __init__(self, properties: CheckedProperties, model: Model) -> None:
        super().__init__(properties)
        self._model = model

    def _rebec(self, name: str) -> str:
        return f"state.rebecs[{self._model.positions[name]}]"

    def _variable(self, node: syntax.Member, rebec: str, symbol: Symbol) -> str:
        place = self._model.positions[rebec]
        variables = self._model.instances[place].reactive_class.__state_variables__
        name = next(each.name for each in variables if each.rebeca_name == symbol.name)
        return f"state.rebecs[{place}].{name}"

    def _name_of(self, reference: Any) -> str:
        return str(reference)

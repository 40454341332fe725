"""Expressions of property files: they read the variables of rebecs and change nothing."""

from __future__ import annotations

from rebecsim.lang import syntax
from rebecsim.lang.checked import Symbol
from rebecsim.lang.expressions import ExpressionChecker
from rebecsim.lang.scopes import Body, Findings, Scope
from rebecsim.lang.types import RebecType, Type

__all__ = ["PropertyExpressions"]

_WITHOUT_PLACE: dict[type, str] = {
    syntax.Assignment: "an assignment",
    syntax.Increment: "an increment",
    syntax.Call: "a temporal operator or method call",
    syntax.Send: "a send",
    syntax.Choice: "a choice",
}


class PropertyExpressions(ExpressionChecker):
    """Also fills `members`: the instance and variable that each `rebec.variable` names."""

    def __init__(self, findings: Findings) -> None:
        super().__init__(findings, Body("property", "the property file"))
        self.members: dict[int, tuple[str, Symbol]] = {}

    def check(self, node: syntax.Expression, scope: Scope) -> Type | None:
        """The type of an expression; None after a mistake."""
        what = _WITHOUT_PLACE.get(type(node))
        if what is not None:
            self.findings.report("property-expression", node.span, what=what)
            return None
        return super().check(node, scope)

    def _name(self, node: syntax.Name, scope: Scope) -> Type | None:
        if scope.find(node.identifier) is None:
            self.findings.report("property-name", node.span, name=node.identifier)
            return None
        return super()._name(node, scope)

    def _member(self, node: syntax.Member, scope: Scope) -> Type | None:
        target = node.target
        rebec = scope.find(target.identifier) if isinstance(target, syntax.Name) else None
        if rebec is None or rebec.kind != "known" or not isinstance(rebec.type, RebecType):
            self.findings.report("property-rebec", target.span)
            return None
        checked = self.findings.classes[rebec.type.name]
        for symbol in (*checked.state_variables, *checked.known_rebecs):
            if symbol.name == node.name:
                self.members[id(node)] = (rebec.name, symbol)
                return symbol.type
        self.findings.report("property-variable", node.span, rebec=rebec.name, name=node.name)
        return None

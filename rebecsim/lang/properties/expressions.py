"""Check expressions of property files: they read variables of rebecs and change nothing."""

from __future__ import annotations

from rebecsim.lang import syntax
from rebecsim.lang.checked import Symbol
from rebecsim.lang.checking.expressions import ExpressionChecker
from rebecsim.lang.checking.scopes import Body, Findings, Scope, Unknown
from rebecsim.lang.types import RebecType, Type

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
        name = node.identifier
        if scope.find(name) is None and not scope.is_spoilt(name):
            owners = [rebec for rebec in _rebecs(scope) if name in self._variables(rebec)]
            hint = f"write the rebec before it: `{owners[0].name}.{name}`" if owners else None
            unknown = Unknown("name of a property", name, scope.names())
            self.findings.report_unknown("property-name", node.span, unknown, hint)
            return None
        return super()._name(node, scope)

    def _member(self, node: syntax.Member, scope: Scope) -> Type | None:
        target = node.target
        name = target.identifier if isinstance(target, syntax.Name) else ""
        rebec = scope.find(name)
        if rebec is None or rebec.kind != "known":
            unknown = Unknown("rebec", name, [each.name for each in _rebecs(scope)])
            self.findings.report_unknown("property-rebec", target.span, unknown)
            return None
        variables = self._variables(rebec)
        symbol = variables.get(node.name)
        if symbol is None:
            unknown = Unknown(f"variable of {rebec.name}", node.name, variables)
            self.findings.report_unknown("property-variable", node.span, unknown, rebec=rebec.name)
            return None
        self.members[id(node)] = (rebec.name, symbol)
        return symbol.type

    def _variables(self, rebec: Symbol) -> dict[str, Symbol]:
        """The variables of a rebec that a property can read."""
        if not isinstance(rebec.type, RebecType):
            return {}
        checked = self.findings.classes[rebec.type.name]
        symbols = (*checked.state_variables, *checked.known_rebecs)
        return {symbol.name: symbol for symbol in symbols}


def _rebecs(scope: Scope) -> list[Symbol]:
    found = [scope.find(name) for name in scope.names()]
    return [symbol for symbol in found if symbol is not None and symbol.kind == "known"]

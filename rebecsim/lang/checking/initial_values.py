"""Compute the constant values of env constants and the initial values of state variables."""

from __future__ import annotations

from rebecsim.lang import syntax
from rebecsim.lang.checked import Elements, Symbol, SymbolKind, Value
from rebecsim.lang.checking.constants import NotConstantError, convert
from rebecsim.lang.checking.expressions import ExpressionChecker
from rebecsim.lang.checking.scopes import Body, Findings, Scope
from rebecsim.lang.types import ArrayType, Type, VoidType


def symbol_with_value(
    findings: Findings,
    kind: SymbolKind,
    name: str,
    type_: Type,
    initial: syntax.Initial | None,
    env: Scope,
) -> Symbol:
    """The symbol of a declaration; mistakes in its initial value are reported."""
    if initial is None:
        return Symbol(kind, name, type_)
    before = len(findings.diagnostics)
    what = "an env constant" if kind == "env" else "a state variable"
    ExpressionChecker(findings, Body("constant", what)).initial(initial, type_, env)
    if len(findings.diagnostics) > before:
        return Symbol(kind, name, type_)
    value = _constant(findings, initial, type_, what)
    if isinstance(value, tuple):
        return Symbol(kind, name, type_, elements=value)
    return Symbol(kind, name, type_, value)


def _constant(findings: Findings, node: syntax.Initial, kind: Type, what: str) -> Value | Elements:
    if isinstance(node, syntax.ArrayInitializer):
        assert isinstance(kind, ArrayType)
        return tuple(_constant(findings, each, kind.element, what) for each in node.values)
    assert not isinstance(kind, ArrayType | VoidType)
    if id(node) in findings.constants:
        try:
            return convert(findings.constants[id(node)], kind)
        except NotConstantError:
            pass
    findings.report("constant-value", node.span, what=what)
    return 0

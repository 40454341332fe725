"""Check statements, annotations and initial values.

Of statements: local names, jumps, and whether a method returns on every path. Of `@priority` and
`@globalPriority`: their places and their values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

from rebecsim.files import ELEMENTS
from rebecsim.lang import syntax
from rebecsim.lang.checked import (
    NUMERIC,
    REAL,
    ArrayType,
    Elements,
    Symbol,
    SymbolKind,
    Type,
    Value,
    VoidType,
)
from rebecsim.lang.checking.calls import NotConstantError, convert
from rebecsim.lang.checking.expressions import ExpressionChecker
from rebecsim.lang.checking.scopes import BUILTINS, Body, Findings, Scope, resolve_with_lengths

MAX_DIMENSIONS = 8


@dataclass
class _Jumps:
    """A loop or switch around the statement, and whether a `break` leaves it."""

    is_loop: bool
    broken: bool = False


class StatementChecker:
    """Checks one body. Every check says whether the statement can end and go on to the next."""

    def __init__(self, findings: Findings, body: Body, env: Scope) -> None:
        self.findings = findings
        self.body = body
        self.env = env
        self.expressions = ExpressionChecker(findings, body)
        self._jumps: list[_Jumps] = []
        self._rules: dict[type, Callable[[Any, Scope], bool]] = {
            syntax.Block: self._block,
            syntax.LocalDeclaration: self._local,
            syntax.ExpressionStatement: self._expression,
            syntax.EmptyStatement: lambda _node, _scope: True,
            syntax.If: self._if,
            syntax.While: self._while,
            syntax.For: self._for,
            syntax.Switch: self._switch,
            syntax.PAlt: self._switch,
            syntax.Break: self._break,
            syntax.Continue: self._continue,
            syntax.Return: self._return,
            syntax.Delay: self._delay,
            syntax.Assertion: self._assertion,
        }

    def check(self, node: syntax.Statement, scope: Scope) -> bool:
        """Check a statement; whether control can reach its end."""
        return self._rules[type(node)](node, scope)

    def _nested(self, node: syntax.Statement, scope: Scope) -> bool:
        return self.check(node, Scope(scope))

    def _sequence(self, statements: tuple[syntax.Statement, ...], scope: Scope) -> bool:
        completes = True
        for statement in statements:
            completes = self.check(statement, scope) and completes
        return completes

    def _block(self, node: syntax.Block, scope: Scope) -> bool:
        return self._sequence(node.statements, Scope(scope))

    def _local(self, node: syntax.LocalDeclaration, scope: Scope) -> bool:
        lengths = array_lengths(self.findings, node.type, self.env)
        kind = resolve_with_lengths(self.findings, node.type, lengths)
        for name, initial in node.variables:
            if initial is not None:
                self.expressions.initial(initial, kind, scope)
            first = scope.place_of_local(name)
            if not name_is_free(self.findings, name, node.span) or kind is None:
                scope.spoil(name)
            elif first is not None:
                self.findings.report_twice("variable", name, node.span, first)
                scope.spoil(name)
            else:
                scope.declare(Symbol("local", name, kind), node.span)
        return True

    def _expression(self, node: syntax.ExpressionStatement, scope: Scope) -> bool:
        expression = node.expression
        if isinstance(expression, (syntax.Assignment, syntax.Increment, syntax.Call, syntax.Send)):
            self.expressions.check(expression, scope)
        else:
            compares = isinstance(expression, syntax.Binary) and expression.operator == "=="
            hint = "`=` assigns, `==` compares" if compares else None
            self.findings.report("no-effect", node.span, hint)
        return True

    def _if(self, node: syntax.If, scope: Scope) -> bool:
        self.expressions.condition(node.condition, scope)
        then = self._nested(node.then, scope)
        otherwise = True if node.otherwise is None else self._nested(node.otherwise, scope)
        return then or otherwise

    def _while(self, node: syntax.While, scope: Scope) -> bool:
        self.expressions.condition(node.condition, scope)
        return self._loop(node.condition, node.body, scope)

    def _for(self, node: syntax.For, scope: Scope) -> bool:
        inner = Scope(scope)
        if isinstance(node.init, syntax.LocalDeclaration):
            self._local(node.init, inner)
        else:
            self._effects(node.init, inner)
        if node.condition is not None:
            self.expressions.condition(node.condition, inner)
        self._effects(node.update, inner)
        return self._loop(node.condition, node.body, inner)

    def _effects(self, expressions: tuple[syntax.Expression, ...], scope: Scope) -> None:
        for expression in expressions:
            self._expression(syntax.ExpressionStatement(expression, span=expression.span), scope)

    def _loop(
        self, condition: syntax.Expression | None, body: syntax.Statement, scope: Scope
    ) -> bool:
        jumps = _Jumps(is_loop=True)
        self._jumps.append(jumps)
        self._nested(body, scope)
        self._jumps.pop()
        endless = condition is None or self.findings.constants.get(id(condition)) is True
        return jumps.broken or not endless

    def _switch(self, node: syntax.Switch, scope: Scope) -> bool:
        found = self.expressions.value(node.subject, scope)
        if found is not None and (found not in NUMERIC or found in REAL):
            self.findings.report("switch-type", node.subject.span, found=found)
        jumps = _Jumps(is_loop=False)
        self._jumps.append(jumps)
        self._case_values(node)
        completes = True
        for case in node.cases:
            completes = self._sequence(case.statements, Scope(scope))
        self._jumps.pop()
        exhaustive = any(case.value is None for case in node.cases)
        return completes or jumps.broken or not exhaustive

    def _case_values(self, node: syntax.Switch) -> None:
        constants = ExpressionChecker(self.findings, Body("constant", "case"))
        lines: dict[object, int] = {}
        for case in node.cases:
            value: object = None
            if case.value is not None:
                found = constants.value(case.value, self.env)
                if found is None:
                    continue
                value = self.findings.whole_number(case.value)
                if value is None:
                    self.findings.report("case-constant", case.value.span)
                    continue
            if value in lines:
                code = "default-twice" if value is None else "case-twice"
                self.findings.report(code, case.span, value=value, line=lines[value])
            lines.setdefault(value, case.span.line)

    def _break(self, node: syntax.Break, scope: Scope) -> bool:
        del scope
        if self._jumps:
            self._jumps[-1].broken = True
        else:
            self.findings.report("break-outside", node.span)
        return False

    def _continue(self, node: syntax.Continue, scope: Scope) -> bool:
        del scope
        if not any(jumps.is_loop for jumps in self._jumps):
            self.findings.report("continue-outside", node.span)
        return False

    def _return(self, node: syntax.Return, scope: Scope) -> bool:
        expected = self.body.result
        if node.value is None:
            if expected is not None:
                self.findings.report(
                    "return-missing-value", node.span, name=self.body.name, expected=expected
                )
        elif expected is None:
            self.findings.report("return-value", node.value.span, name=self.body.name)
        else:
            self.expressions.fits(node.value, expected, scope)
        return False

    def _delay(self, node: syntax.Delay, scope: Scope) -> bool:
        self.expressions.time(node.duration, "delay", scope)
        return True

    def _assertion(self, node: syntax.Assertion, scope: Scope) -> bool:
        self.expressions.condition(node.condition, scope)
        return True


def array_lengths(findings: Findings, node: syntax.TypeName, env: Scope) -> list[int] | None:
    """The folded dimensions of a type; None (and a report) if one is no positive constant."""
    checker = ExpressionChecker(findings, Body("constant", node.name))
    lengths: list[int] = []
    if len(node.dimensions) > MAX_DIMENSIONS:
        found_there = len(node.dimensions)
        findings.report("array-dimensions", node.span, limit=MAX_DIMENSIONS, found=found_there)
        return None
    for dimension in node.dimensions:
        found = checker.value(dimension, env)
        value = findings.whole_number(dimension)
        if found is None:
            return None
        if value is None or value < 1:
            findings.report("array-length", dimension.span)
            return None
        lengths.append(value)
    found_there, limit = prod(lengths), ELEMENTS.most
    if found_there > limit:
        variable = ELEMENTS.variable
        findings.report(
            "array-elements", node.span, limit=limit, found=found_there, variable=variable
        )
        return None
    return lengths


def parameter_symbols(
    findings: Findings, node: syntax.MessageServer | syntax.Method, env: Scope
) -> tuple[Symbol, ...]:
    """The parameters whose types are known; reports the other types."""
    found = []
    for each in node.parameters:
        lengths = array_lengths(findings, each.type, env)
        kind = resolve_with_lengths(findings, each.type, lengths)
        if kind is not None:
            found.append(Symbol("parameter", each.name, kind))
    return tuple(found)


def name_is_free(findings: Findings, name: str, span: syntax.Span) -> bool:
    """Whether a name may be declared; the names with a meaning in the language may not."""
    if name in BUILTINS or name in ("self", "super", "ReactiveClass"):
        findings.report("builtin-name", span, name=name)
        return False
    return True


_NAMES = ("priority", "globalPriority")
_SMALL = tuple(name.lower() for name in _NAMES)


def server_priorities(
    findings: Findings, node: syntax.MessageServer, env: Scope
) -> tuple[int | None, int | None]:
    """The priority and the global priority of a message server; None where there is none."""
    values = _values(findings, node.annotations, env)
    return values.get("priority"), values.get("globalPriority")


def class_annotations(findings: Findings, node: syntax.ReactiveClass, env: Scope) -> None:
    """Check the annotations of a class. A @priority there orders nothing, as in RMC."""
    _no_global(findings, node.annotations, "a reactive class")
    _values(findings, node.annotations, env)


def instance_priority(findings: Findings, node: syntax.Instance, env: Scope) -> int | None:
    """The priority of a rebec of main; None if it has none."""
    _no_global(findings, node.annotations, "a rebec")
    return _values(findings, node.annotations, env).get("priority")


def _no_global(findings: Findings, annotations: tuple[syntax.Annotation, ...], what: str) -> None:
    for annotation in annotations:
        if annotation.name == "globalPriority":
            findings.report("annotation-place", annotation.span, what=what)


def _values(
    findings: Findings, annotations: tuple[syntax.Annotation, ...], env: Scope
) -> dict[str, int]:
    checker = ExpressionChecker(findings, Body("constant", "annotation"))
    values: dict[str, int] = {}
    for annotation in annotations:
        name = annotation.name
        if name.lower() in _SMALL and name not in _NAMES:
            meant = _NAMES[_SMALL.index(name.lower())]
            findings.report("annotation-capital", annotation.span, name=name, meant=meant)
            continue
        if name not in _NAMES:
            findings.report("annotation-unknown", annotation.span, name=name)
            continue
        if findings.dialect == "core":
            findings.report("core-priority", annotation.span, name=name)
            continue
        if name in values:
            findings.report("annotation-twice", annotation.span, name=name)
        values[name] = _value(findings, annotation, checker, env)
    return values


def _value(
    findings: Findings, annotation: syntax.Annotation, checker: ExpressionChecker, env: Scope
) -> int:
    node = annotation.value
    if node is not None:
        if checker.value(node, env) is None:
            return 0
        value = findings.whole_number(node)
        if value is not None:
            return value
    findings.report("annotation-value", annotation.span, name=annotation.name)
    return 0


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

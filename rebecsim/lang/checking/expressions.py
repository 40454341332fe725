"""Check expressions: their types, names and constant values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rebecsim.arithmetic import TOLERANCE, shares_of
from rebecsim.distributions import PARAMETERS, distribution
from rebecsim.lang import syntax
from rebecsim.lang.checked import (
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    NULL,
    NUMERIC,
    REAL,
    ArrayType,
    Elements,
    NullType,
    RebecType,
    Symbol,
    Type,
    Value,
    arithmetic_type,
)
from rebecsim.lang.checking.calls import FUNCTIONS, CallChecker, convert, fold_binary, fold_unary
from rebecsim.lang.checking.scopes import (
    BUILTINS,
    Body,
    Findings,
    Scope,
    Unknown,
    assignment_problem,
    common_type,
    member_hint,
    related,
    resolve_type,
)
from rebecsim.lang.errors import NAME_HINTS
from rebecsim.wording import counted

_NOT_CONSTANT: dict[type, str] = {
    syntax.Assignment: "an assignment",
    syntax.Increment: "an increment",
    syntax.Call: "a method call",
    syntax.Send: "a send",
}
_LOGICAL = frozenset({"&&", "||"})
_EQUALITY = frozenset({"==", "!="})
_ORDER = frozenset({"<", "<=", ">", ">="})
_BITWISE = frozenset({"&", "|", "^"})
_INTEGRAL = frozenset({"%", "<<", ">>"})


class ExpressionChecker(CallChecker):
    """Checks the expressions of one body and fills the tables of the findings.

    A type of None means that a mistake has been reported below, so that one mistake does not
    cause another message.
    """

    def __init__(self, findings: Findings, body: Body) -> None:
        super().__init__(findings, body)
        self._rules: dict[type, Callable[[Any, Scope], Type | None]] = {
            syntax.IntLiteral: lambda node, _: self._literal(node, node.value, INT),
            syntax.FloatLiteral: self._float,
            syntax.BoolLiteral: lambda node, _: self._literal(node, node.value, BOOLEAN),
            syntax.NullLiteral: lambda node, _: self._literal(node, None, NULL),
            syntax.Name: self._name,
            syntax.OwnVariable: self._own_variable,
            syntax.Index: self._index,
            syntax.Member: self._member,
            syntax.Unary: self._unary,
            syntax.Binary: self._binary,
            syntax.InstanceOf: self._instance_of,
            syntax.Conditional: self._conditional,
            syntax.Assignment: self._assignment,
            syntax.Increment: self._increment,
            syntax.Cast: self._cast,
            syntax.Choice: self._choice,
            syntax.Call: self.call,
            syntax.Send: self.send,
        }

    # --- what others ask -----------------------------------------------------------------------

    def check(self, node: syntax.Expression, scope: Scope) -> Type | None:
        """The type of an expression, which may be void or an array; None after a mistake."""
        what = _NOT_CONSTANT.get(type(node)) if self.body.kind == "constant" else None
        is_function = isinstance(node, syntax.Call) and node.method in FUNCTIONS
        if what is not None and not is_function:
            self.findings.report("constant-only", node.span, what=what)
            return None
        found = self._rules[type(node)](node, scope)
        if found is not None:
            self.findings.types[id(node)] = found
        return found

    def initial(self, node: syntax.Initial, expected: Type | None, scope: Scope) -> None:
        """Check what a declaration gives to its variable: a value, or one for each element."""
        if not isinstance(node, syntax.ArrayInitializer):
            if isinstance(expected, ArrayType):
                self.findings.report("array-whole", node.span)
            else:
                self.fits(node, expected, scope)
            return
        element = expected.element if isinstance(expected, ArrayType) else None
        if expected is not None and not isinstance(expected, ArrayType):
            self.findings.report("initializer-array", node.span, expected=expected)
        elif isinstance(expected, ArrayType) and len(node.values) != expected.length:
            found = counted(len(node.values), "value")
            self.findings.report(
                "initializer-length", node.span, found=found, expected=expected.length
            )
        for each in node.values:
            self.initial(each, element, scope)

    def condition(self, node: syntax.Expression, scope: Scope) -> None:
        """Check a condition: boolean, and no assignment written for a comparison."""
        if isinstance(node, syntax.Assignment) and node.operator == "=":
            self.findings.report("condition-assignment", node.span)
            return
        found = self.value(node, scope)
        if found is not None and found != BOOLEAN:
            self.findings.report("condition", node.span, found=found)

    def constant(self, node: syntax.Expression) -> Value:
        """The value of an expression that has been checked; KeyError if it is not constant."""
        return self.findings.constants[id(node)]

    # --- names and elements --------------------------------------------------------------------

    def _float(self, node: syntax.FloatLiteral, scope: Scope) -> Type:
        del scope
        kind = FLOAT if node.single else DOUBLE
        return self._literal(node, convert(node.value, kind), kind)

    def _literal(self, node: syntax.Expression, value: Value, kind: Type) -> Type:
        self.findings.constants[id(node)] = value
        return kind

    def _name(self, node: syntax.Name, scope: Scope) -> Type | None:
        if scope.is_spoilt(node.identifier):
            return None
        symbol = scope.find(node.identifier) or self._builtin(node)
        if symbol is None:
            self._unknown_name(node, scope)
            return None
        if symbol.kind == "builtin" and not self._builtin_allowed(node):
            return None
        self.findings.symbols[id(node)] = symbol
        if symbol.kind == "env" and not isinstance(symbol.type, ArrayType):
            self.findings.constants[id(node)] = symbol.value
        return symbol.type

    def _own_variable(self, node: syntax.OwnVariable, scope: Scope) -> Type | None:
        owner, name = self.body.owner, node.identifier
        if owner is None:
            return self._name(syntax.Name("self", span=node.span), scope)
        if name in self.findings.spoilt.get(owner.name, ()):
            return None
        symbols = {each.name: each for each in (*owner.state_variables, *owner.known_rebecs)}
        symbol = symbols.get(name)
        if symbol is None:
            if owner.name not in self.findings.incomplete:
                unknown = Unknown(f"variable of {owner.name}", name, symbols)
                hint = member_hint(owner, name)
                self.findings.report_unknown(
                    "unknown-own", node.span, unknown, hint, owner=owner.name
                )
            return None
        self.findings.symbols[id(node)] = symbol
        return symbol.type

    def _unknown_name(self, node: syntax.Name, scope: Scope, hint: str | None = None) -> None:
        owner = self.body.owner
        if owner is not None and owner.name in self.findings.incomplete:
            return
        name = node.identifier
        hint = None if owner is None else member_hint(owner, name)
        words = ["true", "false", "null", *(() if owner is None else ("self", *BUILTINS))]
        unknown = Unknown(f"variable of {self.body.where}", name, scope.names(), words)
        hint = hint or NAME_HINTS.get(name)
        self.findings.report_unknown("unknown-name", node.span, unknown, hint)

    def _builtin(self, node: syntax.Name) -> Symbol | None:
        name, owner = node.identifier, self.body.owner
        if owner is None:
            return None
        if name == "self":
            return Symbol("builtin", name, RebecType(owner.name))
        kind = BUILTINS.get(name)
        return None if kind is None else Symbol("builtin", name, kind)

    def _builtin_allowed(self, node: syntax.Name) -> bool:
        name = node.identifier
        if self.findings.dialect == "core" and name not in ("self", "sender"):
            self.findings.report("core-time", node.span, word=name)
            return False
        if self.body.kind == "constructor" and name not in ("self", "sender", "now"):
            self.findings.report("constructor-sender", node.span, word=name)
            return False
        return True

    def _index(self, node: syntax.Index, scope: Scope) -> Type | None:
        array = self.check(node.array, scope)
        index = self.value(node.index, scope)
        if index is not None and (index not in NUMERIC or index in REAL):
            self.findings.report("index-type", node.index.span, found=index)
        if array is None:
            return None
        if not isinstance(array, ArrayType):
            self.findings.report("not-array", node.array.span, found=array)
            return None
        self._fold_element(node)
        return array.element

    def _fold_element(self, node: syntax.Index) -> None:
        """Fold an element of an array of constants, if the index is constant and in range."""
        indices: list[Value] = []
        array: syntax.Expression = node
        while isinstance(array, syntax.Index):
            indices.insert(0, self.findings.constants.get(id(array.index)))
            array = array.array
        symbol = self.findings.symbols.get(id(array))
        if symbol is None or symbol.kind != "env":
            return
        found: Value | Elements = symbol.elements
        for index in indices:
            if not isinstance(index, int) or not isinstance(found, tuple):
                return
            if not 0 <= index < len(found):
                return
            found = found[index]
        if not isinstance(found, tuple):
            self.findings.constants[id(node)] = found

    def _member(self, node: syntax.Member, scope: Scope) -> Type | None:
        target = node.target
        name = target.identifier if isinstance(target, syntax.Name) else None
        if name == "this" and scope.find(name) is None:
            self.findings.report("own-member", node.span, name=node.name)
            return None
        found = self.check(target, scope)
        if isinstance(found, ArrayType):
            self.findings.report("array-member", node.span, name=node.name, length=found.length)
        elif found is not None:
            self.findings.report("member", node.span)
        return None

    # --- operators -----------------------------------------------------------------------------

    def _unary(self, node: syntax.Unary, scope: Scope) -> Type | None:
        operand = self.value(node.operand, scope)
        if operand is None:
            return None
        operator = node.operator
        if operator == "!":
            fitting, expected, result = operand == BOOLEAN, "boolean", BOOLEAN
        elif operator == "~":
            fitting, expected, result = operand in NUMERIC - REAL, "int", INT
        else:
            result = DOUBLE if operand == DOUBLE else FLOAT if operand == FLOAT else INT
            fitting, expected = operand in NUMERIC, "a number"
        if not fitting:
            self._refused(node, operator, operand, expected)
            return None
        self.fold(node, (node.operand,), lambda value: fold_unary(operator, value))
        return result

    def _refused(self, node: syntax.Expression, operator: str, found: Type, expected: str) -> None:
        values = {"operator": operator, "found": found, "expected": expected}
        self.findings.report("operand", node.span, **values)

    def _binary(self, node: syntax.Binary, scope: Scope) -> Type | None:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if left is None or right is None:
            return None
        if node.operator in _EQUALITY:
            result = self._equality(node, left, right)
        else:
            result = self.combined(node.operator, left, right, node.span)
        if result is not None:
            kind = arithmetic_type(left, right)
            self.fold(
                node, (node.left, node.right), lambda a, b: fold_binary(node.operator, a, b, kind)
            )
        return result

    def _equality(self, node: syntax.Binary, left: Type, right: Type) -> Type | None:
        rebecs = isinstance(left, RebecType) and isinstance(right, RebecType)
        if common_type(self.findings, left, right) is None and not (
            rebecs and related(self.findings, str(left), str(right))
        ):
            self.findings.report("comparison", node.span, left=left, right=right)
            return None
        return BOOLEAN

    def combined(self, operator: str, left: Type, right: Type, span: syntax.Span) -> Type | None:
        """The type of `left operator right` for any operator but `==` and `!=`."""
        kinds = {left, right}
        numbers = kinds <= NUMERIC
        if operator in _LOGICAL:
            result, expected = (BOOLEAN if kinds == {BOOLEAN} else None), "booleans"
        elif operator in _ORDER:
            result, expected = (BOOLEAN if numbers else None), "numbers"
        elif operator in _BITWISE and kinds == {BOOLEAN}:
            result, expected = BOOLEAN, ""
        elif operator in _BITWISE or operator in _INTEGRAL:
            result, expected = (INT if numbers and not kinds & REAL else None), "ints"
        else:
            result = arithmetic_type(left, right) if numbers else None
            expected = "numbers"
        if result is None:
            self.findings.report(
                "operands", span, operator=operator, left=left, right=right, expected=expected
            )
        return result

    def _instance_of(self, node: syntax.InstanceOf, scope: Scope) -> Type | None:
        found = self.value(node.operand, scope)
        expected = resolve_type(self.findings, node.type)
        if found is None or expected is None:
            return None
        if not isinstance(found, RebecType | NullType):
            self._refused(node, "instanceof", found, "a rebec")
            return None
        return BOOLEAN

    def _conditional(self, node: syntax.Conditional, scope: Scope) -> Type | None:
        self.condition(node.condition, scope)
        then, otherwise = self.value(node.then, scope), self.value(node.otherwise, scope)
        if then is None or otherwise is None:
            return None
        result = self._wider(node, then, otherwise)
        if result is None:
            return None
        self.fold(
            node,
            (node.condition, node.then, node.otherwise),
            lambda condition, a, b: convert(a if condition else b, result),
        )
        return result

    def _cast(self, node: syntax.Cast, scope: Scope) -> Type | None:
        expected = resolve_type(self.findings, node.type)
        found = self.value(node.operand, scope)
        if expected is None or found is None:
            return None
        problem = assignment_problem(self.findings, found, expected)
        if problem == "mismatch":
            self.findings.report("cast", node.span, found=found, expected=expected)
            return None
        self.fold(node, (node.operand,), lambda value: convert(value, expected))
        return expected

    # --- assignments ---------------------------------------------------------------------------

    def _assignment(self, node: syntax.Assignment, scope: Scope) -> Type | None:
        target = self._target(node.target, scope)
        if node.operator == "=":
            self.fits(node.value, target, scope)
            return target
        value = self.value(node.value, scope)
        if target is None or value is None:
            return None
        result = self.combined(node.operator[:-1], target, value, node.span)
        if result is None:
            return None
        problem = assignment_problem(self.findings, result, target)
        if problem is not None:
            self.findings.report(problem, node.value.span, expected=target, found=result)
        return target

    def _increment(self, node: syntax.Increment, scope: Scope) -> Type | None:
        target = self._target(node.target, scope)
        if target is not None and target not in NUMERIC:
            self._refused(node, node.operator, target, "a number")
            return None
        return target

    def _target(self, node: syntax.Expression, scope: Scope) -> Type | None:
        found = self.value(node, scope)
        what = self._why_not_assignable(node)
        if found is not None and what is not None:
            self.findings.report("not-assignable", node.span, what=what)
            return None
        return found

    def _why_not_assignable(self, node: syntax.Expression) -> str | None:
        if isinstance(node, syntax.Index):
            return self._why_not_assignable(node.array)
        if not isinstance(node, syntax.Name):
            return "an expression"
        symbol = self.findings.symbols.get(id(node))
        if symbol is None or symbol.kind in ("state", "local", "parameter"):
            return None
        kinds = {"env": "env constant", "known": "known rebec", "builtin": "the builtin"}
        return f"{kinds[symbol.kind]} `{symbol.name}`"

    # --- choices ------------------------------------------------------------------------------

    def _choice(self, node: syntax.Choice, scope: Scope) -> Type | None:
        if self.body.kind != "server":
            self.findings.report("choice-place", node.span)
            return None
        match node.alternatives:
            case [syntax.Call(name) as call] if name in PARAMETERS and not (
                self.body.owner is not None and name in self.body.owner.methods
            ):
                return self.distribution(node, call, scope)
        result: Type | None = None
        for alternative in node.alternatives:
            found = self.value(alternative, scope)
            if found is None:
                return None
            if id(alternative) not in self.findings.constants and not self.findings.from_python:
                self.findings.report("choice-constant", alternative.span)
                found = None
            result = found if result is None else self._wider(node, result, found)
        self._weights(node, scope)
        return result

    def distribution(self, node: syntax.Node, call: syntax.Call, scope: Scope) -> Type:
        """Check a distribution that a node draws from, whose parameters are constant numbers."""
        given: list[float] = []
        for each in call.arguments:
            found, value = self.value(each, scope), self.findings.constants.get(id(each))
            if isinstance(value, int | float) and found in NUMERIC:
                given.append(value)
            elif found is not None:
                self.findings.report("distribution-constant", each.span, name=call.method)
        self.findings.functions.add(id(call))
        if len(given) == len(call.arguments):
            try:
                self.findings.distributions[id(node)] = distribution(call.method, *given)
            except ValueError as error:
                self.findings.report("distribution", call.span, problem=error)
        return INT

    def _weights(self, node: syntax.Choice, scope: Scope) -> None:
        """Check that the weights of a choice are constants that add up to 1."""
        weights: list[float] = []
        for each in node.weights:
            found, weight = self.value(each, scope), self.findings.constants.get(id(each))
            if isinstance(weight, int | float) and found in NUMERIC and weight > 0:
                weights.append(weight)
            elif found is not None:
                self.findings.report("weight", each.span)
        if weights and len(weights) == len(node.weights):
            try:
                shares_of(tuple(weights))
            except ValueError:
                total = f"{math.fsum(weights):g}"
                self.findings.report("weights-sum", node.span, found=total, tolerance=TOLERANCE)

    def _wider(self, node: syntax.Expression, left: Type, right: Type | None) -> Type | None:
        if right is None:
            return left
        wider = common_type(self.findings, left, right)
        if wider is None:
            self.findings.report("alternatives", node.span, left=left, right=right)
        return wider

"""Check operands, calls of methods, functions and timers, and sends; fold constants as C++ does.

At the end: what is rewritten before a tree is checked.
"""

from __future__ import annotations

import math
import operator as operators
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

from rebecsim.arithmetic import float32, int8, int16, int32, quotient, remainder
from rebecsim.distributions import PARAMETERS
from rebecsim.lang import syntax
from rebecsim.lang.checked import (
    ANY_REBEC,
    BOOLEAN,
    BYTE,
    DOUBLE,
    FLOAT,
    INT,
    NUMERIC,
    REAL,
    SHORT,
    TIMER,
    VOID,
    ArrayType,
    CheckedClass,
    NullType,
    RebecType,
    Type,
    Value,
    VoidType,
    find_server,
)
from rebecsim.lang.checking.scopes import (
    Body,
    Findings,
    Scope,
    Unknown,
    assignment_problem,
    mismatch_hint,
    parameter_type,
    resolve_type,
    signature,
)
from rebecsim.lang.errors import METHOD_HINTS
from rebecsim.lang.syntax import BinaryOperator, UnaryOperator
from rebecsim.lang.traversal import rewritten

_WRAPPING: dict[Type, Callable[[int], int]] = {INT: int32, SHORT: int16, BYTE: int8}


class NotConstantError(Exception):
    """The operation has no value: a division by zero, or a float without bounds."""


def convert(value: Value, kind: Type) -> Value:
    """The value as a variable of that type holds it.

    Integers wrap, floats are cut towards zero to become integers. NotConstantError for a float
    beyond the range of the type.
    """
    if value is None or isinstance(value, bool) or kind == BOOLEAN:
        return value
    if kind in REAL:
        return _finite(float32(float(value)) if kind == FLOAT else float(value))
    wrap = _WRAPPING.get(kind)
    if wrap is None:
        return value
    if isinstance(value, float) and not -(2**31) <= value < 2**31:
        raise NotConstantError
    return wrap(int(value))


def fold_unary(operator: UnaryOperator, value: Value) -> Value:
    """The value of `operator value` for a value of a fitting type."""
    if operator == "!":
        return not value
    assert isinstance(value, (int, float))
    if operator == "~":
        return ~int(value)
    signed = -value if operator == "-" else value
    return signed if isinstance(signed, float) else int32(signed)


def fold_binary(operator: BinaryOperator, left: Value, right: Value, kind: Type = INT) -> Value:
    """The value of `left operator right` for values of fitting types.

    `kind` is the type that two numbers are computed or compared in. Raises NotConstantError for a
    division by zero and a float without bounds.
    """
    if kind in REAL and left is not None and right is not None:
        left, right = convert(left, kind), convert(right, kind)
    divides = operator == "/" and kind in REAL
    compute = operators.truediv if divides else _COMPUTED[operator]
    try:
        return convert(compute(left, right), kind)
    except ZeroDivisionError:
        raise NotConstantError from None


_COMPUTED: dict[BinaryOperator, Callable[[Any, Any], Any]] = {
    "==": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
    "+": operators.add,
    "-": operators.sub,
    "*": operators.mul,
    "/": quotient,
    "%": remainder,
    "&&": operators.and_,
    "||": operators.or_,
    "&": operators.and_,
    "|": operators.or_,
    "^": operators.xor,
    # A shift by 32 or more has no meaning in C++; as in Java the lowest five bits count.
    "<<": lambda left, right: left << (right & 31),
    ">>": lambda left, right: left >> (right & 31),
}


class Function(NamedTuple):
    """A mathematical function from doubles to a double."""

    parameters: tuple[str, ...]
    compute: Callable[..., float]


FUNCTIONS = {"pow": Function(("a", "b"), math.pow), "sqrt": Function(("a",), math.sqrt)}


def fold_function(name: str, *arguments: float) -> Value:
    """The value of a mathematical function; NotConstantError if it is not a finite number."""
    try:
        return _finite(FUNCTIONS[name].compute(*map(float, arguments)))
    except (ValueError, ArithmeticError):
        raise NotConstantError from None


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise NotConstantError
    return value


_TIMER_OPERATIONS: dict[str, Type] = {
    "startTimer": VOID,
    "stopTimer": VOID,
    "getTimerValue": INT,
}


class CallChecker(ABC):
    """Checks what a body calls and sends; a type of None means that a mistake was reported."""

    def __init__(self, findings: Findings, body: Body) -> None:
        self.findings = findings
        self.body = body

    # --- operands ------------------------------------------------------------------------------

    @abstractmethod
    def check(self, node: syntax.Expression, scope: Scope) -> Type | None:
        """The type of an expression, which may be void or an array; None after a mistake."""

    def value(self, node: syntax.Expression, scope: Scope) -> Type | None:
        """The type of an expression that must have a single value."""
        found = self.check(node, scope)
        if isinstance(found, VoidType):
            self.findings.report("no-value", node.span)
            return None
        if isinstance(found, ArrayType):
            self.findings.report("array-whole", node.span)
            return None
        if found == TIMER:
            self.findings.report("timer-value", node.span)
            return None
        return found

    def fits(
        self,
        node: syntax.Expression,
        expected: Type | None,
        scope: Scope,
        hint: str | None = None,
    ) -> None:
        """Check an expression whose value goes into a variable of that type.

        `hint` says more about a value of a type that does not fit at all.
        """
        if isinstance(expected, ArrayType):
            array = self.check(node, scope)
            if array is not None and array != expected:
                self.findings.report("mismatch", node.span, hint, expected=expected, found=array)
            return
        found = self.value(node, scope)
        if found is None or expected is None:
            return
        problem = assignment_problem(self.findings, found, expected)
        if problem == "mismatch":
            hint = hint or mismatch_hint(found, expected)
        elif problem is None:
            return
        else:
            hint = None
        self.findings.report(problem, node.span, hint, expected=expected, found=found)

    def fold(
        self,
        node: syntax.Expression,
        operands: tuple[syntax.Expression, ...],
        compute: Callable[..., Value],
    ) -> None:
        """Note the value of an expression whose operands are constant."""
        constants = self.findings.constants
        if all(id(operand) in constants for operand in operands):
            try:
                constants[id(node)] = compute(*(constants[id(operand)] for operand in operands))
            except NotConstantError:
                return

    # --- calls ---------------------------------------------------------------------------------

    def time(self, node: syntax.Expression, word: str, scope: Scope) -> None:
        """Check the amount of `delay`, `after` or `deadline`."""
        if self.findings.dialect == "core":
            self.findings.report("core-time", node.span, word=word)
            return
        found = self.value(node, scope)
        if found is None:
            return
        if found not in NUMERIC or found in REAL:
            self.findings.report("time-type", node.span, word=word, found=found)
            return
        for amount in node.alternatives if isinstance(node, syntax.Choice) else (node,):
            constant = self.findings.constants.get(id(amount))
            if isinstance(constant, int) and constant < 0:
                self.findings.report("time-negative", amount.span, word=word, value=constant)

    def arguments(
        self,
        node: syntax.Call | syntax.Send | syntax.Instance,
        called: syntax.Method | syntax.MessageServer,
        owner: str,
        scope: Scope,
    ) -> None:
        """Check the arguments of a call or send against the parameters of a member of a class."""
        parameters = called.parameters
        if called.name in self.findings.spoilt.get(owner, ()):
            self._each(node.arguments, scope)
            return
        if len(node.arguments) != len(parameters):
            shown = signature(called.name, parameters)
            found = len(node.arguments)
            self.findings.report_count(node, called.name, len(parameters), found, shown)
            self._each(node.arguments, scope)
            return
        hint = f"it goes to `{signature(called.name, parameters)}`"
        for argument, parameter in zip(node.arguments, parameters, strict=True):
            self.fits(argument, parameter_type(self.findings, parameter), scope, hint)

    def _each(self, nodes: Sequence[syntax.Expression], scope: Scope) -> None:
        for node in nodes:
            self.value(node, scope)

    def call(self, node: syntax.Call, scope: Scope) -> Type | None:
        """The type of what a method, function or timer operation gives, which may be void."""
        owner = self.body.owner
        if node.method == "super":
            self.findings.report("super-place", node.span)
            return None
        method = None if owner is None else owner.methods.get(node.method)
        if method is None and node.method in FUNCTIONS:
            return self._function(node, scope)
        if method is None and node.method in _TIMER_OPERATIONS:
            return self._timer_operation(node, scope)
        if owner is None or method is None:
            self._unknown_method(node, owner)
            self._each(node.arguments, scope)
            return None
        for word, amount in (("after", node.after), ("deadline", node.deadline)):
            if amount is not None:
                self.findings.report("method-timed", amount.span, name=node.method, word=word)
        self.arguments(node, method, owner.name, scope)
        if method.return_type is None:
            return VOID
        return resolve_type(self.findings, method.return_type)

    def _unknown_method(self, node: syntax.Call, owner: CheckedClass | None) -> None:
        name = node.method
        if name in PARAMETERS:
            self.findings.report("distribution-place", node.span, name=name)
        elif owner is None or owner.name not in self.findings.incomplete:
            servers = [] if owner is None else [server.name for server in owner.servers]
            methods = [] if owner is None else list(owner.methods)
            unknown = Unknown(f"method of {self.body.where}", name, [*methods, *servers])
            self.findings.report_unknown(
                "unknown-method",
                node.span,
                unknown,
                METHOD_HINTS.get(name),
                owner=self.body.where,
            )

    def _timer_operation(self, node: syntax.Call, scope: Scope) -> Type | None:
        """Check that a timer is started, stopped or read; a method of the same name hides these."""
        name = node.method
        if self.findings.dialect == "core":
            self.findings.report("core-time", node.span, word=name)
            return None
        self.findings.functions.add(id(node))
        found = [self.check(each, scope) for each in node.arguments]
        if len(found) != 1:
            self.findings.report_count(node, name, 1, len(found), f"{name}(Timer t)")
        elif found[0] is not None and found[0] != TIMER:
            span = node.arguments[0].span
            self.findings.report("timer-expected", span, name=name, found=found[0])
        return _TIMER_OPERATIONS[name]

    def _function(self, node: syntax.Call, scope: Scope) -> Type:
        """Check a call of a mathematical function, which a method of the same name hides."""
        self.findings.functions.add(id(node))
        parameters = FUNCTIONS[node.method].parameters
        for argument in node.arguments:
            self.fits(argument, DOUBLE, scope)
        if len(node.arguments) == len(parameters):
            self.fold(node, node.arguments, partial(fold_function, node.method))
        else:
            shown = f"{node.method}({', '.join(f'double {each}' for each in parameters)})"
            found = len(node.arguments)
            self.findings.report_count(node, node.method, len(parameters), found, shown)
        return DOUBLE

    # --- sends ---------------------------------------------------------------------------------

    def send(self, node: syntax.Send, scope: Scope) -> Type | None:
        """Check a send, which has no value."""
        receiver = self.value(node.receiver, scope)
        self._receiver_allowed(node)
        self._send_arguments(node, receiver, scope)
        for word, amount in (("after", node.after), ("deadline", node.deadline)):
            if amount is not None:
                self.time(amount, word, scope)
        self._in_time(node)
        return None if receiver is None else VOID

    def _in_time(self, node: syntax.Send) -> None:
        """Warn of a message that arrives after its deadline, whatever is chosen."""
        if node.after is None or node.deadline is None:
            return
        arrivals, deadlines = self._amounts(node.after), self._amounts(node.deadline)
        if arrivals and deadlines and min(arrivals) > max(deadlines):
            self.findings.report(
                "always-late", node.deadline.span, after=min(arrivals), deadline=max(deadlines)
            )

    def _amounts(self, node: syntax.Expression) -> list[int]:
        """The times that an expression can give; none if that is not known here."""
        alternatives = node.alternatives if isinstance(node, syntax.Choice) else (node,)
        values = [self.findings.constants.get(id(each)) for each in alternatives]
        known = [value for value in values if isinstance(value, int)]
        return known if len(known) == len(values) else []

    def _receiver_allowed(self, node: syntax.Send) -> None:
        to_self = isinstance(node.receiver, syntax.Name) and node.receiver.identifier == "self"
        if self.body.kind == "constructor" and not to_self:
            self.findings.report("constructor-send", node.span)

    def _send_arguments(self, node: syntax.Send, receiver: Type | None, scope: Scope) -> None:
        server: syntax.MessageServer | None = None
        if receiver == ANY_REBEC:
            self.findings.report("sender-class", node.receiver.span, name=node.server)
        elif isinstance(receiver, RebecType):
            server = self._server(node, receiver.name)
        elif receiver is not None:
            found = "null" if isinstance(receiver, NullType) else receiver
            self.findings.report("receiver", node.receiver.span, found=found)
        if server is None or not isinstance(receiver, RebecType):
            self._each(node.arguments, scope)
        else:
            self.arguments(node, server, receiver.name, scope)

    def _server(self, node: syntax.Send, owner: str) -> syntax.MessageServer | None:
        """The message server that a send to a class means; None (and a report) if none."""
        findings = self.findings
        server = find_server(findings.classes, findings.interfaces, owner, node.server)
        if server is not None:
            return server.tree
        checked = findings.classes.get(owner)
        promising = findings.interfaces.get(owner)
        if checked is not None and node.server in checked.methods:
            findings.report("method-sent", node.span, name=node.server, owner=owner)
        elif owner not in findings.incomplete:
            known = checked or promising
            names = [] if known is None else [each.name for each in known.servers]
            unknown = Unknown(f"message server of {owner}", node.server, names)
            findings.report_unknown("unknown-server", node.span, unknown, owner=owner)
        return None


# --- before a tree is checked ---------------------------------------------------------------------


def lineage(
    tree: syntax.ReactiveClass, trees: Mapping[str, syntax.ReactiveClass]
) -> list[syntax.ReactiveClass]:
    """Give a class and those it extends, each once, even where they extend each other."""
    found: dict[str, syntax.ReactiveClass] = {}
    current: syntax.ReactiveClass | None = tree
    while current is not None and current.name not in found:
        found[current.name] = current
        current = None if current.base is None else trees.get(current.base)
    return list(found.values())


def is_distribution(node: syntax.EnvVariable) -> bool:
    """Whether a constant is what choices draw from."""
    return node.type.name == "distribution" and not node.type.dimensions


def with_self_sends(model: syntax.Model) -> syntax.Model:
    """The model with calls of message servers as sends to `self`, and no other sends to methods.

    `tick();` is `self.tick();` where `tick` is a message server, and `self.f()` is `f()` where `f`
    is a method. Which it is, is known when all classes are.
    """
    trees = {tree.name: tree for tree in model.classes}
    promised = {interface.name: interface for interface in model.interfaces}
    classes = tuple(
        _rewritten(tree, _servers(tree, trees, promised), _methods(tree, trees))
        for tree in model.classes
    )
    return replace(model, classes=classes)


def _servers(
    tree: syntax.ReactiveClass,
    trees: Mapping[str, syntax.ReactiveClass],
    promised: Mapping[str, syntax.Interface],
) -> frozenset[str]:
    names = [node.name for each in lineage(tree, trees) for node in each.message_servers]
    pending = [name for each in lineage(tree, trees) for name in each.interfaces]
    seen: set[str] = set()
    while pending:
        name = pending.pop()
        interface = promised.get(name)
        if interface is not None and name not in seen:
            seen.add(name)
            names += [node.name for node in interface.message_servers]
            pending += interface.bases
    return frozenset(names)


def _methods(
    tree: syntax.ReactiveClass, trees: Mapping[str, syntax.ReactiveClass]
) -> frozenset[str]:
    return frozenset(node.name for each in lineage(tree, trees) for node in each.methods)


def _rewritten(
    tree: syntax.ReactiveClass, servers: frozenset[str], methods: frozenset[str]
) -> syntax.ReactiveClass:
    def changed(node: syntax.Node) -> syntax.Node:
        match node:
            case syntax.Call(name, arguments, after, deadline) if name in servers - methods:
                receiver = syntax.Name("self", span=node.span)
                return syntax.Send(receiver, name, arguments, after, deadline, span=node.span)
            case syntax.Send(syntax.Name("self"), name, arguments, after, deadline) if (
                name in methods - servers
            ):
                return syntax.Call(name, arguments, after, deadline, span=node.span)
        return node

    return cast(syntax.ReactiveClass, rewritten(tree, changed))

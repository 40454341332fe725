"""The bodies of constructors, message servers and methods."""

from __future__ import annotations

from collections.abc import Iterator

from rebecsim.lang import syntax
from rebecsim.lang.checked import CheckedClass, Symbol
from rebecsim.lang.checking.expressions import ExpressionChecker
from rebecsim.lang.checking.overloads import resolve_constructor
from rebecsim.lang.checking.scopes import Body, Findings, Scope
from rebecsim.lang.checking.statements import StatementChecker, name_is_free
from rebecsim.lang.checking.type_names import resolve_type
from rebecsim.lang.traversal import walk


def check_bodies(findings: Findings, checked: CheckedClass, env: Scope) -> None:
    """Check every body that stands in the text of a class."""
    tree = checked.tree
    fields = Scope(env, spoilt=findings.spoilt[tree.name])
    for symbol in (*checked.known_rebecs, *checked.state_variables):
        fields.symbols[symbol.name] = symbol
    for constructor in tree.constructors:
        body = Body("constructor", constructor.name, checked)
        _check_constructor(findings, body, constructor, fields, env)
    for server in tree.message_servers:
        if server.body is not None:
            body = Body("server", server.name, checked)
            _check_body(findings, body, server.parameters, server.body, fields, env)
    for method in tree.methods:
        if method.body is not None:
            _check_method(findings, checked, method, method.body, fields, env)


def _check_method(
    findings: Findings,
    checked: CheckedClass,
    method: syntax.Method,
    block: syntax.Block,
    fields: Scope,
    env: Scope,
) -> None:
    kind = method.return_type
    result = None if kind is None else resolve_type(findings, kind)
    body = Body("method", method.name, checked, result)
    completes = _check_body(findings, body, method.parameters, block, fields, env)
    if completes and result is not None:
        findings.open_ends.add(id(block))
        is_used = method.name in findings.used_results
        findings.report(
            "return-missing" if is_used else "return-unused", method.span, name=method.name
        )


def _check_constructor(
    findings: Findings, body: Body, node: syntax.Constructor, fields: Scope, env: Scope
) -> None:
    block = node.body
    first = block.statements[0] if block.statements else None
    if _is_super(first) and body.owner is not None and body.owner.tree.base is not None:
        scope = _parameters(findings, node.parameters, fields)
        assert isinstance(first, syntax.ExpressionStatement)
        assert isinstance(first.expression, syntax.Call)
        _check_super(findings, body, first.expression, scope)
        block = syntax.Block(block.statements[1:], span=block.span)
        StatementChecker(findings, body, env).check(block, scope)
        return
    _check_body(findings, body, node.parameters, block, fields, env)


def _is_super(node: syntax.Statement | None) -> bool:
    return (
        isinstance(node, syntax.ExpressionStatement)
        and isinstance(node.expression, syntax.Call)
        and node.expression.method == "super"
        and node.expression.after is node.expression.deadline is None
    )


def _check_super(findings: Findings, body: Body, node: syntax.Call, scope: Scope) -> None:
    assert body.owner is not None
    checker = ExpressionChecker(findings, body)
    found = [checker.value(argument, scope) for argument in node.arguments]
    if body.owner.base is None:
        return  # there is no such class, which has been reported
    base = findings.classes[body.owner.base]
    findings.super_constructors[id(node)] = resolve_constructor(findings, base, found, node.span)


def _check_body(
    findings: Findings,
    body: Body,
    parameters: tuple[syntax.Parameter, ...],
    block: syntax.Block,
    fields: Scope,
    env: Scope,
) -> bool:
    scope = _parameters(findings, parameters, fields)
    return StatementChecker(findings, body, env).check(block, scope)


def _parameters(
    findings: Findings, parameters: tuple[syntax.Parameter, ...], fields: Scope
) -> Scope:
    scope = Scope(fields)
    for node in parameters:
        kind = resolve_type(findings, node.type)
        if not name_is_free(findings, node.name, node.span) or kind is None:
            scope.spoil(node.name)
            continue
        if node.name in scope.symbols:
            findings.report_twice("parameter", node.name, node.span, scope.lines[node.name])
        scope.declare(Symbol("parameter", node.name, kind), node.span)
    return scope


def used_results(model: syntax.Model) -> frozenset[str]:
    """Name the methods whose value something is done with, wherever in the model."""
    nodes = [node for each in model.classes for node in walk(each)]
    dropped = {
        id(node.expression) for node in nodes if isinstance(node, syntax.ExpressionStatement)
    }
    calls = (node for node in nodes if isinstance(node, syntax.Call))
    return frozenset(call.method for call in calls if id(call) not in dropped)


def number_choice_sites(findings: Findings) -> None:
    """Number the choices of every class on from those of its base class."""
    last: dict[str, int] = {}
    for checked in findings.classes.values():
        number = 0 if checked.base is None else last[checked.base]
        for node in _nodes_of_servers(checked.tree):
            if isinstance(node, syntax.Choice):
                number += 1
                findings.choice_sites[id(node)] = number
        last[checked.name] = number


def _nodes_of_servers(tree: syntax.ReactiveClass) -> Iterator[syntax.Node]:
    for server in tree.message_servers:
        yield from walk(server)

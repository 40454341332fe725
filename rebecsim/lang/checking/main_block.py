"""Check the rebecs of main: their known rebecs and the arguments of their constructors."""

from __future__ import annotations

from contextlib import suppress

from rebecsim.counted import counted
from rebecsim.lang import syntax
from rebecsim.lang.checked import CheckedClass, CheckedInstance, CheckedServer, Symbol, Value
from rebecsim.lang.checking.annotations import instance_priority
from rebecsim.lang.checking.constants import NotConstantError, convert
from rebecsim.lang.checking.expressions import ExpressionChecker
from rebecsim.lang.checking.overloads import resolve_constructor
from rebecsim.lang.checking.scopes import Body, Findings, Scope, Unknown, is_a
from rebecsim.lang.checking.statements import name_is_free
from rebecsim.lang.checking.type_names import resolve_type
from rebecsim.lang.types import RebecType


def check_main(findings: Findings, model: syntax.Model, env: Scope) -> tuple[CheckedInstance, ...]:
    """The instances of main in their order, which is the order of their constructors."""
    if not model.instances:
        findings.report("no-instances", model.span)
    scope = _instance_names(findings, model, env)
    checked = []
    for node in model.instances:
        owner = findings.classes.get(node.class_name)
        priority = instance_priority(findings, node, env)
        if owner is None:
            if node.class_name in findings.interface_names:
                findings.report("interface-instance", node.span, name=node.class_name)
            elif node.class_name not in findings.class_names:
                unknown = Unknown("type", node.class_name, sorted(findings.class_names))
                findings.report_unknown("unknown-class", node.span, unknown)
            continue
        if owner.abstract:
            findings.report("abstract-instance", node.span, name=owner.name)
        bindings = _bindings(findings, node, owner, scope)
        constructor = None
        if owner.initial is None:
            constructor = _constructor(findings, node, owner, scope)
            parameters = () if constructor is None else constructor.parameters
        else:
            parameters = _initial_parameters(findings, node, owner.initial, scope)
        arguments = _arguments(findings, node, parameters)
        checked.append(
            CheckedInstance(
                node.name,
                owner.name,
                bindings,
                arguments,
                constructor,
                parameters,
                priority,
                node,
            )
        )
    return tuple(checked)


def _instance_names(findings: Findings, model: syntax.Model, env: Scope) -> Scope:
    scope = Scope(env)
    for node in model.instances:
        if not name_is_free(findings, node.name, node.span):
            continue
        for names in (scope, env):
            if node.name in names.symbols:
                what = "rebec" if names is scope else "env constant"
                findings.report_twice(what, node.name, node.span, names.lines[node.name])
        scope.declare(Symbol("known", node.name, RebecType(node.class_name)), node.span)
    return scope


def _bindings(
    findings: Findings, node: syntax.Instance, owner: CheckedClass, scope: Scope
) -> tuple[str, ...]:
    known = owner.known_rebecs
    if owner.name in findings.incomplete:
        return ()
    if len(node.bindings) != len(known):
        findings.report(
            "binding-count",
            node.span,
            name=node.name,
            expected=counted(len(known), "known rebec"),
            found=len(node.bindings),
            owner=owner.name,
            names=", ".join(f"{symbol.type} {symbol.name}" for symbol in known) or "none",
        )
        return ()
    bound = []
    for binding, symbol in zip(node.bindings, known, strict=True):
        if not isinstance(binding, syntax.Name):
            findings.report("binding-name", binding.span)
            continue
        name = binding.identifier
        found = scope.symbols.get(name)
        if found is None:
            unknown = Unknown("rebec", name, scope.symbols)
            findings.report_unknown("binding-unknown", binding.span, unknown)
            continue
        findings.symbols[id(binding)] = found
        findings.types[id(binding)] = found.type
        _binding_fits(findings, binding, symbol, found)
        bound.append(name)
    return tuple(bound)


def _binding_fits(findings: Findings, binding: syntax.Name, known: Symbol, found: Symbol) -> None:
    assert isinstance(known.type, RebecType)
    assert isinstance(found.type, RebecType)
    if found.type.name not in findings.classes:
        return  # what is wrong with the class of the other instance is reported there
    if not is_a(findings, found.type.name, known.type.name):
        findings.report(
            "binding-type",
            binding.span,
            known=known.name,
            expected=known.type,
            name=binding.identifier,
            found=found.type,
        )


def _constructor(
    findings: Findings, node: syntax.Instance, owner: CheckedClass, scope: Scope
) -> syntax.Constructor | None:
    checker = ExpressionChecker(findings, Body("constant", "main"))
    found = [checker.value(argument, scope) for argument in node.arguments]
    return resolve_constructor(findings, owner, found, node.span)


def _initial_parameters(
    findings: Findings, node: syntax.Instance, server: CheckedServer, scope: Scope
) -> tuple[syntax.Parameter, ...]:
    """The parameters of `initial`; none where the arguments do not fit, which is reported."""
    before = len(findings.diagnostics)
    checker = ExpressionChecker(findings, Body("constant", "main"))
    checker.calls.arguments(node, server.tree, server.owner, scope)
    return server.tree.parameters if len(findings.diagnostics) == before else ()


def _arguments(
    findings: Findings, node: syntax.Instance, parameters: tuple[syntax.Parameter, ...]
) -> tuple[Value | str, ...]:
    if not parameters:
        return ()
    return tuple(
        _argument(findings, argument, parameter)
        for argument, parameter in zip(node.arguments, parameters, strict=True)
    )


def _argument(
    findings: Findings, node: syntax.Expression, parameter: syntax.Parameter
) -> Value | str:
    symbol = findings.symbols.get(id(node))
    if symbol is not None and symbol.kind == "known":
        return symbol.name
    kind = resolve_type(findings, parameter.type)
    if id(node) in findings.constants and kind is not None:
        with suppress(NotConstantError):
            return convert(findings.constants[id(node)], kind)
    findings.report("argument-constant", node.span)
    return None

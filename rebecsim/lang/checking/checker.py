"""Check a syntax tree: names, types and the rules of the dialect; here bodies and main."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from rebecsim.lang import syntax
from rebecsim.lang.checked import (
    BY_NODE,
    CheckedClass,
    CheckedInstance,
    CheckedModel,
    CheckedServer,
    Dialect,
    RebecType,
    Symbol,
    Type,
    Value,
    declared_dialect,
)
from rebecsim.lang.checking.calls import (
    NotConstantError,
    convert,
    is_distribution,
    with_self_sends,
)
from rebecsim.lang.checking.constants import with_constants
from rebecsim.lang.checking.declarations import declare_classes, declare_env
from rebecsim.lang.checking.expressions import ExpressionChecker
from rebecsim.lang.checking.scopes import (
    Body,
    Findings,
    Scope,
    Unknown,
    assignment_problem,
    is_a,
    parameter_type,
    resolve_type,
    signature,
)
from rebecsim.lang.checking.statements import StatementChecker, instance_priority, name_is_free
from rebecsim.lang.errors import Diagnostic, RebecaCheckError, RebecaError, Texts, in_order
from rebecsim.lang.reading.imports import read_model, whole_model
from rebecsim.lang.syntax import Span
from rebecsim.lang.traversal import walk
from rebecsim.wording import counted


def resolve_constructor(
    findings: Findings, checked: CheckedClass, found: Sequence[Type | None], span: Span
) -> syntax.Constructor | None:
    """The constructor of a class that takes arguments of these types.

    The one with the most parameters of exactly the type of their argument wins. A class without
    constructors takes no arguments. Reports an error, and gives None, if none or several fit.
    """
    if None in found or (not found and not checked.constructors):
        return None
    fitting: dict[int, list[syntax.Constructor]] = {}
    for constructor in checked.constructors:
        expected = _types(findings, constructor)
        if _fits(findings, found, expected):
            exact = sum(a == b for a, b in zip(found, expected, strict=True))
            fitting.setdefault(exact, []).append(constructor)
    shown = ", ".join(str(kind) for kind in found)
    if not fitting:
        signatures = [f"`{signature(each.name, each.parameters)}`" for each in checked.constructors]
        expected_text = " and ".join(signatures) or f"`{checked.name}()`"
        findings.report(
            "no-constructor", span, owner=checked.name, found=shown, expected=expected_text
        )
        return None
    best = fitting[max(fitting)]
    if len(best) > 1:
        findings.report("constructor-ambiguous", span, owner=checked.name, found=shown)
        return None
    return best[0]


def _types(findings: Findings, constructor: syntax.Constructor) -> list[Type | None]:
    return [parameter_type(findings, each) for each in constructor.parameters]


def _fits(
    findings: Findings, found: Sequence[Type | None], expected: Sequence[Type | None]
) -> bool:
    if len(found) != len(expected):
        return False
    return all(
        a is None or b is None or assignment_problem(findings, a, b) is None
        for a, b in zip(found, expected, strict=True)
    )


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
        kind = parameter_type(findings, node)
        if not name_is_free(findings, node.name, node.span) or kind is None:
            scope.spoil(node.name)
            continue
        if node.name in scope.symbols:
            findings.report_twice("parameter", node.name, node.span, scope.places[node.name])
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
    """Number the choices of every class on from those of its base class.

    Where a class has an inherited message server with other constants, its choices keep their
    numbers. Choices of a class from the same named distribution share a stream.
    """
    last: dict[str, int] = {}
    streams: dict[str, dict[str, int]] = {}
    for checked in findings.classes.values():
        number = 0 if checked.base is None else last[checked.base]
        shared = {} if checked.base is None else dict(streams[checked.base])
        for server in checked.tree.message_servers:
            origin = findings.copied.get((checked.name, server.name))
            known = iter(()) if origin is None else _sites(findings, origin, server.name)
            for node in _choices(server):
                site = next(known, number + 1)
                number = max(number, site)
                findings.choice_sites[id(node)] = site
                name = findings.named.get(id(node.alternatives[0]))
                if name is not None:
                    findings.choice_streams[id(node)] = shared.setdefault(name, site)
        last[checked.name], streams[checked.name] = number, shared


def _choices(server: syntax.MessageServer) -> Iterator[syntax.Choice]:
    return (node for node in walk(server) if isinstance(node, syntax.Choice))


def _sites(findings: Findings, owner: str, name: str) -> Iterator[int]:
    """The numbers of the choices in a message server that stands in the text of a class."""
    servers = findings.classes[owner].tree.message_servers
    server = next(each for each in servers if each.name == name)
    return (findings.choice_sites[id(node)] for node in _choices(server))


def check_main(findings: Findings, model: syntax.Model, env: Scope) -> tuple[CheckedInstance, ...]:
    """The instances of main in their order, which is the order of their constructors."""
    if not model.instances and not isinstance(model, syntax.Library):
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
                findings.report_twice(what, node.name, node.span, names.places[node.name])
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
    checker.arguments(node, server.tree, server.owner, scope)
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
    kind = parameter_type(findings, parameter)
    if id(node) in findings.constants and kind is not None:
        with suppress(NotConstantError):
            return convert(findings.constants[id(node)], kind)
    findings.report("argument-constant", node.span)
    return None


def check_model(
    tree: syntax.Model,
    dialect: Dialect = "timed",
    texts: Texts = MappingProxyType({}),
    *,
    from_python: bool = False,
) -> CheckedModel:
    """Check a model and say what its names and expressions mean.

    `texts` are those the tree was read from; errors quote their lines. `from_python` is a tree
    that was read from Python classes, where choices are between any values. Raises
    RebecaCheckError with all mistakes of the model, in the order of the texts.
    """
    findings = Findings(dialect, from_python)
    numbers = [each for each in tree.env_variables if not is_distribution(each)]
    env = declare_env(findings, numbers)
    mistakes = len(findings.diagnostics)
    if len(numbers) < len(tree.env_variables) or any(each.constants for each in tree.classes):
        tree = with_constants(findings, tree, env)
    tree = with_self_sends(tree)
    if len(findings.diagnostics) > mistakes:  # what reads these constants would be wrong, too
        raise RebecaCheckError(in_order(findings.diagnostics, texts))
    findings.used_results = used_results(tree)
    declare_classes(findings, tree, env)
    for checked in findings.classes.values():
        check_bodies(findings, checked, env)
    instances = check_main(findings, tree, env)
    if findings.diagnostics:
        raise RebecaCheckError(in_order(findings.diagnostics, texts))
    number_choice_sites(findings)
    servers = [server for checked in findings.classes.values() for server in checked.servers]
    return CheckedModel(
        tree,
        dialect,
        dict(env.symbols),
        findings.classes,
        findings.interfaces,
        instances,
        any(server.global_priority is not None for server in servers),
        open_ends=frozenset(findings.open_ends),
        functions=frozenset(findings.functions),
        warnings=tuple(in_order(findings.warnings, texts)),
        **{name: getattr(findings, name) for name in BY_NODE},
    )


def check_source(
    text: str, file: str = "<string>", dialect: Dialect = "timed", *, parts: bool = False
) -> CheckedModel:
    """Parse and check a text; raises RebecaSyntaxError or RebecaCheckError.

    A text that says `// rebeca: core` in its first comments is Core Rebeca, whatever is asked for.
    With `parts` it may also be one that others import, without main.
    """
    tree, texts = whole_model(text, file, parts=parts)
    return check_model(tree, declared_dialect(text) or dialect, texts)


def problems_of(
    text: str, file: str = "<string>", *, parts: bool = False
) -> tuple[Diagnostic, ...]:
    """Give what is wrong with a text, or the warnings of one that is right; as `check_source`."""
    try:
        return check_source(text, file, parts=parts).warnings
    except RebecaError as error:
        return error.diagnostics


def check_file(path: str | Path, dialect: Dialect = "timed") -> CheckedModel:
    """Parse and check a `.rebeca` file; raises OSError if it cannot be read."""
    return check_source(read_model(path), str(path), dialect)

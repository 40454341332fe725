"""Put values in the places of constants of classes and of distributions.

A class that gives an inherited constant another value gets a copy of each inherited message server
and method that reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from rebecsim.distributions import PARAMETERS
from rebecsim.lang import syntax
from rebecsim.lang.checked import BOOLEAN, INT, PRIMITIVES, Value
from rebecsim.lang.checking.calls import is_distribution, lineage
from rebecsim.lang.checking.expressions import ExpressionChecker
from rebecsim.lang.checking.scopes import Body, Findings, Scope
from rebecsim.lang.checking.statements import symbol_with_value
from rebecsim.lang.traversal import rewritten, walk

_Constants = Mapping[str, syntax.EnvVariable]
_Member = syntax.MessageServer | syntax.Method
_Written = TypeVar("_Written", bound=syntax.Node)


def with_constants(findings: Findings, model: syntax.Model, env: Scope) -> syntax.Model:
    """The model without constants of classes and without distributions; mistakes are reported.

    `env` are the other constants of the model. Notes in `findings` where a member was copied from,
    and by which constant a distribution was named.
    """
    shared: dict[str, syntax.EnvVariable] = {}
    for each in filter(is_distribution, model.env_variables):
        if each.name in shared:
            place = shared[each.name].span
            findings.report_twice("env constant", each.name, each.span, place)
        shared[each.name] = _resolved(each, shared)
    written = [
        replace(tree, constants=tuple(_resolved(each, shared) for each in tree.constants))
        for tree in model.classes
    ]
    trees = {tree.name: tree for tree in reversed(written)}
    owned = [each for tree in written for each in tree.constants]
    values = {id(each): _value_of(findings, each, env) for each in (*shared.values(), *owned)}
    for tree in written:
        constants = _constants(lineage(tree, trees))
        findings.class_constants[tree.name] = {
            name: value
            for name, each in constants.items()
            if (value := values[id(each)]) is not None
        }
    classes = [_Rewriter(findings, tree, trees, shared).tree() for tree in written]
    others = tuple(each for each in model.env_variables if not is_distribution(each))
    return replace(model, env_variables=others, classes=tuple(classes))


def _resolved(node: syntax.EnvVariable, shared: _Constants) -> syntax.EnvVariable:
    """Give a constant with the distribution that it takes from another one, if it does."""
    match node.value:
        case syntax.Name(name) if name in shared:
            return replace(node, value=replace(shared[name].value, span=node.value.span))
    return node


def _constants(classes: list[syntax.ReactiveClass]) -> dict[str, syntax.EnvVariable]:
    """Give the constants of a class, which are of these classes; the first one is the nearest."""
    return {each.name: each for tree in reversed(classes) for each in tree.constants}


def _value_of(findings: Findings, node: syntax.EnvVariable, env: Scope) -> Value:
    """The value of a constant; None for a distribution. Reports what is wrong with it."""
    if node.name in env.symbols:
        findings.report_twice("env constant", node.name, node.span, env.places[node.name])
    # The value is checked again in each of its places; these nodes will be gone.
    aside = Findings(findings.dialect, findings.from_python)
    kind, value = PRIMITIVES.get(node.type.name), None
    if is_distribution(node):
        if isinstance(node.value, syntax.Call) and node.value.method in PARAMETERS:
            checker = ExpressionChecker(aside, Body("constant", "an env constant"))
            checker.distribution(node.value, node.value, env)
        else:
            aside.report("distribution-value", node.value.span)
    elif kind is None or node.type.dimensions:
        aside.report("constant-type", node.type.span)
    else:
        value = symbol_with_value(aside, "env", node.name, kind, node.value, env).value
    findings.diagnostics += aside.diagnostics
    return value


@dataclass(frozen=True)
class _Rewriter:
    """Writes one class without constants."""

    findings: Findings
    written: syntax.ReactiveClass
    trees: Mapping[str, syntax.ReactiveClass]
    shared: _Constants

    def tree(self) -> syntax.ReactiveClass:
        tree, bases = self.written, lineage(self.written, self.trees)[1:]
        inherited = _constants(bases)
        self._check_own(inherited)
        own = {each.name: each for each in tree.constants}
        constants = {**self.shared, **inherited, **own}
        self._check_names(bases, constants)
        copies = list(self._copies(bases, own.keys() & inherited.keys()))
        servers = [each for each in copies if isinstance(each, syntax.MessageServer)]
        methods = [each for each in copies if isinstance(each, syntax.Method)]

        def valued(member: _Written) -> _Written:
            return cast(_Written, rewritten(member, lambda node: self._value(node, constants)))

        return replace(
            tree,
            message_servers=tuple(map(valued, (*tree.message_servers, *servers))),
            methods=tuple(map(valued, (*tree.methods, *methods))),
            constants=(),
        )

    def _check_own(self, inherited: _Constants) -> None:
        seen = dict(self.shared)
        for each in self.written.constants:
            if each.name in seen:
                place = seen[each.name].span
                self.findings.report_twice("env constant", each.name, each.span, place)
            seen[each.name] = each
            before = inherited.get(each.name)
            if before is not None and before.type != each.type:
                values = {"name": each.name, "expected": before.type.name}
                self.findings.report("constant-differs", each.type.span, **values)

    def _check_names(self, bases: list[syntax.ReactiveClass], constants: _Constants) -> None:
        """Report constants that are assigned, declared again, or read outside of messages."""
        tree = self.written
        fields = [*tree.known_rebecs, *tree.state_variables]
        outside: list[syntax.Node] = [*fields, *tree.constructors]
        outside += [] if tree.queue_size is None else [tree.queue_size]
        own = [*fields, *tree.constructors, *tree.message_servers, *tree.methods]
        for node, name in _declared(own):
            if name in constants:
                place = constants[name].span
                self.findings.report_twice("env constant", name, node.span, place)
        for node in (each for root in own for each in walk(root)):
            match node:
                case syntax.Assignment(syntax.Name(name)) | syntax.Increment(syntax.Name(name)):
                    if name in constants:
                        what = f"env constant `{name}`"
                        self.findings.report("not-assignable", node.target.span, what=what)
        inherited = [each for base in bases for each in (*base.known_rebecs, *base.state_variables)]
        for field in inherited:
            for each in tree.constants:
                if each.name == field.name:
                    self.findings.report_twice("variable", each.name, each.span, field.span)
        for node in (each for root in outside for each in walk(root)):
            if type(node) is syntax.Name and node.identifier in constants.keys() - self.shared:
                self.findings.report("constant-place", node.span, name=node.identifier)

    def _copies(self, bases: list[syntax.ReactiveClass], anew: set[str]) -> Iterator[_Member]:
        """Give the inherited members that read a constant which has another value here."""
        own: list[_Member] = [*self.written.message_servers, *self.written.methods]
        seen = {each.name for each in own}
        for base in bases:
            members: list[_Member] = [*base.message_servers, *base.methods]
            for member in members:
                if member.name not in seen and anew & _names(member):
                    self.findings.copied[self.written.name, member.name] = base.name
                    yield cast(_Member, rewritten(member, replace))
                seen.add(member.name)

    def _value(self, node: syntax.Node, constants: _Constants) -> syntax.Node:
        """The value of a constant in the place of its name; other nodes as they are."""
        if type(node) is not syntax.Name or node.identifier not in constants:
            return node
        constant = constants[node.identifier]
        found = cast(syntax.Expression, replace(constant.value, span=node.span))
        if is_distribution(constant):
            self.findings.named[id(found)] = constant.name
        elif PRIMITIVES.get(constant.type.name) not in (INT, BOOLEAN):
            return syntax.Cast(constant.type, found, span=node.span)
        return found


def _names(root: syntax.Node) -> set[str]:
    return {node.identifier for node in walk(root) if type(node) is syntax.Name}


def _declared(roots: Iterable[syntax.Node]) -> Iterator[tuple[syntax.Node, str]]:
    for node in (each for root in roots for each in walk(root)):
        if isinstance(node, syntax.Field | syntax.Parameter):
            yield node, node.name
        elif isinstance(node, syntax.LocalDeclaration):
            yield from ((node, name) for name, _ in node.variables)

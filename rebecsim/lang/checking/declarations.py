"""Check env constants and reactive classes: declarations, inheritance, overriding, interfaces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rebecsim.lang import syntax
from rebecsim.lang.checked import (
    PRIMITIVES,
    CheckedClass,
    CheckedInterface,
    CheckedServer,
    RebecType,
    Symbol,
    SymbolKind,
    Type,
)
from rebecsim.lang.checking.expressions import ExpressionChecker
from rebecsim.lang.checking.scopes import (
    Body,
    Findings,
    Scope,
    Unknown,
    differ,
    no_array,
    parameter_type,
    resolve_type,
    resolve_with_lengths,
    type_signature,
)
from rebecsim.lang.checking.statements import (
    array_lengths,
    class_annotations,
    name_is_free,
    parameter_symbols,
    server_priorities,
    symbol_with_value,
)

_Member = syntax.MessageServer | syntax.Method


def declare_interfaces(findings: Findings, trees: dict[str, syntax.Interface], env: Scope) -> None:
    """Fill `findings.interfaces`, each behind those it extends."""
    for tree in trees.values():
        _declare(findings, tree, trees, (), env)


def _declare(
    findings: Findings,
    tree: syntax.Interface,
    trees: dict[str, syntax.Interface],
    path: tuple[str, ...],
    env: Scope,
) -> None:
    if tree.name in findings.interfaces:
        return
    if tree.name in path:
        cycle = (*path[path.index(tree.name) :], tree.name)
        findings.report(
            "inheritance-cycle", tree.span, name=tree.name, path=" extends ".join(cycle)
        )
        return
    for base in tree.bases:
        if base in trees:
            _declare(findings, trees[base], trees, (*path, tree.name), env)
    if tree.name in findings.interfaces:  # in a cycle, which has been reported
        return
    ancestors = implemented(findings, tree.bases, tree.span)
    inherited = [
        (name, server) for name in ancestors for server in findings.interfaces[name].servers
    ]
    servers = {server.name: server for _, server in reversed(inherited)}
    _own_servers(findings, tree, servers, env)
    for name, server in inherited:
        _same_parameters(findings, servers[server.name], server, name, tree.span)
    findings.interfaces[tree.name] = CheckedInterface(
        tree.name, ancestors, tuple(servers.values()), tree
    )


def _own_servers(
    findings: Findings, tree: syntax.Interface, servers: dict[str, CheckedServer], env: Scope
) -> None:
    """Add what stands in the text of an interface to what it inherits."""
    places: dict[str, syntax.Span] = {}
    for node in tree.message_servers:
        parameters = parameter_symbols(findings, node, env)
        if not name_is_free(findings, node.name, node.span):
            continue
        if node.name in places:
            findings.report_twice("message server", node.name, node.span, places[node.name])
            continue
        places[node.name] = node.span
        number = len(servers) if node.name not in servers else servers[node.name].number
        servers[node.name] = CheckedServer(
            node.name, number, None, None, parameters, node, tree.name
        )


def implemented(findings: Findings, names: tuple[str, ...], span: syntax.Span) -> tuple[str, ...]:
    """The interfaces of these names and all that they extend, each once; reports other names."""
    found: dict[str, None] = {}
    for name in names:
        if name in findings.interfaces:
            found |= dict.fromkeys((name, *findings.interfaces[name].ancestors))
        elif name in findings.class_names:
            findings.report("implements-class", span, name=name)
        elif name not in findings.interface_names:  # otherwise in a cycle, which is reported
            unknown = Unknown("type", name, sorted(findings.interface_names))
            findings.report_unknown("unknown-interface", span, unknown)
    return tuple(found)


def check_implemented(findings: Findings, checked: CheckedClass) -> None:
    """Report what a class lacks of its interfaces, unless a class that it extends lacks it."""
    base = None if checked.base is None else findings.classes.get(checked.base)
    kept = frozenset(() if base is None or base.abstract else base.interfaces)
    servers = {server.name: server for server in checked.servers}
    for name in checked.interfaces:
        if name in kept:
            continue
        for promised in findings.interfaces[name].servers:
            if promised.owner != name:
                continue  # that is an interface of its own, also among these
            server = servers.get(promised.name)
            if server is not None:
                _same_parameters(findings, server, promised, name, checked.tree.span)
            elif not checked.abstract:
                findings.report(
                    "interface-missing",
                    checked.tree.span,
                    owner=checked.name,
                    server=promised.name + type_signature(findings, promised.tree),
                    interface=name,
                )


def _same_parameters(
    findings: Findings,
    server: CheckedServer,
    promised: CheckedServer,
    interface: str,
    span: syntax.Span,
) -> None:
    """Report a message server with other parameters than promised; `span` is of who promises."""
    if differ(findings, server.tree, promised.tree):
        expected = type_signature(findings, promised.tree)
        place = server.tree.span if _inside(server.tree.span, span) else span
        findings.report(
            "override-differs", place, name=server.name, base=interface, expected=expected
        )


def _inside(inner: syntax.Span, outer: syntax.Span) -> bool:
    begins = (outer.line, outer.column) <= (inner.line, inner.column)
    return begins and (inner.line, inner.column) < (outer.end_line, outer.end_column)


def declare_env(findings: Findings, variables: Iterable[syntax.EnvVariable]) -> Scope:
    """The scope of the env constants; each may use those before it."""
    scope = Scope()
    for variable in variables:
        kind = _env_type(findings, variable.type, scope)
        if kind is None:
            scope.spoil(variable.name)
            continue
        if not _is_new(findings, scope, "env constant", variable):
            continue
        before = len(findings.diagnostics)
        symbol = symbol_with_value(findings, "env", variable.name, kind, variable.value, scope)
        if len(findings.diagnostics) > before:
            scope.spoil(variable.name)
        else:
            scope.declare(symbol, variable.span)
    return scope


def _env_type(findings: Findings, node: syntax.TypeName, env: Scope) -> Type | None:
    if node.name in (*PRIMITIVES, "char"):
        return resolve_with_lengths(findings, node, array_lengths(findings, node, env))
    findings.report("env-type", node.span, type=node.name)
    return None


def _is_new(
    findings: Findings, scope: Scope, what: str, node: syntax.EnvVariable | syntax.Field
) -> bool:
    if not name_is_free(findings, node.name, node.span):
        scope.spoil(node.name)
        return False
    if node.name in scope.symbols:
        findings.report_twice(what, node.name, node.span, scope.places[node.name])
        scope.spoil(node.name)
        return False
    return True


def declare_classes(findings: Findings, model: syntax.Model, env: Scope) -> None:
    """Fill `findings.classes`, base classes before the classes that extend them."""
    trees: dict[str, syntax.ReactiveClass] = {}
    promises: dict[str, syntax.Interface] = {}
    known: dict[str, syntax.ReactiveClass | syntax.Interface] = {}
    declared: list[syntax.ReactiveClass | syntax.Interface] = [*model.classes, *model.interfaces]
    for tree in declared:
        if not name_is_free(findings, tree.name, tree.span):
            continue
        if tree.name in known:
            other = known[tree.name]
            what = "interface" if isinstance(other, syntax.Interface) else "reactive class"
            findings.report_twice(what, tree.name, tree.span, other.span)
            findings.incomplete.add(tree.name)
            continue
        known[tree.name] = tree
        if isinstance(tree, syntax.Interface):
            promises[tree.name] = tree
        else:
            trees[tree.name] = tree
    findings.class_names = frozenset(trees)
    findings.interface_names = frozenset(promises)
    declare_interfaces(findings, promises, env)
    scopes: dict[str, Scope] = {}
    for tree in _bases_first(findings, trees):
        _ClassReader(findings, tree, env, scopes).read()


def _bases_first(
    findings: Findings, trees: dict[str, syntax.ReactiveClass]
) -> list[syntax.ReactiveClass]:
    ordered: dict[str, syntax.ReactiveClass] = {}
    for tree in trees.values():
        path: list[str] = []
        current: syntax.ReactiveClass | None = tree
        while current is not None and current.name not in ordered:
            if current.name in path:
                cycle = [*path[path.index(current.name) :], current.name]
                findings.report(
                    "inheritance-cycle",
                    current.span,
                    name=current.name,
                    path=" extends ".join(cycle),
                )
                break
            path.append(current.name)
            current = None if current.base is None else trees.get(current.base)
        for name in reversed(path):
            ordered[name] = trees[name]
    return list(ordered.values())


@dataclass
class _ClassReader:
    """Reads one class on top of its base class."""

    findings: Findings
    tree: syntax.ReactiveClass
    env: Scope
    scopes: dict[str, Scope]
    base: CheckedClass | None = None
    fields: Scope = field(default_factory=Scope)

    def read(self) -> None:
        tree, findings = self.tree, self.findings
        self.base = self._base()
        if self.base is not None:
            self.fields = Scope(
                None,
                dict(self.scopes[self.base.name].symbols),
                dict(self.scopes[self.base.name].places),
                set(self.scopes[self.base.name].spoilt),
            )
        self.scopes[tree.name] = self.fields
        findings.spoilt[tree.name] = self.fields.spoilt
        class_annotations(findings, tree, self.env)
        known = self._known_rebecs()
        state = self._state_variables()
        methods = self._methods()
        servers = self._servers(methods)
        self._constructors(servers)
        self._all_implemented(servers, methods)
        base = self.base
        interfaces = implemented(findings, tree.interfaces, tree.span)
        inherited = () if base is None else base.interfaces
        checked = CheckedClass(
            tree.name,
            None if base is None else base.name,
            tree.abstract,
            self._queue_size(),
            (() if base is None else base.known_rebecs) + known,
            (() if base is None else base.state_variables) + state,
            servers,
            methods,
            tree.constructors,
            tree,
            () if base is None else (base.name, *base.ancestors),
            tuple(dict.fromkeys((*interfaces, *inherited))),
            findings.class_constants.get(tree.name, {}),
        )
        findings.classes[tree.name] = checked
        check_implemented(findings, checked)

    def _base(self) -> CheckedClass | None:
        name = self.tree.base
        if name is None:
            return None
        if name in self.findings.interface_names:
            self.findings.report("extends-interface", self.tree.span, name=name)
        elif name not in self.findings.class_names:
            unknown = Unknown("type", name, sorted(self.findings.class_names - {self.tree.name}))
            self.findings.report_unknown("unknown-class", self.tree.span, unknown)
        base = self.findings.classes.get(name)  # None in a cycle, which has been reported
        if base is None or name in self.findings.incomplete:
            self.findings.incomplete.add(self.tree.name)
        return base

    def _queue_size(self) -> int:
        node = self.tree.queue_size
        if node is None:
            name, size = self.tree.name, syntax.DEFAULT_QUEUE_SIZE
            self.findings.report("queue-size-left-out", self.tree.span, name=name, size=size)
            return size
        checker = ExpressionChecker(self.findings, Body("constant", self.tree.name))
        found = checker.value(node, self.env)
        value = self.findings.whole_number(node)
        if value is not None and value >= 1:
            return value
        if found is not None:
            self.findings.report("queue-size", node.span)
        return 1

    # --- variables -----------------------------------------------------------------------------

    def _known_rebecs(self) -> tuple[Symbol, ...]:
        symbols = []
        for node in self.tree.known_rebecs:
            kind = self._field_type(node)
            if kind is not None and not isinstance(kind, RebecType):
                self.findings.report("known-type", node.type.span, name=node.name, type=kind)
                kind = None
            if node.value is not None:
                self.findings.report("known-initial", node.span, name=node.name)
            symbols += self._declared("known", "known rebec", node, kind)
        return tuple(symbols)

    def _state_variables(self) -> tuple[Symbol, ...]:
        symbols = []
        for node in self.tree.state_variables:
            symbols += self._declared("state", "state variable", node, self._field_type(node))
        return tuple(symbols)

    def _field_type(self, node: syntax.Field) -> Type | None:
        lengths = array_lengths(self.findings, node.type, self.env)
        return resolve_with_lengths(self.findings, node.type, lengths, is_state=True)

    def _declared(
        self, kind: SymbolKind, what: str, node: syntax.Field, type_: Type | None
    ) -> list[Symbol]:
        if not _is_new(self.findings, self.fields, what, node):
            return []
        if type_ is None:
            self.fields.spoil(node.name)
            if kind == "known":
                self.findings.incomplete.add(self.tree.name)
            return []
        value = node.value if kind == "state" else None
        symbol = symbol_with_value(self.findings, kind, node.name, type_, value, self.env)
        self.fields.declare(symbol, node.span)
        return [symbol]

    # --- message servers, methods, constructors ------------------------------------------------

    def _methods(self) -> dict[str, syntax.Method]:
        methods = {} if self.base is None else dict(self.base.methods)
        own: dict[str, syntax.Method] = {}
        for node in self.tree.methods:
            parameter_symbols(self.findings, node, self.env)
            result = node.return_type
            if result is not None:
                resolve_type(self.findings, result)
                no_array(self.findings, result, "the result of a method")
            if not self._is_new_member("method", node, own):
                continue
            if node.name in methods and differ(self.findings, node, methods[node.name]):
                self._override_differs(node, methods[node.name])
            self._abstract_allowed(node)
            own[node.name] = node
            methods[node.name] = node
        return methods

    def _servers(self, methods: dict[str, syntax.Method]) -> tuple[CheckedServer, ...]:
        servers = {} if self.base is None else {item.name: item for item in self.base.servers}
        own: dict[str, syntax.MessageServer] = {}
        for name in servers.keys() & {node.name for node in self.tree.methods}:
            self._clash(methods[name], "message server", servers[name].tree.span)
        for node in self.tree.message_servers:
            parameters = parameter_symbols(self.findings, node, self.env)
            priority, global_priority = server_priorities(self.findings, node, self.env)
            if not self._is_new_member("message server", node, own):
                continue
            if node.name in methods:
                self._clash(node, "method", methods[node.name].span)
                continue
            inherited = servers.get(node.name)
            number = len(servers) if inherited is None else inherited.number
            if inherited is not None and differ(self.findings, node, inherited.tree):
                self._override_differs(node, inherited.tree)
            self._abstract_allowed(node)
            own[node.name] = node
            servers[node.name] = CheckedServer(
                node.name,
                number,
                priority,
                global_priority,
                parameters,
                node,
                self.tree.name,
            )
        return tuple(servers.values())

    def _clash(self, node: _Member, what: str, first: syntax.Span) -> None:
        self.findings.report_twice(what, node.name, node.span, first)

    def _is_new_member(
        self,
        what: str,
        node: _Member,
        own: dict[str, syntax.MessageServer] | dict[str, syntax.Method],
    ) -> bool:
        if not name_is_free(self.findings, node.name, node.span):
            return False
        if node.name in own:
            self._clash(node, what, own[node.name].span)
            self.fields.spoil(node.name)
            return False
        return True

    def _override_differs(self, node: _Member, inherited: _Member) -> None:
        expected, base = type_signature(self.findings, inherited), self.tree.base
        name = node.name
        self.findings.report("override-differs", node.span, name=name, base=base, expected=expected)

    def _abstract_allowed(self, node: _Member) -> None:
        if node.abstract and not self.tree.abstract:
            self.findings.report("abstract-server", node.span, name=node.name, owner=self.tree.name)

    def _constructors(self, servers: tuple[CheckedServer, ...]) -> None:
        tree, findings = self.tree, self.findings
        signatures: set[str] = set()
        for node in tree.constructors:
            if node.name != tree.name:
                findings.report("constructor-name", node.span, name=node.name, owner=tree.name)
            for parameter in node.parameters:
                no_array(findings, parameter.type, "a parameter of a constructor")
                parameter_type(findings, parameter)
            if type_signature(findings, node) in signatures:
                findings.report("constructor-twice", node.span, owner=tree.name)
            signatures.add(type_signature(findings, node))
        if any(server.name == "initial" for server in servers):
            self._no_constructors()
            return
        if tree.constructors or tree.abstract:
            return
        base = next((each for each in self._lineage() if each.constructors), None)
        if base is not None:
            findings.report("constructor-inherited", tree.span, owner=tree.name, base=base.name)

    def _lineage(self) -> list[CheckedClass]:
        """The classes that this one extends, the nearest one first."""
        if self.base is None:
            return []
        return [self.base, *(self.findings.classes[each] for each in self.base.ancestors)]

    def _no_constructors(self) -> None:
        """Report the constructors of a class whose rebecs begin with a message."""
        found = list(self.tree.constructors)
        for each in self._lineage():
            found += each.constructors
        if found:
            node = found[0] if self.tree.constructors else self.tree
            self.findings.report(
                "initial-constructor", node.span, owner=self.tree.name, constructor=found[0].name
            )

    def _all_implemented(
        self, servers: tuple[CheckedServer, ...], methods: dict[str, syntax.Method]
    ) -> None:
        if self.tree.abstract or self.base is None:
            return
        bodies: list[_Member] = [item.tree for item in servers]
        own: list[_Member] = [*self.tree.message_servers, *self.tree.methods]
        for node in [*bodies, *methods.values()]:
            if node.abstract and not any(node is item for item in own):
                self.findings.report(
                    "not-implemented",
                    self.tree.span,
                    owner=self.tree.name,
                    name=node.name,
                    base=self.tree.base,
                )

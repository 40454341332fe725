"""Check that classes have the message servers that their interfaces require."""

from __future__ import annotations

from rebecsim.lang import syntax
from rebecsim.lang.checked import CheckedClass, CheckedInterface, CheckedServer
from rebecsim.lang.checking.scopes import Findings, Unknown
from rebecsim.lang.checking.signatures import parameter_symbols, type_signature
from rebecsim.lang.checking.statements import name_is_free


def declare_interfaces(findings: Findings, trees: dict[str, syntax.Interface]) -> None:
    """Fill `findings.interfaces`, each behind those it extends."""
    for tree in trees.values():
        _declare(findings, tree, trees, ())


def _declare(
    findings: Findings,
    tree: syntax.Interface,
    trees: dict[str, syntax.Interface],
    path: tuple[str, ...],
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
            _declare(findings, trees[base], trees, (*path, tree.name))
    if tree.name in findings.interfaces:  # in a cycle, which has been reported
        return
    ancestors = implemented(findings, tree.bases, tree.span)
    inherited = [
        (name, server) for name in ancestors for server in findings.interfaces[name].servers
    ]
    servers = {server.name: server for _, server in reversed(inherited)}
    _own_servers(findings, tree, servers)
    for name, server in inherited:
        _same_parameters(findings, servers[server.name], server, name, tree.span)
    findings.interfaces[tree.name] = CheckedInterface(
        tree.name, ancestors, tuple(servers.values()), tree
    )


def _own_servers(
    findings: Findings, tree: syntax.Interface, servers: dict[str, CheckedServer]
) -> None:
    """Add what stands in the text of an interface to what it inherits."""
    lines: dict[str, int] = {}
    for node in tree.message_servers:
        parameters = parameter_symbols(findings, node)
        if not name_is_free(findings, node.name, node.span):
            continue
        if node.name in lines:
            findings.report_twice("message server", node.name, node.span, lines[node.name])
            continue
        lines[node.name] = node.span.line
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


def check_promises(findings: Findings, checked: CheckedClass) -> None:
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
                    server=promised.name + type_signature(promised.tree),
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
    expected = type_signature(promised.tree)
    if type_signature(server.tree) != expected:
        place = server.tree.span if _inside(server.tree.span, span) else span
        findings.report(
            "override-differs", place, name=server.name, base=interface, expected=expected
        )


def _inside(inner: syntax.Span, outer: syntax.Span) -> bool:
    begins = (outer.line, outer.column) <= (inner.line, inner.column)
    return begins and (inner.line, inner.column) < (outer.end_line, outer.end_column)
